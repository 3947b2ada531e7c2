/* SPDX-License-Identifier: Apache-2.0 */
#include "derive/devices/rank_work.h"

#define WORKING_ROLES                                                                              \
    (1u << VV_HOST_OP | 1u << VV_HOST_GC | 1u << VV_HOST_COMPILE | 1u << VV_HOST_CALL |            \
     1u << VV_HOST_ALLOCATION)
#define WAITING_ROLES (1u << VV_HOST_LOADER | 1u << VV_HOST_COMM | 1u << VV_HOST_SYNC)
#define WORKING_CLASSES (VV_CLASS_ALL & ~VV_CLASS_BIT(VV_CLASS_COMM))

enum varve_code vv_rank_work_init(struct vv_rank_work *out_rank, const struct vv_device_work *work,
                                  const bool *waits, struct varve_error *error)
{
    const struct vv_model *model = work->scope->model;
    struct vv_scratch *scratch = work->scope->scratch;
    *out_rank = (struct vv_rank_work){ .work = work, .waits = waits };
    VV_TRY(vv_host_roles_init(&out_rank->roles, model, error));
    VV_TRY(VV_SCRATCH_ZEROS(scratch, &out_rank->is_known, model->processes.table.count, error));
    return VV_SCRATCH_ZEROS(scratch, &out_rank->of_process, model->processes.table.count, error);
}

/* Adds the time in which the track works: waits inside work are none. */
static enum varve_code add_track(struct vv_rank_work *rank, uint32_t track,
                                 struct vv_intervals *time, struct varve_error *error)
{
    const struct vv_slices *slices = &rank->work->scope->model->slices;
    struct vv_scratch *scratch = rank->work->scope->scratch;
    struct vv_intervals working = { .scratch = scratch }, waiting = { .scratch = scratch },
                        left = { .scratch = scratch };
    uint32_t first, last;
    vv_track_rows(rank->work->scope->model, track, &first, &last);
    for (uint32_t slice = first; slice < last; slice++) {
        unsigned role = 1u << vv_host_role_of(&rank->roles, slice);
        bool is_wait = (role & WAITING_ROLES) != 0 || rank->waits[slice];
        if (is_wait || (role & WORKING_ROLES) != 0)
            VV_TRY(vv_intervals_add(is_wait ? &waiting : &working, slices->begin_ns[slice],
                                    slices->begin_ns[slice] + slices->duration_ns[slice], error));
    }
    vv_intervals_unite(&working);
    vv_intervals_unite(&waiting);
    VV_TRY(vv_intervals_subtract(&working, &waiting, &left, error));
    for (size_t i = 0; i < left.count; i++)
        VV_TRY(vv_intervals_add(time, left.items[i].begin_ns, left.items[i].end_ns, error));
    return VARVE_OK;
}

static bool is_of_rank(const struct vv_scope *scope, uint32_t process, uint32_t other)
{
    const uint32_t *scopes = scope->model->processes.scope;
    return other == process ||
           (other < scope->model->processes.table.count && scope->ranks[process] >= 0 &&
            scopes[other] == scopes[process] && scope->ranks[other] == scope->ranks[process]);
}

static enum varve_code add_devices(const struct vv_rank_work *rank, uint32_t process,
                                   struct vv_intervals *time, struct varve_error *error)
{
    const struct vv_scope *scope = rank->work->scope;
    for (size_t d = 0; d < rank->work->device_count; d++) {
        const struct vv_device *device = &rank->work->devices[d];
        struct vv_intervals busy = { .scratch = scope->scratch };
        if (device->scope != scope->model->processes.scope[process] ||
            device->rank != scope->ranks[process])
            continue;
        VV_TRY(vv_device_busy(rank->work, device, WORKING_CLASSES, VV_ALWAYS, &busy, error));
        for (size_t i = 0; i < busy.count; i++)
            VV_TRY(vv_intervals_add(time, busy.items[i].begin_ns, busy.items[i].end_ns, error));
    }
    return VARVE_OK;
}

enum varve_code vv_rank_work_of(struct vv_rank_work *rank, uint32_t process,
                                const struct vv_intervals **out_time, struct varve_error *error)
{
    const struct vv_scope *scope = rank->work->scope;
    const struct vv_tracks *tracks = &scope->model->tracks;
    struct vv_intervals *time = &rank->of_process[process];
    *out_time = time;
    if (rank->is_known[process])
        return VARVE_OK;
    rank->is_known[process] = true;
    time->scratch = scope->scratch;
    for (uint32_t t = 0; t < tracks->table.count; t++)
        if (tracks->kind[t] == VV_TRACK_THREAD && is_of_rank(scope, process, tracks->process[t]))
            VV_TRY(add_track(rank, t, time, error));
    VV_TRY(add_devices(rank, process, time, error));
    vv_intervals_unite(time);
    return VARVE_OK;
}
