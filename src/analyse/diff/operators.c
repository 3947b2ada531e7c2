/* SPDX-License-Identifier: Apache-2.0 */
/* operators.c — tables "diff_operators" and "diff_kernels": the operators or kernels that the
 * change comes from (doc/metrics.md §11).
 *
 * Law of diff_operators: change_ns of all rows except the total, with the remainder and "(the step
 * itself)", sums to that of the total = change_ns of "diff". Means are rounded to whole
 * nanoseconds; the step's own row holds the rest of the rounding. Law of diff_kernels: the rows sum
 * to the change of the device work's time. */
#include "analyse/diff/diff.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/diff/changes.h"

enum {
    CHANGE, CHANGE_SHARE, LOW, HIGH, BASE_SELF, NEW_SELF, BASE_CALLS, NEW_CALLS, CALLS_CHANGE,
    BASE_TOTAL, NEW_TOTAL,
    NOISE, SHAPES, ROW, NAME, COLUMNS
};

#define CHANGES_OF(what)                                                                \
    { "change_ns", "change", VV_CELL_INT, VV_UNIT_NS, false, false },                   \
    { "change_share", "change", VV_CELL_REAL, VV_UNIT_RATIO, false, false },            \
    { "low_ns", "95 % from", VV_CELL_INT, VV_UNIT_NS, false, VV_TEXT_IF_ROOM },         \
    { "high_ns", "to", VV_CELL_INT, VV_UNIT_NS, false, VV_TEXT_IF_ROOM },               \
    { "base_self_ns", "base self", VV_CELL_INT, VV_UNIT_NS, false, false },             \
    { "new_self_ns", "new self", VV_CELL_INT, VV_UNIT_NS, false, false },               \
    { "base_calls", "base calls", VV_CELL_INT, VV_UNIT_COUNT, false, VV_TEXT_IF_ROOM }, \
    { "new_calls", "new calls", VV_CELL_INT, VV_UNIT_COUNT, false, VV_TEXT_IF_ROOM },   \
    { "calls_change", "", VV_CELL_TEXT, VV_UNIT_NONE, false, false },                   \
    { "base_total_ns", "base total", VV_CELL_INT, VV_UNIT_NS, true, false },            \
    { "new_total_ns", "new total", VV_CELL_INT, VV_UNIT_NS, true, false },              \
    { "noise", "", VV_CELL_TEXT, VV_UNIT_NONE, false, false },                          \
    { "shapes", "shapes", VV_CELL_TEXT, VV_UNIT_NONE, true, false },                    \
    { "row", "row", VV_CELL_TEXT, VV_UNIT_NONE, true, false },                          \
    { "name", what, VV_CELL_TEXT, VV_UNIT_NONE, false, false }

static const struct vv_sheet_column operator_columns[COLUMNS] = { CHANGES_OF("operator") };
static const struct vv_sheet_column kernel_columns[COLUMNS] = { CHANGES_OF("kernel") };

struct view {
    struct vv_diff_changes changes;
    struct vv_sheet *sheet;
    const char *word; /* value of `row` in an ordinary row: "operator", "kernel"                */
};

static const char *name_of(const struct view *view, uint32_t group)
{
    const struct vv_diff_samples *samples = view->changes.samples;
    return vv_intern_text(samples->texts, samples->groups.names[group]);
}

/* The largest change first. Equal changes are sorted by name, so the order of events does not
 * matter. */
static int compare_changes(const void *a, const void *b, void *context)
{
    const struct vv_diff_change *left = a, *right = b;
    int64_t left_ns = llabs(left->change_ns), right_ns = llabs(right->change_ns);
    if (left_ns != right_ns)
        return left_ns > right_ns ? -1 : 1;
    return strcmp(name_of(context, left->group), name_of(context, right->group));
}

/* ---- rows ---- */

/* "=": as many calls in a step as before; "+": more; "-": fewer. */
static const char *calls_change(const struct view *view, const struct vv_diff_change *change)
{
    /* Calls and steps are rows of the model, so each count is below 2^32 and the products do not
     * overflow. */
    const struct vv_diff_side *sides = view->changes.samples->sides;
    uint64_t base = change->calls[VV_BASE] * sides[VV_NEW].step_count;
    uint64_t other = change->calls[VV_NEW] * sides[VV_BASE].step_count;
    return other > base ? "+" : other < base ? "-" : "=";
}

static void put_times(struct vv_sheet *sheet, const struct vv_diff_change *change, size_t row)
{
    vv_sheet_int(sheet, row, CHANGE, change->change_ns);
    if (change->base_ns > 0)
        vv_sheet_real(sheet, row, CHANGE_SHARE,
                      (double)change->change_ns / (double)change->base_ns);
    vv_sheet_int(sheet, row, BASE_SELF, change->base_ns);
    vv_sheet_int(sheet, row, NEW_SELF, change->new_ns);
}

static void put_interval(struct vv_sheet *sheet, const struct vv_difference *difference, size_t row)
{
    if (!difference->has_interval)
        return;
    vv_sheet_int(sheet, row, LOW, llround(difference->low));
    vv_sheet_int(sheet, row, HIGH, llround(difference->high));
}

