/* SPDX-License-Identifier: Apache-2.0 */
#include "import/varve/packets/timeline.h"

#define FREQUENCY_HZ_MIN UINT64_C(1000)
#define FREQUENCY_HZ_MAX UINT64_C(1000000000000)
#define TICKS_MAX (UINT64_C(1) << 63)
#define INSTANT_NS_MAX (INT64_C(6900) * 1000000 * (int64_t)VV_NS_PER_S) /* 218 years */

__extension__ typedef __int128 wide;

enum varve_code vv_timeline_init(struct vv_timeline *timeline, uint64_t frequency_hz,
                                 int64_t offset_s, int64_t offset_ticks,
                                 struct varve_error *error)
{
    if (frequency_hz < FREQUENCY_HZ_MIN || frequency_hz > FREQUENCY_HZ_MAX)
        VV_FAIL(error, VARVE_CORRUPT, "a clock of %llu Hz; 1 kHz to 1 THz make sense",
                (unsigned long long)frequency_hz);
    unsigned shift = 63 - (unsigned)__builtin_clzll(frequency_hz - 1);
    vv_u128 scale = (vv_u128)1 << (64 + shift);
    *timeline =
        (struct vv_timeline){ .frequency_hz = frequency_hz,
                              .inverse = (uint64_t)((scale + frequency_hz - 1) / frequency_hz),
                              .shift = shift,
                              .offset_s = offset_s,
                              .offset_ticks = offset_ticks };
    return VARVE_OK;
}

enum varve_code vv_timeline_rebase(struct vv_timeline *timeline, uint64_t ticks,
                                   struct varve_error *error)
{
    wide hz = (wide)timeline->frequency_hz;
    wide scaled = ((wide)timeline->offset_ticks + (wide)ticks) * (wide)VV_NS_PER_S;
    wide ns = scaled / hz, rest = scaled % hz;
    if (rest < 0) {
        rest += hz;
        ns--;
    }
    ns += (wide)timeline->offset_s * (wide)VV_NS_PER_S;
    if (ticks >= TICKS_MAX || ns > INSTANT_NS_MAX || ns < -INSTANT_NS_MAX)
        VV_FAIL(error, VARVE_CORRUPT, "clock value %llu is centuries away from now",
                (unsigned long long)ticks);
    timeline->base_ticks = ticks;
    timeline->base_ns = (int64_t)ns;
    timeline->base_rest = (uint64_t)rest;
    timeline->has_base = true;
    return VARVE_OK;
}
