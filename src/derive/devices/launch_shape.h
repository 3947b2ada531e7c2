/* SPDX-License-Identifier: Apache-2.0 */
/* launch_shape.h — how kernels were launched: their grids and blocks, and what a thread or block of them takes of a
 * multiprocessor: launch_shapes of the model, by groups of work.
 *
 * Thread-compatible. */
#ifndef VV_DERIVE_DEVICES_LAUNCH_SHAPE_H
#define VV_DERIVE_DEVICES_LAUNCH_SHAPE_H

#include "derive/devices/work_tally.h"

struct vv_launch_shape {
    int64_t grid[3];      /* blocks; all 0 = not known */
    int64_t block[3];     /* threads; all 0 = not known */
    int64_t registers;    /* a thread's; -1 = not known */
    int64_t shared_bytes; /* a block's, static and dynamic; -1 = not known */
};

/* Of a group of device work. */
struct vv_launch_figures {
    struct vv_launch_shape shape; /* the one that takes most time */
    uint32_t shapes;              /* how many different ones; 0 = none is known */
    double occupancy;             /* mean over the time of the work that says it; < 0 = unknown */
};

/* *out_figures: an array by group of `tally`, which `key` and `context` made of the work. It belongs to the caller, also
 * after a failure; it may be NULL then. */
enum varve_code vv_launch_tally(const struct vv_device_work *work, vv_work_key_fn *key, const void *context,
                                struct vv_work_tally *tally, struct vv_launch_figures **out_figures,
                                struct varve_error *error);

/* "4×106": factors of 1 at the end are left out. Empty where it is not known. */
#define VV_LAUNCH_TEXT_BYTES 80
void vv_launch_text(const int64_t size[3], char text[VV_LAUNCH_TEXT_BYTES]);

#endif
