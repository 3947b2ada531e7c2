/* SPDX-License-Identifier: Apache-2.0 */
/* clock_x86_64.h — the counter of x86-64: the time-stamp counter. Only clock.h and clock.c include
 * this file.
 *
 * Each clock_MACHINE.h defines the names below. No other part of Varve depends on the machine's
 * clock. */
#ifndef VV_BASE_SYSTEM_CLOCK_X86_64_H
#define VV_BASE_SYSTEM_CLOCK_X86_64_H

#include <cpuid.h>
#include <stdbool.h>
#include <stdint.h>

#define VV_COUNTER_NAME "tsc"

/* 2^this ticks last about a second: 0.9 s at 5 GHz, 4 s at 1 GHz. */
#define VV_CLOCK_SECOND_BITS 32

/* The counter's value, and that value >> VV_CLOCK_SECOND_BITS. */
struct vv_counter_value {
    uint64_t ticks;
    uint32_t second;
};

/* The kernel's name of the counter. The counter is used only if the kernel uses it: CPUID promises
 * a constant rate, but only the kernel knows whether the counters of all cores agree. */
#define VV_COUNTER_KERNEL_SOURCE "tsc"

static inline struct vv_counter_value vv_counter_read(void)
{
    uint64_t low, high; /* the counter comes in two halves, so `second` needs no extra work */
    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
    return (struct vv_counter_value){ high << 32 | low, (uint32_t)high };
}

/* Does the counter run at one rate, also while the processor sleeps? */
static inline bool vv_counter_is_steady(void)
{
    unsigned eax, ebx, ecx, edx;
    return __get_cpuid(0x80000007u, &eax, &ebx, &ecx, &edx) != 0 && (edx & 1u << 8) != 0;
}

#endif
