/* SPDX-License-Identifier: Apache-2.0 */
/* msprof.c — the rows of table "step_trace" in the columns of msprof's step_trace CSV, in
 * microseconds with three decimals, and N/A for what is not known.
 *
 * The numbers are Varve's: differences have a sign, reduces are joined by their number, data
 * augmentation looks at iterations of its own model, and a row without an end hides no others. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analyse/points/rows.h"

enum {
    DEVICE, ITERATION, FORWARD, BACKWARD, END, TOOK, FORWARD_BACKWARD, REFRESH, DATA_AUG, MODEL,
    BEGINS, HEAD
};

static const struct vv_sheet_column head_columns[HEAD] = {
    { "Device_id", "Device_id", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "Iteration ID", "Iteration ID", VV_CELL_INT, VV_UNIT_NONE, false, false },
    { "FP Start(us)", "FP Start(us)", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "BP End(us)", "BP End(us)", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "Iteration End(us)", "Iteration End(us)", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "Iteration Time(us)", "Iteration Time(us)", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "FP to BP Time(us)", "FP to BP Time(us)", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "Iteration Refresh(us)", "Iteration Refresh(us)", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "Data Aug Bound(us)", "Data Aug Bound(us)", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "Model ID", "Model ID", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "Iteration Begin", "Iteration Begin", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
};

/* msprof has the pairs behind its own columns; ours, which says where an iteration begins, stands
 * behind the pairs. */
enum { TAIL = HEAD - BEGINS };

/* Columns as pandas calls those of msprof, which all have the same name: "Reduce Start(us).1". */
static enum varve_code make_columns(const struct vv_point_rows *rows, size_t reduces,
                                    struct varve_error *error)
{
    struct vv_sheet *sheet = rows->sheet;
    struct vv_arena *arena = &sheet->arena;
    size_t count = HEAD + 2 * reduces;
    struct vv_sheet_column *columns = vv_arena_alloc(arena, count * sizeof *columns);
    if (columns == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for the columns of the steps");
    memcpy(columns, head_columns, BEGINS * sizeof *columns);
    memcpy(columns + count - TAIL, head_columns + BEGINS, TAIL * sizeof *columns);
    for (size_t i = 0; i < 2 * reduces; i++) {
        char name[64];
        int length = snprintf(name, sizeof name, "Reduce %s(us)", i % 2 ? "Duration" : "Start");
        if (i >= 2)
            length += snprintf(name + length, sizeof name - (size_t)length, ".%zu", i / 2);
        const char *copy = vv_arena_text(arena, name, (size_t)length);
        if (copy == NULL)
            VV_FAIL(error, VARVE_NO_MEMORY, "no memory for the columns of the steps");
        columns[BEGINS + i] = (struct vv_sheet_column){ copy, copy, VV_CELL_TEXT, VV_UNIT_NONE,
                                                        false, false };
    }
    sheet->columns = columns;
    sheet->column_count = count;
    return VARVE_OK;
}

static enum varve_code put_us(struct vv_sheet *sheet, size_t row, size_t column,
                              struct vv_maybe_ns value, struct varve_error *error)
{
    char text[40];
    uint64_t size = value.ns < 0 ? -(uint64_t)value.ns : (uint64_t)value.ns;
    if (!value.is_known)
        return vv_sheet_text(sheet, row, column, "N/A", error);
    snprintf(text, sizeof text, "%s%" PRIu64 ".%03u", value.ns < 0 ? "-" : "", size / 1000,
             (unsigned)(size % 1000));
    return vv_sheet_text(sheet, row, column, text, error);
}

static enum varve_code put_reduces(const struct vv_point_rows *rows, const struct vv_iteration *of,
                                   size_t row, struct varve_error *error)
{
    struct vv_scratch *scratch = rows->scope.scratch;
    struct vv_point_pairs pairs;
    VV_TRY(vv_iteration_pairs(&rows->all, of, VARVE_POINT_COLLECTIVE, scratch, &pairs, error));
    for (size_t i = 0; i < pairs.count; i++) {
        const struct vv_point_pair *pair = &pairs.items[i];
        VV_TRY(put_us(rows->sheet, row, BEGINS + 2 * i, pair->begin, error));
        VV_TRY(put_us(rows->sheet, row, BEGINS + 2 * i + 1, vv_between(pair->begin, pair->end),
                      error));
    }
    size_t limit = rows->sheet->column_count - TAIL;
    for (size_t column = BEGINS + 2 * pairs.count; column < limit; column++)
        VV_TRY(vv_sheet_text(rows->sheet, row, column, "N/A", error));
    vv_scratch_release(scratch, pairs.items);
    return VARVE_OK;
}

static enum varve_code put_iteration(const struct vv_point_rows *rows,
                                     const struct vv_iteration *of, struct varve_error *error)
{
    static const char *const begins[] = {
        [VV_BEGINS_WITH_MODEL] = "model begin", [VV_BEGINS_WITH_STEP] = "step begin",
        [VV_BEGINS_AFTER_OTHER] = "previous end", [VV_BEGINS_WITH_POINT] = "first point",
    };
    struct vv_sheet *sheet = rows->sheet;
    uint32_t device = rows->all.model->tracks.device[of->track];
    const struct vv_maybe_ns times[] = {
        [FORWARD - FORWARD] = of->forward, [BACKWARD - FORWARD] = of->backward,
        [END - FORWARD] = of->end, [TOOK - FORWARD] = vv_between(of->begin, of->end),
        [FORWARD_BACKWARD - FORWARD] = vv_between(of->forward, of->backward),
        [REFRESH - FORWARD] = vv_between(of->backward, of->end),
        [DATA_AUG - FORWARD] = vv_between(of->former_end, of->forward),
    };
    char text[24] = "N/A";
    size_t row;
    VV_TRY(vv_sheet_row(sheet, VV_ROW_PLAIN, &row, error));
    if (device != VV_NONE)
        snprintf(text, sizeof text, "%u", device & 0xffff);
    VV_TRY(vv_sheet_text(sheet, row, DEVICE, text, error));
    vv_sheet_int(sheet, row, ITERATION, of->number);
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        VV_TRY(put_us(sheet, row, FORWARD + i, times[i], error));
    VV_TRY(vv_put_model(sheet, row, MODEL, of->model, error));
    VV_TRY(put_reduces(rows, of, row, error));
    return vv_sheet_text(sheet, row, sheet->column_count - TAIL, begins[of->begins], error);
}

enum varve_code vv_put_msprof_rows(const struct vv_point_rows *rows, struct varve_error *error)
{
    struct vv_scratch *scratch = rows->scope.scratch;
    size_t most = 0;
    for (size_t i = 0; i < rows->all.item_count; i++) {
        struct vv_point_pairs pairs;
        if (!vv_point_rows_has(rows, &rows->all.items[i]))
            continue;
        VV_TRY(vv_iteration_pairs(&rows->all, &rows->all.items[i], VARVE_POINT_COLLECTIVE, scratch,
                                  &pairs, error));
        vv_scratch_release(scratch, pairs.items);
        if (pairs.count > most)
            most = pairs.count;
    }
    VV_TRY(make_columns(rows, most, error));
    for (size_t i = 0; i < rows->all.item_count; i++)
        if (vv_point_rows_has(rows, &rows->all.items[i]))
            VV_TRY(put_iteration(rows, &rows->all.items[i], error));
    return vv_point_rows_policy(rows, error);
}
