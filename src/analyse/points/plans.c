/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/points/plans.h"

#include <stdlib.h>

static int compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int compare_keys(const void *left, const void *right)
{
    const struct vv_plan_key *a = left, *b = right;
    int order = compare(a->process, b->process);
    if (order == 0)
        order = compare(a->model, b->model);
    if (order == 0)
        order = compare(a->kind, b->kind);
    if (order == 0)
        order = compare(a->index, b->index);
    return order != 0 ? order : compare(a->row, b->row);
}

enum varve_code vv_plans_sort(struct vv_plans *out_plans, const struct vv_model *model,
                              struct vv_scratch *scratch, struct varve_error *error)
{
    const struct vv_planned_points *points = &model->planned_points;
    *out_plans = (struct vv_plans){ 0 };
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &out_plans->keys, (size_t)points->table.count + 1, error));
    for (uint32_t row = 0; row < points->table.count; row++)
        if (points->index[row] != VV_NONE)
            out_plans->keys[out_plans->count++] =
                (struct vv_plan_key){ points->model[row], points->process[row], points->index[row],
                                      row, points->kind[row] };
    qsort(out_plans->keys, out_plans->count, sizeof *out_plans->keys, compare_keys);
    return VARVE_OK;
}

uint32_t vv_plans_find(const struct vv_plans *plans, uint32_t process, uint64_t model, uint8_t kind,
                       uint32_t index)
{
    const struct vv_plan_key behind = { model, process, index, VV_NONE, kind };
    size_t low = 0, high = plans->count;
    while (low < high) { /* the first that is not before `behind` */
        size_t middle = low + (high - low) / 2;
        if (compare_keys(&plans->keys[middle], &behind) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    const struct vv_plan_key *last = low > 0 ? &plans->keys[low - 1] : NULL;
    return last != NULL && last->process == process && last->model == model &&
                   last->kind == kind && last->index == index
               ? last->row
               : VV_NONE;
}
