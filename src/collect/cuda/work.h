/* SPDX-License-Identifier: Apache-2.0 */
/* work.h — makes records of the trace from CUPTI's records: kernels, copies, sets, waits, graphs,
 * CUPTI's own overhead; memory.c those of memory.
 *
 * The caller has the lock of collect/gpu/records.h: two of these functions never run at once. */
#ifndef VV_COLLECT_CUDA_WORK_H
#define VV_COLLECT_CUDA_WORK_H

#include <stddef.h>
#include <stdint.h>

#include "collect/gpu/records.h"

/* The clock in which CUPTI's times are: VARVE_CLOCK_MONOTONIC, or one that was added. */
void vv_cuda_work_begin(uint32_t clock);

/* `bytes` is how long the record is at most. */
enum vv_gpu_taken vv_cuda_work_take(const uint8_t *record, size_t bytes);

/* While this lasted, no work of devices was recorded, and why. Times are CLOCK_MONOTONIC, in ns. */
void vv_cuda_work_missing(int64_t begin_ns, int64_t end_ns, const char *why);

#endif
