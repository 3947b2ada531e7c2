/* SPDX-License-Identifier: Apache-2.0 */
/* memory.h — how much memory of each device the program has taken. The caller has the lock of
 * gpu/records.h. */
#ifndef VV_COLLECT_ROCM_MEMORY_H
#define VV_COLLECT_ROCM_MEMORY_H

#include <stdint.h>

#include "collect/gpu/records.h"

struct vv_rocm_memory { /* is taken, or given back                                              */
    uint32_t operation, device, clock;
    uint64_t address, bytes;
    int64_t time;
};

/* The library does not say how large memory is that is given back, nor of which device. */
enum vv_gpu_taken vv_rocm_memory_take(const struct vv_rocm_memory *memory);

#endif
