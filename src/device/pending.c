/* SPDX-License-Identifier: Apache-2.0 */
#include "device/pending.h"

#include <sched.h>
#include <stddef.h>

#include "base/system/os.h"
#include "base/try_lock.h"
#include "device/activity.h"
#include "record/stream/recorder.h"
#include "record/thread.h"

/* Free places: number of the first one, and in the upper half a count that grows with each change,
 * so that a place which was taken and given back meanwhile is noticed. Numbers are index + 1. */
static uint64_t free_places;
static uint32_t used;            /* places that were ever taken; atomic                         */
static struct vv_pending *pool;  /* atomic                                                      */

static bool make_pool(void)
{
    if (__atomic_load_n(&pool, __ATOMIC_ACQUIRE) != NULL)
        return true;
    if (!vv_recorder_lock())
        return false;
    if (pool == NULL)
        __atomic_store_n(&pool, vv_os_reserve(VV_PENDING_MAX * sizeof *pool), __ATOMIC_RELEASE);
    vv_recorder_unlock();
    return __atomic_load_n(&pool, __ATOMIC_ACQUIRE) != NULL;
}

struct vv_pending *vv_pending_take(void)
{
    if (!make_pool())
        return NULL;
    uint64_t first = __atomic_load_n(&free_places, __ATOMIC_ACQUIRE);
    while ((uint32_t)first != 0) {
        struct vv_pending *found = &pool[(uint32_t)first - 1];
        uint64_t next = ((first >> 32) + 1) << 32 |
                        __atomic_load_n(&found->next_free, __ATOMIC_RELAXED);
        if (__atomic_compare_exchange_n(&free_places, &first, next, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE))
            return found;
    }
    uint32_t index = __atomic_load_n(&used, __ATOMIC_RELAXED);
    while (index < VV_PENDING_MAX)
        if (__atomic_compare_exchange_n(&used, &index, index + 1, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED))
            return &pool[index];
    return NULL;
}

void vv_pending_give(struct vv_pending *pending)
{
    uint64_t first = __atomic_load_n(&free_places, __ATOMIC_ACQUIRE), mine;
    do {
        __atomic_store_n(&pending->next_free, (uint32_t)first, __ATOMIC_RELAXED);
        mine = ((first >> 32) + 1) << 32 | (uint32_t)(pending - pool + 1);
    } while (!__atomic_compare_exchange_n(&free_places, &first, mine, false, __ATOMIC_ACQ_REL,
                                          __ATOMIC_ACQUIRE));
}

uint64_t vv_pending_open(struct vv_pending *pending)
{
    uint64_t turn = __atomic_load_n(&pending->state, __ATOMIC_RELAXED) | 1;
    __atomic_store_n(&pending->state, turn, __ATOMIC_RELEASE);
    return turn << 31 | (uint64_t)(pending - pool + 1);
}

struct vv_pending *vv_pending_close(uint64_t number)
{
    uint64_t index = (number & 0x7fffffffu) - 1, open = number >> 31;
    if (index >= __atomic_load_n(&used, __ATOMIC_RELAXED))
        return NULL;
    struct vv_pending *pending = &pool[index];
    uint64_t state = __atomic_load_n(&pending->state, __ATOMIC_RELAXED);
    /* The number has 33 bits of the state. */
    if ((state & 1) == 0 || (state & 0x1ffffffffu) != open ||
        !__atomic_compare_exchange_n(&pending->state, &state, state + 1, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_RELAXED))
        return NULL;
    return pending;
}

void vv_pending_end(struct vv_pending *pending)
{
    struct vv_pending *newest = __atomic_load_n(&pending->row->ended, __ATOMIC_RELAXED);
    do
        pending->next = newest;
    while (!__atomic_compare_exchange_n(&pending->row->ended, &newest, pending, false,
                                        __ATOMIC_RELEASE, __ATOMIC_RELAXED));
}

/* ---- telling ---- */

static void release(const struct varve_backend *backend, struct vv_pending *pending)
{
    if (pending->begin.backend != NULL)
        backend->release(backend, &pending->begin);
    if (pending->end.backend != NULL)
        backend->release(backend, &pending->end);
}

/* `slot` is NULL if the work's backend has gone. */
static void count_lost(struct vv_backend_slot *slot)
{
    if (slot != NULL) {
        VV_BACKEND_COUNT(slot, lost, 1);
        VV_BACKEND_COUNT(slot, pending, UINT64_MAX);
    }
    if (varve_layers() != 0)
        vv_thread_discard(&vv_self, 1);
}

static enum varve_code read_times(const struct varve_backend *backend,
                                  const struct vv_pending *pending, int64_t *out_begin,
                                  int64_t *out_duration, struct varve_error *error)
{
    int64_t end;
    enum varve_code code = backend->instant(backend, &pending->begin, out_begin, &end, error);
    if (code == VARVE_OK && pending->end.backend != NULL)
        return backend->elapsed(backend, &pending->begin, &pending->end, out_duration, error);
    if (code == VARVE_OK)
        *out_duration = end - *out_begin;
    return code;
}

