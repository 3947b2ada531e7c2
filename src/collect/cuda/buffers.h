/* SPDX-License-Identifier: Apache-2.0 */
/* buffers.h — the memory into which CUPTI writes its records, and who reads them.
 *
 * CUPTI asks for a buffer, fills it, and gives it back, on a thread of the program or on its own.
 * There it is read at once, and may be asked for again. So memory does not grow with time: at most
 * VV_CUDA_BUFFERS of them are there, and if all are full, CUPTI drops records, which are counted as
 * lost. Nothing here calls CUDA. */
#ifndef VV_COLLECT_CUDA_BUFFERS_H
#define VV_COLLECT_CUDA_BUFFERS_H

#include <stddef.h>
#include <stdint.h>

#include "collect/cuda/cupti.h"
#include "collect/gpu/records.h"

#define VV_CUDA_BUFFERS 64u
#define VV_CUDA_BUFFER_BYTES (UINT32_C(512) * 1024)

vv_cupti_request vv_cuda_buffer_request;
vv_cupti_complete vv_cuda_buffer_complete;

/* After a flush: waits for a buffer that a thread of CUPTI's own is handing over, 20 ms at most. */
void vv_cuda_buffers_settle(void);

/* As vv_cuda_work_missing, at any time. */
void vv_cuda_buffers_missing(int64_t begin_ns, int64_t end_ns, const char *why);

const struct vv_gpu_counts *vv_cuda_buffer_counts(void);

#endif
