/* SPDX-License-Identifier: Apache-2.0 */
/* activities.c — finds the call that started a piece of device work, and the operator that the
 * work was done for.
 *
 * A call and the work it started have the same correlation id within their family of ids (model.h).
 * A driver's call inside a runtime's call has the same id; the outer call counts. If several other
 * calls have the id, the call with an arrow to the work counts; without an arrow it is the last
 * call that begins before the work. The operator is the one whose external id the activity names;
 * if the activity names none, it is the innermost operator around the call. Where ids say nothing,
 * an arrow from a call or an operator to the work does. Kineto writes the activity's own
 * correlation as its external id when it knows no operator; such an id is ignored.
 *
 * Activities do not depend on each other, except where arrows lead, so threads share them out. */
#include <stdlib.h>

#include "base/array.h"
#include "base/large_pages.h"
#include "base/workers.h"
#include "model/build/build.h"
#include "model/id_map.h"
#include "model/outward.h"
#include "varve/varve.h"

#define AHEAD 12u /* rows to prefetch ahead: about the latency of memory                         */
#define PIECE_ACTIVITIES 512u /* smallest piece for a thread                                   */
#define PIECES_MAX 16u

/* A call with an id that a call elsewhere has, too. */
struct rival {
    uint32_t family, row; /* row in activities */
    uint64_t correlation;
    int64_t begin_ns;
};

struct linking {
    struct vv_model *model;
    uint32_t *families;       /* of each process: scopes and families of ids, numbered through  */
    VV_ARRAY_OF(struct rival) rivals;
    uint32_t *op_slices;      /* row in ops -> slice                                            */
    struct vv_id_map calls;   /* correlation -> row in activities                               */
    struct vv_id_map callers; /* external -> row in slices                                      */
    struct { enum varve_code code; struct varve_error error; } maps[2]; /* how making them went */
    struct { uint32_t first, limit; uint64_t unlinked; } pieces[PIECES_MAX]; /* of activities    */
    size_t piece_count;
};

static uint32_t family_of(const struct linking *linking, uint32_t slice)
{
    const struct vv_model *model = linking->model;
    uint32_t track = model->slices.track[slice];
    uint32_t process = track < model->tracks.table.count ? model->tracks.process[track] : VV_NONE;
    return process < model->processes.table.count ? linking->families[process] : 0;
}

static enum varve_code number_families(struct linking *linking, struct varve_error *error)
{
    const struct vv_processes *processes = &linking->model->processes;
    uint32_t scopes = 0;
    linking->families = calloc(processes->table.count + 1, sizeof *linking->families);
    if (linking->families == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory to link the work of %llu processes",
                (unsigned long long)processes->table.count);
    for (uint64_t p = 0; p < processes->table.count; p++)
        scopes = processes->scope[p] >= scopes ? processes->scope[p] + 1 : scopes;
    for (uint64_t p = 0; p < processes->table.count; p++)
        linking->families[p] = processes->id_family[p] == 0
                                   ? processes->scope[p]
                                   : scopes + processes->id_family[p] - 1;
    return VARVE_OK;
}

/* Does each activity still have the slice that the importer named? Rows may have moved since. */
static bool are_found(const struct vv_model *model)
{
    const struct vv_activities *activities = &model->activities;
    for (uint32_t i = 0; i < activities->table.count; i++)
        if (activities->slice[i] >= model->slices.table.count ||
            model->slices.activity[activities->slice[i]] != i)
            return false;
    return true;
}

/* The columns of links are mostly blank. They are searched only if needed, because pages that are
 * read count as memory. */
static void find_slices(struct linking *linking)
{
    struct vv_model *model = linking->model;
    const struct vv_slices *slices = &model->slices;
    bool is_wanted = false;
    for (uint64_t i = 0; i < model->ops.table.count; i++) {
        linking->op_slices[i] = VV_NONE;
        is_wanted = is_wanted || model->ops.external[i] != 0 || model->ops.collective[i] != VV_NONE;
    }
    for (uint32_t row = 0; is_wanted && row < slices->table.count; row++)
        if (slices->op[row] != VV_NONE)
            linking->op_slices[slices->op[row]] = row;
    if (are_found(model))
        return;
    for (uint64_t i = 0; i < model->activities.table.count; i++)
        model->activities.slice[i] = VV_NONE;
    for (uint32_t row = 0; row < slices->table.count; row++)
        if (slices->activity[row] != VV_NONE)
            model->activities.slice[slices->activity[row]] = row;
}

/* ---- by ids ---- */

static bool is_call(const struct vv_activities *activities, uint64_t row)
{
    return activities->kind[row] == VV_ACTIVITY_CALL && activities->correlation[row] != 0 &&
           activities->slice[row] != VV_NONE;
}

