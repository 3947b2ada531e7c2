/* SPDX-License-Identifier: Apache-2.0 */
/* subscriber.c — a table of callbacks that is read without a lock.
 *
 * A caller first counts itself in the slot and then reads `events` again; whoever removes the
 * subscriber first clears `events` and then reads the count. So either the caller sees that it may
 * not call, or the remover sees the caller. A slot is filled anew only while nobody is counted. */
#include "exec/subscriber.h"

#include <errno.h>
#include <sched.h>
#include <stdbool.h>

#include "base/error.h"
#include "record/stream/recorder.h"

struct slot {
    uint32_t events;   /* 0 = nobody is called. Atomic                                          */
    uint32_t inside;   /* how many threads are here. Atomic                                     */
    uint32_t number;   /* of the subscriber: a multiple of VARVE_SUBSCRIBERS_MAX + its slot + 1 */
    uint64_t pid;
    varve_executor_callback callback;
    void *context;
};

static struct slot slots[VARVE_SUBSCRIBERS_MAX];
static uint32_t added_count;
/* How many callbacks the thread is inside of. */
static _Thread_local uint32_t depth;

VARVE_API uint32_t varve_executor_heard;

void vv_subscribers_call(const struct varve_executor_event *event)
{
    int saved_errno = errno;
    for (uint32_t s = 0; s < VARVE_SUBSCRIBERS_MAX; s++) {
        struct slot *slot = &slots[s];
        if ((__atomic_load_n(&slot->events, __ATOMIC_RELAXED) & event->kind) == 0)
            continue;
        __atomic_fetch_add(&slot->inside, 1, __ATOMIC_SEQ_CST);
        if ((__atomic_load_n(&slot->events, __ATOMIC_SEQ_CST) & event->kind) != 0) {
            depth++;
            slot->callback(slot->context, event);
            depth--;
        }
        __atomic_fetch_sub(&slot->inside, 1, __ATOMIC_RELEASE);
    }
    errno = saved_errno;
}

/* Lock held. */
static void hear(void)
{
    uint32_t events = 0;
    for (uint32_t s = 0; s < VARVE_SUBSCRIBERS_MAX; s++)
        events |= slots[s].events;
    __atomic_store_n(&varve_executor_heard, events, __ATOMIC_RELEASE);
}

/* Lock held. */
static uint32_t add(uint32_t events, varve_executor_callback callback, void *context)
{
    uint32_t s = 0;
    while (s < VARVE_SUBSCRIBERS_MAX &&
           (slots[s].events != 0 || __atomic_load_n(&slots[s].inside, __ATOMIC_SEQ_CST) != 0))
        s++;
    if (s == VARVE_SUBSCRIBERS_MAX)
        return 0;
    struct slot *slot = &slots[s];
    slot->callback = callback;
    slot->context = context;
    slot->pid = vv_birth_pid();
    __atomic_store_n(&slot->number, added_count++ * VARVE_SUBSCRIBERS_MAX + s + 1,
                     __ATOMIC_RELAXED);
    __atomic_store_n(&slot->events, events, __ATOMIC_SEQ_CST);
    hear();
    return slot->number;
}

VARVE_API enum varve_code varve_subscriber_add(uint32_t events, varve_executor_callback callback,
                                               void *context, uint32_t *out_subscriber,
                                               struct varve_error *error)
{
    *out_subscriber = 0;
    if (callback == NULL || (events & VARVE_EXECUTOR_ALL) == 0)
        VV_FAIL(error, VARVE_INVALID, "varve_subscriber_add: %s",
                callback == NULL ? "no callback" : "no such events");
    if (!vv_recorder_lock())
        VV_FAIL(error, VARVE_STATE,
                "varve_subscriber_add: called by a signal handler inside a call of Varve's");
    *out_subscriber = add(events & VARVE_EXECUTOR_ALL, callback, context);
    vv_recorder_unlock();
    if (*out_subscriber == 0)
        VV_FAIL(error, VARVE_LIMIT, "varve_subscriber_add: at most %u subscribers",
                VARVE_SUBSCRIBERS_MAX);
    return VARVE_OK;
}

VARVE_API void varve_subscriber_remove(uint32_t subscriber)
{
    struct slot *slot = &slots[(subscriber - 1) % VARVE_SUBSCRIBERS_MAX];
    if (subscriber == 0 || !vv_recorder_lock())
        return;
    bool is_there = slot->number == subscriber && slot->events != 0;
    /* In a forked child, threads that are counted here may not exist. */
    bool must_wait = is_there && depth == 0 && slot->pid == vv_birth_pid();
    if (is_there) {
        __atomic_store_n(&slot->events, 0, __ATOMIC_SEQ_CST);
        hear();
    }
    vv_recorder_unlock();
    /* A slot that is filled again meanwhile has had nobody inside. */
    while (must_wait && __atomic_load_n(&slot->inside, __ATOMIC_SEQ_CST) != 0 &&
           __atomic_load_n(&slot->number, __ATOMIC_RELAXED) == subscriber)
        sched_yield();
}
