/* SPDX-License-Identifier: Apache-2.0 */
/* calls.h — calls of HIP's runtime (gpu/calls.h), as rocprofiler-sdk tells of them, and work that
 * is launched without one. */
#ifndef VV_COLLECT_ROCM_CALLS_H
#define VV_COLLECT_ROCM_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "collect/rocm/sdk.h"

#define VV_ROCM_CALLS_MAX 2048u /* 7.0 has 500                                                   */

/* Chooses the calls that start work, wait, or move or take memory; with `all` every one. `kind` is
 * the library's number of calls of HIP's runtime. Returns how many there are. */
size_t vv_rocm_calls_choose(int kind, bool all, int32_t out_calls[VV_ROCM_CALLS_MAX]);

/* After that, and once in a process. `flush` asks the library for what it holds. */
void vv_rocm_calls_begin(void (*flush)(void));

void vv_rocm_call(int32_t operation, uint32_t phase, uint64_t correlation, uint64_t *shared);

/* The thread begins to work for this stream of HIP, or ends to. */
void vv_rocm_call_for(uint64_t stream, bool begins);

/* Work is launched on this thread; what it says of the stream comes back with the work's record. */
vv_rocp_request vv_rocm_launch;
#define VV_ROCM_NO_STREAM 0u /* otherwise the stream's number + 1                                 */

/* Was anything recorded of devices when the call with this number was made? */
bool vv_rocm_call_was_on(uint64_t correlation);

/* The forked child has no calls that are of use. */
void vv_rocm_calls_end(void);

#endif