/* The work is complete, or is waited for. */
static void tell(struct vv_backend_slot *slot, struct vv_pending *pending)
{
    const struct varve_backend *backend = slot->backend;
    struct varve_error error = { .message = "" };
    int64_t begin, duration;
    enum varve_code code = read_times(backend, pending, &begin, &duration, &error);
    bool is_known = vv_backend_account(slot, code, &error) &&
                    pending->serial == __atomic_load_n(&vv_session.serial, __ATOMIC_RELAXED);
    if (is_known) {
        vv_activity_put(&(struct vv_activity){ pending->name, pending->row->track, pending->kind,
                                               begin, begin + duration, pending->correlation,
                                               pending->bytes });
        VV_BACKEND_COUNT(slot, recorded, 1);
        VV_BACKEND_COUNT(slot, pending, UINT64_MAX);
        if (duration < 0)
            VV_BACKEND_COUNT(slot, negative, 1);
        else
            VV_BACKEND_COUNT(slot, total_ns, (uint64_t)duration);
    } else {
        count_lost(slot);
    }
    release(backend, pending);
}

static enum varve_code is_complete(const struct varve_backend *backend,
                                   const struct vv_pending *pending, int *out_is_complete,
                                   struct varve_error *error)
{
    const struct varve_device_event *last =
        pending->end.backend != NULL ? &pending->end : &pending->begin;
    return backend->query(backend, last, out_is_complete, error);
}

/* Waits for an event that has no other to measure from. */
static enum varve_code wait_for(const struct varve_backend *backend,
                                const struct varve_device_event *event, struct varve_error *error)
{
    int64_t nothing;
    return backend->elapsed(backend, event, event, &nothing, error);
}

/* The work's backend is detached, or has gone. */
static void give_up(const struct vv_pending *pending)
{
    struct vv_backend_slot *slot = &vv_backend_slots[pending->slot];
    bool is_same = __atomic_load_n(&slot->generation, __ATOMIC_RELAXED) == pending->generation;
    count_lost(is_same ? slot : NULL);
}

/* Returns false if the work stays where it is. */
static bool settle(struct vv_pending *pending, enum vv_pending_how how)
{
    struct vv_backend_slot *slot =
        vv_backend_enter(vv_backend_number(pending->slot, pending->generation));
    if (slot == NULL) {
        give_up(pending);
        return true;
    }
    struct varve_error error = { .message = "" };
    int complete = 0;
    enum varve_code code = is_complete(slot->backend, pending, &complete, &error);
    if (code == VARVE_OK && complete == 0 && how == VV_PENDING_WAITS) {
        code = wait_for(slot->backend,
                        pending->end.backend != NULL ? &pending->end : &pending->begin, &error);
        complete = 1;
    }
    bool is_done = true;
    if (!vv_backend_account(slot, code, &error) || (complete == 0 && how == VV_PENDING_DROPS)) {
        count_lost(slot);
        release(slot->backend, pending);
    } else if (complete != 0) {
        tell(slot, pending);
    } else {
        is_done = false;
    }
    vv_backend_leave(slot);
    return is_done;
}

/* Moves what has ended to the end of the row's list, the oldest first. */
static void take_ended(struct vv_stream_row *row)
{
    struct vv_pending *newest = __atomic_exchange_n(&row->ended, NULL, __ATOMIC_ACQUIRE),
                      *oldest = NULL, *last = newest;
    while (newest != NULL) {
        struct vv_pending *next = newest->next;
        newest->next = oldest;
        oldest = newest;
        newest = next;
    }
    if (row->oldest == NULL)
        row->oldest = oldest;
    else if (oldest != NULL)
        row->latest->next = oldest;
    if (last != NULL)
        row->latest = last;
}

bool vv_pending_settle(struct vv_stream_row *row, enum vv_pending_how how, uint32_t most)
{
    if (!vv_turn_take(&row->turn))
        return false;
    take_ended(row);
    while (row->oldest != NULL && most-- > 0 && settle(row->oldest, how)) {
        struct vv_pending *done = row->oldest;
        row->oldest = done->next;
        vv_pending_give(done);
    }
    vv_turn_give(&row->turn);
    return true;
}

static void settle_all(struct vv_stream_row *row, void *how)
{
    bool is_inside = vv_backend_is_inside();
    while (!vv_pending_settle(row, *(enum vv_pending_how *)how, UINT32_MAX) && !is_inside)
        sched_yield();
}

void vv_pending_settle_all(uint32_t slot, enum vv_pending_how how)
{
    vv_streams_each(slot, settle_all, &how);
}

static void try_row(struct vv_stream_row *row, void *unused)
{
    (void)unused;
    (void)vv_pending_settle(row, VV_PENDING_COMPLETE, UINT32_MAX);
}

void vv_pending_try_all(void)
{
    vv_streams_each(UINT32_MAX, try_row, NULL);
}

static void forget(struct vv_stream_row *row, void *unused)
{
    (void)unused;
    row->ended = row->oldest = NULL;
    row->turn = 0;
}

void vv_pending_forked(void)
{
    vv_streams_each(UINT32_MAX, forget, NULL);
    for (uint32_t i = 0; i < used; i++)
        pool[i].state = (pool[i].state | 1) + 1;
    free_places = 0;
    used = 0;
}
