/* SPDX-License-Identifier: Apache-2.0 */
/* static_plan.c — tables "static_plan" and "plan_conflicts": the memory plan that a compiler made
 * before the run (doc/metrics.md §10).
 *
 * A buffer is live from its first use to its last, both included. Two buffers that are live at the
 * same operator and lie on the same bytes are in conflict: one overwrites the other. Uses are
 * numbers of operators, not times. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyse/memory/plan_sweep.h"
#include "base/sum.h"
#include "derive/devices/device_work.h"
#include "question/question.h"

/* ---- plans: the buffers of one graph on one device of one process ---- */

struct plan {
    const struct vv_placements *rows;
    struct vv_scratch of_graph; /* released after each graph                                    */
    uint32_t *order;       /* by process, device and graph, then first use                      */
    size_t count;
};

static int compare_rows(const void *a, const void *b, void *context)
{
    const struct vv_placements *rows = context;
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    if (rows->process[left] != rows->process[right])
        return rows->process[left] < rows->process[right] ? -1 : 1;
    if (rows->device[left] != rows->device[right])
        return rows->device[left] < rows->device[right] ? -1 : 1;
    if (rows->graph[left] != rows->graph[right])
        return rows->graph[left] < rows->graph[right] ? -1 : 1;
    if (rows->first_use[left] != rows->first_use[right])
        return rows->first_use[left] < rows->first_use[right] ? -1 : 1;
    return (left > right) - (left < right);
}

static bool is_same_graph(const struct plan *plan, size_t a, size_t b)
{
    uint32_t left = plan->order[a], right = plan->order[b];
    return plan->rows->process[left] == plan->rows->process[right] &&
           plan->rows->device[left] == plan->rows->device[right] &&
           plan->rows->graph[left] == plan->rows->graph[right];
}

static size_t end_of_graph(const struct plan *plan, size_t first)
{
    size_t last = first + 1;
    while (last < plan->count && is_same_graph(plan, first, last))
        last++;
    return last;
}

static enum varve_code plan_init(struct plan *plan, const struct vv_model *model,
                                 const struct vv_question *question, struct vv_scratch *scratch,
                                 struct varve_error *error)
{
    struct vv_scope scope;
    *plan = (struct plan){ .rows = &model->placements };
    VV_TRY(vv_scope_init(&scope, model, &question->selection, scratch, error));
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &plan->order, model->placements.table.count, error));
    for (uint32_t row = 0; row < model->placements.table.count; row++)
        if (scope.processes[model->placements.process[row]] &&
            (question->selection.device == NULL ||
             vv_device_is_called(model->placements.device[row], question->selection.device)))
            plan->order[plan->count++] = row;
    qsort_r(plan->order, plan->count, sizeof *plan->order, compare_rows,
            (void *)&model->placements);
    return VARVE_OK;
}

/* ---- static_plan ---- */

enum { DEVICE, GRAPH, BUFFERS, PEAK, PEAK_AT, PLANNED, RATIO, SUM, CONFLICTS, PLAN_COLUMNS };

static const struct vv_sheet_column plan_columns[PLAN_COLUMNS] = {
    { "device", "device", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "graph", "graph", VV_CELL_INT, VV_UNIT_NONE, false, false },
    { "buffers", "buffers", VV_CELL_INT, VV_UNIT_COUNT, false, false },
    { "peak_bytes", "peak", VV_CELL_INT, VV_UNIT_BYTES, false, false },
    { "peak_at_use", "at operator", VV_CELL_INT, VV_UNIT_NONE, false, false },
    { "planned_bytes", "planned", VV_CELL_INT, VV_UNIT_BYTES, false, false },
    { "planned_ratio", "planned/peak", VV_CELL_REAL, VV_UNIT_RATIO, false, false },
    { "all_bytes", "all buffers", VV_CELL_INT, VV_UNIT_BYTES, true, false },
    { "conflicts", "conflicts", VV_CELL_INT, VV_UNIT_COUNT, false, false },
};

struct tally {
    int64_t peak_bytes, peak_at, conflicts;
};

static enum varve_code tally_graph(struct plan *plan, size_t first, size_t last,
                                   struct tally *tally, struct varve_error *error)
{
    struct vv_plan_sweep sweep;
    VV_TRY(vv_plan_sweep_init(&sweep, plan->rows, plan->order + first, last - first,
                              &plan->of_graph, error));
    for (uint32_t row, conflicts; vv_plan_sweep_next(&sweep, &row, &conflicts);) {
        int64_t live_bytes = sweep.live_bytes < INT64_MAX ? (int64_t)sweep.live_bytes : INT64_MAX;
        tally->conflicts += conflicts;
        if (live_bytes <= tally->peak_bytes)
            continue;
        tally->peak_bytes = live_bytes;
        tally->peak_at = plan->rows->first_use[row];
    }
    return VARVE_OK;
}

