/* SPDX-License-Identifier: Apache-2.0 */
/* spread.h — the median of a few numbers and their typical distance from it. A single outlier
 * hardly changes either. Thread-compatible. */
#ifndef VV_NUMBERS_SPREAD_H
#define VV_NUMBERS_SPREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* For normally distributed numbers, the MAD times this is the standard deviation. */
#define VV_MAD_SCALE 1.4826

struct vv_spread {
    int64_t median; /* for an even count: the mean of the middle two, rounded down                */
    int64_t mad;    /* the median of the distances from the median                                */
};

/* Is the number an outlier: further from the median than chance explains, and far enough to matter?
 * That is more than 3.5 scaled MAD and more than 10 us (doc/metrics.md §16). */
#define VV_OUTLIER_MADS 3.5
#define VV_OUTLIER_LEAST_NS 10000
bool vv_is_outlier(int64_t value, const struct vv_spread *spread);

/* count > 0, and no value is below 0. The values are replaced by their distances
 * from the median. */
struct vv_spread vv_spread_of(int64_t *values, size_t count);

#endif
