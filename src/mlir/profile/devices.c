/* SPDX-License-Identifier: Apache-2.0 */
/* devices.c — the executions on devices. Work belongs to the instruction or the operator that it
 * was done for; if neither is known, it is a kernel by its symbol. */
#include <stdlib.h>

#include "derive/devices/device_work.h"
#include "derive/operators/own_time.h"
#include "mlir/profile/build.h"

struct devices {
    struct vv_mlir_build *build;
    struct vv_device_work work;
    int64_t *own_ns;       /* by slice                                                          */
    uint32_t *thing_of;    /* by slice of a thread: the thing that its work is done for; VV_NONE */
    uint32_t *slice_of;    /* the slice that executes that thing                                */
};

/* The outermost of the operators around a slice that only their types name, or the innermost other
 * thing. */
static enum varve_code find_callers(struct devices *devices, struct varve_error *error)
{
    struct vv_mlir_build *build = devices->build;
    const struct vv_slices *slices = &build->model->slices;
    for (uint32_t slice = 0; slice < slices->table.count; slice++) {
        uint32_t parent = slices->parent[slice], own = VV_NONE;
        uint32_t outer = parent != VV_NONE ? devices->thing_of[parent] : VV_NONE;
        devices->thing_of[slice] = VV_NONE;
        if (build->model->tracks.kind[slices->track[slice]] != VV_TRACK_THREAD)
            continue;
        VV_TRY(vv_mlir_thing_of(build, slice, VV_NONE, &own, error));
        bool is_part = own != VV_NONE && outer != VV_NONE &&
                       vv_mlir_is_typed_only(&build->things[own].key) &&
                       vv_mlir_is_typed_only(&build->things[outer].key);
        bool is_outer = own == VV_NONE || is_part;
        devices->thing_of[slice] = is_outer ? outer : own;
        devices->slice_of[slice] =
            is_outer && parent != VV_NONE ? devices->slice_of[parent] : slice;
    }
    return VARVE_OK;
}

static void own_times(struct devices *devices, uint32_t *stack)
{
    const struct vv_model *model = devices->build->model;
    for (uint32_t track = 0; track < model->tracks.table.count; track++) {
        uint32_t first, last;
        vv_track_rows(model, track, &first, &last);
        if (model->tracks.kind[track] == VV_TRACK_DEVICE)
            vv_own_time(&model->slices, first, last, INT64_MAX, stack, devices->own_ns);
    }
}

struct done_for {
    uint32_t thing;  /* VV_NONE = nobody knows                                                   */
    uint32_t slice;  /* of the operator, if the work is an operator's; else its own             */
    bool is_named;   /* it is of an instruction, an operator or a numbered dispatch              */
};

static enum varve_code find_thing(struct devices *devices, const struct vv_work_item *item,
                                  uint32_t device, struct done_for *out, struct varve_error *error)
{
    struct vv_mlir_build *build = devices->build;
    const struct vv_model *model = build->model;
    uint32_t slice = model->activities.slice[item->activity];
    uint32_t owner = vv_device_owner(model, item->activity);
    *out = (struct done_for){ .slice = slice };
    VV_TRY(vv_mlir_thing_of(build, slice, device, &out->thing, error));
    uint32_t caller = owner != VV_NONE ? devices->thing_of[owner] : VV_NONE;
    const struct vv_mlir_key *own = out->thing != VV_NONE ? &build->things[out->thing].key : NULL;
    out->is_named = own != NULL && (own->name != 0 || own->command != 0);
    if (out->is_named || caller == VV_NONE)
        return VARVE_OK;
    struct vv_mlir_key key = build->things[caller].key;
    key.device = device;
    out->slice = devices->slice_of[owner];
    out->is_named = true;
    return vv_mlir_add_thing(build, &key, &out->thing, error);
}

static enum varve_code take(struct devices *devices, const struct vv_work_item *item,
                            uint32_t device, bool *out_named, struct varve_error *error)
{
    struct vv_mlir_build *build = devices->build;
    uint32_t slice = build->model->activities.slice[item->activity];
    uint32_t owner = vv_device_owner(build->model, item->activity);
    struct done_for done;
    VV_TRY(find_thing(devices, item, device, &done, error));
    *out_named |= done.is_named;
    if (done.thing == VV_NONE) {
        build->profile->unnamed_ns += devices->own_ns[slice];
        return VARVE_OK;
    }
    uint32_t step = build->model->slices.step[owner != VV_NONE ? owner : slice];
    return vv_mlir_add_execution(
        build,
        &(struct vv_mlir_execution){ .thing = done.thing, .slice = done.slice, .step = step,
                                     .begin_ns = item->begin_ns,
                                     .duration_ns = item->end_ns - item->begin_ns,
                                     .self_ns = devices->own_ns[slice] },
        error);
}

static int compare_work(const void *a, const void *b)
{
    const struct vv_mlir_execution *left = a, *right = b;
    if (left->slice != right->slice)
        return left->slice < right->slice ? -1 : 1;
    if (left->thing != right->thing)
        return left->thing < right->thing ? -1 : 1;
    return (left->begin_ns > right->begin_ns) - (left->begin_ns < right->begin_ns);
}

/* The kernels that one call of an operator launched are one execution, with their sum. */
static void join_work(struct vv_mlir_build *build)
{
    size_t kept = 0;
    if (build->execution_count > 0)
        qsort(build->executions, build->execution_count, sizeof *build->executions, compare_work);
    for (size_t i = 0; i < build->execution_count; i++) {
        const struct vv_mlir_execution *next = &build->executions[i];
        struct vv_mlir_execution *last = kept > 0 ? &build->executions[kept - 1] : NULL;
        if (last == NULL || last->slice != next->slice || last->thing != next->thing) {
            build->executions[kept++] = *next;
            continue;
        }
        last->duration_ns += next->duration_ns;
        last->self_ns += next->self_ns;
    }
    build->execution_count = kept;
}

enum varve_code vv_mlir_of_devices(struct vv_mlir_build *build, const char *device,
                                   bool *out_named, struct varve_error *error)
{
    struct devices devices = { .build = build };
    uint32_t count = (uint32_t)build->model->slices.table.count, *stack;
    *out_named = false;
    VV_TRY(vv_device_work_init(&devices.work, build->scope, device, error));
    if (devices.work.count == 0)
        return VARVE_OK;
    VV_TRY(VV_SCRATCH_ZEROS(build->scratch, &devices.own_ns, count, error));
    VV_TRY(VV_SCRATCH_ARRAY(build->scratch, &devices.thing_of, count, error));
    VV_TRY(VV_SCRATCH_ARRAY(build->scratch, &devices.slice_of, count, error));
    VV_TRY(VV_SCRATCH_ARRAY(build->scratch, &stack, count, error));
    own_times(&devices, stack);
    VV_TRY(find_callers(&devices, error));
    for (size_t d = 0; d < devices.work.device_count; d++)
        for (size_t i = devices.work.devices[d].first; i < devices.work.devices[d].last; i++)
            VV_TRY(take(&devices, &devices.work.items[i], devices.work.devices[d].id, out_named,
                        error));
    join_work(build);
    if (!*out_named && device == NULL) {
        build->execution_count = 0;
        build->profile->unnamed_ns = 0;
    }
    return VARVE_OK;
}
