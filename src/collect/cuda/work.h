/* SPDX-License-Identifier: Apache-2.0 */
/* work.h — makes records of the trace from CUPTI's records: kernels, copies, sets, waits, graphs,
 * CUPTI's own overhead; memory.c those of memory.
 *
 * The caller has the lock of buffers.c: two of these functions never run at once. */
#ifndef VV_COLLECT_CUDA_WORK_H
#define VV_COLLECT_CUDA_WORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum vv_cuda_taken {
    VV_CUDA_TAKEN,
    VV_CUDA_UNKNOWN, /* a kind of record that is not known                                       */
    VV_CUDA_SHORT,   /* the record ends before what is needed, or says no time: it is lost       */
    VV_CUDA_OFF      /* of a call that was made while nothing was recorded                       */
};

/* The clock in which CUPTI's times are: VARVE_CLOCK_MONOTONIC, or one that was added. */
void vv_cuda_work_begin(uint32_t clock);

/* `bytes` is how long the record is at most. */
enum vv_cuda_taken vv_cuda_work_take(const uint8_t *record, size_t bytes);

/* While this lasted, no work of devices was recorded, and why. Times are CLOCK_MONOTONIC, in ns. */
void vv_cuda_work_missing(int64_t begin_ns, int64_t end_ns, const char *why);

#endif
