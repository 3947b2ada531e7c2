/* SPDX-License-Identifier: Apache-2.0 */
/* counters.c — tables "counters" (one row for each counter and series of a process, or of each of
 * its steps) and "counter_values" (one row for each value, in order of time).
 *
 * Law: column "values" of the rows sums to that of "total"; with every step and thread this is
 * "counter_values" of table "trace". doc/metrics.md. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/events/instants.h"
#include "derive/devices/one_gpu.h"
#include "derive/select/track_order.h"
#include "numbers/pair_ids.h"
#include "question/question.h"

#define SERIES_BYTES 256

struct value {
    int64_t time_ns;
    uint32_t row, step;
};

struct view {
    struct vv_instants instants;
    const struct vv_model *model;
    struct vv_gpu_names gpus;
    struct value *values; /* the chosen ones, in order of time                                  */
    size_t count;
    struct vv_sheet *sheet;
};

/* ---- the values, in order ---- */

static int compare_texts(const struct vv_model *model, uint32_t a, uint32_t b)
{
    return a == b ? 0 : strcmp(vv_text_of(model, a), vv_text_of(model, b));
}

/* Values of one instant stand in order of name, series and thread; those of one series in the order
 * of the file. */
static int in_order(const void *a, const void *b, void *context)
{
    const struct value *left = a, *right = b;
    const struct vv_model *model = context;
    const struct vv_counters *counters = &model->counters;
    if (left->time_ns != right->time_ns)
        return left->time_ns < right->time_ns ? -1 : 1;
    int difference = compare_texts(model, counters->name[left->row], counters->name[right->row]);
    if (difference != 0)
        return difference;
    difference = compare_texts(model, counters->series[left->row], counters->series[right->row]);
    if (difference != 0)
        return difference;
    uint32_t left_track = counters->track[left->row], right_track = counters->track[right->row];
    if (left_track != right_track && left_track != VV_NONE && right_track != VV_NONE)
        return vv_track_compare(model, left_track, right_track);
    return (left->row > right->row) - (left->row < right->row);
}

static enum varve_code choose(struct view *view, const struct vv_model *model,
                              const struct vv_question *question, struct vv_scratch *scratch,
                              struct varve_error *error)
{
    const struct vv_counters *counters = &model->counters;
    view->model = model;
    VV_TRY(vv_gpu_names_init(&view->gpus, model, scratch, error));
    VV_TRY(vv_instants_init(&view->instants, model, &question->selection, scratch, error));
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &view->values, counters->table.count, error));
    for (uint32_t row = 0; row < counters->table.count; row++) {
        uint32_t step;
        if (vv_instant_counts(&view->instants, counters->track[row], counters->time_ns[row], &step))
            view->values[view->count++] = (struct value){ counters->time_ns[row], row, step };
    }
    if (view->count > 0)
        qsort_r(view->values, view->count, sizeof *view->values, in_order, (void *)model);
    return VARVE_OK;
}

static enum varve_code put_series_name(struct view *view, uint32_t series, uint32_t track,
                                       size_t row, int column, struct varve_error *error)
{
    char text[SERIES_BYTES];
    if (series == 0)
        return VARVE_OK;
    const char *name = vv_gpu_series(&view->gpus, track, vv_text_of(view->model, series), text,
                                     sizeof text);
    return vv_sheet_text(view->sheet, row, column, name, error);
}

static enum varve_code state_nothing(const struct view *view, struct varve_error *error)
{
    return vv_sheet_policy(view->sheet, error, "no values of counters %s",
                           view->model->counters.table.count == 0 ? "recorded" : "here");
}

/* ---- table "counter_values" ---- */

enum {
    V_ROW, V_AT, V_VALUE, V_NAME, V_SERIES, V_PLACE, V_VALUES = V_PLACE + VV_PLACE_COLUMNS,
    VALUE_COLUMNS
};

