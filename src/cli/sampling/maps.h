/* SPDX-License-Identifier: Apache-2.0 */
/* maps.h — which file an address of a process is of, and the address that the file's own tables
 * have for it. */
#ifndef VV_CLI_SAMPLING_MAPS_H
#define VV_CLI_SAMPLING_MAPS_H

#include "cli/sampling/sample.h"

struct vv_sample_mapping {
    pid_t pid;
    uint64_t begin, end;
    int64_t slide;   /* added to an address it gives that of the file                           */
    uint32_t object;
};

struct vv_sample_maps {
    struct vv_sample_mapping *items;
    size_t count, capacity;
};

/* Fills in object and address. What the process has mapped is read again if no mapping that is
 * known holds the address. */
enum varve_code vv_sample_place(struct vv_sample_maps *maps, struct vv_samples *samples,
                                struct vv_sample *sample, struct varve_error *error);
/* The process has begun another program, or has ended. */
void vv_sample_forget(struct vv_sample_maps *maps, pid_t pid);

#endif