static enum varve_code put_graph(struct plan *plan, size_t first, size_t last,
                                 struct vv_sheet *sheet, struct varve_error *error)
{
    const struct vv_placements *rows = plan->rows;
    struct tally tally = { 0 };
    int64_t planned_bytes = 0, all_bytes = 0;
    size_t row;
    char device[40];
    for (size_t i = first; i < last; i++) {
        uint32_t buffer = plan->order[i];
        all_bytes = vv_sum(all_bytes, rows->bytes[buffer]);
        if (rows->offset_bytes[buffer] >= 0 &&
            rows->offset_bytes[buffer] + rows->bytes[buffer] > planned_bytes)
            planned_bytes = rows->offset_bytes[buffer] + rows->bytes[buffer];
    }
    VV_TRY(tally_graph(plan, first, last, &tally, error));
    vv_device_text(rows->device[plan->order[first]], device, sizeof device);
    VV_TRY(vv_sheet_row(sheet, VV_ROW_PLAIN, &row, error));
    VV_TRY(vv_sheet_text(sheet, row, DEVICE, device, error));
    vv_sheet_int(sheet, row, GRAPH, rows->graph[plan->order[first]]);
    vv_sheet_int(sheet, row, BUFFERS, (int64_t)(last - first));
    vv_sheet_int(sheet, row, PEAK, tally.peak_bytes);
    vv_sheet_int(sheet, row, PEAK_AT, tally.peak_at);
    vv_sheet_int(sheet, row, SUM, all_bytes);
    if (planned_bytes > 0) {
        vv_sheet_int(sheet, row, PLANNED, planned_bytes);
        vv_sheet_int(sheet, row, CONFLICTS, tally.conflicts);
    }
    if (planned_bytes > 0 && tally.peak_bytes > 0)
        vv_sheet_real(sheet, row, RATIO, (double)planned_bytes / (double)tally.peak_bytes);
    return VARVE_OK;
}

enum varve_code vv_analyse_static_plan(const struct vv_model *model,
                                       const struct vv_question *question,
                                       struct vv_scratch *scratch, struct vv_sheet *out,
                                       struct varve_error *error)
{
    struct plan plan;
    vv_sheet_init(out, "static_plan", "STATIC MEMORY PLAN", plan_columns, PLAN_COLUMNS);
    VV_TRY(plan_init(&plan, model, question, scratch, error));
    enum varve_code code = VARVE_OK;
    for (size_t first = 0, last; first < plan.count && code == VARVE_OK; first = last) {
        last = end_of_graph(&plan, first);
        code = put_graph(&plan, first, last, out, error);
        vv_scratch_deinit(&plan.of_graph);
    }
    VV_TRY(code);
    return vv_sheet_policy(out, error, "%s",
                           plan.count == 0
                               ? "no static plan in this trace"
                               : "each buffer from its first use to its last, both included");
}

/* ---- plan_conflicts ---- */

enum { C_DEVICE, C_GRAPH, SHARED, FROM, TO, A_OFFSET, A_BYTES, B_OFFSET, B_BYTES, A_NAME, B_NAME,
       CONFLICT_COLUMNS };

