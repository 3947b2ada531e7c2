/* SPDX-License-Identifier: Apache-2.0 */
/* gaps.h — every instant at which a device stands still, and what it waits for: doc/metrics.md §8.2.
 *
 * Of a gap [g0, g1) between the work of a device, on all its streams, which the work f ends that begins at g1:
 *     host        [g0, begin of the call that launched f): the host is late. By what the launching thread does then
 *     launch      from there to g1, but no longer than launching takes on this device
 *     dependency  what is left: f waits for other work, on another stream or another device
 *     unknown     the whole gap, where the call that launched f is not in the trace
 * What launching takes is the median, over the work that was launched while its stream was empty, of the time from the
 * call's begin to the work's. Laws: the parts of a gap sum to it; the gaps of a device sum to span - busy, as in table
 * "devices". Thread-compatible. */
#ifndef VV_DERIVE_DEVICES_GAPS_H
#define VV_DERIVE_DEVICES_GAPS_H

#include "derive/devices/streams.h"
#include "meaning/host_role.h"

/* The host's by its role, then the others. */
enum vv_idle_cause {
    VV_IDLE_LAUNCH = VV_HOST_COUNT, VV_IDLE_DEPENDENCY, VV_IDLE_UNKNOWN,
    VV_IDLE_CAUSES
};

struct vv_gap {
    int64_t begin_ns, end_ns;
    int64_t host_ns, launch_ns; /* the rest is dependency, or unknown */
    uint32_t device;            /* row */
    uint32_t before, after;     /* rows of the device work's items */
    uint8_t doing;              /* enum vv_host_role: what most of host_ns went to */
};

/* Of one cause on one device. */
struct vv_idle_sum {
    int64_t idle_ns, gaps, longest_ns, longest_at_ns; /* longest 0 = no gap has it */
};

struct vv_gaps {
    const struct vv_question *question; /* borrowed */
    struct vv_scope scope;
    struct vv_device_work work;
    struct vv_gap *gaps;        /* by device, then begin */
    size_t count;
    struct vv_idle_sum (*sums)[VV_IDLE_CAUSES]; /* by device */
    int64_t *latency_ns;        /* by device: what launching takes; -1 = nobody knows */
};

/* De-initialise also after a failure. Do not move it. */
enum varve_code vv_gaps_init(struct vv_gaps *out_gaps, const struct vv_model *model,
                             const struct vv_question *question, struct varve_error *error);
void vv_gaps_deinit(struct vv_gaps *gaps);

/* "123 gaps between the work of a device …" */
enum varve_code vv_gaps_policy(const struct vv_gaps *gaps, struct vv_sheet *sheet, struct varve_error *error);
/* A device's name and rank, in two columns side by side. */
enum varve_code vv_put_device(struct vv_sheet *sheet, size_t row, size_t column, const struct vv_device *device,
                              struct varve_error *error);

#endif
