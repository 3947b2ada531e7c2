/* SPDX-License-Identifier: Apache-2.0 */
/* work.h — every operator of a selection whose cost is known, with its time and what it ran on.
 *
 * Of operators inside one another the first from the outside counts that has a cost. Its time is that of the device work
 * that it, or what it called, launched, summed; without any, its own duration, and it ran on the host.
 * Thread-compatible. */
#ifndef VV_DERIVE_OPERATORS_WORK_H
#define VV_DERIVE_OPERATORS_WORK_H

#include "derive/devices/device_share.h"
#include "meaning/op_cost.h"
#include "meaning/peaks.h"

#define VV_ON_HOST UINT32_MAX

struct vv_costed_op {
    uint32_t slice;
    uint32_t device;     /* row of work.devices, or VV_ON_HOST */
    int64_t time_ns;
    struct vv_op_cost cost;
    double peak_flop;    /* what it could get, per second; 0 = not known */
    double peak_bytes;
};

struct vv_op_work {
    struct vv_scope scope;
    struct vv_scope all;         /* without the filter: an operator's device work counts whole */
    struct vv_device_work work;
    struct vv_device_share share;
    struct vv_costed_op *items;  /* in order of rows */
    size_t count, capacity;
    uint64_t operators;          /* outermost ones, with a cost or without */
    int64_t whole_ns;            /* all device work; without any, the outermost operators' time */
    struct vv_peaks *peaks;      /* by device, the host behind the last */
    uint32_t *names;             /* by device: string, 0 = not known */
};

/* De-initialise also after a failure. */
enum varve_code vv_op_work_init(struct vv_op_work *out_work, const struct vv_model *model,
                                const struct vv_question *question, struct varve_error *error);
void vv_op_work_deinit(struct vv_op_work *work);

/* The least time that it could take, in nanoseconds; 0 = not known. */
double vv_least_ns(const struct vv_op_cost *cost, double peak_flop, double peak_bytes);

/* Of whole_ns what is of no operator with a cost. */
int64_t vv_op_work_rest_ns(const struct vv_op_work *work);
/* Do some of them run on the host, and others on devices? */
bool vv_op_work_is_mixed(const struct vv_op_work *work);

/* "peaks by data sheet of 1 of 1 device: 989 TFLOP/s …": whose peaks were taken, or why none. The
 * second is of the host beside devices. */
void vv_op_work_peaks_text(const struct vv_op_work *work, char *text, size_t bytes);
void vv_op_work_host_peaks_text(const struct vv_op_work *work, char *text, size_t bytes);

#endif
