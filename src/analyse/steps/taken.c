/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/steps/taken.h"

#include <stdlib.h>

#include "base/sum.h"

static struct vv_taken_step read_step(const struct vv_counted *counted,
                                      const struct vv_model *model, uint32_t step)
{
    struct vv_taken_step read = { .is_known = false };
    struct vv_counts counts;
    int64_t counted_ns, cpu_ns;
    read.is_known =
        vv_counts_of_step(counted, model, step, &counts, &counted_ns) &&
        vv_counted_value(counted, model, &counts, "cpu_ns", &cpu_ns) &&
        vv_counted_value(counted, model, &counts, "switches_for_others", &read.for_others) &&
        vv_counted_value(counted, model, &counts, "switches_to_wait", &read.to_wait);
    if (read.is_known)
        read.off_cpu_ns = cpu_ns < counted_ns ? vv_sum(counted_ns, -cpu_ns) : 0;
    return read;
}

static int ascending(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

static int64_t median_of(int64_t *values, size_t count)
{
    if (count == 0)
        return 0;
    qsort(values, count, sizeof *values, ascending);
    return values[count / 2];
}

enum varve_code vv_taken_init(struct vv_taken *out_taken, const struct vv_scope *scope,
                              struct varve_error *error)
{
    const struct vv_model *model = scope->model;
    size_t steps = (size_t)model->steps.table.count, known = 0;
    struct vv_counted counted;
    int64_t *values[3];
    *out_taken = (struct vv_taken){ .steps = NULL };
    vv_counted_init(&counted, scope);
    VV_TRY(VV_SCRATCH_ZEROS(scope->scratch, &out_taken->steps, steps + 1, error));
    if (counted.count == 0)
        return VARVE_OK;
    for (size_t i = 0; i < 3; i++)
        VV_TRY(VV_SCRATCH_ARRAY(scope->scratch, &values[i], steps + 1, error));
    for (uint32_t step = 0; step < steps; step++) {
        struct vv_taken_step read = read_step(&counted, model, step);
        out_taken->steps[step] = read;
        if (!read.is_known || !scope->steps[step])
            continue;
        values[0][known] = read.off_cpu_ns;
        values[1][known] = read.for_others;
        values[2][known++] = read.to_wait;
    }
    out_taken->median = (struct vv_taken_step){
        median_of(values[0], known), median_of(values[1], known), median_of(values[2], known),
        known > 0
    };
    return VARVE_OK;
}

int64_t vv_taken_ns(const struct vv_taken *taken, uint32_t step, int64_t excess_ns)
{
    const struct vv_taken_step *at = &taken->steps[step], *median = &taken->median;
    if (!at->is_known || !median->is_known)
        return -1;
    double stops = (double)at->for_others - (double)median->for_others,
           waits = (double)at->to_wait - (double)median->to_wait;
    int64_t off_ns = vv_sum(at->off_cpu_ns, -median->off_cpu_ns);
    bool is_stopped = at->to_wait == 0 ? at->for_others > 0 : stops > 0 && stops >= waits;
    if (!is_stopped || off_ns <= 0 || excess_ns <= 0)
        return 0;
    return off_ns < excess_ns ? off_ns : excess_ns;
}
