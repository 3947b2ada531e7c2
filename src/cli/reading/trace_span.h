/* SPDX-License-Identifier: Apache-2.0 */
/* trace_span.h — the span of time of which a trace tells what its threads did. A flight recorder keeps the notes of the
 * process whole, so those say nothing of that. Thread-compatible. */
#ifndef VV_CLI_READING_TRACE_SPAN_H
#define VV_CLI_READING_TRACE_SPAN_H

#include <stdbool.h>
#include <stdint.h>

/* From the first record of any thread to the last, over all processes. False: none has recorded, or the trace cannot
 * be read, or is packed. */
bool vv_coverage(const char *trace, int64_t *out_begin_ns, int64_t *out_end_ns);

#endif
