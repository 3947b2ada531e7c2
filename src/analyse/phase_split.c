/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/phase_split.h"

#include <stdlib.h>

#include "base/array.h"

static enum varve_code add_entry(struct vv_phase_split *split, const struct vv_phase_entry *entry,
                                 struct varve_error *error)
{
    VV_TRY(vv_array_reserve(&split->entries, &split->capacity, split->count + 1,
                            sizeof *split->entries, error));
    split->entries[split->count++] = *entry;
    return VARVE_OK;
}

static enum varve_code split_step(const struct vv_scope *scope, struct vv_phase_split *split,
                                  uint32_t step, struct varve_error *error)
{
    const struct vv_slices *slices = &scope->model->slices;
    const struct vv_steps *steps = &scope->model->steps;
    int64_t step_end_ns = steps->begin_ns[step] + steps->duration_ns[step];
    int64_t covered_until_ns = steps->begin_ns[step];
    uint32_t first, last;
    vv_step_rows(scope->model, step, &first, &last);
    split->other_ns[step] = steps->duration_ns[step];
    for (uint32_t row = first; row < last; row++) {
        int64_t begin_ns = slices->begin_ns[row];
        int64_t end_ns = begin_ns + slices->duration_ns[row];
        if ((slices->flags[row] & VV_SLICE_PHASE) == 0)
            continue;
        if (end_ns > step_end_ns)
            end_ns = step_end_ns;
        if (begin_ns < covered_until_ns)
            begin_ns = covered_until_ns;
        /* An empty phase that nothing surrounds still happened; one inside another did not count. */
        if (end_ns < begin_ns || (end_ns == begin_ns && slices->begin_ns[row] < covered_until_ns))
            continue;
        struct vv_phase_entry entry = { .step = step, .duration_ns = end_ns - begin_ns };
        VV_TRY(vv_groups_add(&split->phases, slices->name[row], 0, &entry.phase, error));
        VV_TRY(add_entry(split, &entry, error));
        split->other_ns[step] -= end_ns - begin_ns;
        covered_until_ns = end_ns;
    }
    return VARVE_OK;
}

static int by_total(const void *a, const void *b, void *context)
{
    const struct vv_phase_split *split = context;
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    int64_t left_ns = split->totals_ns[left], right_ns = split->totals_ns[right];
    if (left_ns != right_ns)
        return left_ns < right_ns ? 1 : -1;
    return (left > right) - (left < right);
}

/* One entry a (step, phase): a phase may come several times in a step. */
static enum varve_code merge_entries(struct vv_phase_split *split, struct varve_error *error)
{
    size_t *entry_of = calloc((size_t)split->phases.count + 1, sizeof *entry_of);
    if (entry_of == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for %u phases", split->phases.count);
    size_t kept = 0;
    for (size_t i = 0; i < split->count; i++) {
        struct vv_phase_entry entry = split->entries[i];
        size_t known = entry_of[entry.phase];
        if (known < kept && split->entries[known].phase == entry.phase &&
            split->entries[known].step == entry.step) {
            split->entries[known].duration_ns += entry.duration_ns;
        } else {
            entry_of[entry.phase] = kept;
            split->entries[kept++] = entry;
        }
    }
    split->count = kept;
    free(entry_of);
    return VARVE_OK;
}

static enum varve_code sum_phases(struct vv_phase_split *split, struct varve_error *error)
{
    size_t phases = split->phases.count;
    split->totals_ns = calloc(phases + 1, sizeof *split->totals_ns);
    split->order = calloc(phases + 1, sizeof *split->order);
    if (split->totals_ns == NULL || split->order == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for %zu phases", phases);
    for (size_t i = 0; i < split->count; i++)
        split->totals_ns[split->entries[i].phase] += split->entries[i].duration_ns;
    for (uint32_t p = 0; p < phases; p++)
        split->order[p] = p;
    qsort_r(split->order, phases, sizeof *split->order, by_total, split);
    return VARVE_OK;
}

enum varve_code vv_phase_split(const struct vv_scope *scope, struct vv_phase_split *out_split,
                               struct varve_error *error)
{
    size_t steps = (size_t)scope->model->steps.table.count;
    *out_split =
        (struct vv_phase_split){ .other_ns = calloc(steps + 1, sizeof *out_split->other_ns) };
    if (out_split->other_ns == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for the phases of %zu steps", steps);
    for (uint32_t step = 0; step < steps; step++) {
        if (scope->steps[step])
            VV_TRY(split_step(scope, out_split, step, error));
    }
    VV_TRY(merge_entries(out_split, error));
    return sum_phases(out_split, error);
}

void vv_phase_split_deinit(struct vv_phase_split *split)
{
    vv_groups_deinit(&split->phases);
    free(split->entries);
    free(split->other_ns);
    free(split->totals_ns);
    free(split->order);
    *split = (struct vv_phase_split){ 0 };
}
