/* SPDX-License-Identifier: Apache-2.0 */
/* step_counters.c — table "step_counters": what the counters of a step's thread say of each step,
 * from its begin to its end, with everything inside it. Law: duration_ns and the counts of the rows
 * sum to those of "total". doc/metrics.md. */
#include <inttypes.h>

#include "base/sum.h"
#include "derive/operators/counted.h"
#include "question/question.h"
#include "sheet/cells.h"

enum { STEP, PROCESS, RANK, DURATION, CPU_SHARE, ROW, THREADS, CPUS, COLUMNS };

static const struct vv_sheet_column own_columns[COLUMNS] = {
    { "step", "step", VV_CELL_INT, VV_UNIT_NONE, false, false },
    { "process", "process", VV_CELL_INT, VV_UNIT_NONE, true, false },
    { "rank", "rank", VV_CELL_INT, VV_UNIT_NONE, true, false },
    { "duration_ns", "took", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "cpu_share", "on a processor", VV_CELL_REAL, VV_UNIT_RATIO, false, false },
    { "row", "row", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    { "threads", "threads", VV_CELL_INT, VV_UNIT_COUNT, true, false },
    { "cpus", "processors", VV_CELL_INT, VV_UNIT_COUNT, true, false },
};

struct view {
    const struct vv_scope *scope;
    struct vv_counted counted;
    struct vv_sheet *sheet;
};

/* The chosen threads that ran operators. */
static int64_t count_threads(const struct vv_scope *scope)
{
    const struct vv_slices *slices = &scope->model->slices;
    int64_t count = 0;
    uint32_t last = VV_NONE; /* slices are sorted by track */
    for (uint32_t slice = 0; slice < slices->table.count; slice++) {
        uint32_t track = slices->track[slice];
        if (track == last || !scope->tracks[track] || !vv_is_operator(scope->model, slice))
            continue;
        last = track;
        count++;
    }
    return count;
}

/* `step` VV_NONE: the total. */
static enum varve_code put(const struct view *view, uint32_t step, const struct vv_counts *counts,
                           int64_t duration_ns, struct varve_error *error)
{
    const struct vv_scope *scope = view->scope;
    const struct vv_model *model = scope->model;
    struct vv_cell cells[COLUMNS + VV_COUNTED_MAX] = { 0 };
    double share;
    bool is_total = step == VV_NONE;
    cells[DURATION] = vv_int_cell(duration_ns);
    cells[ROW] = vv_text_cell(is_total ? "total" : "step");
    if (!is_total) {
        uint32_t process = model->tracks.process[model->steps.track[step]];
        cells[STEP] = vv_int_cell(model->steps.index[step]);
        cells[PROCESS] = vv_int_cell(model->processes.pid[process]);
        if (scope->ranks[process] >= 0)
            cells[RANK] = vv_int_cell(scope->ranks[process]);
    }
    if (is_total) {
        cells[THREADS] = vv_int_cell(count_threads(scope));
        if (model->run.cpus > 0)
            cells[CPUS] = vv_int_cell(model->run.cpus);
    }
    if (vv_counted_cpu_share(&view->counted, model, counts, duration_ns, &share))
        cells[CPU_SHARE] = vv_real_cell(share);
    vv_counted_cells(&view->counted, counts, cells + COLUMNS);
    return vv_row_put(view->sheet, is_total ? VV_ROW_TOTAL : VV_ROW_PLAIN, cells, error);
}

enum varve_code vv_analyse_step_counters(const struct vv_model *model,
                                         const struct vv_question *question,
                                         struct vv_scratch *scratch, struct vv_sheet *out,
                                         struct varve_error *error)
{
    struct vv_scope scope;
    struct view view = { .scope = &scope, .sheet = out };
    struct vv_counts counts, total = { .known = 0 };
    int64_t total_ns = 0;
    uint64_t steps = 0;
    vv_sheet_init(out, "step_counters", "COUNTERS OF STEPS", own_columns, COLUMNS);
    VV_TRY(vv_scope_init(&scope, model, &question->selection, scratch, error));
    vv_counted_init(&view.counted, &scope);
    VV_TRY(vv_counted_columns(&view.counted, model, own_columns, COLUMNS, out, error));
    for (uint32_t step = 0; step < model->steps.table.count; step++) {
        uint32_t slice = model->steps.slice[step];
        if (!scope.steps[step] || slice == VV_NONE ||
            !vv_counts_of(&view.counted, model, slice, &counts))
            continue;
        VV_TRY(put(&view, step, &counts, model->steps.duration_ns[step], error));
        vv_counts_add(&total, &counts, false);
        total_ns = vv_sum(total_ns, model->steps.duration_ns[step]);
        steps++;
    }
    if (steps == 0)
        return vv_sheet_policy(out, error, "no step was counted");
    VV_TRY(put(&view, VV_NONE, &total, total_ns, error));
    return vv_sheet_policy(out, error,
                           "%" PRIu64 " steps, by the counters of the thread that ran them", steps);
}
