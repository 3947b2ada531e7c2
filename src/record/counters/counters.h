/* SPDX-License-Identifier: Apache-2.0 */
/* counters.h — what the calling thread has used so far: time of the processor, page faults,
 * switches, and hardware counters of the group that was asked for (settings/metric_groups.h).
 *
 * No counter keeps a descriptor. The software ones are asked for by getrusage and the thread's
 * clock. A hardware counter is opened, mapped and closed again: the mapping keeps it, and the
 * thread reads it from there. So nothing reaches a child, and a program that closes everything
 * closes nothing of ours. Where programs may not read hardware counters, there are the software
 * ones, and the trace says why. */
#ifndef VV_RECORD_COUNTERS_COUNTERS_H
#define VV_RECORD_COUNTERS_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "settings/metric_groups.h"

/* How many counters each range is counted with; 0 = none. Atomic. */
extern uint32_t vv_counter_count;

/* From now on threads count with this group; NULL or "" = with none. *out_why, a text of
 * `capacity` bytes, says which hardware counters there are not, and why; "" = all are there.
 * VARVE_INVALID: no such group; then nothing changes. The lock of the recorder is held, or there is
 * no other thread. */
enum varve_code vv_counters_choose(const char *group, char *out_why, size_t capacity,
                                   struct varve_error *error);

/* The name of counter `index`, below vv_counter_count. Static storage, until the next choice.
 * Choices have numbers: a process may choose several times. */
const char *vv_counter_name(uint32_t index, uint32_t *out_choice);

/* Reads all counters of the calling thread, and returns their number. Opens them when the thread
 * calls it first. VV_COUNT_UNKNOWN (base/system/perf_counter.h): not known. Keeps errno.
 * Async-signal-safe. */
uint32_t vv_counters_read(uint64_t out_values[VV_COUNTERS_MAX], uint32_t *out_choice);

/* In a forked child: the mappings are the parent's. */
void vv_counters_forked(void);
/* The calling thread ends. */
void vv_counters_leave(void);

#endif
