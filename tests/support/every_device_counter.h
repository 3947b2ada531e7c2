/* SPDX-License-Identifier: Apache-2.0 */
/* every_device_counter.h — values of counters on devices' tracks, of every kind of double, for
 * tests/programs/every_record.c; and how its journal tells of them. */
#ifndef VV_TESTS_EVERY_DEVICE_COUNTER_H
#define VV_TESTS_EVERY_DEVICE_COUNTER_H

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "journal.h"
#include "varve/device.h"

static void device_counters(struct journal *journal, const uint32_t tracks[4])
{
    static const double values[] = { 0.0, -0.0, 71.5, -1e-300, DBL_MAX, INFINITY, -INFINITY, NAN };
    for (uint32_t i = 0; i < 4 * sizeof values / sizeof *values; i++) {
        struct varve_device_counter_info info = { sizeof info, tracks[i % 4],
                                                  i % 3 == 0 ? "power (W)" : "occupancy",
                                                  i == 5 ? INT64_MIN : INT64_MAX - i,
                                                  values[i / 4] };
        uint64_t bits;
        memcpy(&bits, &info.value, sizeof bits);
        varve_device_counter(&info);
        fprintf(journal->stream, "%s ", journal->thread);
        write_hex(journal->stream, "varve.device_counter");
        fputs(" {\"text\": \"", journal->stream);
        write_hex(journal->stream, info.name);
        fprintf(journal->stream, "\", \"track\": %" PRIu32 ", \"time\": %" PRId64
                ", \"bits\": %" PRIu64 "}\n", info.track, info.time, bits);
    }
}

#endif
