/* SPDX-License-Identifier: Apache-2.0 */
/* memory.h — what CUPTI says of memory: how much is allocated, memory pools, and unified memory,
 * whose pages move by themselves. The caller has the lock of collect/gpu/records.h. */
#ifndef VV_COLLECT_CUDA_MEMORY_H
#define VV_COLLECT_CUDA_MEMORY_H

#include "collect/cuda/layouts.h"
#include "collect/cuda/work.h"

/* Is the record of a kind that vv_cuda_memory_take knows? */
bool vv_cuda_memory_knows(uint32_t kind);

/* `bytes` is at least what the layout needs. `clock` is that of the record's times. */
enum vv_gpu_taken vv_cuda_memory_take(const struct vv_cupti_layout *layout, const uint8_t *record,
                                       size_t bytes, uint32_t clock);

#endif
