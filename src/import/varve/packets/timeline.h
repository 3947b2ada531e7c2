/* SPDX-License-Identifier: Apache-2.0 */
/* timeline.h — converts clock ticks to nanoseconds since the Unix epoch, as doc/format.md §2 says:
 *     time_ns = offset_s * 10^9 + floor((offset + ticks) * 10^9 / freq)
 *
 * The 128-bit division is done once, for a base near the ticks. From there,
 *     time_ns = base_ns + floor((base_rest + (ticks - base_ticks) * 10^9) / freq)
 * fits into 64 bits and needs only a multiplication. Thread-compatible: each reader has its own. */
#ifndef VV_IMPORT_VARVE_PACKETS_TIMELINE_H
#define VV_IMPORT_VARVE_PACKETS_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/system/clock.h"

#define VV_NS_PER_S UINT64_C(1000000000)
#define VV_TIMELINE_SPAN_TICKS (UINT64_C(1) << 33) /* (freq + span * 10^9) < 2^63                */

struct vv_timeline {
    uint64_t frequency_hz;
    /* ceil(2^(64 + shift) / frequency_hz). It makes every quotient exact: see below. */
    uint64_t inverse;
    unsigned shift;   /* ceil(log2(frequency_hz)) - 1                                            */
    int64_t offset_s, offset_ticks;
    uint64_t base_ticks, base_rest; /* 0 <= base_rest < frequency_hz                             */
    int64_t base_ns;
    bool has_base;
};

/* VARVE_CORRUPT unless 1 kHz <= frequency_hz <= 1 THz. */
enum varve_code vv_timeline_init(struct vv_timeline *timeline, uint64_t frequency_hz,
                                 int64_t offset_s, int64_t offset_ticks,
                                 struct varve_error *error);

/* Moves the base to `ticks`. VARVE_CORRUPT: the instant is outside of about the years 1750 to
 * 2189. */
enum varve_code vv_timeline_rebase(struct vv_timeline *timeline, uint64_t ticks,
                                   struct varve_error *error);

/* Converts an instant near the base: base_ticks <= ticks < base_ticks + VV_TIMELINE_SPAN_TICKS. For
 * dividends below 2^63, an inverse of 63 + ceil(log2(divisor)) bits, rounded up, is exact. */
static inline int64_t vv_timeline_near(const struct vv_timeline *timeline, uint64_t ticks)
{
    uint64_t scaled = timeline->base_rest + (ticks - timeline->base_ticks) * VV_NS_PER_S;
    uint64_t quotient = (uint64_t)(((vv_u128)scaled * timeline->inverse) >> 64) >> timeline->shift;
    return timeline->base_ns + (int64_t)quotient;
}

static inline enum varve_code vv_timeline_ns(struct vv_timeline *timeline, uint64_t ticks,
                                             int64_t *out_ns, struct varve_error *error)
{
    if (__builtin_expect(!timeline->has_base ||
                             ticks - timeline->base_ticks >= VV_TIMELINE_SPAN_TICKS, 0))
        VV_TRY(vv_timeline_rebase(timeline, ticks, error));
    *out_ns = vv_timeline_near(timeline, ticks);
    return VARVE_OK;
}

#endif
