/* SPDX-License-Identifier: Apache-2.0 */
/* standin_cuda.h — what the two stand-ins for NVIDIA's libraries know of each other: the driver
 * (standin_driver.c) has no device and does no work, and tells CUPTI's stand-in (standin_cupti.c)
 * what a device would have done. For tests. */
#ifndef STANDIN_CUDA_H
#define STANDIN_CUDA_H

#include <stdint.h>

enum standin_work {
    STANDIN_NOTHING, STANDIN_KERNEL, STANDIN_COPY, STANDIN_PEER_COPY, STANDIN_SET, STANDIN_WAIT,
    STANDIN_EVENT, STANDIN_MEMORY, STANDIN_GRAPH, STANDIN_CONTEXT, STANDIN_OVERHEAD,
    STANDIN_UNIFIED, STANDIN_POOL, STANDIN_NAME
};

struct standin_piece {
    enum standin_work work;
    uint32_t device, context, stream;
    const char *name; /* of a kernel                                                             */
    uint64_t bytes;
    /* Of a copy, a wait, an operation on memory; kernels of a graph. A copy's two kinds of memory
     * are in bits 8 and 16 on; 0: those that are usual. */
    uint32_t sort;
};

/* What CUPTI's stand-in gives the driver when it is loaded. `domain` 1 is the driver, 2 the
 * runtime. */
struct standin_tools {
    uint32_t (*begin)(int domain, const char *function, uint64_t *shared);
    void (*end)(int domain, const char *function, uint64_t *shared, uint32_t correlation);
    void (*did)(const struct standin_piece *piece, uint32_t correlation);
    void (*number_next)(uint32_t correlation); /* of the calling thread's next call              */
};

typedef void standin_connect(const struct standin_tools *tools);

#endif
