/* SPDX-License-Identifier: Apache-2.0 */
/* single_step.h — the processor stops after each instruction (trap flag), and the handler of
 * SIGTRAP looks, or acts:
 * what must hold at every instant is tested at every one. */
#ifndef VV_TESTS_SINGLE_STEP_H
#define VV_TESTS_SINGLE_STEP_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define CAN_STEP 1
#else
#define CAN_STEP 0
#endif

static inline __attribute__((always_inline)) void step_set(bool on)
{
#if CAN_STEP
    uint64_t flags;
    __asm__ volatile("pushfq\n\tpopq %0" : "=r"(flags)::"memory");
    flags = on ? flags | 0x100 : flags & ~UINT64_C(0x100);
    __asm__ volatile("pushq %0\n\tpopfq" ::"r"(flags) : "memory", "cc");
#else
    (void)on;
#endif
}

#endif
