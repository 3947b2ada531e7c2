/* SPDX-License-Identifier: Apache-2.0 */
/* trace_plan.c — table "trace_plan": where trace points were planned, each with its reason. */
#include "analyse/points/rows.h"

enum { PROCESS, MODEL, POINT, INDEX, STATE, GRAPH, NODE, NAME, OPERATION, REASON, COLUMNS };

static const struct vv_sheet_column trace_plan_columns[COLUMNS] = {
    { "process", "process", VV_CELL_INT, VV_UNIT_NONE, true, false },
    { "model", "model", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "point", "point", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "index", "index", VV_CELL_INT, VV_UNIT_NONE, false, VV_TEXT_IF_ROOM },
    { "state", "state", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    { "graph", "graph", VV_CELL_INT, VV_UNIT_NONE, true, false },
    { "node", "node number", VV_CELL_INT, VV_UNIT_NONE, true, false },
    { "name", "node", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "operation", "operation", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    { "reason", "why", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
};

static const char *const kinds[VARVE_POINT_KIND_COUNT] = {
    [VARVE_POINT_MODEL] = "model", [VARVE_POINT_FORWARD] = "forward start",
    [VARVE_POINT_BACKWARD] = "backward end", [VARVE_POINT_ITERATION] = "iteration end",
    [VARVE_POINT_COLLECTIVE] = "collective", [VARVE_POINT_FETCH] = "data fetch",
    [VARVE_POINT_STEP] = "step",
};
static const char *const states[] = { [VARVE_POINT_NONE] = "none", [VARVE_POINT_FOUND] = "found",
                                      [VARVE_POINT_REFUSED] = "refused" };

static enum varve_code put_text(const struct vv_model *model, struct vv_sheet *sheet, size_t row,
                                size_t column, uint32_t string, struct varve_error *error)
{
    return string == 0 ? VARVE_OK
                       : vv_sheet_text(sheet, row, column, vv_text_of(model, string), error);
}

static enum varve_code put_point(const struct vv_model *model, struct vv_sheet *sheet, uint32_t of,
                                 struct varve_error *error)
{
    const struct vv_planned_points *points = &model->planned_points;
    size_t row;
    VV_TRY(vv_sheet_row(sheet, VV_ROW_PLAIN, &row, error));
    vv_sheet_int(sheet, row, PROCESS, model->processes.pid[points->process[of]]);
    VV_TRY(vv_put_model(sheet, row, MODEL, points->model[of], error));
    VV_TRY(vv_sheet_text(sheet, row, POINT, kinds[points->kind[of]], error));
    VV_TRY(vv_sheet_text(sheet, row, STATE, states[points->state[of]], error));
    if (points->index[of] != VV_NONE)
        vv_sheet_int(sheet, row, INDEX, points->index[of]);
    vv_sheet_int(sheet, row, GRAPH, points->graph[of]);
    vv_sheet_int(sheet, row, NODE, points->node[of]);
    VV_TRY(put_text(model, sheet, row, NAME, points->name[of], error));
    VV_TRY(put_text(model, sheet, row, OPERATION, points->operation[of], error));
    return put_text(model, sheet, row, REASON, points->reason[of], error);
}

enum varve_code vv_analyse_trace_plan(const struct vv_model *model,
                                      const struct vv_question *question,
                                      struct vv_scratch *scratch, struct vv_sheet *out,
                                      struct varve_error *error)
{
    struct vv_scope scope;
    const struct vv_selection without_step = vv_selection_without_step(&question->selection);
    vv_sheet_init(out, "trace_plan", "TRACE POINTS", trace_plan_columns, COLUMNS);
    VV_TRY(vv_scope_init(&scope, model, &without_step, scratch, error));
    for (uint32_t row = 0; row < model->planned_points.table.count; row++)
        if (scope.processes[model->planned_points.process[row]])
            VV_TRY(put_point(model, out, row, error));
    return out->row_count > 0
               ? VARVE_OK
               : vv_sheet_policy(out, error, "no plan of trace points was recorded: "
                                             "varve_trace_plan_record does that");
}
