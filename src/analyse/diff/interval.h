/* SPDX-License-Identifier: Apache-2.0 */
/* interval.h — how sure a difference of two means is. Thread-compatible. */
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
    double mean;      /* of the new values, less that of the base                               */
    double low, high; /* 95 % of it lies between                                                */
    bool has_interval; /* two values or more on each side                                       */
    bool is_noise;    /* the interval holds 0                                                   */
};

/* By bootstrap of 1,000 resamples, the same in every run; from 64 values on each side by Welch's normal interval, which then
 * differs by less than the noise of the resampling. */
struct vv_difference vv_difference(struct vv_sample_set base, struct vv_sample_set other);

#endif
