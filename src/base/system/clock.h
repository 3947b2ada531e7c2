/* SPDX-License-Identifier: Apache-2.0 */
/* clock.h — the ticks that records carry, and what they are in nanoseconds.
 *
 * Ticks are the processor's own counter, read without a fence, where the kernel itself trusts it as its
 * clock source; else nanoseconds of CLOCK_MONOTONIC. A fenced read costs twice as much and would not
 * hide in real work. Two samples far apart give the frequency. Thread-safe after vv_clock_init. What
 * depends on the machine is in clock_MACHINE.h, among it VV_CLOCK_SECOND_BITS: 2^that ticks are about a second. */
#ifndef VV_BASE_SYSTEM_CLOCK_H
#define VV_BASE_SYSTEM_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#if defined(__x86_64__)
#include "base/system/clock_x86_64.h"
#elif defined(__aarch64__)
#include "base/system/clock_aarch64.h"
#else
#include "base/system/clock_generic.h"
#endif

__extension__ typedef unsigned __int128 vv_u128; /* products of ticks and nanoseconds need it */

extern bool vv_clock_is_counter; /* set by vv_clock_init, then constant */

/* Decides which clock serves; later calls change nothing. One thread at a time. */
void vv_clock_init(void);
uint64_t vv_clock_monotonic_ns(void);
const char *vv_clock_source(void); /* "tsc", "cntvct" or "monotonic" */

static inline uint64_t vv_clock_ticks(void)
{
    if (__builtin_expect(vv_clock_is_counter, 1))
        return vv_counter_read().ticks;
    return vv_clock_monotonic_ns();
}

/* About a second from now, in ticks: when what failed is tried again. */
static inline uint64_t vv_clock_in_a_second(void)
{
    return vv_clock_ticks() + (vv_clock_is_counter ? UINT64_C(1) << VV_CLOCK_SECOND_BITS : UINT64_C(1000000000));
}

/* The clocks read together: the tightest of many tries. */
struct vv_clock_sample {
    uint64_t ticks;
    uint64_t monotonic_ns;
    int64_t realtime_ns;
    uint64_t uncertainty_ns; /* half the bracket around monotonic_ns plus that around realtime_ns */
};
void vv_clock_sample(struct vv_clock_sample *out_sample, uint64_t ticks_per_s_guess);

/* Ticks a second between two samples, rounded; 0 if they are too close to tell. */
uint64_t vv_clock_frequency(const struct vv_clock_sample *from, const struct vv_clock_sample *to);

/* The frequency by a measurement of about 1 ms. */
uint64_t vv_clock_measure(void);

#endif
