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

/* Was anything recorded of devices when the call with this correlation was made? */
bool vv_cuda_call_was_on(uint32_t correlation);

/* The forked child has no calls that are of use. */
void vv_cuda_calls_end(void);

#endif
