/* SPDX-License-Identifier: Apache-2.0 */
#include "numbers/samples.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY 1024

enum varve_code vv_samples_reserve(struct vv_samples *samples, size_t capacity,
                                   struct varve_error *error)
{
    size_t groups = samples->capacity, values = groups;
    if (capacity <= samples->capacity)
        return VARVE_OK;
    VV_TRY(VV_SCRATCH_RESERVE(samples->scratch, &samples->groups, &groups, capacity, error));
    VV_TRY(VV_SCRATCH_RESERVE(samples->scratch, &samples->values, &values, capacity, error));
    samples->capacity = groups < values ? groups : values;
    return VARVE_OK;
}

enum varve_code vv_samples_add(struct vv_samples *samples, uint32_t group, int64_t value,
                               struct varve_error *error)
{
    if (samples->count == samples->capacity)
        VV_TRY(vv_samples_reserve(samples, samples->count > 0 ? samples->count * 2 : FIRST_CAPACITY,
                                  error));
    samples->groups[samples->count] = group;
    samples->values[samples->count++] = value;
    return VARVE_OK;
}

static int ascending(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

#define DIGIT_BITS 8
#define FEW 256 /* fewer values than this are sorted faster by comparing */

/* Radix sort, over the digits in which values differ. `spare` has room for as many values. */
static void sort_values(int64_t *values, size_t count, int64_t *spare)
{
    uint64_t differ = 0, sign = UINT64_C(1) << 63;
    int64_t *from = values, *to = spare;
    if (count < FEW) {
        qsort(values, count, sizeof *values, ascending);
        return;
    }
    for (size_t i = 1; i < count; i++)
        differ |= (uint64_t)values[i] ^ (uint64_t)values[0];
    for (int shift = 0; shift < 64; shift += DIGIT_BITS) {
        size_t places[1 << DIGIT_BITS] = { 0 }, sum = 0;
        if ((differ >> shift & 0xff) == 0)
            continue;
        for (size_t i = 0; i < count; i++)
            places[((uint64_t)from[i] ^ sign) >> shift & 0xff]++;
        for (size_t digit = 0; digit < sizeof places / sizeof *places; digit++) {
            size_t own = places[digit];
            places[digit] = sum;
            sum += own;
        }
        for (size_t i = 0; i < count; i++)
            to[places[((uint64_t)from[i] ^ sign) >> shift & 0xff]++] = from[i];
        int64_t *sorted = to;
        to = from;
        from = sorted;
    }
    if (from != values)
        memcpy(values, from, count * sizeof *values);
}

enum varve_code vv_samples_sort(struct vv_samples *samples, uint32_t group_count,
                                struct varve_error *error)
{
    size_t *starts;
    int64_t *sorted;
    VV_TRY(VV_SCRATCH_ZEROS(samples->scratch, &starts, (size_t)group_count + 2, error));
    VV_TRY(VV_SCRATCH_ARRAY(samples->scratch, &sorted, samples->count, error));
    /* Counting sort by group: counts stand one place to the right, so that after the scatter below
     * starts[g] is where group g begins. */
    for (size_t i = 0; i < samples->count; i++)
        starts[samples->groups[i] + 2]++;
    for (size_t g = 2; g < (size_t)group_count + 2; g++)
        starts[g] += starts[g - 1];
    for (size_t i = 0; i < samples->count; i++)
        sorted[starts[samples->groups[i] + 1]++] = samples->values[i];
    for (uint32_t g = 0; g < group_count; g++)
        sort_values(sorted + starts[g], starts[g + 1] - starts[g], samples->values);

    vv_scratch_release(samples->scratch, samples->values);
    vv_scratch_release(samples->scratch, samples->starts);
    samples->values = sorted;
    samples->starts = starts;
    samples->capacity = samples->count;
    return VARVE_OK;
}

size_t vv_samples_size(const struct vv_samples *samples, uint32_t group)
{
    return samples->starts[group + 1] - samples->starts[group];
}

int64_t vv_samples_percentile(const struct vv_samples *samples, uint32_t group, unsigned percent)
{
    const int64_t *values = samples->values + samples->starts[group];
    __extension__ typedef unsigned __int128 wide; /* a difference * 100 may need over 64 bits */
    wide hundredths = (wide)(vv_samples_size(samples, group) - 1) * percent;
    size_t below = (size_t)(hundredths / 100);
    unsigned rest = (unsigned)(hundredths % 100);
    if (rest == 0)
        return values[below];
    wide step = (wide)((uint64_t)values[below + 1] - (uint64_t)values[below]);
    return values[below] + (int64_t)(step * rest / 100);
}

struct vv_mean vv_samples_mean(const struct vv_samples *samples, uint32_t group)
{
    return vv_mean_of(samples->values + samples->starts[group], vv_samples_size(samples, group));
}
