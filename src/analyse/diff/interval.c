/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/diff/interval.h"

#include <math.h>
#include <stdlib.h>

enum { RESAMPLES = 1000, NORMAL_FROM = 64 };

static double mean_of(struct vv_sample_set set)
{
    double sum = 0;
    for (size_t i = 0; i < set.count; i++)
        sum += (double)set.values[i];
    return set.count > 0 ? sum / (double)set.count : 0;
}

/* The square of the standard error of the mean. */
static double error_of(struct vv_sample_set set, double mean)
{
    double sum = 0;
    for (size_t i = 0; i < set.count; i++) {
        double off = (double)set.values[i] - mean;
        sum += off * off;
    }
    return sum / (double)(set.count - 1) / (double)set.count;
}

/* splitmix64 */
static uint64_t draw(uint64_t *state)
{
    uint64_t x = *state += UINT64_C(0x9E3779B97F4A7C15);
    x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
    return x ^ x >> 31;
}

static double resampled_mean(struct vv_sample_set set, uint64_t *state)
{
    double sum = 0;
    for (size_t i = 0; i < set.count; i++)
        sum += (double)set.values[(size_t)(((draw(state) >> 32) * set.count) >> 32)];
    return sum / (double)set.count;
}

static int compare(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static struct vv_difference normal(struct vv_sample_set base, struct vv_sample_set other)
{
    double base_mean = mean_of(base), other_mean = mean_of(other),
           width = 1.959964 * sqrt(error_of(base, base_mean) + error_of(other, other_mean));
    return (struct vv_difference){ .mean = other_mean - base_mean,
                                   .low = other_mean - base_mean - width,
                                   .high = other_mean - base_mean + width };
}

static struct vv_difference resampled(struct vv_sample_set base, struct vv_sample_set other)
{
    double means[RESAMPLES];
    uint64_t state = 1;
    for (int i = 0; i < RESAMPLES; i++)
        means[i] = resampled_mean(other, &state) - resampled_mean(base, &state);
    qsort(means, RESAMPLES, sizeof *means, compare);
    return (struct vv_difference){ .mean = mean_of(other) - mean_of(base),
                                   .low = means[RESAMPLES / 40],
                                   .high = means[RESAMPLES - 1 - RESAMPLES / 40] };
}

static struct vv_difference difference_by(
    struct vv_difference interval(struct vv_sample_set, struct vv_sample_set),
    struct vv_sample_set base, struct vv_sample_set other)
{
    struct vv_difference difference = { .mean = mean_of(other) - mean_of(base) };
    difference.low = difference.high = difference.mean;
    if (base.count < 2 || other.count < 2)
        return difference;
    difference = interval(base, other);
    difference.has_interval = true;
    difference.is_noise = difference.low <= 0 && difference.high >= 0;
    return difference;
}

struct vv_difference vv_difference(struct vv_sample_set base, struct vv_sample_set other)
{
    bool is_many = base.count >= NORMAL_FROM && other.count >= NORMAL_FROM;
    return difference_by(is_many ? normal : resampled, base, other);
}

struct vv_difference vv_normal_difference(struct vv_sample_set base, struct vv_sample_set other)
{
    return difference_by(normal, base, other);
}
