/* SPDX-License-Identifier: Apache-2.0 */
/* step_reduces.c — table "step_reduces": one row for each collective of each iteration, its begin
 * and end joined by their number. */
#include <stdlib.h>

#include "analyse/points/plans.h"
#include "analyse/points/rows.h"

enum { PROCESS, MODEL, ITERATION, REDUCE, NAME, OPERATION, STREAM, BEGIN, END, TOOK, COLUMNS };

static const struct vv_sheet_column step_reduce_columns[COLUMNS] = {
    { "process", "process", VV_CELL_INT, VV_UNIT_NONE, true, false },
    { "model", "model", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "iteration", "iteration", VV_CELL_INT, VV_UNIT_NONE, false, false },
    { "reduce", "number", VV_CELL_INT, VV_UNIT_NONE, false, false },
    { "name", "node", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "operation", "operation", VV_CELL_TEXT, VV_UNIT_NONE, false, VV_TEXT_IF_ROOM },
    { "stream", "stream", VV_CELL_INT, VV_UNIT_NONE, false, VV_TEXT_IF_ROOM },
    { "begin_ns", "begin", VV_CELL_INT, VV_UNIT_TIME, true, false },
    { "end_ns", "end", VV_CELL_INT, VV_UNIT_TIME, true, false },
    { "duration_ns", "took", VV_CELL_INT, VV_UNIT_NS, false, false },
};

static enum varve_code put_pair(const struct vv_point_rows *rows, const struct vv_plans *plans,
                                const struct vv_iteration *of, const struct vv_point_pair *pair,
                                struct varve_error *error)
{
    const struct vv_model *model = rows->all.model;
    struct vv_sheet *sheet = rows->sheet;
    struct vv_maybe_ns took = vv_between(pair->begin, pair->end);
    uint32_t plan = vv_plans_find(plans, of->process, of->model, VARVE_POINT_COLLECTIVE,
                                  pair->index);
    size_t row;
    VV_TRY(vv_sheet_row(sheet, VV_ROW_PLAIN, &row, error));
    VV_TRY(vv_put_model(sheet, row, MODEL, of->model, error));
    vv_sheet_int(sheet, row, PROCESS, model->processes.pid[of->process]);
    vv_sheet_int(sheet, row, ITERATION, of->number);
    vv_sheet_int(sheet, row, REDUCE, pair->index);
    if (pair->stream >= 0)
        vv_sheet_int(sheet, row, STREAM, pair->stream);
    if (pair->begin.is_known)
        vv_sheet_int(sheet, row, BEGIN, pair->begin.ns);
    if (pair->end.is_known)
        vv_sheet_int(sheet, row, END, pair->end.ns);
    if (took.is_known)
        vv_sheet_int(sheet, row, TOOK, took.ns);
    if (plan == VV_NONE)
        return VARVE_OK;
    VV_TRY(vv_sheet_text(sheet, row, NAME, vv_text_of(model, model->planned_points.name[plan]),
                         error));
    return vv_sheet_text(sheet, row, OPERATION,
                         vv_text_of(model, model->planned_points.operation[plan]), error);
}

static enum varve_code put_pairs(const struct vv_point_rows *rows, const struct vv_plans *plans,
                                 const struct vv_iteration *of, struct varve_error *error)
{
    struct vv_scratch *scratch = rows->scope.scratch;
    struct vv_point_pairs pairs;
    VV_TRY(vv_iteration_pairs(&rows->all, of, VARVE_POINT_COLLECTIVE, scratch, &pairs, error));
    for (size_t i = 0; i < pairs.count; i++)
        VV_TRY(put_pair(rows, plans, of, &pairs.items[i], error));
    vv_scratch_release(scratch, pairs.items);
    return VARVE_OK;
}

enum varve_code vv_analyse_step_reduces(const struct vv_model *model,
                                        const struct vv_question *question,
                                        struct vv_scratch *scratch, struct vv_sheet *out,
                                        struct varve_error *error)
{
    struct vv_point_rows rows = { .sheet = out };
    struct vv_plans plans;
    vv_sheet_init(out, "step_reduces", "REDUCES", step_reduce_columns, COLUMNS);
    VV_TRY(vv_point_rows_find(&rows, model, question, scratch, error));
    VV_TRY(vv_plans_sort(&plans, model, scratch, error));
    for (size_t i = 0; i < rows.all.item_count; i++)
        if (vv_point_rows_has(&rows, &rows.all.items[i]))
            VV_TRY(put_pairs(&rows, &plans, &rows.all.items[i], error));
    VV_TRY(vv_sheet_hide_unknown(out, NAME, STREAM + 1, error));
    return vv_point_rows_policy(&rows, error);
}
