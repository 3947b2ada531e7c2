/* SPDX-License-Identifier: Apache-2.0 */
/* clock.c — MsprofSysCycleTime, from which the modules take the times of their records. */
#include "profapi/clock.h"

#include <stdbool.h>
#include <time.h>

#include "ascend/vendor.h"
#include "ascend/vendor.h"
#include "profiling/aprof_pub.h"
#include "varve/control.h"
#include "varve/past.h"

#define EXPORT __attribute__((visibility("default")))

static uint64_t now_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

EXPORT uint64_t MsprofSysCycleTime(void)
{
    return VV_PASS_ON(varve_ticks(), MsprofSysCycleTime);
}

/* Ours is a counter unless it reads as CLOCK_MONOTONIC. */
static bool is_counter(void)
{
    uint64_t before = now_ns(CLOCK_MONOTONIC), ticks = varve_ticks();
    return ticks < before || ticks > now_ns(CLOCK_MONOTONIC);
}

EXPORT bool MsprofHostFreqIsEnable(void)
{
    return VV_PASS_ON(is_counter(), MsprofHostFreqIsEnable);
}

/* A vendor's clock is the counter, too, or one of the system's: a value lies between two of it. */
static uint32_t find_clock(void)
{
    uint64_t before = varve_ticks(), value = MsprofSysCycleTime(), after = varve_ticks();
    if (value >= before && value <= after)
        return VARVE_CLOCK_TICKS;
    before = now_ns(CLOCK_MONOTONIC_RAW);
    value = MsprofSysCycleTime();
    if (value >= before && value <= now_ns(CLOCK_MONOTONIC_RAW))
        return VARVE_CLOCK_MONOTONIC_RAW;
    before = now_ns(CLOCK_MONOTONIC);
    value = MsprofSysCycleTime();
    return value >= before && value <= now_ns(CLOCK_MONOTONIC) ? VARVE_CLOCK_MONOTONIC
                                                               : VARVE_CLOCK_TICKS;
}

uint32_t vv_record_clock(void)
{
    static uint32_t clock;
    uint32_t found = __atomic_load_n(&clock, __ATOMIC_RELAXED);
    if (found == 0)
        __atomic_store_n(&clock, found = find_clock(), __ATOMIC_RELAXED);
    return found;
}
