/* SPDX-License-Identifier: Apache-2.0 */
/* step_counters.c — table "step_counters": what the counters of a step's thread say of each step,
 * from its begin to its end, with everything inside it. A step that was found and not recorded has
 * no counters of its own; then the outermost counted ranges inside it are counted. Law: the times
 * and the counts of the rows sum to those of "total". doc/metrics.md. */
#include <inttypes.h>

#include "analyse/steps/silent_cpu.h"
#include "base/sum.h"
#include "derive/operators/counted.h"
#include "derive/select/process_fact.h"
#include "model/find.h"
#include "question/question.h"
#include "sheet/cells.h"

enum {
    STEP, PROCESS, RANK, DURATION, COUNTED, OFF_CPU, CPU_SHARE, ROW, THREADS, CPUS, SILENT_CPU,
    COLUMNS
};

static const struct vv_sheet_column own_columns[COLUMNS] = {
    { "step", "step", VV_CELL_INT, VV_UNIT_NONE, false, false },
    { "process", "process", VV_CELL_INT, VV_UNIT_NONE, true, false },
    { "rank", "rank", VV_CELL_INT, VV_UNIT_NONE, true, false },
    { "duration_ns", "took", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "counted_ns", "counted", VV_CELL_INT, VV_UNIT_NS, true, false },
    { "off_cpu_ns", "off", VV_CELL_INT, VV_UNIT_NS, true, false },
    { "cpu_share", "on a processor", VV_CELL_REAL, VV_UNIT_RATIO, false, false },
    { "row", "row", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    { "threads", "threads", VV_CELL_INT, VV_UNIT_COUNT, true, false },
    { "cpus", "processors", VV_CELL_INT, VV_UNIT_COUNT, true, false },
    { "silent_cpu_ns", "threads without records", VV_CELL_INT, VV_UNIT_NS, true, false },
};

struct view {
    const struct vv_scope *scope;
    struct vv_counted counted;
    struct vv_silent_cpu silent;
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

/* What the process says: threads that ran no operators use processors, too. */
static void put_threads(const struct vv_scope *scope, struct vv_cell *cells)
{
    int64_t threads = count_threads(scope), all = 0;
    for (uint32_t process = 0; process < scope->model->processes.table.count; process++)
        if (scope->processes[process])
            all = vv_sum(all, vv_process_fact(scope->model, process, VV_FACT_THREADS));
    cells[THREADS] = vv_int_cell(all > threads ? all : threads);
    if (scope->model->run.cpus > 0)
        cells[CPUS] = vv_int_cell(scope->model->run.cpus);
}

/* Times of a step, or of all steps; silent_ns below 0: not known. */
struct times { int64_t duration_ns, counted_ns, silent_ns; };

/* `step` VV_NONE: the total. */
static enum varve_code put(const struct view *view, uint32_t step, const struct vv_counts *counts,
                           struct times times, struct varve_error *error)
{
    const struct vv_scope *scope = view->scope;
    const struct vv_model *model = scope->model;
    struct vv_cell cells[COLUMNS + VV_COUNTED_MAX] = { 0 };
    double share;
    bool is_total = step == VV_NONE;
    cells[DURATION] = vv_int_cell(times.duration_ns);
    cells[COUNTED] = vv_int_cell(times.counted_ns);
    cells[ROW] = vv_text_cell(is_total ? "total" : "step");
    if (!is_total) {
        uint32_t process = model->tracks.process[model->steps.track[step]];
        cells[STEP] = vv_int_cell(model->steps.index[step]);
        cells[PROCESS] = vv_int_cell(model->processes.pid[process]);
        if (scope->ranks[process] >= 0)
            cells[RANK] = vv_int_cell(scope->ranks[process]);
    }
    if (is_total)
        put_threads(scope, cells);
    if (times.silent_ns >= 0)
        cells[SILENT_CPU] = vv_int_cell(times.silent_ns);
    if (vv_counted_cpu_share(&view->counted, model, counts, times.counted_ns, &share)) {
        double off = (1 - share) * (double)times.counted_ns;
        cells[CPU_SHARE] = vv_real_cell(share);
        cells[OFF_CPU] = vv_int_cell(off > 0 ? (int64_t)off : 0);
    }
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
    struct times times, all = { 0, 0, -1 };
    uint64_t steps = 0, found = 0;
    vv_sheet_init(out, "step_counters", "COUNTERS OF STEPS", own_columns, COLUMNS);
    VV_TRY(vv_scope_init(&scope, model, &question->selection, scratch, error));
    vv_counted_init(&view.counted, &scope);
    VV_TRY(vv_counted_columns(&view.counted, model, own_columns, COLUMNS, out, error));
    VV_TRY(vv_silent_cpu_init(&view.silent, model, scratch, error));
    for (uint32_t step = 0; step < model->steps.table.count; step++) {
        if (!scope.steps[step] ||
            !vv_counts_of_step(&view.counted, model, step, &counts, &times.counted_ns))
            continue;
        times.duration_ns = model->steps.duration_ns[step];
        times.silent_ns = vv_silent_cpu_of(&view.silent, step);
        VV_TRY(put(&view, step, &counts, times, error));
        vv_counts_add(&total, &counts, false);
        all.duration_ns = vv_sum(all.duration_ns, times.duration_ns);
        all.counted_ns = vv_sum(all.counted_ns, times.counted_ns);
        if (times.silent_ns >= 0)
            all.silent_ns = vv_sum(all.silent_ns >= 0 ? all.silent_ns : 0, times.silent_ns);
        found += model->steps.slice[step] == VV_NONE;
        steps++;
    }
    if (steps == 0)
        return vv_sheet_policy(out, error, "no step was counted");
    VV_TRY(put(&view, VV_NONE, &total, all, error));
    if (found > 0)
        return vv_sheet_policy(out, error,
                               "%" PRIu64 " steps, which were found and not recorded: by the "
                               "outermost ranges in them that were counted", found);
    return vv_sheet_policy(out, error,
                           "%" PRIu64 " steps, by the counters of the thread that ran them", steps);
}
