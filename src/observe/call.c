/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/call.h"

#include <errno.h>

#include "record/stream/recorder.h"

#define FAILURES_MAX_DEFAULT 16u

static void publish(struct vv_lane *lane, struct vv_slot *slot)
{
    (void)__atomic_exchange_n(&lane->running, slot, __ATOMIC_SEQ_CST);
}

/* What the function marks is not observed, and stays apart from the ranges around it. Handlers that
 * come meanwhile are part of the function. */
static void go_in(struct vv_lane *lane)
{
    lane->floor = lane->depth;
    lane->inside = true;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    lane->busy = false;
}

static void come_out(struct vv_lane *lane, int saved_errno)
{
    lane->busy = true;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    lane->inside = false;
    lane->depth = lane->floor;
    lane->floor = 0;
    errno = saved_errno;
}

static void count_failure(struct vv_slot *slot, uint64_t tag)
{
    uint32_t max = slot->observer.failures_max;
    uint64_t failures = __atomic_add_fetch(&slot->failures, 1, __ATOMIC_RELAXED);
    if (failures >= (max != 0 ? max : FAILURES_MAX_DEFAULT))
        __atomic_compare_exchange_n(&slot->tag, &tag, vv_slot_tag_in(tag, VV_SLOT_DISABLED), false,
                                    __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
}

void vv_call_start(struct vv_lane *lane, struct vv_entry *entry, const struct varve_observed *what)
{
    struct vv_slot *slot = entry->slot;
    uint64_t tag = entry->tag, context = 0;
    publish(lane, slot);
    if (vv_slot_tag(slot) != tag)
        return;
    int saved_errno = errno;
    go_in(lane);
    int failure = slot->observer.start(slot->observer.user, what, &context);
    come_out(lane, saved_errno);
    if (failure != 0) {
        count_failure(slot, tag);
        return;
    }
    __atomic_store_n(&entry->context, context, __ATOMIC_RELAXED);
    __atomic_store_n(&entry->name, what->site != NULL ? what->name : "", __ATOMIC_RELAXED);
    __atomic_store_n(&entry->id, what->id, __ATOMIC_RELAXED);
    __atomic_store_n(&entry->scope, what->scope, __ATOMIC_RELAXED);
    __atomic_store_n(&entry->layer, what->layer, __ATOMIC_RELAXED);
    __atomic_store_n(&entry->word, ++lane->serial << 1 | 1, __ATOMIC_RELEASE);
}

static void end(struct vv_lane *lane, struct vv_slot *slot, uint64_t tag,
                const struct varve_observed *what, uint64_t context)
{
    if (slot->observer.end == NULL)
        return;
    int saved_errno = errno;
    go_in(lane);
    int failure = slot->observer.end(slot->observer.user, what, context);
    come_out(lane, saved_errno);
    if (failure != 0)
        count_failure(slot, tag);
}

static bool claim(struct vv_entry *entry, uint64_t word)
{
    return __atomic_compare_exchange_n(&entry->word, &word, word & ~UINT64_C(1), false,
                                       __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

void vv_call_end(struct vv_lane *lane, struct vv_entry *entry, const struct varve_observed *what)
{
    uint64_t word = __atomic_load_n(&entry->word, __ATOMIC_RELAXED);
    if ((word & 1) == 0)
        return;
    publish(lane, entry->slot);
    if (claim(entry, word))
        end(lane, entry->slot, entry->tag, what, entry->context);
}

/* ---- observers that were removed ---- */

static bool is_running(const struct vv_slot *slot)
{
    for (struct vv_lane *lane = vv_lane_first(); lane != NULL; lane = lane->next)
        if (__atomic_load_n(&lane->running, __ATOMIC_SEQ_CST) == slot)
            return true;
    return false;
}

static void end_for_its_thread(struct vv_lane *lane, const struct vv_lane *theirs,
                               struct vv_entry *entry, struct vv_slot *slot, uint64_t live_tag)
{
    uint64_t word = __atomic_load_n(&entry->word, __ATOMIC_ACQUIRE);
    if ((word & 1) == 0 || __atomic_load_n(&entry->slot, __ATOMIC_RELAXED) != slot ||
        __atomic_load_n(&entry->tag, __ATOMIC_RELAXED) != live_tag)
        return;
    const struct varve_observed what = {
        .struct_size = sizeof what,
        .scope = __atomic_load_n(&entry->scope, __ATOMIC_RELAXED),
        .layer = __atomic_load_n(&entry->layer, __ATOMIC_RELAXED),
        .flags = VARVE_OBSERVED_REMOVED,
        .name = __atomic_load_n(&entry->name, __ATOMIC_RELAXED),
        .id = __atomic_load_n(&entry->id, __ATOMIC_RELAXED),
        .thread = __atomic_load_n(&theirs->tid, __ATOMIC_RELAXED),
        .thread_number = __atomic_load_n(&theirs->number, __ATOMIC_RELAXED),
        .step = -1, .sequence = -1
    };
    uint64_t context = __atomic_load_n(&entry->context, __ATOMIC_RELAXED);
    publish(lane, slot);
    if (claim(entry, word))
        end(lane, slot, live_tag, &what, context);
    publish(lane, NULL);
}

static void end_all(struct vv_lane *lane, struct vv_slot *slot, uint64_t live_tag)
{
    for (struct vv_lane *theirs = vv_lane_first(); theirs != NULL; theirs = theirs->next) {
        uint32_t count = __atomic_load_n(&theirs->entry_count, __ATOMIC_ACQUIRE);
        for (uint32_t i = 0; i < count && i < VV_ENTRIES; i++)
            end_for_its_thread(lane, theirs, &theirs->entries[i], slot, live_tag);
    }
}

bool vv_call_finish(struct vv_lane *lane, struct vv_slot *slot, uint64_t removed_tag)
{
    uint64_t tag = removed_tag;
    if (is_running(slot))
        return vv_slot_tag(slot) / VV_SLOT_STATES != removed_tag / VV_SLOT_STATES;
    if (vv_slot_tag(slot) == removed_tag)
        end_all(lane, slot, vv_slot_tag_in(removed_tag, VV_SLOT_LIVE));
    if (is_running(slot))
        return false;
    if (!__atomic_compare_exchange_n(&slot->tag, &tag,
                                     vv_slot_tag_in(removed_tag, VV_SLOT_ENDING), false,
                                     __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        return tag != vv_slot_tag_in(removed_tag, VV_SLOT_ENDING);
    if (slot->observer.released != NULL) {
        int saved_errno = errno;
        go_in(lane);
        slot->observer.released(slot->observer.user);
        come_out(lane, saved_errno);
    }
    bool is_locked = vv_recorder_lock();
    vv_slot_give(slot, is_locked);
    if (is_locked)
        vv_recorder_unlock();
    return true;
}

void vv_call_leave(struct vv_lane *lane)
{
    publish(lane, NULL);
    if (VARVE_UNLIKELY(vv_slots_are_ending()))
        for (struct vv_slot *slot = vv_slot_next(NULL); slot != NULL; slot = vv_slot_next(slot)) {
            uint64_t tag = vv_slot_tag(slot);
            if (vv_slot_state(tag) == VV_SLOT_REMOVED)
                (void)vv_call_finish(lane, slot, tag);
        }
}
