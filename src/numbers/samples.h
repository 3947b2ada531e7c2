/* SPDX-License-Identifier: Apache-2.0 */
/* samples.h — durations by group, for medians and other percentiles. Thread-compatible.
 *
 * Add in any order, sort once, then ask. */
#ifndef VV_NUMBERS_SAMPLES_H
#define VV_NUMBERS_SAMPLES_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct vv_samples {
    uint32_t *groups;     /* count of them */
    int64_t *values;      /* after vv_samples_sort: by group, then ascending */
    size_t count, capacity;
    size_t *starts;       /* after vv_samples_sort: group -> its first value; group_count + 1 */
};

/* A zeroed struct is empty and ready. */
enum varve_code vv_samples_add(struct vv_samples *samples, uint32_t group, int64_t value,
                               struct varve_error *error);
/* Every group added is below group_count. */
enum varve_code vv_samples_sort(struct vv_samples *samples, uint32_t group_count,
                                struct varve_error *error);
void vv_samples_deinit(struct vv_samples *samples);

size_t vv_samples_size(const struct vv_samples *samples, uint32_t group);
/* The group's percentile, 0 = least, 50 = median, 100 = greatest; interpolated between neighbours and
 * rounded down. The group is not empty. */
int64_t vv_samples_percentile(const struct vv_samples *samples, uint32_t group, unsigned percent);

#endif
