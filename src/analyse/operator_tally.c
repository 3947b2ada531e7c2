/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/operator_tally.h"

#include <stdlib.h>

#include "analyse/own_time.h"

struct work {
    const struct vv_scope *scope;
    struct vv_operator_tally *tally;
    uint32_t *group;   /* of each slice; VV_NONE where it is no operator of a chosen thread     */
    uint32_t *stack;
    int64_t *own_ns;   /* of each slice                                                         */
};

static uint32_t grouping_extra(const struct vv_model *model, enum vv_grouping by, uint32_t slice)
{
    const struct vv_slices *slices = &model->slices;
    uint32_t op = slices->op[slice], phase = slices->phase[slice];
    switch (by) {
    case VV_BY_SHAPE:
        return op != VV_NONE ? model->ops.shapes[op] : 0;
    case VV_BY_THREAD:
        return slices->track[slice];
    case VV_BY_PHASE:
        return phase != VV_NONE ? slices->name[phase] : VV_NONE;
    case VV_BY_NAME:
        break;
    }
    return 0;
}

static enum varve_code assign_groups(struct work *work, enum vv_grouping by,
                                     struct varve_error *error)
{
    const struct vv_model *model = work->scope->model;
    const struct vv_slices *slices = &model->slices;
    for (uint32_t row = 0; row < slices->table.count; row++) {
        uint32_t track = slices->track[row];
        work->group[row] = VV_NONE;
        work->tally->async_slices += model->tracks.kind[track] == VV_TRACK_ASYNC;
        if (work->scope->tracks[track] && vv_is_operator(model, row))
            VV_TRY(vv_groups_add(&work->tally->groups, slices->name[row],
                                 grouping_extra(model, by, row), &work->group[row], error));
    }
    return VARVE_OK;
}

/* Counts one slice, of which duration_ns lie inside the scope. */
static enum varve_code count_slice(struct work *work, enum vv_tally_scope which, uint32_t row,
                                   int64_t duration_ns, struct varve_error *error)
{
    const struct vv_model *model = work->scope->model;
    struct vv_operator_tally *tally = work->tally;
    uint32_t group = work->group[row];
    if (group == VV_NONE) {
        tally->outside_ns[which] += work->own_ns[row];
        return VARVE_OK;
    }
    struct vv_figures *figures = &tally->figures[which][group];
    figures->self_ns += work->own_ns[row];
    uint32_t parent = model->slices.parent[row];
    if (parent != VV_NONE && work->group[parent] == group)
        return VARVE_OK;

    figures->calls++;
    figures->total_ns += duration_ns;
    uint32_t op = model->slices.op[row];
    if (op != VV_NONE && model->ops.flop[op] > 0) {
        figures->flop += (double)model->ops.flop[op];
        figures->flop_time_ns += duration_ns;
    }
    return vv_samples_add(&tally->durations[which], group, duration_ns, error);
}

static enum varve_code tally_whole(struct work *work, struct varve_error *error)
{
    const struct vv_scope *scope = work->scope;
    const struct vv_slices *slices = &scope->model->slices;
    for (uint32_t track = 0; track < scope->model->tracks.table.count; track++) {
        if (!scope->tracks[track])
            continue;
        uint32_t first, last;
        vv_track_rows(scope->model, track, &first, &last);
        vv_own_time(slices, first, last, INT64_MAX, work->stack, work->own_ns);
        for (uint32_t row = first; row < last; row++) {
            uint32_t step = slices->step[row];
            if (!scope->every_step && (step == VV_NONE || !scope->steps[step]))
                continue;
            work->tally->covered_ns[VV_SCOPE_WHOLE] += work->own_ns[row];
            VV_TRY(count_slice(work, VV_SCOPE_WHOLE, row, slices->duration_ns[row], error));
        }
    }
    return VARVE_OK;
}

static enum varve_code tally_steps(struct work *work, struct varve_error *error)
{
    const struct vv_scope *scope = work->scope;
    const struct vv_slices *slices = &scope->model->slices;
    const struct vv_steps *steps = &scope->model->steps;
    for (uint32_t step = 0; step < steps->table.count; step++) {
        if (!scope->steps[step])
            continue;
        int64_t end_ns = steps->begin_ns[step] + steps->duration_ns[step];
        uint32_t first, last;
        vv_step_rows(scope->model, step, &first, &last);
        int64_t inside_ns = vv_own_time(slices, first, last, end_ns, work->stack, work->own_ns);
        work->tally->covered_ns[VV_SCOPE_STEPS] += steps->duration_ns[step];
        work->tally->outside_ns[VV_SCOPE_STEPS] += steps->duration_ns[step] - inside_ns;
        for (uint32_t row = first; row < last; row++) {
            int64_t left_ns = end_ns - slices->begin_ns[row];
            int64_t duration_ns = slices->duration_ns[row];
            VV_TRY(count_slice(work, VV_SCOPE_STEPS, row,
                               duration_ns < left_ns ? duration_ns : left_ns, error));
        }
    }
    return VARVE_OK;
}

enum varve_code vv_operator_tally(const struct vv_scope *scope, enum vv_grouping by,
                                  struct vv_operator_tally *out_tally, struct varve_error *error)
{
    *out_tally = (struct vv_operator_tally){ 0 };
    size_t rows = (size_t)scope->model->slices.table.count + 1;
    struct work work = {
        .scope = scope,
        .tally = out_tally,
        .group = malloc(rows * sizeof *work.group),
        .stack = malloc(rows * sizeof *work.stack),
        .own_ns = malloc(rows * sizeof *work.own_ns),
    };
    enum varve_code code = VARVE_OK;
    if (work.group == NULL || work.stack == NULL || work.own_ns == NULL)
        code = vv_fail(error, VARVE_NO_MEMORY, "no memory to sum %zu slices", rows - 1);
    if (code == VARVE_OK)
        code = assign_groups(&work, by, error);
    for (int which = 0; which < VV_SCOPE_COUNT && code == VARVE_OK; which++) {
        out_tally->figures[which] = calloc((size_t)out_tally->groups.count + 1,
                                           sizeof **out_tally->figures);
        if (out_tally->figures[which] == NULL)
            code = vv_fail(error, VARVE_NO_MEMORY, "no memory for %u operators",
                           out_tally->groups.count);
    }
    if (code == VARVE_OK)
        code = tally_whole(&work, error);
    if (code == VARVE_OK)
        code = tally_steps(&work, error);
    for (int which = 0; which < VV_SCOPE_COUNT && code == VARVE_OK; which++)
        code = vv_samples_sort(&out_tally->durations[which], out_tally->groups.count, error);
    free(work.group);
    free(work.stack);
    free(work.own_ns);
    return code;
}

void vv_operator_tally_deinit(struct vv_operator_tally *tally)
{
    vv_groups_deinit(&tally->groups);
    for (int which = 0; which < VV_SCOPE_COUNT; which++) {
        free(tally->figures[which]);
        vv_samples_deinit(&tally->durations[which]);
    }
}
