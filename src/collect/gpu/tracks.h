/* SPDX-License-Identifier: Apache-2.0 */
/* tracks.h — devices, contexts and streams that have work: each stream is a track of the
 * trace. The caller has the lock of records.h. */
#ifndef VV_COLLECT_GPU_TRACKS_H
#define VV_COLLECT_GPU_TRACKS_H

#include <stdint.h>

#define VV_GPU_NO_DEVICE UINT32_MAX

#define VV_GPU_UNIFIED (-3)
#define VV_GPU_COPIES (-4)
#define VV_GPU_MORE_STREAMS (-5) /* those beyond the 1,792 that have a track of their own         */

/* The track of a stream; the same one each time. `stream` -1: what is of the device as a whole;
 * -2: what was not recorded; VV_GPU_UNIFIED: unified memory; VV_GPU_COPIES: copies whose stream is
 * not known. 0: there is no room. */
uint32_t vv_gpu_track(uint32_t device, int64_t context, int64_t stream, uint32_t clock);

/* The same of what is called otherwise than "stream": "queue". The text is a constant. */
uint32_t vv_gpu_track_called(const char *what, uint32_t device, int64_t context, int64_t stream,
                             uint32_t clock);
/* A stream or a context has a name of the program's (NVTX). Counts for tracks that are not there
 * yet. */
void vv_gpu_stream_is_called(uint32_t stream, const char *name);
void vv_gpu_context_is_called(uint32_t context, const char *name);

void vv_gpu_context_is_of(uint32_t context, uint32_t device);
/* VV_GPU_NO_DEVICE: nothing has told of this context yet. */
uint32_t vv_gpu_device_of(uint32_t context);

#endif
