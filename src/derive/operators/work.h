/* SPDX-License-Identifier: Apache-2.0 */
/* work.h — every operator of a selection whose cost is known, with its time and its device.
 *
 * Of nested operators the outermost that has a cost counts. Its time is the summed duration of the
 * device work that it and the operators in it launched. Without such work, its time is its own
 * duration, and its device is the host. Thread-compatible. */
#ifndef VV_DERIVE_OPERATORS_WORK_H
#define VV_DERIVE_OPERATORS_WORK_H

#include "derive/devices/device_share.h"
#include "meaning/op_cost.h"
#include "meaning/hardware/peaks.h"

#define VV_ON_HOST UINT32_MAX

struct vv_costed_op {
    uint32_t slice;
    uint32_t device;     /* row of work.devices, or VV_ON_HOST */
    int64_t time_ns;
    struct vv_op_cost cost;
    double peak_flop;    /* peaks per second, of the operator's kind; 0 = not known */
    double peak_bytes;
};

struct vv_op_work {
    struct vv_scope scope;
    struct vv_scope all;         /* the scope without the filter: all device work of an operator
                                    counts */
    struct vv_device_work work;
    struct vv_device_share share;
    struct vv_costed_op *items;  /* in order of rows */
    size_t count, capacity;
    uint64_t operators;          /* outermost operators, with a cost or without */
    int64_t whole_ns;            /* duration of all device work; without any, of the outermost
                                    operators */
    struct vv_peaks *peaks;      /* device -> peaks; those of the host come last */
    uint32_t *names;             /* device -> its name, a string; 0 = not known */
};

enum varve_code vv_op_work_init(struct vv_op_work *out_work, const struct vv_model *model,
                                const struct vv_question *question, struct vv_scratch *scratch,
                                struct varve_error *error);

/* The least time that the operator could take, in nanoseconds; 0 = not known. */
double vv_least_ns(const struct vv_op_cost *cost, double peak_flop, double peak_bytes);

/* The part of whole_ns that belongs to no operator with a cost. */
int64_t vv_op_work_rest_ns(const struct vv_op_work *work);
/* True if some operators run on the host and others on devices. */
bool vv_op_work_is_mixed(const struct vv_op_work *work);

/* "peaks by data sheet of 1 of 1 device: 989 TFLOP/s …": the source of the peaks, or why there are
 * none. The second function writes this for the host, in a trace that has devices too. */
void vv_op_work_peaks_text(const struct vv_op_work *work, char *text, size_t bytes);
void vv_op_work_host_peaks_text(const struct vv_op_work *work, char *text, size_t bytes);

#endif
