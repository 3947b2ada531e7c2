/* SPDX-License-Identifier: Apache-2.0 */
/* calls.h — calls of CUDA's runtime and driver (collect/gpu/calls.h), as CUPTI tells of them. */
#ifndef VV_COLLECT_CUDA_CALLS_H
#define VV_COLLECT_CUDA_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "collect/cuda/cupti.h"

vv_cupti_callback vv_cuda_call;

/* Asks the subscriber to tell of calls: those that start work, wait, or move or take memory; with
 * `all` every one. Returns the number of functions. */
uint32_t vv_cuda_calls_enable(void *subscriber, bool all);

/* The subscriber is given up. */
void vv_cuda_calls_disabled(void);

/* Does CUPTI still tell of calls? Not so after another tool of this process has ended it
 * (cuptiFinalize). True where this cannot be found out. Not in a call of the program's. */
bool vv_cuda_calls_are_told(void);
/* When it last did, within a second: CLOCK_MONOTONIC. */
uint64_t vv_cuda_calls_last_ns(void);

/* The number of a call in the trace. CUPTI's has 32 bits: after 2^32 calls it begins anew. */
uint64_t vv_cuda_call_number(uint32_t correlation);
/* A piece of work of this call is in the trace. The caller has the lock of records.h. */
void vv_cuda_call_has_work(uint64_t number);

/* Was anything recorded of devices when the call with this number was made? */
bool vv_cuda_call_was_on(uint64_t number);

/* The forked child has no calls that are of use. */
void vv_cuda_calls_end(void);

#endif