static const struct vv_sheet_column value_columns[VALUE_COLUMNS] = {
    { "row", "row", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    { "at_ns", "at", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "value", "value", VV_CELL_REAL, VV_UNIT_NONE, false, false },
    { "name", "counter", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "series", "series", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    VV_PLACE_OF,
    { "values", "values", VV_CELL_INT, VV_UNIT_COUNT, true, false },
};
static const int value_count_columns[] = { [VV_COUNT_ROW] = V_ROW, [VV_COUNT_NAME] = V_NAME,
                                           [VV_COUNT_NUMBER] = V_VALUES };

static enum varve_code put_value(struct view *view, const struct value *value,
                                 struct varve_error *error)
{
    const struct vv_model *model = view->model;
    const struct vv_counters *counters = &model->counters;
    struct vv_sheet *sheet = view->sheet;
    size_t row;
    VV_TRY(vv_sheet_row(sheet, VV_ROW_PLAIN, &row, error));
    VV_TRY(vv_sheet_text(sheet, row, V_ROW, "value", error));
    vv_sheet_int(sheet, row, V_AT, value->time_ns - model->run.begin_ns);
    vv_sheet_real(sheet, row, V_VALUE, counters->value[value->row]);
    vv_sheet_int(sheet, row, V_VALUES, 1);
    VV_TRY(vv_sheet_text(sheet, row, V_NAME, vv_text_of(model, counters->name[value->row]), error));
    VV_TRY(put_series_name(view, counters->series[value->row], counters->track[value->row], row,
                           V_SERIES, error));
    return vv_put_place(&view->instants, sheet, row, V_PLACE,
                        (struct vv_place){ counters->track[value->row], value->step }, error);
}

enum varve_code vv_analyse_counter_values(const struct vv_model *model,
                                          const struct vv_question *question,
                                          struct vv_scratch *scratch, struct vv_sheet *out,
                                          struct varve_error *error)
{
    struct view view = { .sheet = out };
    vv_sheet_init(out, "counter_values", "VALUES OF COUNTERS", value_columns, VALUE_COLUMNS);
    VV_TRY(choose(&view, model, question, scratch, error));
    if (view.count == 0)
        return state_nothing(&view, error);
    size_t top = question->top > 0 && (uint64_t)question->top < view.count ? (size_t)question->top
                                                                           : view.count;
    for (size_t i = 0; i < top; i++)
        VV_TRY(put_value(&view, &view.values[i], error));
    if (top < view.count)
        VV_TRY(vv_put_count(out, VV_ROW_REMAINDER, value_count_columns, view.count - top,
                            view.count - top, error));
    VV_TRY(vv_put_count(out, VV_ROW_TOTAL, value_count_columns, view.count, view.count, error));
    VV_TRY(vv_sheet_hide_unknown(out, V_SERIES, V_PLACE + VV_PLACE_PROCESS, error));
    return vv_sheet_policy(out, error, "%zu value%s of counters, in order of time; warm-up steps "
                                       "count", view.count, view.count == 1 ? "" : "s");
}

/* ---- table "counters" ---- */

enum {
    ROW, STEP, VALUES, FIRST, LAST, LEAST, GREATEST, MEAN, NOT_FINITE, PROCESS, RANK, SERIES, NAME,
    COLUMNS
};

static const struct vv_sheet_column counter_columns[COLUMNS] = {
    { "row", "row", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    { "step", "step", VV_CELL_INT, VV_UNIT_NONE, false, false },
    { "values", "values", VV_CELL_INT, VV_UNIT_COUNT, false, false },
    { "first", "first", VV_CELL_REAL, VV_UNIT_NONE, false, false },
    { "last", "last", VV_CELL_REAL, VV_UNIT_NONE, false, false },
    { "min", "min", VV_CELL_REAL, VV_UNIT_NONE, false, VV_TEXT_IF_ROOM },
    { "max", "max", VV_CELL_REAL, VV_UNIT_NONE, false, VV_TEXT_IF_ROOM },
    { "mean", "mean", VV_CELL_REAL, VV_UNIT_NONE, false, false },
    { "not_finite", "not finite", VV_CELL_INT, VV_UNIT_COUNT, true, false },
    { "process", "process", VV_CELL_INT, VV_UNIT_NONE, true, false },
    { "rank", "rank", VV_CELL_INT, VV_UNIT_NONE, true, false },
    { "series", "series", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "name", "counter", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
};
static const int count_columns[] = { [VV_COUNT_ROW] = ROW, [VV_COUNT_NAME] = NAME,
                                     [VV_COUNT_NUMBER] = VALUES };

struct series {
    uint32_t name, series, process, step, track; /* track: of its first value                    */
    uint64_t count, finite;
    double first, last, least, greatest;
    long double sum;        /* of the finite values: doubles might not hold it                  */
};

struct summing {
    struct view *view;
    struct vv_groups names, owners, all; /* (name, series); (that, process); (that, step)       */
    struct series *series;  /* by group of `all`                                                */
    size_t capacity;
    bool by_step;
};

static void add_value(struct series *series, double value)
{
    if (series->count++ == 0)
        series->first = value;
    series->last = value;
    if (!isfinite(value))
        return;
    series->least = series->finite == 0 || value < series->least ? value : series->least;
    series->greatest = series->finite == 0 || value > series->greatest ? value : series->greatest;
    series->sum += (long double)value;
    series->finite++;
}

static enum varve_code add(struct summing *summing, const struct value *value,
                           struct varve_error *error)
{
    const struct vv_counters *counters = &summing->view->model->counters;
    uint32_t name = counters->name[value->row], series = counters->series[value->row],
             process = vv_instant_process(&summing->view->instants, counters->track[value->row]),
             step = summing->by_step ? value->step : VV_NONE, group;
    VV_TRY(vv_groups_add(&summing->names, name, series, &group, error));
    VV_TRY(vv_groups_add(&summing->owners, group, process, &group, error));
    uint32_t known = summing->all.count;
    VV_TRY(vv_groups_add(&summing->all, group, step, &group, error));
    VV_TRY(VV_SCRATCH_RESERVE(summing->all.scratch, &summing->series, &summing->capacity,
                              summing->all.count, error));
    if (group == known)
        summing->series[group] = (struct series){ .name = name, .series = series,
                                                  .process = process, .step = step,
                                                  .track = counters->track[value->row] };
    add_value(&summing->series[group], counters->value[value->row]);
    return VARVE_OK;
}

/* Values without a step stand last. */
static int by_name(const void *a, const void *b, void *context)
{
    const struct series *left = a, *right = b;
    const struct vv_model *model = context;
    int difference = compare_texts(model, left->name, right->name);
    if (difference == 0)
        difference = compare_texts(model, left->series, right->series);
    if (difference == 0 && left->process != right->process)
        difference = vv_process_compare(model, left->process, right->process);
    return difference != 0 ? difference : (left->step > right->step) - (left->step < right->step);
}

static enum varve_code put_series(struct view *view, const struct series *series,
                                  struct varve_error *error)
{
    const struct vv_model *model = view->model;
    struct vv_sheet *sheet = view->sheet;
    size_t row;
    VV_TRY(vv_sheet_row(sheet, VV_ROW_PLAIN, &row, error));
    VV_TRY(vv_sheet_text(sheet, row, ROW, "counter", error));
    if (series->step != VV_NONE)
        vv_sheet_int(sheet, row, STEP, model->steps.index[series->step]);
    vv_sheet_int(sheet, row, VALUES, (int64_t)series->count);
    vv_sheet_int(sheet, row, NOT_FINITE, (int64_t)(series->count - series->finite));
    vv_sheet_real(sheet, row, FIRST, series->first);
    vv_sheet_real(sheet, row, LAST, series->last);
    if (series->finite > 0) {
        vv_sheet_real(sheet, row, LEAST, series->least);
        vv_sheet_real(sheet, row, GREATEST, series->greatest);
        vv_sheet_real(sheet, row, MEAN, (double)(series->sum / (long double)series->finite));
    }
    vv_put_process(&view->instants.scope, sheet, row, PROCESS, series->process);
    VV_TRY(put_series_name(view, series->series, series->track, row, SERIES, error));
    return vv_sheet_text(sheet, row, NAME, vv_text_of(model, series->name), error);
}

static enum varve_code put_all(struct summing *summing, int64_t wanted, struct varve_error *error)
{
    struct view *view = summing->view;
    struct vv_sheet *sheet = view->sheet;
    size_t groups = summing->all.count,
           top = wanted > 0 && (uint64_t)wanted < groups ? (size_t)wanted : groups;
    uint64_t shown = 0;
    qsort_r(summing->series, groups, sizeof *summing->series, by_name, (void *)view->model);
    for (size_t i = 0; i < top; i++) {
        VV_TRY(put_series(view, &summing->series[i], error));
        shown += summing->series[i].count;
    }
    if (top < groups)
        VV_TRY(vv_put_count(sheet, VV_ROW_REMAINDER, count_columns, groups - top,
                            view->count - shown, error));
    VV_TRY(vv_put_count(sheet, VV_ROW_TOTAL, count_columns, groups, view->count, error));
    VV_TRY(vv_sheet_hide_unknown(sheet, STEP, VALUES, error));
    VV_TRY(vv_sheet_hide_unknown(sheet, SERIES, NAME, error));
    return vv_sheet_policy(sheet, error,
                           "%zu value%s of counters%s; min, max and mean are of those that are "
                           "finite; warm-up steps count",
                           view->count, view->count == 1 ? "" : "s",
                           summing->by_step ? ", by step" : "");
}

enum varve_code vv_analyse_counters(const struct vv_model *model,
                                    const struct vv_question *question, struct vv_scratch *scratch,
                                    struct vv_sheet *out, struct varve_error *error)
{
    struct view view = { .sheet = out };
    struct summing summing = { .view = &view, .names = { .scratch = scratch },
                               .owners = { .scratch = scratch }, .all = { .scratch = scratch },
                               .by_step = question->by != NULL &&
                                          strcmp(question->by, "step") == 0 };
    vv_sheet_init(out, "counters", "COUNTERS", counter_columns, COLUMNS);
    VV_TRY(choose(&view, model, question, scratch, error));
    for (size_t i = 0; i < view.count; i++)
        VV_TRY(add(&summing, &view.values[i], error));
    return view.count > 0 ? put_all(&summing, question->top, error) : state_nothing(&view, error);
}
