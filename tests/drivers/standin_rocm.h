/* SPDX-License-Identifier: Apache-2.0 */
/* standin_rocm.h — what the two stand-ins for AMD's libraries know of each other. HIP
 * (standin_hip.c) has no device and does no work; it registers a table of functions, as
 * rocprofiler-register does for the real one, and rocprofiler-sdk's stand-in
 * (standin_rocprofiler.c) puts functions into it that tell what a device would have done. */
#ifndef STANDIN_ROCM_H
#define STANDIN_ROCM_H

#include <stdint.h>

enum standin_call { /* of HIP's runtime: its numbers in the stand-in for rocprofiler-sdk         */
    STANDIN_API_NAME, STANDIN_LAUNCH, STANDIN_MODULE_LAUNCH, STANDIN_COPY_ASYNC, STANDIN_COPY,
    STANDIN_MALLOC, STANDIN_FREE, STANDIN_WAIT, STANDIN_GET_DEVICE, STANDIN_GRAPH_LAUNCH,
    STANDIN_CALLS
};

enum standin_sort { STANDIN_KERNEL, STANDIN_COPIED, STANDIN_MEMORY, STANDIN_SCRATCH };

struct standin_did { /* by a device                                                              */
    enum standin_sort sort;
    const char *name;   /* of a kernel                                                           */
    uint32_t operation; /* of a copy: the direction; of memory: taken or given back              */
    uint32_t device, other; /* agents; a copy goes to `device`. 0 is the CPU                     */
    uint64_t queue, bytes, address;
};

struct standin_table { /* NULL: nobody traces                                                    */
    void (*begin)(int call, uint64_t stream, uint64_t *shared);
    void (*end)(int call, uint64_t stream, const uint64_t *shared);
    void (*did)(const struct standin_did *what);
};

#endif
