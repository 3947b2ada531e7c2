/* SPDX-License-Identifier: Apache-2.0 */
/* observer.c — the calls of varve/observer.h that add and remove observers; and what happens to
 * observers when a thread ends, and in a forked child. */
#include <sched.h>
#include <time.h>

#include "base/error.h"
#include "base/system/os.h"
#include "observe/call.h"
#include "observe/ranges.h"
#include "record/stream/recorder.h"

/* ---- the end of a thread, and a fork ---- */

/* Whatever others still run of these observers, their threads end it: nobody waits here. */
static void remove_of(struct vv_lane *lane, const struct vv_lane *home)
{
    bool is_locked = vv_recorder_lock();
    for (struct vv_slot *slot = vv_slot_next(NULL); is_locked && slot != NULL;
         slot = vv_slot_next(slot)) {
        enum vv_slot_state state = vv_slot_state(vv_slot_tag(slot));
        if (slot->home == home && (state == VV_SLOT_LIVE || state == VV_SLOT_DISABLED))
            (void)vv_slot_remove(slot);
    }
    if (is_locked)
        vv_recorder_unlock();
    vv_call_leave(lane);
}

static void on_thread_exit(void *value)
{
    struct vv_lane *lane = value;
    if (lane->inside) { /* it ended in a function of an observer, which runs no more */
        lane->inside = false;
        lane->floor = 0;
        __atomic_store_n(&lane->running, NULL, __ATOMIC_SEQ_CST);
    }
    lane->busy = true;
    vv_ranges_close(lane, 0, VARVE_OBSERVED_UNFINISHED);
    remove_of(lane, lane);
    vv_lane_give(lane);
}

/* The observers of threads that the child does not have are gone, without a call. Those that other
 * threads were removing end with the next range. */
static void on_fork(void)
{
    vv_lane_forked();
    for (struct vv_slot *slot = vv_slot_next(NULL); slot != NULL; slot = vv_slot_next(slot)) {
        enum vv_slot_state state = vv_slot_state(vv_slot_tag(slot));
        bool is_homeless = slot->home != NULL && slot->home != vv_own_lane;
        if (is_homeless && (state == VV_SLOT_LIVE || state == VV_SLOT_DISABLED)) {
            (void)vv_slot_remove(slot);
            vv_slot_give(slot, true);
        } else if (state == VV_SLOT_ENDING || (is_homeless && state == VV_SLOT_REMOVED)) {
            vv_slot_give(slot, true);
        }
    }
}

/* ---- add ---- */

static enum varve_code check(const struct varve_observer *observer, struct varve_error *error)
{
    if (observer == NULL || observer->struct_size < sizeof *observer)
        VV_FAIL(error, VARVE_INVALID,
                "varve_observer_add: struct_size is 0 or of an unknown version");
    if (observer->start == NULL)
        VV_FAIL(error, VARVE_INVALID, "varve_observer_add: start is missing");
    if (!(observer->probability >= 0 && observer->probability <= 1))
        VV_FAIL(error, VARVE_INVALID, "varve_observer_add: the probability must be from 0 to 1");
    const uint32_t known_needs = VARVE_NEED_INPUTS | VARVE_NEED_OUTPUTS | VARVE_NEED_IDS;
    if ((observer->scopes & ~VARVE_OBSERVE_ALL) != 0 || (observer->needs & ~known_needs) != 0 ||
        (observer->flags & ~VARVE_OBSERVER_OF_THREAD) != 0)
        VV_FAIL(error, VARVE_INVALID, "varve_observer_add: unknown bits in %s",
                (observer->scopes & ~VARVE_OBSERVE_ALL) != 0 ? "scopes"
                : (observer->needs & ~known_needs) != 0      ? "needs"
                                                             : "flags");
    if (vv_os_is_privileged())
        VV_FAIL(error, VARVE_PERMISSION,
                "varve_observer_add: this process is set-user-id or has capabilities of its file");
    return VARVE_OK;
}

static struct vv_observation observation;

/* Lock held. */
static void begin_observation(void)
{
    if (vv_observation != NULL)
        return;
    if ((vv_birth_word() & VV_BIRTH_MARK) == 0)
        vv_birth_certify(); /* so that a child that nobody announces is found (doc/threading.md) */
    vv_lane_init(on_thread_exit);
    observation = vv_ranges_observation;
    observation.forked = on_fork;
    __atomic_store_n(&vv_observation, &observation, __ATOMIC_RELEASE);
}

/* The key of the lanes must be there before the first lane is. */
static bool prepare(void)
{
    if (!vv_recorder_lock())
        return false;
    begin_observation();
    vv_recorder_unlock();
    return true;
}

