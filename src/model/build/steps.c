/* SPDX-License-Identifier: Apache-2.0 */
/* steps.c — finds the step of each slice: the one whose [begin, end) holds the slice's begin.
 *
 * A step of the slice's own track counts first, then a step of any track of its process. Of several
 * open steps, the one that began last counts. For each track, and for each process, a list of
 * changes says which step is open from which instant on. Slices are compared with the list in order
 * of time.
 *
 * Steps belong to threads. If an input has steps on lines of devices alone, as TensorFlow's traces
 * have, those of the device with most of them become steps of the thread with most operators. */
#include <stdlib.h>

#include "base/binary_search.h"
#include "model/build/build.h"
#include "model/columns.h"
#include "model/order.h"
#include "model/steps/infer.h"
#include "varve/varve.h"

struct change {
    int64_t from_ns;
    uint32_t step; /* VV_NONE: no step is open                                                  */
    uint32_t group; /* track or process row                                                     */
};

/* The changes of all groups, by group and then by time: at most two for each step. */
struct calendar {
    struct change *changes;
    size_t count;
};

struct grouping {
    const struct vv_model *model;
    bool by_process;
};

static uint32_t process_of(const struct vv_model *model, uint32_t track)
{
    return track < model->tracks.table.count ? model->tracks.process[track] : VV_NONE;
}

static uint32_t group_of(const struct grouping *grouping, uint64_t step)
{
    uint32_t track = grouping->model->steps.track[step];
    return grouping->by_process ? process_of(grouping->model, track) : track;
}

static bool earlier(const struct vv_steps *steps, uint64_t a, uint64_t b)
{
    if (steps->begin_ns[a] != steps->begin_ns[b])
        return steps->begin_ns[a] < steps->begin_ns[b];
    return steps->duration_ns[a] > steps->duration_ns[b];
}

static bool step_before(const void *context, uint64_t a, uint64_t b)
{
    const struct vv_steps *steps = context;
    if (steps->begin_ns[a] == steps->begin_ns[b] && steps->track[a] != steps->track[b])
        return steps->track[a] < steps->track[b];
    return earlier(steps, a, b);
}

static bool group_before(const void *context, uint64_t a, uint64_t b)
{
    uint32_t group_a = group_of(context, a), group_b = group_of(context, b);
    if (group_a != group_b)
        return group_a < group_b;
    const struct grouping *grouping = context;
    return earlier(&grouping->model->steps, a, b);
}

static int64_t end_of(const struct vv_steps *steps, uint64_t step)
{
    return steps->begin_ns[step] + steps->duration_ns[step];
}

static void add_change(struct calendar *calendar, uint32_t group, int64_t from_ns, uint32_t step)
{
    calendar->changes[calendar->count++] = (struct change){ from_ns, step, group };
}

struct open_steps {
    uint32_t *rows; /* open steps, in order of begin                                            */
    size_t count;
};

/* Closes the steps that end at or before `until_ns`. Steps further down the stack may have ended
 * before the top one: these are dropped without a change. */
static void close_steps(struct calendar *calendar, const struct vv_steps *steps, uint32_t group,
                        struct open_steps *open, int64_t until_ns)
{
    while (open->count > 0 && end_of(steps, open->rows[open->count - 1]) <= until_ns) {
        int64_t end = end_of(steps, open->rows[--open->count]);
        while (open->count > 0 && end_of(steps, open->rows[open->count - 1]) <= end)
            open->count--;
        add_change(calendar, group, end, open->count > 0 ? open->rows[open->count - 1] : VV_NONE);
    }
}

/* `order` lists the steps by group and begin; NULL = they are in that order. */
static void fill_calendar(struct calendar *calendar, const struct grouping *grouping,
                          const uint64_t *order, struct open_steps *open)
{
    const struct vv_steps *steps = &grouping->model->steps;
    uint32_t group = VV_NONE;
    for (uint64_t i = 0; i < steps->table.count; i++) {
        uint32_t step = (uint32_t)(order == NULL ? i : order[i]);
        if (group_of(grouping, step) != group)
            close_steps(calendar, steps, group, open, INT64_MAX);
        group = group_of(grouping, step);
        close_steps(calendar, steps, group, open, steps->begin_ns[step]);
        add_change(calendar, group, steps->begin_ns[step], step);
        open->rows[open->count++] = step;
    }
    close_steps(calendar, steps, group, open, INT64_MAX);
}

