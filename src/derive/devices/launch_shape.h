/* SPDX-License-Identifier: Apache-2.0 */
/* launch_shape.h — the launch shapes of kernels by group of work: grid, block, registers, shared
 * memory and occupancy (launch_shapes of the model).
 *
 * Thread-compatible. */
#ifndef VV_DERIVE_DEVICES_LAUNCH_SHAPE_H
#define VV_DERIVE_DEVICES_LAUNCH_SHAPE_H

#include "derive/devices/work_tally.h"

struct vv_launch_shape {
    int64_t grid[3];      /* blocks; all 0 = not known */
    int64_t block[3];     /* threads; all 0 = not known */
    int64_t registers;    /* of a thread; -1 = not known */
    int64_t shared_bytes; /* of a block, static and dynamic; -1 = not known */
    double capability;    /* compute capability of the device; 0 = not known */
};

/* Figures of a group of device work. */
struct vv_launch_figures {
    struct vv_launch_shape shape; /* the shape that takes most time */
    uint32_t shapes;              /* number of different shapes; 0 = none is known */
    double occupancy;             /* mean over the time of the work that states it; < 0 = not
                                     known */
};

/* Makes *out_figures, an array by group of `tally`. `tally` was made with the same `key` and
 * `context`. */
enum varve_code vv_launch_tally(const struct vv_device_work *work, vv_work_key_fn *key,
                                const void *context, struct vv_work_tally *tally,
                                struct vv_launch_figures **out_figures, struct varve_error *error);

/* "4×106": factors of 1 at the end are left out. Empty if the size is not known. */
#define VV_LAUNCH_TEXT_BYTES 80
void vv_launch_text(const int64_t size[3], char text[VV_LAUNCH_TEXT_BYTES]);

#endif
