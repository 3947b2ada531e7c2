/* SPDX-License-Identifier: Apache-2.0 */
/* gaps.h — every gap in which a device is idle, and its causes: doc/metrics.md §8.2.
 *
 * A gap [g0, g1) is between the work of a device, on all its streams. f is the work that begins at
 * g1. The parts of a gap are
 *     host        [g0, begin of the call that launched f): the call came late. Divided by what the
 *                 launching thread does then
 *     launch      from there to g1, but no longer than a usual launch on this device
 *     dependency  the rest: f waits for other work, on another stream or another device
 *     unknown     the whole gap, where the call that launched f is not in the trace
 * A usual launch is the median time from the call's begin to the work's, over the work that was
 * launched while its stream was empty. Laws: the parts of a gap sum to it; the gaps of a device sum
 * to span - busy, as in table "devices". Thread-compatible. */
#ifndef VV_DERIVE_DEVICES_GAPS_H
#define VV_DERIVE_DEVICES_GAPS_H

#include "derive/devices/host_doing.h"
#include "derive/devices/streams.h"

/* Causes of the host have the number of the thread's role; the others follow. */
enum vv_idle_cause {
    VV_IDLE_LAUNCH = VV_HOST_COUNT, VV_IDLE_DEPENDENCY, VV_IDLE_UNKNOWN,
    VV_IDLE_CAUSES
};

struct vv_gap {
    int64_t begin_ns, end_ns;
    int64_t host_ns, launch_ns; /* the rest is dependency, or unknown */
    uint32_t device;            /* row */
    uint32_t before, after;     /* rows of the device work's items */
    uint8_t doing;              /* enum vv_host_role that took most of host_ns */
};

/* The gaps of one cause on one device. */
struct vv_idle_sum {
    int64_t idle_ns, gaps, longest_ns, longest_at_ns; /* longest_ns 0 = no gap has the cause */
};

struct vv_gaps {
    const struct vv_question *question; /* borrowed */
    struct vv_scope scope;
    struct vv_device_work work;
    struct vv_gap *gaps;        /* by device, then begin */
    size_t count;
    struct vv_idle_sum (*sums)[VV_IDLE_CAUSES]; /* by device */
    struct vv_host_stays stays; /* key: device * VV_HOST_COUNT + role                            */
    uint32_t *longest_stay;     /* by that key: row of stays + 1; 0: none                        */
    int64_t *latency_ns;        /* device -> time of a usual launch; -1 = not known */
};

/* Do not move *out_gaps afterwards. */
enum varve_code vv_gaps_init(struct vv_gaps *out_gaps, const struct vv_model *model,
                             const struct vv_question *question, struct vv_scratch *scratch,
                             struct varve_error *error);

/* Where the threads that launched late were for most of the time that has this role; NULL where no
 * slice was open. */
const struct vv_host_stay *vv_gaps_longest_stay(const struct vv_gaps *gaps, uint32_t device,
                                                enum vv_host_role role);

/* "123 gaps between the work of a device …" */
enum varve_code vv_gaps_policy(const struct vv_gaps *gaps, struct vv_sheet *sheet,
                               struct varve_error *error);
/* A device's name and rank, in two columns side by side. */
enum varve_code vv_put_device(struct vv_sheet *sheet, size_t row, size_t column,
                              const struct vv_device *device, struct varve_error *error);

#endif
