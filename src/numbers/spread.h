/* SPDX-License-Identifier: Apache-2.0 */
/* spread.h — the middle of a few numbers and how far they lie from it, as no outlier can shift it. Thread-compatible. */
#ifndef VV_NUMBERS_SPREAD_H
#define VV_NUMBERS_SPREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of numbers that are normally distributed, this times the MAD is the standard deviation. */
#define VV_MAD_SCALE 1.4826

struct vv_spread {
    int64_t median; /* of an even count the mean of the middle two, rounded down                  */
    int64_t mad;    /* the median of the distances from it                                        */
};

/* Lies the number further from the median than chance explains, and than it is worth to look: more than 3.5 scaled MAD
 * and more than 10 us (doc/metrics.md §16)? */
#define VV_OUTLIER_MADS 3.5
#define VV_OUTLIER_LEAST_NS 10000
bool vv_is_outlier(int64_t value, const struct vv_spread *spread);

/* count > 0; none is below 0. The values are left in another order, and are distances then. */
struct vv_spread vv_spread_of(int64_t *values, size_t count);

#endif
