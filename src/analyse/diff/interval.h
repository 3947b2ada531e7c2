/* SPDX-License-Identifier: Apache-2.0 */
/* interval.h — the difference of two means, with its 95 % interval. Thread-compatible. */
#ifndef VV_ANALYSE_DIFF_INTERVAL_H
#define VV_ANALYSE_DIFF_INTERVAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct vv_sample_set {
    const int64_t *values;
    size_t count;
};

struct vv_difference {
    double mean;      /* mean of the new values minus mean of the base values                   */
    double low, high; /* 95 % of the difference lies between them                               */
    bool has_interval; /* each side has two values or more                                      */
    bool is_noise;    /* the interval holds 0                                                   */
};

/* The interval is a bootstrap of 1,000 resamples, the same in every run. From 64 values on each
 * side it is Welch's normal interval: the two then differ by less than the noise of resampling. */
struct vv_difference vv_difference(struct vv_sample_set base, struct vv_sample_set other);
/* Welch's normal interval, however few the values are. */
struct vv_difference vv_normal_difference(struct vv_sample_set base, struct vv_sample_set other);

#endif
