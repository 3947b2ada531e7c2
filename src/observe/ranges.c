/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/ranges.h"

#include <string.h>

#include "ctf/metadata_write.h"
#include "observe/call.h"
#include "record/text_hash.h"

#define SCOPE_STEP 12u
_Static_assert(VARVE_OBSERVE_STEP == 1u << SCOPE_STEP && VARVE_OBSERVE_ALL >> VV_SCOPES == 0,
               "a scope is a bit");

static uint64_t missed; /* atomic */

static void miss(void)
{
    __atomic_fetch_add(&missed, 1, __ATOMIC_RELAXED);
}

uint64_t vv_ranges_missed(void)
{
    return __atomic_load_n(&missed, __ATOMIC_RELAXED);
}

/* Ranges of a former period have no observers any more, and were not all seen. */
static void forget(struct vv_lane *lane)
{
    vv_ranges_close(lane, 0, VARVE_OBSERVED_UNFINISHED);
    lane->period = vv_slots_period();
}

static struct vv_lane *come_in(struct vv_lane *lane)
{
    if (lane == NULL || lane->busy) {
        miss();
        return NULL;
    }
    lane->busy = true;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (VARVE_UNLIKELY(lane->period != vv_slots_period()) && !lane->inside)
        forget(lane);
    return lane;
}

struct vv_lane *vv_ranges_enter(void)
{
    return come_in(vv_own_lane != NULL ? vv_own_lane : vv_lane_make());
}

void vv_ranges_leave(struct vv_lane *lane)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    lane->busy = false;
}

unsigned vv_ranges_scope(uint32_t layer)
{
    return (unsigned)__builtin_ctz(vv_layer_single(layer));
}

/* ---- frames ---- */

struct vv_frame *vv_ranges_open(struct vv_lane *lane, unsigned scope, uint32_t layer,
                                const char *name, uint32_t *out_needs)
{
    *out_needs = 0;
    if (lane->depth++ >= VV_FRAMES) {
        miss();
        return NULL;
    }
    struct vv_frame *frame = &lane->frames[lane->depth - 1];
    frame->first = lane->entry_count;
    frame->count = 0;
    frame->key = 0;
    if (lane->inside || vv_lane_suspended != 0)
        return frame;
    if (VARVE_UNLIKELY(lane->version != vv_slots_version()))
        vv_lane_look(lane);
    uint32_t needs = vv_lane_choose(lane, scope);
    frame->count = lane->entry_count - frame->first;
    if (frame->count == 0)
        return frame;
    *out_needs = needs;
    frame->what = (struct varve_observed){
        .struct_size = sizeof frame->what, .scope = 1u << scope, .layer = vv_layer_single(layer),
        .name = name, .thread = lane->tid, .thread_number = lane->number, .step = -1,
        .sequence = -1
    };
    if ((needs & VARVE_NEED_IDS) != 0)
        frame->what.id = lane->number << 40 | ++lane->ids;
    return frame;
}

void vv_ranges_start(struct vv_lane *lane, struct vv_frame *frame)
{
    if (frame->count == 0)
        return;
    for (uint32_t i = 0; i < frame->count; i++)
        vv_call_start(lane, &lane->entries[frame->first + i], &frame->what);
    vv_call_leave(lane);
    frame->what.info = NULL;
    if (frame->what.site != NULL)
        return;
    uint32_t length = vv_text_cut(frame->what.name, sizeof frame->name - 1);
    memcpy(frame->name, frame->what.name, length);
    frame->name[length] = '\0';
    frame->what.name = frame->name;
}

void vv_ranges_close(struct vv_lane *lane, uint32_t depth, uint32_t flags)
{
    while (lane->depth > depth) {
        if (lane->depth <= VV_FRAMES) {
            struct vv_frame *frame = &lane->frames[lane->depth - 1];
            frame->what.flags |= flags;
            for (uint32_t i = 0; i < frame->count; i++)
                vv_call_end(lane, &lane->entries[frame->first + i], &frame->what);
            if (frame->count != 0)
                vv_call_leave(lane);
            vv_lane_cut(lane, frame->first);
        }
        lane->depth--;
        if (lane->step > lane->depth)
            lane->step = 0;
    }
}

/* ---- what the recorder tells ---- */

static void on_begin(const struct varve_site *site)
{
    struct vv_lane *lane = vv_ranges_enter();
    if (lane == NULL)
        return;
    uint32_t needs;
    const char *name = site->name != NULL ? site->name : "";
    struct vv_frame *frame = vv_ranges_open(lane, vv_ranges_scope(site->layer), site->layer, name,
                                            &needs);
    if (frame != NULL && frame->count != 0) {
        frame->what.site = site;
        vv_ranges_start(lane, frame);
    }
    vv_ranges_leave(lane);
}

static void on_begin_name(const char *name, uint32_t layer)
{
    struct vv_lane *lane = vv_ranges_enter();
    if (lane == NULL)
        return;
    uint32_t needs;
    struct vv_frame *frame = vv_ranges_open(lane, vv_ranges_scope(layer), layer, name, &needs);
    if (frame != NULL)
        vv_ranges_start(lane, frame);
    vv_ranges_leave(lane);
}

/* A thread without a lane has no open range. */
static struct vv_lane *enter_to_end(void)
{
    return vv_own_lane != NULL ? come_in(vv_own_lane) : NULL;
}

static void on_end(void)
{
    struct vv_lane *lane = enter_to_end();
    if (lane == NULL)
        return;
    if (lane->depth > lane->floor && lane->depth > lane->step)
        vv_ranges_close(lane, lane->depth - 1, 0);
    vv_ranges_leave(lane);
}

/* A function of an observer begins and ends no step of the program. */
static void on_step_end(void)
{
    struct vv_lane *lane = enter_to_end();
    if (lane == NULL)
        return;
    if (lane->step != 0 && !lane->inside)
        vv_ranges_close(lane, lane->step - 1, 0);
    vv_ranges_leave(lane);
}

static void on_step_begin(int64_t index)
{
    struct vv_lane *lane = vv_ranges_enter();
    if (lane == NULL)
        return;
    if (!lane->inside) {
        uint32_t needs;
        if (lane->step != 0)
            vv_ranges_close(lane, lane->step - 1, 0);
        struct vv_frame *frame = vv_ranges_open(lane, SCOPE_STEP, VARVE_LAYER_STEP, "step", &needs);
        lane->step = lane->depth;
        if (frame != NULL && frame->count != 0) {
            frame->what.step = index;
            vv_ranges_start(lane, frame);
        }
    }
    vv_ranges_leave(lane);
}

const struct vv_observation vv_ranges_observation = {
    .begin = on_begin,
    .begin_name = on_begin_name,
    .end = on_end,
    .step_begin = on_step_begin,
    .step_end = on_step_end,
    .forked = NULL,
};
