/* SPDX-License-Identifier: Apache-2.0 */
/* samples.h — durations by group, for medians, other percentiles and means. Thread-compatible.
 *
 * Add in any order, sort once, then read percentiles. */
#ifndef VV_NUMBERS_SAMPLES_H
#define VV_NUMBERS_SAMPLES_H

#include <stddef.h>
#include <stdint.h>

#include "base/scratch.h"
#include "numbers/spread.h"

struct vv_samples {
    struct vv_scratch *scratch; /* from which its memory comes */
    uint32_t *groups;     /* `count` of them */
    int64_t *values;      /* after vv_samples_sort: by group, then ascending */
    size_t count, capacity;
    size_t *starts;       /* after vv_samples_sort: group -> first value; group_count + 1 items */
};

/* A struct with a scratch, zeroed else, is empty and ready. */
enum varve_code vv_samples_add(struct vv_samples *samples, uint32_t group, int64_t value,
                               struct varve_error *error);
/* Makes room for so many, so that adding copies nothing. */
enum varve_code vv_samples_reserve(struct vv_samples *samples, size_t capacity,
                                   struct varve_error *error);
/* All groups that were added must be below group_count. */
enum varve_code vv_samples_sort(struct vv_samples *samples, uint32_t group_count,
                                struct varve_error *error);

size_t vv_samples_size(const struct vv_samples *samples, uint32_t group);
/* The group's percentile: 0 = least, 50 = median, 100 = greatest; interpolated between neighbours
 * and rounded down. The group must not be empty. */
int64_t vv_samples_percentile(const struct vv_samples *samples, uint32_t group, unsigned percent);
/* The mean and the standard deviation of the group: no value is below 0. It must not be empty. */
struct vv_mean vv_samples_mean(const struct vv_samples *samples, uint32_t group);

#endif
