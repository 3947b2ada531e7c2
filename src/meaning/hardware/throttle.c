/* SPDX-License-Identifier: Apache-2.0 */
#include "meaning/hardware/throttle.h"

#define PREFIX "throttled by "

static const struct { uint64_t mask; const char *says, *helps; } reasons[VV_THROTTLE_COUNT] = {
#define ROW(name, mask, says, helps) { mask, says, helps },
    VV_THROTTLE_REASONS(ROW)
#undef ROW
};

const char *const vv_throttle_counters[VV_THROTTLE_COUNT] = {
#define NAME(name, mask, says, helps) PREFIX #name,
    VV_THROTTLE_REASONS(NAME)
#undef NAME
};

const char *vv_throttle_code(enum vv_throttle_reason reason)
{
    return vv_throttle_counters[reason] + sizeof PREFIX - 1;
}

const char *vv_throttle_says(enum vv_throttle_reason reason) { return reasons[reason].says; }
const char *vv_throttle_helps(enum vv_throttle_reason reason) { return reasons[reason].helps; }

int vv_throttle_holds(enum vv_throttle_reason reason, uint64_t word)
{
    const uint64_t told =
        reasons[VV_THROTTLE_temperature_by_hardware].mask | reasons[VV_THROTTLE_power_brake].mask;
    if (reason == VV_THROTTLE_hardware_slowdown && (word & told) != 0)
        return 0;
    return (word & reasons[reason].mask) != 0;
}
