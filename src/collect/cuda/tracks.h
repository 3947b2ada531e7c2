/* SPDX-License-Identifier: Apache-2.0 */
/* tracks.h — devices, contexts and streams that CUPTI has told of: each stream is a track of the
 * trace. The caller has the lock of buffers.c. */
#ifndef VV_COLLECT_CUDA_TRACKS_H
#define VV_COLLECT_CUDA_TRACKS_H

#include <stdint.h>

#define VV_CUDA_NO_DEVICE UINT32_MAX

#define VV_CUDA_UNIFIED (-3)

/* The track of a stream; the same one each time. `stream` -1: what is of the device as a whole;
 * -2: what was not recorded; VV_CUDA_UNIFIED: unified memory. 0: there is no room. */
uint32_t vv_cuda_track(uint32_t device, int64_t context, int64_t stream, uint32_t clock);
/* A stream or a context has a name of the program's (NVTX). Counts for tracks that are not there
 * yet. */
void vv_cuda_stream_is_called(uint32_t stream, const char *name);
void vv_cuda_context_is_called(uint32_t context, const char *name);

void vv_cuda_context_is_of(uint32_t context, uint32_t device);
/* VV_CUDA_NO_DEVICE: nothing has told of this context yet. */
uint32_t vv_cuda_device_of(uint32_t context);

#endif