static const struct vv_sheet_column conflict_columns[CONFLICT_COLUMNS] = {
    { "device", "device", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "graph", "graph", VV_CELL_INT, VV_UNIT_NONE, false, false },
    { "shared_bytes", "shared", VV_CELL_INT, VV_UNIT_BYTES, false, false },
    { "first_use", "from operator", VV_CELL_INT, VV_UNIT_NONE, false, false },
    { "last_use", "to operator", VV_CELL_INT, VV_UNIT_NONE, false, false },
    { "offset_bytes", "offset", VV_CELL_INT, VV_UNIT_BYTES, true, false },
    { "bytes", "bytes", VV_CELL_INT, VV_UNIT_BYTES, true, false },
    { "other_offset_bytes", "other's offset", VV_CELL_INT, VV_UNIT_BYTES, true, false },
    { "other_bytes", "other's bytes", VV_CELL_INT, VV_UNIT_BYTES, true, false },
    { "name", "buffer of", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "other_name", "and of", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
};

#define ROWS_MAX 10000 /* a plan may have as many pairs as half the square of its buffers        */

struct conflicts {
    const struct vv_model *model;
    struct vv_sheet *sheet;
    uint64_t shown; /* rows to write at most                                                    */
    uint64_t count;
};

static enum varve_code put_conflict(struct conflicts *conflicts, uint32_t a, uint32_t b,
                                    struct varve_error *error)
{
    const struct vv_placements *rows = &conflicts->model->placements;
    struct vv_sheet *sheet = conflicts->sheet;
    int64_t a_end = rows->offset_bytes[a] + rows->bytes[a],
            b_end = rows->offset_bytes[b] + rows->bytes[b];
    int64_t from = rows->offset_bytes[a] > rows->offset_bytes[b] ? rows->offset_bytes[a]
                                                                 : rows->offset_bytes[b];
    int64_t last_use =
        rows->last_use[a] < rows->last_use[b] ? rows->last_use[a] : rows->last_use[b];
    char device[40];
    size_t row;
    vv_device_text(rows->device[a], device, sizeof device);
    VV_TRY(vv_sheet_row(sheet, VV_ROW_PLAIN, &row, error));
    VV_TRY(vv_sheet_text(sheet, row, C_DEVICE, device, error));
    vv_sheet_int(sheet, row, C_GRAPH, rows->graph[a]);
    vv_sheet_int(sheet, row, SHARED, (a_end < b_end ? a_end : b_end) - from);
    vv_sheet_int(sheet, row, FROM, rows->first_use[b]);
    if (last_use != INT64_MAX)
        vv_sheet_int(sheet, row, TO, last_use);
    vv_sheet_int(sheet, row, A_OFFSET, rows->offset_bytes[a]);
    vv_sheet_int(sheet, row, A_BYTES, rows->bytes[a]);
    vv_sheet_int(sheet, row, B_OFFSET, rows->offset_bytes[b]);
    vv_sheet_int(sheet, row, B_BYTES, rows->bytes[b]);
    VV_TRY(vv_sheet_text(sheet, row, A_NAME, vv_text_of(conflicts->model, rows->name[a]), error));
    return vv_sheet_text(sheet, row, B_NAME, vv_text_of(conflicts->model, rows->name[b]), error);
}

/* All conflicts are counted. The two buffers are searched only for conflicts that get a row. */
static enum varve_code put_conflicts(struct conflicts *conflicts, struct plan *plan,
                                     size_t first, size_t last, struct varve_error *error)
{
    struct vv_plan_sweep sweep;
    size_t came = first;
    VV_TRY(vv_plan_sweep_init(&sweep, plan->rows, plan->order + first, last - first,
                              &plan->of_graph, error));
    for (uint32_t row, found; vv_plan_sweep_next(&sweep, &row, &found); came++) {
        conflicts->count += found;
        for (size_t i = first;
             i < came && found > 0 && conflicts->sheet->row_count < conflicts->shown; i++) {
            uint32_t other = plan->order[i];
            if (plan->rows->last_use[other] < plan->rows->first_use[row] ||
                !vv_plan_shares(plan->rows, other, row))
                continue;
            VV_TRY(put_conflict(conflicts, other, row, error));
            found--;
        }
    }
    return VARVE_OK;
}

enum varve_code vv_analyse_plan_conflicts(const struct vv_model *model,
                                          const struct vv_question *question,
                                          struct vv_scratch *scratch, struct vv_sheet *out,
                                          struct varve_error *error)
{
    struct plan plan;
    struct conflicts conflicts = { .model = model, .sheet = out, .shown = ROWS_MAX };
    if (question->top > 0 && question->top < ROWS_MAX)
        conflicts.shown = (uint64_t)question->top;
    vv_sheet_init(out, "plan_conflicts", "BUFFERS THAT OVERWRITE EACH OTHER", conflict_columns,
                  CONFLICT_COLUMNS);
    VV_TRY(plan_init(&plan, model, question, scratch, error));
    enum varve_code code = VARVE_OK;
    for (size_t first = 0, last; first < plan.count && code == VARVE_OK; first = last) {
        last = end_of_graph(&plan, first);
        code = put_conflicts(&conflicts, &plan, first, last, error);
        vv_scratch_deinit(&plan.of_graph);
    }
    VV_TRY(code);
    if (plan.count == 0)
        return vv_sheet_policy(out, error, "no static plan in this trace");
    return vv_sheet_policy(out, error,
                           "%" PRIu64
                           " pairs of buffers that are live together on the same bytes%s",
                           conflicts.count,
                           out->row_count == ROWS_MAX ? "; 10,000 of them at most are listed" : "");
}
