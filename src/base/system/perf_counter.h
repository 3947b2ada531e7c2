/* SPDX-License-Identifier: Apache-2.0 */
/* perf_counter.h — a hardware counter of the calling thread: perf_event_open(2).
 *
 * The kernel maps a page for each counter, and the thread reads its counter from there: no system
 * call, no descriptor. The descriptor is closed at once, because the mapping keeps the counter.
 * Forked children do not have the mapping. Async-signal-safe. */
#ifndef VV_BASE_SYSTEM_PERF_COUNTER_H
#define VV_BASE_SYSTEM_PERF_COUNTER_H

#include <linux/perf_event.h>
#include <stdint.h>

#define VV_COUNT_UNKNOWN UINT64_MAX

/* Opens a counter of what the thread does outside of the kernel. `type` and `config` are those of
 * struct perf_event_attr. Returns 0 or an errno number; EACCES: the kernel does not let programs
 * read it without a call. Changes errno. */
VV_MUST_USE int vv_perf_counter_open(uint32_t type, uint64_t config,
                                     struct perf_event_mmap_page **out_page);
void vv_perf_counter_close(struct perf_event_mmap_page *page);
/* Why a counter could not be opened, in a short clause. Static storage. */
const char *vv_perf_counter_reason(int failure);

/* What the processor's counter number `index` says. */
typedef uint64_t vv_read_counter(uint32_t index);
/* The processor's own instruction, for a counter that was opened. */
vv_read_counter vv_counter_instruction;
/* The count since the counter was opened; VV_COUNT_UNKNOWN while the kernel does not count it. */
uint64_t vv_perf_counter_read(const struct perf_event_mmap_page *page, vv_read_counter *read);

#endif