/* Observers of the thread that others have removed make room. Lock held. */
static bool has_room(struct vv_lane *lane)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < lane->own_count; i++)
        if (vv_slot_find(lane->own[i]) != NULL)
            lane->own[kept++] = lane->own[i];
    lane->own_count = kept;
    return kept < VARVE_OBSERVERS_OF_THREAD_MAX;
}

VARVE_API enum varve_code varve_observer_add(const struct varve_observer *observer,
                                             uint64_t *out_handle, struct varve_error *error)
{
    VV_TRY(check(observer, error));
    double p = observer->probability;
    bool is_of_thread = (observer->flags & VARVE_OBSERVER_OF_THREAD) != 0;
    struct vv_lane *lane = NULL;
    if (!prepare())
        VV_FAIL(error, VARVE_STATE,
                "varve_observer_add: called by a signal handler inside a call of Varve's");
    if (is_of_thread && (lane = vv_lane_make()) == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "varve_observer_add: no memory");
    if (!vv_recorder_lock())
        VV_FAIL(error, VARVE_STATE,
                "varve_observer_add: called by a signal handler inside a call of Varve's");
    struct vv_slot *slot = NULL;
    if (lane == NULL || has_room(lane))
        slot = vv_slot_take(observer, p > 0 && p < 1 ? vv_geometric_scale(p) : 0, lane, out_handle);
    if (slot != NULL && lane != NULL)
        lane->own[lane->own_count++] = *out_handle;
    vv_recorder_unlock();
    if (slot == NULL)
        VV_FAIL(error, VARVE_LIMIT, "varve_observer_add: at most %u observers of %s",
                lane != NULL ? VARVE_OBSERVERS_OF_THREAD_MAX : VARVE_OBSERVERS_MAX,
                lane != NULL ? "one thread" : "the process");
    return VARVE_OK;
}

/* ---- remove ---- */

static enum varve_code unknown(const char *function, uint64_t handle, struct varve_error *error)
{
    VV_FAIL(error, VARVE_NOT_FOUND, "%s: there is no observer %llu; it may have been removed",
            function, (unsigned long long)handle);
}

/* A function that runs on another thread ends in its own time. */
static void wait_a_little(int turn)
{
    if (turn < 10)
        sched_yield();
    else
        nanosleep(&(struct timespec){ 0, turn < 100 ? 20000 : 1000000 }, NULL);
}

VARVE_API enum varve_code varve_observer_remove(uint64_t handle, struct varve_error *error)
{
    if (vv_observation_get() == NULL)
        return unknown("varve_observer_remove", handle, error);
    struct vv_lane *lane = vv_ranges_enter();
    if (lane == NULL || !vv_recorder_lock()) {
        if (lane != NULL)
            vv_ranges_leave(lane);
        VV_FAIL(error, VARVE_STATE,
                "varve_observer_remove: called by a signal handler inside a call of Varve's, or "
                "there is no memory");
    }
    struct vv_slot *slot = vv_slot_find(handle);
    uint64_t removed_tag = 0;
    if (slot != NULL)
        removed_tag = vv_slot_remove(slot);
    vv_recorder_unlock();
    for (int turn = 0; slot != NULL && !lane->inside && !vv_call_finish(lane, slot, removed_tag);
         turn++) {
        vv_ranges_leave(lane); /* handlers may come */
        wait_a_little(turn);
        lane->busy = true;
    }
    vv_ranges_leave(lane);
    if (slot == NULL)
        return unknown("varve_observer_remove", handle, error);
    return VARVE_OK;
}

VARVE_API enum varve_code varve_observer_query(uint64_t handle, struct varve_observer_state *out,
                                               struct varve_error *error)
{
    if (out == NULL || out->struct_size < sizeof *out)
        VV_FAIL(error, VARVE_INVALID,
                "varve_observer_query: struct_size is 0 or of an unknown version");
    if (!vv_recorder_lock())
        VV_FAIL(error, VARVE_STATE,
                "varve_observer_query: called by a signal handler inside a call of Varve's");
    const struct vv_slot *slot = vv_slot_find(handle);
    if (slot != NULL) {
        out->is_disabled = vv_slot_state(vv_slot_tag(slot)) == VV_SLOT_DISABLED;
        out->failures = __atomic_load_n(&slot->failures, __ATOMIC_RELAXED);
        out->missed = vv_ranges_missed();
    }
    vv_recorder_unlock();
    return slot != NULL ? VARVE_OK : unknown("varve_observer_query", handle, error);
}
