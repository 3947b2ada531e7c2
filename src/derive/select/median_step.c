/* SPDX-License-Identifier: Apache-2.0 */
#include "derive/select/median_step.h"

#include <inttypes.h>
#include <stdlib.h>

struct timed_step {
    int64_t duration_ns, begin_ns;
    uint32_t step;
};

static int in_order(const void *a, const void *b)
{
    const struct timed_step *left = a, *right = b;
    if (left->duration_ns != right->duration_ns)
        return left->duration_ns < right->duration_ns ? -1 : 1;
    if (left->begin_ns != right->begin_ns)
        return left->begin_ns < right->begin_ns ? -1 : 1;
    return (left->step > right->step) - (left->step < right->step);
}

enum varve_code vv_median_step(const struct vv_scope *scope, uint32_t *out_step,
                               struct varve_error *error)
{
    const struct vv_steps *steps = &scope->model->steps;
    struct timed_step *timed;
    VV_TRY(VV_SCRATCH_ARRAY(scope->scratch, &timed, steps->table.count, error));
    size_t count = 0;
    for (uint32_t s = 0; s < steps->table.count; s++)
        if (scope->steps[s])
            timed[count++] = (struct timed_step){ steps->duration_ns[s], steps->begin_ns[s], s };
    qsort(timed, count, sizeof *timed, in_order);
    size_t middle = count > 0 ? (count - 1) / 2 : 0;
    while (middle > 0 && timed[middle - 1].duration_ns == timed[middle].duration_ns)
        middle--;
    *out_step = count > 0 ? timed[middle].step : VV_NONE;
    return VARVE_OK;
}