static enum varve_code make_calendar(const struct vv_model *model, bool by_process,
                                     struct calendar *out_calendar, struct varve_error *error)
{
    struct grouping grouping = { model, by_process };
    uint64_t count = model->steps.table.count, *order;
    VV_TRY(vv_order_rows(count, group_before, &grouping, &order, error));
    struct open_steps open = { malloc(count * sizeof *open.rows), 0 };
    out_calendar->changes = malloc(count * 2 * sizeof *out_calendar->changes);
    bool room = open.rows != NULL && out_calendar->changes != NULL;
    if (room)
        fill_calendar(out_calendar, &grouping, order, &open);
    free(open.rows);
    free(order);
    if (!room)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory to link %llu steps", (unsigned long long)count);
    return VARVE_OK;
}

/* A position in a group's changes; it only moves forward. */
struct reading {
    const struct change *next, *limit;
    uint32_t step;
};

static struct reading read_group(const struct calendar *calendar, uint32_t group)
{
    size_t first = VV_FIRST_NOT(i, 0, calendar->count, calendar->changes[i].group < group);
    return (struct reading){ calendar->changes + first, calendar->changes + calendar->count,
                             VV_NONE };
}

static uint32_t step_at(struct reading *reading, uint32_t group, int64_t time_ns)
{
    while (reading->next < reading->limit && reading->next->group == group &&
           reading->next->from_ns <= time_ns)
        reading->step = reading->next++->step;
    return reading->step;
}

static void link_slices(struct vv_model *model, const struct calendar *tracks,
                        const struct calendar *processes)
{
    struct vv_slices *slices = &model->slices;
    struct reading own = { 0 }, shared = { 0 };
    uint32_t track = VV_NONE, process = VV_NONE;
    for (uint64_t row = 0; row < slices->table.count; row++) {
        if (row == 0 || slices->track[row] != track) {
            track = slices->track[row];
            process = process_of(model, track);
            own = read_group(tracks, track);
            shared = read_group(processes, process);
        }
        uint32_t step = step_at(&own, track, slices->begin_ns[row]);
        if (step == VV_NONE)
            step = step_at(&shared, process, slices->begin_ns[row]);
        if (slices->step[row] != step) /* do not write blank cells without need: model/cells.h */
            slices->step[row] = step;
    }
}

/* Slices with the step flag, and steps by (track, begin), have the same order. So one pass joins
 * them. */
static enum varve_code find_step_slices(struct vv_model *model, struct varve_error *error)
{
    struct vv_steps *steps = &model->steps;
    struct vv_slices *slices = &model->slices;
    struct grouping by_track = { model, false };
    uint64_t *order, next = 0;
    VV_TRY(vv_order_rows(steps->table.count, group_before, &by_track, &order, error));
    for (uint32_t row = 0; row < slices->table.count && next < steps->table.count; row++) {
        if (!(slices->flags[row] & VV_SLICE_STEP))
            continue;
        for (; next < steps->table.count; next++) {
            uint64_t step = order == NULL ? next : order[next];
            bool behind = steps->track[step] < slices->track[row] ||
                          (steps->track[step] == slices->track[row] &&
                           steps->begin_ns[step] < slices->begin_ns[row]);
            if (behind)
                continue;
            if (steps->track[step] == slices->track[row] &&
                steps->begin_ns[step] == slices->begin_ns[row]) {
                steps->slice[step] = row;
                slices->step[row] = (uint32_t)step;
                next++;
            }
            break;
        }
    }
    free(order);
    return VARVE_OK;
}

static enum varve_code sort_steps(struct vv_model *model, struct varve_error *error)
{
    uint64_t *order;
    VV_TRY(vv_order_rows(model->steps.table.count, step_before, &model->steps, &order, error));
    if (order == NULL)
        return VARVE_OK;
    enum varve_code code = vv_model_permute(model, VV_TABLE_STEPS, order, error);
    free(order);
    return code;
}

/* ---- steps of devices ---- */

/* What a scope has. */
struct home {
    bool has_steps_on_thread;
    uint32_t device, thread; /* track with most steps, thread with most operators; VV_NONE        */
};

