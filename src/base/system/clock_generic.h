/* SPDX-License-Identifier: Apache-2.0 */
/* clock_generic.h — for a machine whose counter Varve does not know: CLOCK_MONOTONIC is used. Only
 * clock.h and clock.c include this file. clock_x86_64.h explains the names. */
#ifndef VV_BASE_SYSTEM_CLOCK_GENERIC_H
#define VV_BASE_SYSTEM_CLOCK_GENERIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VV_COUNTER_NAME "monotonic"
#define VV_CLOCK_SECOND_BITS 30 /* of nanoseconds */
#define VV_COUNTER_KERNEL_SOURCE NULL

struct vv_counter_value {
    uint64_t ticks;
    uint32_t second;
};

static inline struct vv_counter_value vv_counter_read(void)
{
    return (struct vv_counter_value){ 0, 0 }; /* never called, because the counter is not steady */
}

static inline bool vv_counter_is_steady(void)
{
    return false;
}

#endif
