/* SPDX-License-Identifier: Apache-2.0 */
/* trace_span.h — the time for which a trace has records of threads. The process's own records do
 * not count, because a flight recorder keeps all of those. Thread-compatible. */
#ifndef VV_CLI_READING_TRACE_SPAN_H
#define VV_CLI_READING_TRACE_SPAN_H

#include <stdbool.h>
#include <stdint.h>

/* From the first record of any thread to the last, over all processes. False: no thread has
 * recorded, or the trace cannot be read or is packed. */
bool vv_coverage(const char *trace, int64_t *out_begin_ns, int64_t *out_end_ns);

#endif
