/* SPDX-License-Identifier: Apache-2.0 */
/* trace.h — what rocprofiler-sdk is asked to tell of. The caller has the lock of rocm.c, but for
 * flush and pair_clocks, which are thread-safe. */
#ifndef VV_COLLECT_ROCM_TRACE_H
#define VV_COLLECT_ROCM_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/must_use.h"

/* Only while the library takes its tools. `version` is the library's, of known layouts. False, and
 * why: then it tells of nothing. */
VV_MUST_USE bool vv_rocm_trace_prepare(uint32_t version, char *out_why, size_t bytes);

/* Tells of work from now on, or not any more. Both may be called again and again. */
VV_MUST_USE bool vv_rocm_trace_start(char *out_why, size_t bytes);
void vv_rocm_trace_stop(void);

/* The library hands over what is complete. Waits until it was read. */
void vv_rocm_trace_flush(void);

#endif
