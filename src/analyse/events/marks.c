/* SPDX-License-Identifier: Apache-2.0 */
/* marks.c — table "marks": one row for each instant that the program or its profiler marked, in
 * order of time.
 *
 * Rows in order: marks, "N more: --top 0", "total". Law: column "marks" of the rows sums to that of
 * "total"; with every step and thread this is "marks" of table "trace". doc/metrics.md. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/events/instants.h"
#include "derive/select/track_order.h"
#include "model/arg_walk.h"
#include "question/question.h"

enum {
    ROW, AT, NAME, ARGUMENTS, PLACE, CATEGORY = PLACE + VV_PLACE_COLUMNS, MARKS, COLUMNS
};

static const struct vv_sheet_column mark_columns[COLUMNS] = {
    { "row", "row", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    { "at_ns", "at", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "name", "mark", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "arguments", "arguments", VV_CELL_TEXT, VV_UNIT_NONE, false, VV_TEXT_IF_ROOM },
    VV_PLACE_OF,
    { "category", "category", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    { "marks", "marks", VV_CELL_INT, VV_UNIT_COUNT, true, false },
};
static const int count_columns[] = { [VV_COUNT_ROW] = ROW, [VV_COUNT_NAME] = NAME,
                                     [VV_COUNT_NUMBER] = MARKS };

struct mark {
    int64_t time_ns;
    uint32_t row, step;
};

struct view {
    struct vv_instants instants;
    const struct vv_model *model;
    struct mark *marks; /* the chosen ones, in order of time                                    */
    size_t count;
    char *text;         /* arguments of the mark at hand                                        */
    size_t text_length, text_capacity;
    struct vv_sheet *sheet;
};

/* Marks of one instant stand in order of name and track, so the order of the file does not matter
 * more than it must. */
static int in_order(const void *a, const void *b, void *context)
{
    const struct mark *left = a, *right = b;
    const struct vv_model *model = context;
    const struct vv_marks *marks = &model->marks;
    if (left->time_ns != right->time_ns)
        return left->time_ns < right->time_ns ? -1 : 1;
    int difference = marks->name[left->row] == marks->name[right->row]
                         ? 0
                         : strcmp(vv_text_of(model, marks->name[left->row]),
                                  vv_text_of(model, marks->name[right->row]));
    if (difference != 0)
        return difference;
    uint32_t left_track = marks->track[left->row], right_track = marks->track[right->row];
    if (left_track != right_track && left_track != VV_NONE && right_track != VV_NONE)
        return vv_track_compare(model, left_track, right_track);
    return (left->row > right->row) - (left->row < right->row);
}

static enum varve_code choose(struct view *view, struct vv_scratch *scratch,
                              struct varve_error *error)
{
    const struct vv_marks *marks = &view->model->marks;
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &view->marks, marks->table.count, error));
    for (uint32_t row = 0; row < marks->table.count; row++) {
        uint32_t step;
        if (vv_instant_counts(&view->instants, marks->track[row], marks->time_ns[row], &step))
            view->marks[view->count++] = (struct mark){ marks->time_ns[row], row, step };
    }
    if (view->count > 0)
        qsort_r(view->marks, view->count, sizeof *view->marks, in_order, (void *)view->model);
    return VARVE_OK;
}

/* ---- arguments, as "key=value, key=value" ---- */

/* Writes the fewest digits that read back as the same value. */
static void write_real(double value, char *text, size_t bytes)
{
    int digits = 15;
    do
        snprintf(text, bytes, "%.*g", digits, value);
    while (digits++ < 17 && strtod(text, NULL) != value);
}

/* The text of a value; `number` is used if it is not a string of the model. */
static const char *value_text(const struct vv_model *model, uint32_t arg, char *number,
                              size_t bytes)
{
    const uint64_t value = model->args.value[arg];
    double real;
    switch ((enum vv_arg_kind)model->args.kind[arg]) {
    case VV_ARG_INT:
        snprintf(number, bytes, "%" PRId64, (int64_t)value);
        return number;
    case VV_ARG_REAL:
        memcpy(&real, &value, sizeof real);
        write_real(real, number, bytes);
        return number;
    case VV_ARG_BOOL:
        return value != 0 ? "true" : "false";
    case VV_ARG_TEXT:
    case VV_ARG_JSON:
        return vv_text_of(model, (uint32_t)value);
    case VV_ARG_NULL:
    case VV_ARG_ROWS:
        break;
    }
    return "null";
}

