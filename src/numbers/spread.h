/* SPDX-License-Identifier: Apache-2.0 */
/* spread.h — how far numbers lie apart. The median of a few numbers and their typical distance from
 * it: a single outlier hardly changes either. The mean of any numbers and their standard deviation:
 * every number counts. Thread-compatible. */
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

/* Sums of the distances from a mean, and of their squares. The sums are whole numbers of 128 bits,
 * so nothing is rounded on the way and the order of the values does not matter. Set `mean`, zero
 * the rest, and add each value; no value is below 0. */
__extension__ typedef __int128 vv_distance_sum;
__extension__ typedef unsigned __int128 vv_square_sum;
struct vv_deviation {
    int64_t mean;           /* of the values that are added, rounded down                        */
    uint64_t count;
    vv_distance_sum distances;
    vv_square_sum squares;  /* stays at its largest value if the sum does not fit                */
};
void vv_deviation_add(struct vv_deviation *sums, int64_t value);
/* The standard deviation of all values that were added, not of a sample; rounded down; 0 for no
 * values. */
int64_t vv_deviation_end(const struct vv_deviation *sums);

struct vv_mean { int64_t mean, deviation; }; /* both rounded down */
/* count > 0, and no value is below 0. */
struct vv_mean vv_mean_of(const int64_t *values, size_t count);

#endif
