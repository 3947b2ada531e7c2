/* SPDX-License-Identifier: Apache-2.0 */
/* try_lock.h — a lock for a static buffer: one thread of a process may hold it, and nobody waits.
 * Works in signal handlers, and in a forked child whose parent held the lock. The lock's value is
 * the holder's process number, 0 = free. */
#ifndef VV_BASE_TRY_LOCK_H
#define VV_BASE_TRY_LOCK_H

#include <stdbool.h>
#include <unistd.h>

/* False: this process holds the lock, perhaps in the code that a signal handler interrupted. */
static inline bool vv_turn_take(int *turn)
{
    int self = (int)getpid(), holder = __atomic_load_n(turn, __ATOMIC_RELAXED);
    return holder != self && __atomic_compare_exchange_n(turn, &holder, self, false,
                                                         __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

static inline void vv_turn_give(int *turn)
{
    __atomic_store_n(turn, 0, __ATOMIC_RELEASE);
}

#endif