static enum varve_code append(struct view *view, const char *text, struct varve_error *error)
{
    size_t length = strlen(text);
    VV_TRY(VV_SCRATCH_RESERVE(view->instants.scope.scratch, &view->text, &view->text_capacity,
                              view->text_length + length + 1, error));
    memcpy(view->text + view->text_length, text, length + 1);
    view->text_length += length;
    return VARVE_OK;
}

static enum varve_code put_arguments(struct view *view, size_t row, uint32_t mark,
                                     struct varve_error *error)
{
    const struct vv_model *model = view->model;
    const struct vv_marks *marks = &model->marks;
    struct vv_arg_walk walk = vv_arg_walk(model, marks->first_arg[mark], marks->arg_count[mark]);
    char number[40];
    view->text_length = 0;
    for (uint32_t arg; vv_arg_next(&walk, &arg);) {
        if (view->text_length > 0)
            VV_TRY(append(view, ", ", error));
        VV_TRY(append(view, vv_text_of(model, model->args.key[arg]), error));
        VV_TRY(append(view, "=", error));
        VV_TRY(append(view, value_text(model, arg, number, sizeof number), error));
    }
    return view->text_length == 0 ? VARVE_OK
                                  : vv_sheet_text(view->sheet, row, ARGUMENTS, view->text, error);
}

/* ---- rows ---- */

static enum varve_code put_mark(struct view *view, const struct mark *mark,
                                struct varve_error *error)
{
    const struct vv_marks *marks = &view->model->marks;
    struct vv_sheet *sheet = view->sheet;
    size_t row;
    VV_TRY(vv_sheet_row(sheet, VV_ROW_PLAIN, &row, error));
    VV_TRY(vv_sheet_text(sheet, row, ROW, "mark", error));
    vv_sheet_int(sheet, row, AT, mark->time_ns - view->model->run.begin_ns);
    vv_sheet_int(sheet, row, MARKS, 1);
    VV_TRY(vv_sheet_text(sheet, row, NAME, vv_text_of(view->model, marks->name[mark->row]), error));
    if (marks->category[mark->row] != 0)
        VV_TRY(vv_sheet_text(sheet, row, CATEGORY,
                             vv_text_of(view->model, marks->category[mark->row]), error));
    VV_TRY(put_arguments(view, row, mark->row, error));
    return vv_put_place(&view->instants, sheet, row, PLACE,
                        (struct vv_place){ marks->track[mark->row], mark->step }, error);
}

static enum varve_code put_rows(struct view *view, int64_t wanted, struct varve_error *error)
{
    size_t top = wanted > 0 && (uint64_t)wanted < view->count ? (size_t)wanted : view->count;
    if (view->count == 0)
        return vv_sheet_policy(view->sheet, error, "no marks %s",
                               view->model->marks.table.count == 0 ? "recorded" : "here");
    for (size_t i = 0; i < top; i++)
        VV_TRY(put_mark(view, &view->marks[i], error));
    if (top < view->count)
        VV_TRY(vv_put_count(view->sheet, VV_ROW_REMAINDER, count_columns, view->count - top,
                            view->count - top, error));
    VV_TRY(vv_put_count(view->sheet, VV_ROW_TOTAL, count_columns, view->count, view->count,
                        error));
    VV_TRY(vv_sheet_hide_unknown(view->sheet, ARGUMENTS, CATEGORY, error));
    return vv_sheet_policy(view->sheet, error, "%zu mark%s, in order of time; warm-up steps count",
                           view->count, view->count == 1 ? "" : "s");
}

enum varve_code vv_analyse_marks(const struct vv_model *model, const struct vv_question *question,
                                 struct vv_scratch *scratch, struct vv_sheet *out,
                                 struct varve_error *error)
{
    struct view view = { .model = model, .sheet = out };
    vv_sheet_init(out, "marks", "MARKS", mark_columns, COLUMNS);
    VV_TRY(vv_instants_init(&view.instants, model, &question->selection, scratch, error));
    VV_TRY(choose(&view, scratch, error));
    return put_rows(&view, question->top, error);
}
