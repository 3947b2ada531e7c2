/* SPDX-License-Identifier: Apache-2.0 */
/* activity.c — the calls of varve/device.h: clocks, tracks, and the work that devices report. */
#include "device/activity.h"

#include "base/error.h"
#include "record/hot_path.h"
#include "record/track.h"

/* ---- clocks and tracks ---- */

static enum varve_code check(const char *function, bool is_large, const char *name,
                             struct varve_error *error)
{
    if (!is_large)
        VV_FAIL(error, VARVE_INVALID, "%s: struct_size is 0 or of an unknown version", function);
    if (name == NULL || *name == '\0')
        VV_FAIL(error, VARVE_INVALID, "%s: the name is missing", function);
    if (!vv_recorder_lock())
        VV_FAIL(error, VARVE_STATE, "%s: called by a signal handler inside a call of Varve's",
                function);
    return VARVE_OK;
}

VARVE_API enum varve_code varve_clock_add(const struct varve_clock_info *info, uint32_t *out_clock,
                                          struct varve_error *error)
{
    *out_clock = 0;
    bool is_large = info != NULL && info->struct_size >= sizeof *info;
    VV_TRY(check("varve_clock_add", is_large, is_large ? info->name : NULL, error));
    *out_clock = vv_device_clock_keep(info);
    vv_recorder_unlock();
    if (*out_clock == 0)
        VV_FAIL(error, VARVE_LIMIT, "varve_clock_add: at most %u clocks of devices",
                VARVE_DEVICE_CLOCKS_MAX);
    return VARVE_OK;
}

VARVE_API enum varve_code varve_track_add(const struct varve_track_info *info, uint32_t *out_track,
                                          struct varve_error *error)
{
    *out_track = 0;
    bool is_large = info != NULL && info->struct_size >= sizeof *info;
    if (is_large && (info->clock < VARVE_CLOCK_TICKS || info->clock > VARVE_CLOCK_REALTIME) &&
        !vv_device_clock_is_there(info->clock))
        VV_FAIL(error, VARVE_NOT_FOUND, "varve_track_add: there is no clock %u: add it first",
                info->clock);
    VV_TRY(check("varve_track_add", is_large, is_large ? info->name : NULL, error));
    *out_track = vv_track_keep(info);
    vv_recorder_unlock();
    if (*out_track == 0)
        VV_FAIL(error, VARVE_LIMIT, "varve_track_add: at most %u tracks of devices",
                VARVE_DEVICE_TRACKS_MAX);
    return VARVE_OK;
}

VARVE_API uint64_t varve_ticks(void)
{
    return vv_clock_ticks();
}

VARVE_API void varve_clock_pair(uint32_t clock, int64_t value, uint64_t ticks,
                                uint64_t uncertainty_ns)
{
    if (!vv_device_clock_is_there(clock) || !vv_recorder_lock())
        return;
    if (!vv_device_clock_met(clock, value, ticks, uncertainty_ns))
        vv_thread_discard(&vv_self, 1);
    vv_recorder_unlock();
}

/* ---- work ---- */

VARVE_API void varve_emit_launch(uint64_t correlation)
{
    struct vv_self *self = vv_self_in_epoch();
    if (self->depth == 0 || vv_is_skipped(self, self->depth))
        return;
    vv_put_fields(self, VV_EVENT_LAUNCH, &correlation, 1);
}

VV_INLINE void put(struct vv_self *self, const struct vv_activity *activity)
{
    const uint64_t fields[] = { (uint64_t)activity->name << 32 | activity->track, activity->kind,
                                (uint64_t)activity->begin, (uint64_t)activity->end,
                                activity->correlation, activity->bytes };
    vv_self_in_epoch();
    struct vv_place place =
        vv_reserve_on_track(self, 8 + sizeof fields, activity->name, activity->track);
    vv_put_fields_at(self, &place, VV_EVENT_ACTIVITY, fields, sizeof fields / 8);
}

void vv_activity_put(const struct vv_activity *activity)
{
    put(vv_self_in_epoch(), activity);
}

/* 0: there is no such track, or no room. */
static uint32_t name_on(uint32_t track, const char *name)
{
    return vv_track_is_there(track) ? vv_string_of(name) : 0;
}

VARVE_API void varve_emit_activity(const struct varve_activity_info *info)
{
    struct vv_self *self = vv_self_in_epoch();
    bool is_large = info != NULL && info->struct_size >= sizeof *info;
    uint32_t name = is_large ? name_on(info->track, info->name) : 0;
    if (name == 0) {
        vv_thread_discard(self, 1);
        return;
    }
    put(self, &(struct vv_activity){ name, info->track, info->kind, info->begin, info->end,
                                     info->correlation, info->bytes });
}

void vv_kernel_put(const struct vv_kernel *kernel)
{
    struct vv_self *self = vv_self_in_epoch();
    uint32_t name = name_on(kernel->track, kernel->name);
    if (name == 0) {
        vv_thread_discard(self, 1);
        return;
    }
    uint64_t fields[] = { (uint64_t)name << 32 | kernel->track, (uint64_t)kernel->begin,
                          (uint64_t)kernel->correlation << 32 | kernel->duration, 0, 0, 0,
                          (uint64_t)kernel->shared_bytes << 32 | kernel->registers };
    memcpy(&fields[3], kernel->grid, sizeof kernel->grid);
    memcpy((char *)&fields[3] + sizeof kernel->grid, kernel->block, sizeof kernel->block);
    vv_self_in_epoch();
    struct vv_place place = vv_reserve_on_track(self, 8 + sizeof fields, name, kernel->track);
    vv_put_fields_at(self, &place, VV_EVENT_KERNEL, fields, sizeof fields / 8);
}

VARVE_API void varve_emit_device_counter(const struct varve_device_counter_info *info)
{
    struct vv_self *self = vv_self_in_epoch();
    bool is_large = info != NULL && info->struct_size >= sizeof *info;
    uint32_t name = is_large ? name_on(info->track, info->name) : 0;
    if (name == 0) {
        vv_thread_discard(self, 1);
        return;
    }
    uint64_t fields[] = { (uint64_t)name << 32 | info->track, (uint64_t)info->time, 0 };
    memcpy(&fields[2], &info->value, sizeof info->value);
    vv_self_in_epoch();
    struct vv_place place = vv_reserve_on_track(self, 8 + sizeof fields, name, info->track);
    vv_put_fields_at(self, &place, VV_EVENT_DEVICE_COUNTER, fields, sizeof fields / 8);
}