/* Does one of two calls run within the other? */
static bool are_nested(const struct vv_slices *slices, uint32_t a, uint32_t b)
{
    int64_t a_ns = slices->begin_ns[a], b_ns = slices->begin_ns[b];
    return slices->track[a] == slices->track[b] &&
           (a_ns <= b_ns ? b_ns - a_ns <= slices->duration_ns[a]
                         : a_ns - b_ns <= slices->duration_ns[b]);
}

static enum varve_code add_rival(struct linking *linking, uint32_t row, struct varve_error *error)
{
    const struct vv_activities *activities = &linking->model->activities;
    uint32_t slice = activities->slice[row];
    VV_TRY(vv_array_reserve(&linking->rivals.items, &linking->rivals.capacity,
                            linking->rivals.count + 1, sizeof *linking->rivals.items, error));
    linking->rivals.items[linking->rivals.count++] =
        (struct rival){ family_of(linking, slice), row, activities->correlation[row],
                        linking->model->slices.begin_ns[slice] };
    return VARVE_OK;
}

/* The map keeps the call that was met last; those before it become rivals. */
static enum varve_code put_call(struct linking *linking, uint32_t row, struct varve_error *error)
{
    struct vv_model *model = linking->model;
    const struct vv_activities *activities = &model->activities;
    const struct vv_slices *slices = &model->slices;
    uint32_t slice = activities->slice[row];
    uint32_t *place = vv_id_map_put(&linking->calls, family_of(linking, slice),
                                    activities->correlation[row]);
    if (*place == VV_NONE) {
        *place = row;
        return VARVE_OK;
    }
    model->health.duplicate_correlations++;
    uint32_t last = activities->slice[*place];
    if (are_nested(slices, slice, last)) {
        *place = slices->begin_ns[slice] < slices->begin_ns[last] ? row : *place;
        return VARVE_OK;
    }
    VV_TRY(add_rival(linking, *place, error));
    *place = row;
    return VARVE_OK;
}

static int compare_ids(const struct rival *a, uint32_t family, uint64_t correlation)
{
    if (a->family != family)
        return a->family < family ? -1 : 1;
    return (a->correlation > correlation) - (a->correlation < correlation);
}

static int compare_rivals(const void *left, const void *right)
{
    const struct rival *a = left, *b = right;
    int order = compare_ids(a, b->family, b->correlation);
    if (order != 0)
        return order;
    if (a->begin_ns != b->begin_ns)
        return a->begin_ns < b->begin_ns ? -1 : 1;
    return (a->row > b->row) - (a->row < b->row);
}

