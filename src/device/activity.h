/* SPDX-License-Identifier: Apache-2.0 */
/* activity.h — writes the records of a piece of work whose name has its number already, and of a
 * kernel with its launch. */
#ifndef VV_DEVICE_ACTIVITY_H
#define VV_DEVICE_ACTIVITY_H

#include <stdint.h>

struct vv_activity {
    uint32_t name; /* number of a string                                                         */
    uint32_t track;
    uint32_t kind;
    int64_t begin, end;
    uint64_t correlation, bytes;
};

/* Into the calling thread's stream; what cannot be kept is counted. */
void vv_activity_put(const struct vv_activity *activity);

/* A kernel that fits into a varve.kernel (doc/format.md §6). */
struct vv_kernel {
    const char *name;
    int64_t begin;
    uint32_t track, duration, correlation;
    uint32_t grid[3], block[3], registers, shared_bytes;
};

/* Into the calling thread's stream; what cannot be kept is counted. */
void vv_kernel_put(const struct vv_kernel *kernel);

#endif
