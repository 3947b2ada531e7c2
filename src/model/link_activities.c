/* SPDX-License-Identifier: Apache-2.0 */
/* link_activities.c — which call started a piece of device work, and which operator it was done for.
 *
 * A call and what it started have the same correlation id within their scope; of several calls with one id the first in
 * time counts. The operator is the one whose external id the activity names, else the innermost one around the
 * call. Where ids do not tell, an arrow from a call or an operator to the work does. Kineto writes an activity's own correlation as its external id where it knows of no operator: that
 * names none. */
#include <stdlib.h>

#include "base/large_pages.h"
#include "model/build.h"
#include "model/id_map.h"
#include "model/outward.h"
#include "varve/varve.h"

#define AHEAD 12u /* activities: as long as memory takes to answer                               */

struct linking {
    struct vv_model *model;
    uint32_t *op_slices;      /* slice of each row in ops                                       */
    struct vv_id_map calls;   /* correlation -> row in activities                               */
    struct vv_id_map callers; /* external -> row in slices                                      */
};

static uint32_t scope_of(const struct vv_model *model, uint32_t slice)
{
    uint32_t track = model->slices.track[slice];
    uint32_t process = track < model->tracks.table.count ? model->tracks.process[track] : VV_NONE;
    return process < model->processes.table.count ? model->processes.scope[process] : 0;
}

/* Have all activities the slices that the importer has named? Rows may have moved since. */
static bool are_found(const struct vv_model *model)
{
    const struct vv_activities *activities = &model->activities;
    for (uint32_t i = 0; i < activities->table.count; i++)
        if (activities->slice[i] >= model->slices.table.count || model->slices.activity[activities->slice[i]] != i)
            return false;
    return true;
}

/* Whole columns of links that are nearly blank are not looked through in vain: pages that are read count as memory. */
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

static void put_call(struct linking *linking, uint32_t row)
{
    struct vv_model *model = linking->model;
    const struct vv_activities *activities = &model->activities;
    uint32_t *place = vv_id_map_put(&linking->calls, scope_of(model, activities->slice[row]),
                                    activities->correlation[row]);
    if (*place == VV_NONE) {
        *place = row;
        return;
    }
    model->health.duplicate_correlations++;
    if (model->slices.begin_ns[activities->slice[row]] <
        model->slices.begin_ns[activities->slice[*place]])
        *place = row;
}

/* Of the activity that comes AHEAD rows later. */
static void prefetch(const struct linking *linking, uint32_t row)
{
    const struct vv_activities *activities = &linking->model->activities;
    if (linking->calls.slots == NULL || activities->table.count - row <= AHEAD)
        return;
    uint32_t slice = activities->slice[row + AHEAD];
    if (slice != VV_NONE && activities->correlation[row + AHEAD] != 0)
        vv_id_map_prefetch(&linking->calls, scope_of(linking->model, slice), activities->correlation[row + AHEAD]);
}

static enum varve_code map_calls(struct linking *linking, struct varve_error *error)
{
    struct vv_model *model = linking->model;
    const struct vv_activities *activities = &model->activities;
    struct vv_id_range range = { 0 };
    for (uint32_t i = 0; i < activities->table.count; i++)
        if (is_call(activities, i))
            vv_id_range_add(&range, scope_of(model, activities->slice[i]),
                            activities->correlation[i]);
    VV_TRY(vv_id_map_init(&linking->calls, &range, error));
    for (uint32_t i = 0; i < activities->table.count; i++) {
        prefetch(linking, i);
        if (is_call(activities, i))
            put_call(linking, i);
    }
    return VARVE_OK;
}

static void put_caller(struct linking *linking, uint32_t op)
{
    struct vv_model *model = linking->model;
    uint32_t slice = linking->op_slices[op];
    uint32_t *place = vv_id_map_put(&linking->callers, scope_of(model, slice), model->ops.external[op]);
    if (*place == VV_NONE || model->slices.begin_ns[slice] < model->slices.begin_ns[*place])
        *place = slice;
}