/* The number of rivals that stand before those of the id, or before what begins after time_ns. */
static size_t count_before(const struct linking *linking, uint32_t family, uint64_t correlation,
                           int64_t time_ns)
{
    size_t from = 0, to = linking->rivals.count;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        const struct rival *rival = &linking->rivals.items[middle];
        int order = compare_ids(rival, family, correlation);
        if (order < 0 || (order == 0 && rival->begin_ns <= time_ns))
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

static bool has_rivals(const struct linking *linking, uint32_t family, uint64_t correlation)
{
    return linking->rivals.count > 0 &&
           count_before(linking, family, correlation, INT64_MAX) >
               count_before(linking, family, correlation, INT64_MIN);
}

/* The last call of this id that does not begin after the work; row in activities, or VV_NONE. */
static uint32_t last_call_before(const struct linking *linking, uint32_t family,
                                 uint64_t correlation, int64_t time_ns)
{
    const struct vv_model *model = linking->model;
    uint32_t met_last = vv_id_map_find(&linking->calls, family, correlation);
    int64_t met_ns = model->slices.begin_ns[model->activities.slice[met_last]];
    size_t end = count_before(linking, family, correlation, time_ns);
    const struct rival *rival = end > 0 ? &linking->rivals.items[end - 1] : NULL;
    if (rival != NULL && compare_ids(rival, family, correlation) != 0)
        rival = NULL;
    if (met_ns <= time_ns && (rival == NULL || met_ns > rival->begin_ns))
        return met_last;
    return rival == NULL ? VV_NONE : rival->row;
}

/* Prefetches for the activity AHEAD rows later. */
static void prefetch(const struct linking *linking, uint32_t row)
{
    const struct vv_activities *activities = &linking->model->activities;
    if (linking->calls.slots == NULL || activities->table.count - row <= AHEAD)
        return;
    uint32_t slice = activities->slice[row + AHEAD];
    if (slice != VV_NONE && activities->correlation[row + AHEAD] != 0)
        vv_id_map_prefetch(&linking->calls, family_of(linking, slice),
                           activities->correlation[row + AHEAD]);
}

static enum varve_code map_calls(struct linking *linking, struct varve_error *error)
{
    struct vv_model *model = linking->model;
    const struct vv_activities *activities = &model->activities;
    struct vv_id_range range = { 0 };
    for (uint32_t i = 0; i < activities->table.count; i++)
        if (is_call(activities, i))
            vv_id_range_add(&range, family_of(linking, activities->slice[i]),
                            activities->correlation[i]);
    VV_TRY(vv_id_map_init(&linking->calls, &range, error));
    for (uint32_t i = 0; i < activities->table.count; i++) {
        prefetch(linking, i);
        if (is_call(activities, i))
            VV_TRY(put_call(linking, i, error));
    }
    if (linking->rivals.count > 1)
        qsort(linking->rivals.items, linking->rivals.count, sizeof *linking->rivals.items,
              compare_rivals);
    return VARVE_OK;
}

static void put_caller(struct linking *linking, uint32_t op)
{
    struct vv_model *model = linking->model;
    uint32_t slice = linking->op_slices[op];
    uint32_t *place =
        vv_id_map_put(&linking->callers, family_of(linking, slice), model->ops.external[op]);
    if (*place == VV_NONE || model->slices.begin_ns[slice] < model->slices.begin_ns[*place])
        *place = slice;
}

static enum varve_code map_callers(struct linking *linking, struct varve_error *error)
{
    struct vv_model *model = linking->model;
    struct vv_id_range range = { 0 };
    for (uint32_t op = 0; op < model->ops.table.count; op++)
        if (model->ops.external[op] != 0 && linking->op_slices[op] != VV_NONE)
            vv_id_range_add(&range, family_of(linking, linking->op_slices[op]),
                            model->ops.external[op]);
    VV_TRY(vv_id_map_init(&linking->callers, &range, error));
    for (uint32_t op = 0; op < model->ops.table.count; op++)
        if (model->ops.external[op] != 0 && linking->op_slices[op] != VV_NONE)
            put_caller(linking, op);
    return VARVE_OK;
}

enum { CALLS, CALLERS };

static void make_map(void *context, size_t which)
{
    struct linking *linking = context;
    struct varve_error *error = &linking->maps[which].error;
    linking->maps[which].code =
        which == CALLS ? map_calls(linking, error) : map_callers(linking, error);
}

static enum varve_code make_maps(struct linking *linking, struct varve_error *error)
{
    vv_workers_run(linking->piece_count > 1 ? linking->model->threads : 1, 2, make_map, linking);
    for (int which = CALLS; which <= CALLERS; which++) {
        if (linking->maps[which].code == VARVE_OK)
            continue;
        if (error != NULL)
            *error = linking->maps[which].error;
        return linking->maps[which].code;
    }
    return VARVE_OK;
}

/* ---- each activity ---- */

/* The operator that a call is in; or the call itself, if it is an operator. */
static uint32_t operator_around(const struct vv_model *model, uint32_t slice)
{
    return vv_outward_operator(model, slice, VARVE_LAYER_OP | VARVE_LAYER_COMM);
}

static bool is_device_work(enum vv_activity_kind kind)
{
    return kind != VV_ACTIVITY_CALL && kind != VV_ACTIVITY_ANNOTATION;
}

static void link_by_ids(struct linking *linking, uint32_t row)
{
    struct vv_activities *activities = &linking->model->activities;
    uint32_t family = family_of(linking, activities->slice[row]);
    uint64_t correlation = activities->correlation[row], external = activities->external[row];
    if (is_device_work(activities->kind[row]) && correlation != 0 &&
        !has_rivals(linking, family, correlation)) {
        uint32_t call = vv_id_map_find(&linking->calls, family, correlation);
        activities->launch[row] = call == VV_NONE ? VV_NONE : activities->slice[call];
    }
    if (external != 0 && external != correlation)
        activities->caller[row] = vv_id_map_find(&linking->callers, family, external);
}

/* What has an id of several calls, and no arrow. */
static void link_by_time(struct linking *linking, uint32_t row)
{
    const struct vv_model *model = linking->model;
    struct vv_activities *activities = &linking->model->activities;
    uint32_t slice = activities->slice[row], family = family_of(linking, slice);
    uint64_t correlation = activities->correlation[row];
    if (activities->launch[row] != VV_NONE || !is_device_work(activities->kind[row]) ||
        correlation == 0 || !has_rivals(linking, family, correlation))
        return;
    uint32_t call =
        last_call_before(linking, family, correlation, model->slices.begin_ns[slice]);
    activities->launch[row] = call == VV_NONE ? VV_NONE : activities->slice[call];
}

static void link_by_flow(struct vv_model *model, uint64_t flow)
{
    struct vv_activities *activities = &model->activities;
    uint32_t from = model->flows.from_slice[flow], to = model->flows.to_slice[flow];
    uint32_t row = from == VV_NONE || to == VV_NONE ? VV_NONE : model->slices.activity[to];
    if (row == VV_NONE || !is_device_work(activities->kind[row]) ||
        model->slices.begin_ns[to] != model->flows.to_ns[flow])
        return;
    uint16_t layer = model->slices.layer[from];
    if (activities->launch[row] == VV_NONE &&
        (layer & (VARVE_LAYER_RUNTIME | VARVE_LAYER_RUNTIME_L1)))
        activities->launch[row] = from;
    if (activities->caller[row] == VV_NONE && (layer & (VARVE_LAYER_OP | VARVE_LAYER_COMM)))
        activities->caller[row] = from;
}

/* True: no call is known that launched the work. */
static bool link_by_place(struct vv_model *model, uint32_t row)
{
    struct vv_activities *activities = &model->activities;
    enum vv_activity_kind kind = activities->kind[row];
    uint32_t launch = kind == VV_ACTIVITY_CALL ? activities->slice[row] : activities->launch[row];
    if (activities->caller[row] == VV_NONE)
        activities->caller[row] = operator_around(model, launch);
    return launch == VV_NONE && is_device_work(kind) && kind <= VV_ACTIVITY_SET;
}

static void cut(struct linking *linking)
{
    uint64_t count = linking->model->activities.table.count;
    size_t pieces = linking->model->threads;
    if (pieces > count / PIECE_ACTIVITIES)
        pieces = count / PIECE_ACTIVITIES;
    pieces = pieces < 1 ? 1 : pieces > PIECES_MAX ? PIECES_MAX : pieces;
    for (size_t p = 0; p < pieces; p++) {
        linking->pieces[p].first = (uint32_t)(count * p / pieces);
        linking->pieces[p].limit = (uint32_t)(count * (p + 1) / pieces);
    }
    linking->piece_count = pieces;
}

static void link_piece_by_ids(void *context, size_t piece)
{
    struct linking *linking = context;
    for (uint32_t i = linking->pieces[piece].first; i < linking->pieces[piece].limit; i++) {
        prefetch(linking, i);
        if (linking->model->activities.slice[i] != VV_NONE)
            link_by_ids(linking, i);
    }
}

static void link_piece_by_place(void *context, size_t piece)
{
    struct linking *linking = context;
    for (uint32_t i = linking->pieces[piece].first; i < linking->pieces[piece].limit; i++)
        if (linking->model->activities.slice[i] != VV_NONE)
            linking->pieces[piece].unlinked += link_by_place(linking->model, i);
}

static void link_all(struct linking *linking)
{
    struct vv_model *model = linking->model;
    const struct vv_activities *activities = &model->activities;
    vv_workers_run(model->threads, linking->piece_count, link_piece_by_ids, linking);
    for (uint64_t i = 0; i < model->flows.table.count; i++)
        link_by_flow(model, i);
    for (uint32_t i = 0; linking->rivals.count > 0 && i < activities->table.count; i++)
        if (activities->slice[i] != VV_NONE)
            link_by_time(linking, i);
    vv_workers_run(model->threads, linking->piece_count, link_piece_by_place, linking);
    for (size_t p = 0; p < linking->piece_count; p++)
        model->health.unlinked += linking->pieces[p].unlinked;
}

/* A collective gets the slice of its operator; without one, the slice of its device work. */
static void link_collectives(struct linking *linking)
{
    struct vv_model *model = linking->model;
    struct vv_collectives *collectives = &model->collectives;
    if (collectives->table.count == 0)
        return;
    for (uint64_t i = 0; i < model->activities.table.count; i++)
        if (model->activities.collective[i] != VV_NONE)
            collectives->slice[model->activities.collective[i]] = model->activities.slice[i];
    for (uint64_t i = 0; i < model->ops.table.count; i++)
        if (model->ops.collective[i] != VV_NONE && linking->op_slices[i] != VV_NONE)
            collectives->slice[model->ops.collective[i]] = linking->op_slices[i];
}

enum varve_code vv_build_activities(struct vv_model *model, struct varve_error *error)
{
    if (model->activities.table.count == 0 && model->collectives.table.count == 0)
        return VARVE_OK;
    struct linking linking = { .model = model };
    linking.op_slices =
        vv_large_pages_alloc((model->ops.table.count + 1) * sizeof *linking.op_slices);
    if (linking.op_slices == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory to link %llu operators",
                (unsigned long long)model->ops.table.count);
    find_slices(&linking);
    cut(&linking);
    enum varve_code code = number_families(&linking, error);
    if (code == VARVE_OK)
        code = make_maps(&linking, error);
    if (code == VARVE_OK) {
        link_all(&linking);
        link_collectives(&linking);
    }
    vv_id_map_deinit(&linking.calls);
    vv_id_map_deinit(&linking.callers);
    free(linking.rivals.items);
    free(linking.families);
    free(linking.op_slices);
    return code;
}
