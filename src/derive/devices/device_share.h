/* SPDX-License-Identifier: Apache-2.0 */
/* device_share.h — the device work that belongs to each slice of the host: its own, and that of the
 * slices in it.
 *
 * Laws: total of a slice = its own + the totals of its children; the own times of all slices + the
 * work without an owner = the durations of all work. doc/metrics.md §3. */
#ifndef VV_DERIVE_DEVICES_DEVICE_SHARE_H
#define VV_DERIVE_DEVICES_DEVICE_SHARE_H

#include "derive/devices/device_work.h"

struct vv_device_share {
    int64_t *self_ns, *total_ns; /* by slice; NULL if there is no device work */
    uint32_t *kernels;           /* number of pieces of work of its own */
    uint64_t count;              /* number of pieces of all work */
    int64_t work_ns;             /* duration of all work */
};

enum varve_code vv_device_share(const struct vv_device_work *work, struct vv_scratch *scratch,
                                struct vv_device_share *out_share, struct varve_error *error);

#endif