static void find_homes(const struct vv_model *model, const uint32_t *steps, const uint32_t *ops,
                       struct home *homes)
{
    for (uint32_t t = 0; t < model->tracks.table.count; t++) {
        struct home *home = &homes[vv_scope_of_track(model, t)];
        bool is_thread = model->tracks.kind[t] == VV_TRACK_THREAD;
        home->has_steps_on_thread |= is_thread && steps[t] > 0;
        if (is_thread && ops[t] > 0 && (home->thread == VV_NONE || ops[t] > ops[home->thread]))
            home->thread = t;
        if (!is_thread && steps[t] > 0 &&
            (home->device == VV_NONE || steps[t] > steps[home->device]))
            home->device = t;
    }
}

static enum varve_code move_steps(struct vv_model *model, const struct home *homes,
                                  struct varve_error *error)
{
    struct vv_steps *steps = &model->steps;
    uint64_t kept = 0, left = steps->table.count, *order = malloc(left * sizeof *order);
    if (order == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory to sort %llu steps", (unsigned long long)left);
    for (uint64_t s = 0; s < steps->table.count; s++) {
        const struct home *home = &homes[vv_scope_of_track(model, steps->track[s])];
        bool is_moved = !home->has_steps_on_thread && home->thread != VV_NONE;
        if (is_moved && steps->track[s] != home->device) {
            order[--left] = s;
            continue;
        }
        steps->track[s] = is_moved ? home->thread : steps->track[s];
        order[kept++] = s;
    }
    enum varve_code code = vv_model_permute(model, VV_TABLE_STEPS, order, error);
    free(order);
    steps->table.count = code == VARVE_OK ? kept : steps->table.count;
    return code;
}

static enum varve_code find_threads(struct vv_model *model, struct varve_error *error)
{
    uint32_t scopes, tracks = (uint32_t)model->tracks.table.count;
    uint32_t *counts = calloc(2 * (size_t)tracks + 1, sizeof *counts);
    bool *has_steps = vv_scopes_with_steps(model, &scopes);
    struct home *homes = malloc(scopes * sizeof *homes);
    enum varve_code code = VARVE_OK;
    if (counts == NULL || has_steps == NULL || homes == NULL)
        code = vv_fail(error, VARVE_NO_MEMORY, "no memory for the steps of %u tracks", tracks);
    for (uint32_t i = 0; i < scopes && code == VARVE_OK; i++)
        homes[i] = (struct home){ false, VV_NONE, VV_NONE };
    for (uint64_t s = 0; s < model->steps.table.count && code == VARVE_OK; s++)
        counts[model->steps.track[s]]++;
    for (uint64_t row = 0; row < model->slices.table.count && code == VARVE_OK; row++)
        if (model->slices.track[row] < tracks)
            counts[tracks + model->slices.track[row]] +=
                (model->slices.layer[row] & (VARVE_LAYER_OP | VARVE_LAYER_HOST)) != 0;
    if (code == VARVE_OK) {
        find_homes(model, counts, counts + tracks, homes);
        code = move_steps(model, homes, error);
    }
    free(counts);
    free(has_steps);
    free(homes);
    return code;
}

static bool is_any_on_device(const struct vv_model *model)
{
    for (uint64_t s = 0; s < model->steps.table.count; s++)
        if (model->steps.track[s] < model->tracks.table.count &&
            model->tracks.kind[model->steps.track[s]] != VV_TRACK_THREAD)
            return true;
    return false;
}

enum varve_code vv_build_steps(struct vv_model *model, struct varve_error *error)
{
    if (model->steps.table.count == 0)
        return VARVE_OK;
    if (is_any_on_device(model))
        VV_TRY(find_threads(model, error));
    VV_TRY(sort_steps(model, error));
    struct calendar tracks = { 0 }, processes = { 0 };
    enum varve_code code = make_calendar(model, false, &tracks, error);
    if (code == VARVE_OK)
        code = make_calendar(model, true, &processes, error);
    if (code == VARVE_OK) {
        link_slices(model, &tracks, &processes);
        code = find_step_slices(model, error);
    }
    free(tracks.changes);
    free(processes.changes);
    return code;
}