static enum varve_code map_callers(struct linking *linking, struct varve_error *error)
{
    struct vv_model *model = linking->model;
    struct vv_id_range range = { 0 };
    for (uint32_t op = 0; op < model->ops.table.count; op++)
        if (model->ops.external[op] != 0 && linking->op_slices[op] != VV_NONE)
            vv_id_range_add(&range, scope_of(model, linking->op_slices[op]), model->ops.external[op]);
    VV_TRY(vv_id_map_init(&linking->callers, &range, error));
    for (uint32_t op = 0; op < model->ops.table.count; op++)
        if (model->ops.external[op] != 0 && linking->op_slices[op] != VV_NONE)
            put_caller(linking, op);
    return VARVE_OK;
}

/* ---- each activity ---- */

static uint32_t operator_around(const struct vv_model *model, uint32_t slice)
{
    return slice == VV_NONE ? VV_NONE
                            : vv_outward_operator(model, model->slices.parent[slice], VARVE_LAYER_OP | VARVE_LAYER_COMM);
}

static bool is_device_work(enum vv_activity_kind kind)
{
    return kind != VV_ACTIVITY_CALL && kind != VV_ACTIVITY_ANNOTATION;
}

static void link_by_ids(struct linking *linking, uint32_t row)
{
    struct vv_activities *activities = &linking->model->activities;
    uint32_t scope = scope_of(linking->model, activities->slice[row]);
    uint64_t correlation = activities->correlation[row], external = activities->external[row];
    if (is_device_work(activities->kind[row]) && correlation != 0) {
        uint32_t call = vv_id_map_find(&linking->calls, scope, correlation);
        activities->launch[row] = call == VV_NONE ? VV_NONE : activities->slice[call];
    }
    if (external != 0 && external != correlation)
        activities->caller[row] = vv_id_map_find(&linking->callers, scope, external);
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
    if (activities->launch[row] == VV_NONE && (layer & (VARVE_LAYER_RUNTIME | VARVE_LAYER_RUNTIME_L1)))
        activities->launch[row] = from;
    if (activities->caller[row] == VV_NONE && (layer & (VARVE_LAYER_OP | VARVE_LAYER_COMM)))
        activities->caller[row] = from;
}

static void link_by_place(struct vv_model *model, uint32_t row)
{
    struct vv_activities *activities = &model->activities;
    enum vv_activity_kind kind = activities->kind[row];
    uint32_t launch = kind == VV_ACTIVITY_CALL ? activities->slice[row] : activities->launch[row];
    model->health.unlinked +=
        launch == VV_NONE && is_device_work(kind) && kind <= VV_ACTIVITY_SET;
    if (activities->caller[row] == VV_NONE)
        activities->caller[row] = operator_around(model, launch);
}

static void link_all(struct linking *linking)
{
    struct vv_model *model = linking->model;
    const struct vv_activities *activities = &model->activities;
    uint64_t count = activities->table.count;
    for (uint32_t i = 0; i < count; i++) {
        prefetch(linking, i);
        if (activities->slice[i] != VV_NONE)
            link_by_ids(linking, i);
    }
    for (uint64_t i = 0; i < model->flows.table.count; i++)
        link_by_flow(model, i);
    for (uint32_t i = 0; i < count; i++)
        if (activities->slice[i] != VV_NONE)
            link_by_place(model, i);
}

/* A collective is its operator's; without one, the device's. */
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
    linking.op_slices = vv_large_pages_alloc((model->ops.table.count + 1) * sizeof *linking.op_slices);
    if (linking.op_slices == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory to link %llu operators",
                (unsigned long long)model->ops.table.count);
    find_slices(&linking);
    enum varve_code code = map_calls(&linking, error);
    if (code == VARVE_OK)
        code = map_callers(&linking, error);
    if (code == VARVE_OK) {
        link_all(&linking);
        link_collectives(&linking);
    }
    vv_id_map_deinit(&linking.calls);
    vv_id_map_deinit(&linking.callers);
    free(linking.op_slices);
    return code;
}
