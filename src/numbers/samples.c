/* SPDX-License-Identifier: Apache-2.0 */
#include "numbers/samples.h"

#include <stdlib.h>
#include <string.h>

enum varve_code vv_samples_add(struct vv_samples *samples, uint32_t group, int64_t value,
                               struct varve_error *error)
{
    if (samples->count == samples->capacity) {
        size_t capacity = samples->capacity > 0 ? samples->capacity * 2 : 1024;
        uint32_t *groups = reallocarray(samples->groups, capacity, sizeof *groups);
        if (groups != NULL)
            samples->groups = groups;
        int64_t *values = reallocarray(samples->values, capacity, sizeof *values);
        if (values != NULL)
            samples->values = values;
        if (groups == NULL || values == NULL)
            VV_FAIL(error, VARVE_NO_MEMORY, "no memory for %zu durations", capacity);
        samples->capacity = capacity;
    }
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
#define FEW 256 /* values, below which comparing them takes less time                              */

/* Digit by digit, of those in which values differ; `spare` has room for as many. */
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
    size_t *starts = calloc((size_t)group_count + 2, sizeof *starts);
    int64_t *sorted = malloc((samples->count + 1) * sizeof *sorted);
    if (starts == NULL || sorted == NULL) {
        free(starts);
        free(sorted);
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory to sort %zu durations", samples->count);
    }
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

    free(samples->values);
    free(samples->starts);
    samples->values = sorted;
    samples->starts = starts;
    samples->capacity = samples->count;
    return VARVE_OK;
}

void vv_samples_deinit(struct vv_samples *samples)
{
    free(samples->groups);
    free(samples->values);
    free(samples->starts);
    *samples = (struct vv_samples){ 0 };
}

size_t vv_samples_size(const struct vv_samples *samples, uint32_t group)
{
    return samples->starts[group + 1] - samples->starts[group];
}

int64_t vv_samples_percentile(const struct vv_samples *samples, uint32_t group, unsigned percent)
{
    const int64_t *values = samples->values + samples->starts[group];
    __extension__ typedef unsigned __int128 wide; /* a difference times 100 may leave 64 bits   */
    wide hundredths = (wide)(vv_samples_size(samples, group) - 1) * percent;
    size_t below = (size_t)(hundredths / 100);
    unsigned rest = (unsigned)(hundredths % 100);
    if (rest == 0)
        return values[below];
    wide step = (wide)((uint64_t)values[below + 1] - (uint64_t)values[below]);
    return values[below] + (int64_t)(step * rest / 100);
}
