/* SPDX-License-Identifier: Apache-2.0 */
/* try_lock.h — who may use a static buffer: one at a time in a process, and nobody waits. Works in signal
 * handlers, and in a forked child whose parent was using it. Holder: the process's number, 0 = nobody. */
#ifndef VV_BASE_TRY_LOCK_H
#define VV_BASE_TRY_LOCK_H

#include <stdbool.h>
#include <unistd.h>

/* False: somebody else in this process has it. */
static inline bool vv_turn_take(int *turn)
{
    int self = (int)getpid(), holder = __atomic_load_n(turn, __ATOMIC_RELAXED);
    return holder != self && __atomic_compare_exchange_n(turn, &holder, self, false, __ATOMIC_ACQUIRE,
                                                         __ATOMIC_RELAXED);
}

static inline void vv_turn_give(int *turn)
{
    __atomic_store_n(turn, 0, __ATOMIC_RELEASE);
}

#endif
