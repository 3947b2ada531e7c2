/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/lane.h"

#include <pthread.h>
#include <string.h>

#include "base/system/os.h"
#include "record/stream/recorder.h"

_Thread_local struct vv_lane *vv_own_lane;
_Thread_local uint32_t vv_lane_suspended;

static struct vv_lane *lanes; /* atomic: grows in front                      */
static uint64_t thread_count; /* under the lock                              */
static pthread_key_t exit_key;

void vv_lane_init(void (*on_exit)(void *lane))
{
    pthread_key_create(&exit_key, on_exit);
}

static uint64_t seed_of(const struct vv_lane *lane)
{
    return vv_clock_ticks() ^ vv_clock_monotonic_ns() << 20 ^ vv_os_tid() << 40 ^
           lane->number << 8 ^ (uint64_t)(uintptr_t)lane;
}

/* Lock held. */
static struct vv_lane *take(void)
{
    struct vv_lane *lane = lanes;
    while (lane != NULL && lane->is_used)
        lane = lane->next;
    if (lane == NULL) {
        lane = vv_os_reserve(sizeof *lane);
        if (lane == NULL)
            return NULL;
        lane->next = lanes;
        __atomic_store_n(&lanes, lane, __ATOMIC_RELEASE);
    }
    lane->is_used = true;
    __atomic_store_n(&lane->number, ++thread_count, __ATOMIC_RELAXED);
    __atomic_store_n(&lane->tid, vv_os_tid(), __ATOMIC_RELAXED);
    lane->ids = 0;
    lane->version = lane->period = 0; /* looks at its first range */
    lane->depth = lane->step = lane->floor = lane->view_count = lane->own_count = 0;
    vv_lane_cut(lane, 0);
    vv_generator_seed(&lane->generator, seed_of(lane));
    pthread_setspecific(exit_key, lane);
    return lane;
}

struct vv_lane *vv_lane_make(void)
{
    if (vv_own_lane != NULL)
        return vv_own_lane;
    if (!vv_recorder_lock())
        return NULL;
    if (vv_own_lane == NULL)
        vv_own_lane = take();
    vv_recorder_unlock();
    return vv_own_lane;
}

void vv_lane_give(struct vv_lane *lane)
{
    if (!vv_recorder_lock())
        return;
    lane->is_used = lane->busy = lane->inside = false;
    vv_own_lane = NULL;
    vv_recorder_unlock();
}

void vv_lane_forked(void)
{
    for (struct vv_lane *lane = lanes; lane != NULL; lane = lane->next) {
        if (lane == vv_own_lane)
            continue;
        lane->is_used = lane->busy = lane->inside = false;
        lane->running = NULL;
        for (uint32_t i = 0; i < lane->entry_count && i < VV_ENTRIES; i++)
            lane->entries[i].word &= ~UINT64_C(1);
    }
    if (vv_own_lane != NULL) {
        vv_own_lane->tid = vv_os_tid();
        vv_generator_seed(&vv_own_lane->generator, seed_of(vv_own_lane));
    }
}

struct vv_lane *vv_lane_first(void)
{
    return __atomic_load_n(&lanes, __ATOMIC_ACQUIRE);
}

/* ---- who observes the thread ---- */

/* Counts what was left at the last look down to now. */
static void settle(struct vv_lane *lane)
{
    for (unsigned scope = 0; scope < VV_SCOPES; scope++) {
        uint64_t passed = lane->span[scope] - lane->wait[scope];
        for (uint32_t i = 0; i < lane->view_count; i++)
            if (lane->views[i].left[scope] != VV_NEVER)
                lane->views[i].left[scope] -= passed;
    }
}

static void draw(struct vv_lane *lane, struct vv_view *view, unsigned scope)
{
    bool sees = (view->scopes >> scope & 1) != 0;
    view->left[scope] = !sees ? VV_NEVER
                      : view->scale == 0 ? 1
                                         : vv_geometric_draw(&lane->generator, view->scale);
}

static void set_wait(struct vv_lane *lane, unsigned scope)
{
    uint64_t least = VV_NEVER;
    for (uint32_t i = 0; i < lane->view_count; i++)
        if (lane->views[i].left[scope] < least)
            least = lane->views[i].left[scope];
    lane->wait[scope] = lane->span[scope] = least;
}

/* Puts the slot at the views' place `at`; if the lane knew it, its counts stay. The views from `at`
 * on are the former ones that are not placed yet. */
static void place(struct vv_lane *lane, uint32_t at, struct vv_slot *slot)
{
    uint64_t tag = vv_slot_tag(slot);
    uint32_t i = at;
    while (i < lane->view_count && (lane->views[i].slot != slot || lane->views[i].tag != tag))
        i++;
    if (i == at && i < lane->view_count)
        return;
    struct vv_view view;
    if (i < lane->view_count) {
        view = lane->views[i];
    } else {
        if (lane->view_count == VV_VIEWS) /* the last one there is no former one that stays */
            lane->view_count--;
        i = lane->view_count++;
        const struct varve_observer *observer = &slot->observer;
        uint32_t scopes = observer->scopes != 0 ? observer->scopes : VARVE_OBSERVE_ALL;
        view = (struct vv_view){ slot, tag, observer->probability == 0 ? 0 : scopes,
                                 observer->needs, slot->scale, { 0 } };
        for (unsigned scope = 0; scope < VV_SCOPES; scope++)
            draw(lane, &view, scope);
    }
    memmove(&lane->views[at + 1], &lane->views[at], (i - at) * sizeof view);
    lane->views[at] = view;
}

static bool is_live(const struct vv_slot *slot)
{
    return slot != NULL && vv_slot_state(vv_slot_tag(slot)) == VV_SLOT_LIVE;
}

void vv_lane_look(struct vv_lane *lane)
{
    if (!vv_recorder_lock())
        return;
    size_t count;
    uint32_t placed = 0;
    struct vv_slot *const *globals = vv_slots_of_process(&count);
    lane->version = vv_slots_version();
    settle(lane);
    for (size_t i = 0; i < count; i++)
        if (is_live(globals[i]))
            place(lane, placed++, globals[i]);
    for (uint32_t i = 0; i < lane->own_count; i++) {
        struct vv_slot *slot = vv_slot_find(lane->own[i]);
        if (is_live(slot))
            place(lane, placed++, slot);
    }
    lane->view_count = placed;
    for (unsigned scope = 0; scope < VV_SCOPES; scope++)
        set_wait(lane, scope);
    vv_recorder_unlock();
}

/* A range that finds no room for its entries is seen by nobody more. */
uint32_t vv_lane_choose(struct vv_lane *lane, unsigned scope)
{
    uint32_t needs = 0;
    if (--lane->wait[scope] != 0)
        return 0;
    uint64_t passed = lane->span[scope];
    for (uint32_t i = 0; i < lane->view_count; i++) {
        struct vv_view *view = &lane->views[i];
        if (view->left[scope] == VV_NEVER || (view->left[scope] -= passed) != 0)
            continue;
        draw(lane, view, scope);
        if (lane->entry_count == VV_ENTRIES)
            continue;
        struct vv_entry *entry = &lane->entries[lane->entry_count];
        vv_lane_cut(lane, lane->entry_count + 1);
        __atomic_store_n(&entry->slot, view->slot, __ATOMIC_RELAXED);
        __atomic_store_n(&entry->tag, view->tag, __ATOMIC_RELAXED);
        needs |= view->needs;
    }
    set_wait(lane, scope);
    return needs;
}