static enum varve_code put_change(const struct view *view, const struct vv_diff_change *change,
                                  const struct vv_difference *difference, const char *word,
                                  const char *name, struct varve_error *error)
{
    struct vv_sheet *sheet = view->sheet;
    size_t row;
    VV_TRY(vv_sheet_row(sheet, VV_ROW_PLAIN, &row, error));
    put_times(sheet, change, row);
    put_interval(sheet, difference, row);
    vv_sheet_int(sheet, row, BASE_CALLS, (int64_t)change->calls[VV_BASE]);
    vv_sheet_int(sheet, row, NEW_CALLS, (int64_t)change->calls[VV_NEW]);
    vv_sheet_int(sheet, row, BASE_TOTAL, change->total_ns[VV_BASE]);
    vv_sheet_int(sheet, row, NEW_TOTAL, change->total_ns[VV_NEW]);
    VV_TRY(vv_sheet_text(sheet, row, CALLS_CHANGE, calls_change(view, change), error));
    if (difference->has_interval && difference->is_noise)
        VV_TRY(vv_sheet_text(sheet, row, NOISE, "(noise)", error));
    VV_TRY(vv_sheet_text(sheet, row, ROW, word, error));
    return vv_sheet_text(sheet, row, NAME, name, error);
}

static enum varve_code put_group(struct view *view, const struct vv_diff_change *change,
                                 struct varve_error *error)
{
    const struct vv_diff_samples *samples = view->changes.samples;
    struct vv_difference difference = vv_diff_group_interval(&view->changes, change);
    uint32_t shapes = samples->groups.extras[change->group];
    VV_TRY(put_change(view, change, &difference, view->word, name_of(view, change->group), error));
    if (shapes == 0)
        return VARVE_OK;
    return vv_sheet_text(view->sheet, view->sheet->row_count - 1, SHAPES,
                         vv_intern_text(samples->texts, shapes), error);
}

/* Writes a row that has only sums: the remainder or the total. */
static enum varve_code put_sum(const struct view *view, enum vv_row_kind kind,
                               const struct vv_diff_change *sum, const char *word, const char *name,
                               struct varve_error *error)
{
    size_t row;
    VV_TRY(vv_sheet_row(view->sheet, kind, &row, error));
    put_times(view->sheet, sum, row);
    VV_TRY(vv_sheet_text(view->sheet, row, ROW, word, error));
    return vv_sheet_text(view->sheet, row, NAME, name, error);
}

static enum varve_code put_groups(struct view *view, int64_t wanted, struct varve_error *error)
{
    struct vv_diff_change *changes = view->changes.changes, more = { 0 };
    uint32_t groups = view->changes.count;
    uint32_t top = wanted > 0 && wanted < groups ? (uint32_t)wanted : groups;
    if (groups > 0)
        qsort_r(changes, groups, sizeof *changes, compare_changes, view);
    for (uint32_t i = 0; i < top; i++)
        VV_TRY(put_group(view, &changes[i], error));
    if (top == groups)
        return VARVE_OK;
    for (uint32_t i = top; i < groups; i++)
        vv_diff_add_times(&more, &changes[i]);
    char name[64];
    snprintf(name, sizeof name, "%u more: --top 0", groups - top);
    return put_sum(view, VV_ROW_REMAINDER, &more, "more", name, error);
}

/* Writes the step as a row: its self time is the time in no operator, its calls are the steps. */
static enum varve_code put_step(struct view *view, struct varve_error *error)
{
    struct vv_diff_whole whole = vv_diff_whole(&view->changes);
    VV_TRY(put_change(view, &whole.outside, &whole.outside_difference, "step", "(the step itself)",
                      error));
    VV_TRY(put_sum(view, VV_ROW_TOTAL, &whole.total, "total", "total", error));
    put_interval(view->sheet, &whole.total_difference, view->sheet->row_count - 1);
    return VARVE_OK;
}

enum varve_code vv_diff_operators(const struct vv_side sides[VV_SIDES],
                                  const struct vv_question *question, struct vv_scratch *scratch,
                                  struct vv_sheet *out, struct varve_error *error)
{
    struct vv_diff_samples samples;
    struct view view = { .sheet = out, .word = "operator" };
    bool by_shape = question->by != NULL && strcmp(question->by, "shape") == 0;
    vv_sheet_init(out, "diff_operators", "OPERATORS", operator_columns, COLUMNS);
    VV_TRY(vv_diff_samples_init(&samples, sides, scratch, error));
    VV_TRY(vv_diff_add_operators(&samples, by_shape, error));
    VV_TRY(vv_diff_changes_init(&view.changes, &samples, error));
    VV_TRY(put_groups(&view, question->top, error));
    VV_TRY(put_step(&view, error));
    return vv_sheet_policy(out, error,
                           "self time a step, on the steps' own threads; calls on all threads; "
                           "the rows add up to the change");
}

enum varve_code vv_diff_kernels(const struct vv_side sides[VV_SIDES],
                                const struct vv_question *question, struct vv_scratch *scratch,
                                struct vv_sheet *out, struct varve_error *error)
{
    struct vv_diff_samples samples;
    struct view view = { .sheet = out, .word = "kernel" };
    struct vv_diff_change sum = { 0 };
    vv_sheet_init(out, "diff_kernels", "DEVICE WORK", kernel_columns, COLUMNS);
    VV_TRY(vv_diff_samples_init(&samples, sides, scratch, error));
    VV_TRY(vv_diff_add_kernels(&samples, sides, error));
    VV_TRY(vv_diff_changes_init(&view.changes, &samples, error));
    if (samples.groups.count == 0)
        return vv_sheet_policy(out, error, "no device work in these steps");
    VV_TRY(put_groups(&view, question->top, error));
    for (uint32_t g = 0; g < view.changes.count; g++)
        vv_diff_add_times(&sum, &view.changes.changes[g]);
    VV_TRY(put_sum(&view, VV_ROW_TOTAL, &sum, "total", "total", error));
    return vv_sheet_policy(out, error,
                           "time a step of the work that calls inside the steps launched");
}
