/* SPDX-License-Identifier: Apache-2.0 */
/* clock.h — the clock of the records: ticks, and their length in nanoseconds.
 *
 * Ticks are the processor's own counter, read without a fence, if the kernel itself uses the
 * counter as its clock source; otherwise they are nanoseconds of CLOCK_MONOTONIC. A fenced read
 * costs twice as much, and its cost would show. Two samples far apart give the frequency.
 * Thread-safe after vv_clock_init. All that depends on the machine is in clock_MACHINE.h, for
 * example VV_CLOCK_SECOND_BITS: 2^that ticks are about a second. */
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

__extension__ typedef unsigned __int128 vv_u128; /* for products of ticks and nanoseconds */

extern bool vv_clock_is_counter; /* set by vv_clock_init, then constant */

/* Chooses the clock; later calls change nothing. Not thread-safe. */
void vv_clock_init(void);
uint64_t vv_clock_monotonic_ns(void);
const char *vv_clock_source(void); /* "tsc", "cntvct" or "monotonic" */

/* Where Linux names the clock that it has chosen. It chooses the counter of an x86-64 only if it
 * trusts it; without this file nobody says so, and the counter is not used. */
#define VV_CLOCK_SOURCE_FILE "/sys/devices/system/clocksource/clocksource0/current_clocksource"

static inline uint64_t vv_clock_ticks(void)
{
    if (__builtin_expect(vv_clock_is_counter, 1))
        return vv_counter_read().ticks;
    return vv_clock_monotonic_ns();
}

/* Instants so many ticks apart differ in nanoseconds, too. */
#define VV_CLOCK_APART_TICKS (2 * ((UINT64_C(1) << VV_CLOCK_SECOND_BITS) / 1000000000 + 1))

/* About a second from now, in ticks: the time to retry what has failed. */
static inline uint64_t vv_clock_in_a_second(void)
{
    return vv_clock_ticks() +
           (vv_clock_is_counter ? UINT64_C(1) << VV_CLOCK_SECOND_BITS : UINT64_C(1000000000));
}

/* Both clocks, read together: the closest of many tries. */
struct vv_clock_sample {
    uint64_t ticks;
    uint64_t monotonic_ns;
    int64_t realtime_ns;
    uint64_t uncertainty_ns; /* half the brackets around monotonic_ns and realtime_ns */
};
void vv_clock_sample(struct vv_clock_sample *out_sample, uint64_t ticks_per_s_guess);

/* Ticks per second between two samples, rounded; 0 if the samples are too close together. */
uint64_t vv_clock_frequency(const struct vv_clock_sample *from, const struct vv_clock_sample *to);

/* Measures the frequency, which takes about 1 ms. */
uint64_t vv_clock_measure(void);

#endif
