/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/gpu/calls.h"

#include <string.h>

#include "base/system/clock.h"
#include "collect/gpu/names.h"
#include "record/stream/hand_over.h"
#include "record/stream/recorder.h"
#include "varve/device.h"

static _Thread_local uint32_t depth; /* calls of this thread that have not returned               */

void vv_gpu_calls_begin(struct vv_gpu_calls *calls)
{
    __atomic_store_n(&calls->next_flush_ticks, vv_clock_in_a_second(), __ATOMIC_RELAXED);
}

void vv_gpu_calls_end(struct vv_gpu_calls *calls)
{
    __atomic_store_n(&calls->has_ended, true, __ATOMIC_RELAXED);
}

bool vv_gpu_calls_have_ended(const struct vv_gpu_calls *calls)
{
    return __atomic_load_n(&calls->has_ended, __ATOMIC_RELAXED);
}

bool vv_gpu_call_is_outer(void)
{
    return depth == 0;
}

bool vv_gpu_call_name(struct vv_gpu_calls *calls, struct varve_site *site, const char *name,
                      size_t length)
{
    if (site->name != NULL)
        return true;
    if (calls->names_used + length + 1 > calls->names_bytes)
        return false;
    char *text = memcpy(calls->names + calls->names_used, name, length);
    text[length] = '\0';
    calls->names_used += length + 1;
    site->layer = VARVE_LAYER_RUNTIME;
    site->name = text;
    return true;
}

/* ---- what was recorded when ---- */

static void note_switch(struct vv_gpu_calls *calls, uint64_t correlation, bool is_on)
{
    uint32_t count = __atomic_load_n(&calls->switch_count, __ATOMIC_ACQUIRE);
    bool was_on = count == 0 ||
                  __atomic_load_n(&calls->switches[(count - 1) % VV_GPU_SWITCHES].is_on,
                                  __ATOMIC_RELAXED);
    if (is_on == was_on || __atomic_exchange_n(&calls->is_switching, true, __ATOMIC_ACQUIRE))
        return;
    bool is_first = count == __atomic_load_n(&calls->switch_count, __ATOMIC_RELAXED);
    if (is_first) {
        __atomic_store_n(&calls->switches[count % VV_GPU_SWITCHES].correlation, correlation,
                         __ATOMIC_RELAXED);
        __atomic_store_n(&calls->switches[count % VV_GPU_SWITCHES].is_on, is_on,
                         __ATOMIC_RELAXED);
        __atomic_store_n(&calls->switch_count, count + 1, __ATOMIC_RELEASE);
    }
    __atomic_store_n(&calls->is_switching, false, __ATOMIC_RELEASE);
    if (is_first && !is_on)
        vv_hand_over_ask();
}

bool vv_gpu_call_was_on(const struct vv_gpu_calls *calls, uint64_t correlation)
{
    uint32_t count = __atomic_load_n(&calls->switch_count, __ATOMIC_ACQUIRE);
    for (uint32_t i = count; i > 0 && count - i < VV_GPU_SWITCHES; i--)
        if (correlation >= __atomic_load_n(
                               &calls->switches[(i - 1) % VV_GPU_SWITCHES].correlation,
                               __ATOMIC_RELAXED))
            return __atomic_load_n(&calls->switches[(i - 1) % VV_GPU_SWITCHES].is_on,
                                   __ATOMIC_RELAXED);
    return true;
}

/* ---- a call ---- */

/* What begin and end of a call share: is the range open, and in which epoch did it begin? */
uint64_t vv_gpu_call_begin(struct vv_gpu_calls *calls, struct varve_site *site,
                           uint64_t correlation)
{
    uint32_t layers = varve_layers();
    bool is_on = (layers & VARVE_LAYER_DEVICE) != 0;
    note_switch(calls, correlation, is_on);
    bool is_range = depth++ == 0 && (layers & VARVE_LAYER_RUNTIME) != 0;
    if (is_range)
        varve_begin(site);
    if (is_on)
        varve_emit_launch(correlation);
    return is_range ? (uint64_t)vv_epoch() << 1 | 1 : 0;
}

void vv_gpu_launch_alone(struct vv_gpu_calls *calls, uint64_t correlation)
{
    bool is_on = (varve_layers() & VARVE_LAYER_DEVICE) != 0;
    note_switch(calls, correlation, is_on);
    if (is_on)
        varve_emit_launch(correlation);
}

/* At most once a second, by one thread. */
static void flush_now_and_then(struct vv_gpu_calls *calls)
{
    uint64_t due = __atomic_load_n(&calls->next_flush_ticks, __ATOMIC_RELAXED);
    if ((int64_t)(vv_clock_ticks() - due) < 0 ||
        !__atomic_compare_exchange_n(&calls->next_flush_ticks, &due, vv_clock_in_a_second(),
                                     false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        return;
    vv_gpu_names_look();
    calls->flush();
}

void vv_gpu_call_end(struct vv_gpu_calls *calls, uint64_t begun)
{
    if ((begun & 1) != 0 && begun >> 1 == vv_epoch())
        varve_end();
    depth -= depth > 0;
    if (depth == 0) {
        flush_now_and_then(calls);
        vv_hand_over_where_asked();
        if (calls->describe != NULL)
            calls->describe();
    }
}
