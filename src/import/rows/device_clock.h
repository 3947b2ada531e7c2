/* SPDX-License-Identifier: Apache-2.0 */
/* device_clock.h — a clock other than that of the trace, and where its values lie in time
 * (doc/format.md §6, "Clocks"). A zeroed clock has no pair. Thread-compatible. */
#ifndef VV_IMPORT_ROWS_DEVICE_CLOCK_H
#define VV_IMPORT_ROWS_DEVICE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"

struct vv_clock_pair {
    int64_t value, time_ns;
};

/* The pairs ascend in both columns. */
struct vv_device_clock {
    uint64_t id, frequency_hz, resolution_ns, uncertainty_ns; /* of the worst pair               */
    uint64_t instants;  /* values that were asked                                                */
    uint32_t name;      /* string; 0 = none                                                      */
    uint32_t left_out;  /* pairs whose value was below the one before                            */
    VV_ARRAY_OF(struct vv_clock_pair) pairs;
};

/* The clock said `value` at time_ns. */
enum varve_code vv_device_clock_pair(struct vv_device_clock *clock, int64_t value, int64_t time_ns,
                                     uint64_t uncertainty_ns, struct varve_error *error);

/* The instant at which the clock had this value. False: the clock has no pair, or the instant is
 * not vv_is_instant. */
bool vv_device_clock_ns(const struct vv_device_clock *clock, int64_t value, int64_t *out_ns);

/* Within 146 years of 1970: such instants can be subtracted. */
static inline bool vv_is_instant(int64_t time_ns)
{
    return time_ns > -(INT64_C(1) << 62) && time_ns < INT64_C(1) << 62;
}

#endif
