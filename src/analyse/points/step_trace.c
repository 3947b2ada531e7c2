/* SPDX-License-Identifier: Apache-2.0 */
/* step_trace.c — table "step_trace": one row for each iteration of each model whose trace points
 * are in the trace. With --compat msprof the rows are msprof.c's.
 *
 * Law: before_forward_ns + forward_backward_ns + refresh_ns = iteration_ns, where all are known. */
#include <inttypes.h>
#include <stdio.h>

#include "analyse/points/rows.h"
#include "model/device_id.h"

enum {
    PROCESS, MODEL, ITERATION, DEVICE, BEGIN, AT, BEGINS, TOOK, BEFORE_FORWARD, FORWARD_BACKWARD,
    REFRESH, DATA_AUG, REDUCES, REDUCE_TIME, FETCHES, FETCH_TIME, FORWARD_START, BACKWARD_END,
    ITERATION_END, NUMBER, COLUMNS
};

static const struct vv_sheet_column step_trace_columns[COLUMNS] = {
    { "process", "process", VV_CELL_INT, VV_UNIT_NONE, true, false },
    { "model", "model", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "iteration", "iteration", VV_CELL_INT, VV_UNIT_NONE, false, false },
    { "device", "device", VV_CELL_TEXT, VV_UNIT_NONE, false, VV_TEXT_IF_MUCH_ROOM },
    { "begin_ns", "begin", VV_CELL_INT, VV_UNIT_TIME, true, false },
    { "at_ns", "at", VV_CELL_INT, VV_UNIT_NS, false, VV_TEXT_IF_MUCH_ROOM },
    { "begins", "begins at", VV_CELL_TEXT, VV_UNIT_NONE, false, VV_TEXT_IF_MUCH_ROOM },
    { "iteration_ns", "took", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "before_forward_ns", "before", VV_CELL_INT, VV_UNIT_NS, false, VV_TEXT_IF_ROOM },
    { "forward_backward_ns", "forward–backward", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "refresh_ns", "refresh", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "data_aug_ns", "data", VV_CELL_INT, VV_UNIT_NS, false, VV_TEXT_IF_ROOM },
    { "reduces", "reduces", VV_CELL_INT, VV_UNIT_COUNT, false, VV_TEXT_IF_MUCH_ROOM },
    { "reduce_ns", "reducing", VV_CELL_INT, VV_UNIT_NS, false, VV_TEXT_IF_ROOM },
    { "fetches", "fetches", VV_CELL_INT, VV_UNIT_COUNT, true, false },
    { "fetch_ns", "fetching", VV_CELL_INT, VV_UNIT_NS, false, VV_TEXT_IF_MUCH_ROOM },
    { "forward_start_ns", "forward start", VV_CELL_INT, VV_UNIT_TIME, true, false },
    { "backward_end_ns", "backward end", VV_CELL_INT, VV_UNIT_TIME, true, false },
    { "iteration_end_ns", "iteration end", VV_CELL_INT, VV_UNIT_TIME, true, false },
    { "number", "number", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
};

static const char *const begins_texts[] = {
    [VV_BEGINS_WITH_MODEL] = "model begin", [VV_BEGINS_WITH_STEP] = "step begin",
    [VV_BEGINS_AFTER_OTHER] = "previous end", [VV_BEGINS_WITH_POINT] = "first point",
};

static void put(struct vv_sheet *sheet, size_t row, size_t column, struct vv_maybe_ns value)
{
    if (value.is_known)
        vv_sheet_int(sheet, row, column, value.ns);
}

/* How many there are of this kind, and the sum of those that have begin and end. */
static enum varve_code put_pairs(const struct vv_point_rows *rows, const struct vv_iteration *of,
                                 enum varve_point_kind kind, size_t row, size_t column,
                                 struct varve_error *error)
{
    struct vv_scratch *scratch = rows->scope.scratch;
    struct vv_point_pairs pairs;
    int64_t total_ns = 0;
    VV_TRY(vv_iteration_pairs(&rows->all, of, kind, scratch, &pairs, error));
    for (size_t i = 0; i < pairs.count; i++)
        total_ns += vv_between(pairs.items[i].begin, pairs.items[i].end).ns;
    vv_scratch_release(scratch, pairs.items);
    vv_sheet_int(rows->sheet, row, column, (int64_t)pairs.count);
    if (pairs.count > 0)
        vv_sheet_int(rows->sheet, row, column + 1, total_ns);
    return VARVE_OK;
}

static enum varve_code put_texts(const struct vv_point_rows *rows, const struct vv_iteration *of,
                                 size_t row, struct varve_error *error)
{
    struct vv_sheet *sheet = rows->sheet;
    uint32_t device = rows->all.model->tracks.device[of->track];
    char text[80];
    VV_TRY(vv_put_model(sheet, row, MODEL, of->model, error));
    VV_TRY(vv_sheet_text(sheet, row, BEGINS, begins_texts[of->begins], error));
    VV_TRY(vv_sheet_text(sheet, row, NUMBER, of->is_found ? "found" : "recorded", error));
    if (device == VV_NONE)
        return vv_sheet_text(sheet, row, DEVICE, "host", error);
    vv_device_text(device, text, sizeof text);
    return vv_sheet_text(sheet, row, DEVICE, text, error);
}

static enum varve_code put_iteration(const struct vv_point_rows *rows,
                                     const struct vv_iteration *of, struct varve_error *error)
{
    struct vv_sheet *sheet = rows->sheet;
    const struct vv_model *model = rows->all.model;
    size_t row;
    VV_TRY(vv_sheet_row(sheet, VV_ROW_PLAIN, &row, error));
    vv_sheet_int(sheet, row, PROCESS, model->processes.pid[of->process]);
    vv_sheet_int(sheet, row, ITERATION, of->number);
    vv_sheet_int(sheet, row, BEGIN, of->begin.ns);
    vv_sheet_int(sheet, row, AT, of->begin.ns - model->run.begin_ns);
    put(sheet, row, TOOK, vv_between(of->begin, of->end));
    put(sheet, row, BEFORE_FORWARD, vv_between(of->begin, of->forward));
    put(sheet, row, FORWARD_BACKWARD, vv_between(of->forward, of->backward));
    put(sheet, row, REFRESH, vv_between(of->backward, of->end));
    put(sheet, row, DATA_AUG, vv_between(of->former_end, of->forward));
    put(sheet, row, FORWARD_START, of->forward);
    put(sheet, row, BACKWARD_END, of->backward);
    put(sheet, row, ITERATION_END, of->end);
    VV_TRY(put_pairs(rows, of, VARVE_POINT_COLLECTIVE, row, REDUCES, error));
    VV_TRY(put_pairs(rows, of, VARVE_POINT_FETCH, row, FETCHES, error));
    return put_texts(rows, of, row, error);
}

enum varve_code vv_analyse_step_trace(const struct vv_model *model,
                                      const struct vv_question *question,
                                      struct vv_scratch *scratch, struct vv_sheet *out,
                                      struct varve_error *error)
{
    struct vv_point_rows rows = { .sheet = out };
    vv_sheet_init(out, "step_trace", "STEPS BY TRACE POINTS", step_trace_columns, COLUMNS);
    VV_TRY(vv_point_rows_find(&rows, model, question, scratch, error));
    if (vv_asks_msprof(question))
        return vv_put_msprof_rows(&rows, error);
    for (size_t i = 0; i < rows.all.item_count; i++)
        if (vv_point_rows_has(&rows, &rows.all.items[i]))
            VV_TRY(put_iteration(&rows, &rows.all.items[i], error));
    VV_TRY(vv_sheet_hide_unknown(out, BEFORE_FORWARD, DATA_AUG + 1, error));
    VV_TRY(vv_sheet_hide_unknown(out, REDUCE_TIME, REDUCE_TIME + 1, error));
    VV_TRY(vv_sheet_hide_unknown(out, FETCH_TIME, FETCH_TIME + 1, error));
    return vv_point_rows_policy(&rows, error);
}
