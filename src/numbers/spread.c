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
