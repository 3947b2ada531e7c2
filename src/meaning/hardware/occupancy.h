/* SPDX-License-Identifier: Apache-2.0 */
/* occupancy.h — which share of a multiprocessor's warps NVIDIA's hardware can hold of a kernel, by
 * the shape in which it was launched: the theoretical occupancy. Thread-safe. */
#ifndef VV_MEANING_HARDWARE_OCCUPANCY_H
#define VV_MEANING_HARDWARE_OCCUPANCY_H

#include <stdbool.h>
#include <stdint.h>

struct vv_occupancy {
    double share;      /* of the warps that a multiprocessor holds at most                       */
    const char *limit; /* what lets no further block in: "registers", "shared memory", "blocks",
                          "warps"                                                                */
};

/* `threads` and `shared_bytes` are those of a block, `registers` those of a thread. The memory of a
 * multiprocessor is divided in favour of shared memory. False: the device of this compute
 * capability, such as 9.0, is not known, or it cannot run such a kernel, or the registers are not
 * known. Shared memory that is not known (-1) counts as none. */
bool vv_occupancy_of(double capability, int64_t threads, int64_t registers, int64_t shared_bytes,
                     struct vv_occupancy *out);

/* The compute capability of a device, by its driver's name for it; 0 = not known. */
double vv_capability_of_name(const char *name);

#endif
