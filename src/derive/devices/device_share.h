/* SPDX-License-Identifier: Apache-2.0 */
/* device_share.h — how much device work belongs to each slice of the host: its own, and with what it calls.
 *
 * Law:  total of a slice = its own + the totals of its children; the own times of all slices and work without an owner = the
 * durations of all work. doc/metrics.md §3. */
#ifndef VV_DERIVE_DEVICES_DEVICE_SHARE_H
#define VV_DERIVE_DEVICES_DEVICE_SHARE_H

#include "derive/devices/device_work.h"

struct vv_device_share {
    int64_t *self_ns, *total_ns; /* by slice; NULL where there is no device work */
    uint32_t *kernels;           /* pieces of work of its own */
    uint64_t count;              /* pieces of work */
    int64_t work_ns;             /* of all work */
};

/* De-initialise also after a failure. */
enum varve_code vv_device_share(const struct vv_device_work *work, struct vv_device_share *out_share,
                                struct varve_error *error);
void vv_device_share_deinit(struct vv_device_share *share);

#endif
