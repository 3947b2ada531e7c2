/* SPDX-License-Identifier: Apache-2.0 */
/* clock_aarch64.h — the counter of AArch64: the virtual view of the system counter. Only clock.h
 * and clock.c include this file. clock_x86_64.h explains the names.
 *
 * The counter ticks at 25 MHz to 1 GHz. So a tick may be longer than a short range, and such a
 * range has length 0. */
#ifndef VV_BASE_SYSTEM_CLOCK_AARCH64_H
#define VV_BASE_SYSTEM_CLOCK_AARCH64_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VV_COUNTER_NAME "cntvct"

/* 1.3 s at 100 MHz, as on many servers; 0.13 s at 1 GHz (Armv8.6 and later); 5.4 s at 25 MHz. */
#define VV_CLOCK_SECOND_BITS 27

struct vv_counter_value {
    uint64_t ticks;
    uint32_t second;
};

/* The kernel is not asked: the architecture guarantees one rate, and one value for all cores. */
#define VV_COUNTER_KERNEL_SOURCE NULL

/* Reads without the barrier that would order it after the loads before it: as on x86-64, a fence
 * costs more than it gives. So two reads of one thread may be swapped by a few ns, which
 * doc/format.md §5 allows. */
static inline struct vv_counter_value vv_counter_read(void)
{
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return (struct vv_counter_value){ ticks, (uint32_t)(ticks >> VV_CLOCK_SECOND_BITS) };
}

static inline bool vv_counter_is_steady(void)
{
    return true;
}

#endif
