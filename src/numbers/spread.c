/* SPDX-License-Identifier: Apache-2.0 */
#include "numbers/spread.h"

#include <stdlib.h>

static int compare_values(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

static int64_t median_of(int64_t *values, size_t count)
{
    qsort(values, count, sizeof *values, compare_values);
    int64_t upper = values[count / 2], lower = values[(count - 1) / 2];
    return lower + (upper - lower) / 2;
}

struct vv_spread vv_spread_of(int64_t *values, size_t count)
{
    struct vv_spread spread = { .median = median_of(values, count) };
    for (size_t i = 0; i < count; i++)
        values[i] =
            values[i] > spread.median ? values[i] - spread.median : spread.median - values[i];
    spread.mad = median_of(values, count);
    return spread;
}

bool vv_is_outlier(int64_t value, const struct vv_spread *spread)
{
    int64_t distance = value > spread->median ? value - spread->median : spread->median - value;
    return distance > VV_OUTLIER_LEAST_NS &&
           (double)distance > VV_OUTLIER_MADS * VV_MAD_SCALE * (double)spread->mad;
}

/* ---- mean and standard deviation ---- */

void vv_deviation_add(struct vv_deviation *sums, int64_t value)
{
    int64_t distance = value - sums->mean;
    vv_square_sum square = (vv_square_sum)((vv_distance_sum)distance * distance);
    sums->count++;
    sums->distances += distance;
    if (__builtin_add_overflow(sums->squares, square, &sums->squares))
        sums->squares = ~(vv_square_sum)0;
}

/* The largest number whose square is not above `square`, which is below 2^126. */
static int64_t root_of(vv_square_sum square)
{
    vv_square_sum root = 0;
    for (int bit = 62; bit >= 0; bit--) {
        vv_square_sum next = root | (vv_square_sum)1 << bit;
        if (next * next <= square)
            root = next;
    }
    return (int64_t)root;
}

int64_t vv_deviation_end(const struct vv_deviation *sums)
{
    if (sums->count == 0)
        return 0;
    /* The mean was rounded down, so the distances from it sum to less than the count. */
    vv_square_sum count = sums->count, rest = (vv_square_sum)sums->distances,
                  correction = (rest * rest + count - 1) / count;
    return root_of((sums->squares - correction) / count);
}

struct vv_mean vv_mean_of(const int64_t *values, size_t count)
{
    vv_distance_sum sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += values[i];
    struct vv_deviation sums = { .mean = (int64_t)(sum / (vv_distance_sum)count) };
    for (size_t i = 0; i < count; i++)
        vv_deviation_add(&sums, values[i]);
    return (struct vv_mean){ sums.mean, vv_deviation_end(&sums) };
}
