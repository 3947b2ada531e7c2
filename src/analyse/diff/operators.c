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

#include "analyse/diff/interval.h"
#include "analyse/diff/samples.h"

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

struct change {
    int64_t change_ns, base_ns, new_ns; /* mean of a step, rounded                              */
    uint64_t calls[VV_SIDES];
    int64_t total_ns[VV_SIDES];
    struct vv_difference difference;
    uint32_t group;
};

struct view {
    struct vv_diff_samples *samples;
    struct change *changes; /* by group; then sorted                                            */
    int64_t *values[VV_SIDES];
    struct vv_sheet *sheet;
    const char *word;       /* value of `row` in an ordinary row: "operator", "kernel"          */
};

static struct vv_sample_set set_of(const struct view *view, int side)
{
    return (struct vv_sample_set){ view->values[side], view->samples->sides[side].step_count };
}

static int64_t mean_of(struct vv_sample_set set)
{
    double sum = 0;
    for (size_t i = 0; i < set.count; i++)
        sum += (double)set.values[i];
    return llround(sum / (double)set.count);
}

static struct change compare_values(const struct view *view)
{
    struct change change = {
        .base_ns = mean_of(set_of(view, VV_BASE)),
        .new_ns = mean_of(set_of(view, VV_NEW)),
        .difference = vv_difference(set_of(view, VV_BASE), set_of(view, VV_NEW)),
        .group = VV_NONE,
    };
    change.change_ns = change.new_ns - change.base_ns;
    return change;
}

static void compare_groups(struct view *view)
{
    size_t cursors[VV_SIDES] = { 0 };
    for (uint32_t g = 0; g < view->samples->groups.count; g++) {
        for (int i = 0; i < VV_SIDES; i++)
            vv_diff_values(&view->samples->sides[i], g, &cursors[i], view->values[i]);
        struct change change = compare_values(view);
        change.group = g;
        for (int i = 0; i < VV_SIDES; i++) {
            change.calls[i] = view->samples->sides[i].sums[g].calls;
            change.total_ns[i] = view->samples->sides[i].sums[g].total_ns;
        }
        view->changes[g] = change;
    }
}

static const char *name_of(const struct view *view, uint32_t group)
{
    return vv_intern_text(view->samples->texts, view->samples->groups.names[group]);
}

/* The largest change first. Equal changes are sorted by name, so the order of events does not
 * matter. */
static int compare_changes(const void *a, const void *b, void *context)
{
    const struct change *left = a, *right = b;
    int64_t left_ns = llabs(left->change_ns), right_ns = llabs(right->change_ns);
    if (left_ns != right_ns)
        return left_ns > right_ns ? -1 : 1;
    return strcmp(name_of(context, left->group), name_of(context, right->group));
}

/* ---- rows ---- */

/* "=": as many calls in a step as before; "+": more; "-": fewer. */
static const char *calls_change(const struct view *view, const struct change *change)
{
    /* Calls and steps are rows of the model, so each count is below 2^32 and the products do not
     * overflow. */
    uint64_t base = change->calls[VV_BASE] * view->samples->sides[VV_NEW].step_count;
    uint64_t other = change->calls[VV_NEW] * view->samples->sides[VV_BASE].step_count;
    return other > base ? "+" : other < base ? "-" : "=";
}

static void put_figures(const struct view *view, const struct change *change, size_t row)
{
    struct vv_sheet *sheet = view->sheet;
    vv_sheet_int(sheet, row, CHANGE, change->change_ns);
    if (change->base_ns > 0)
        vv_sheet_real(sheet, row, CHANGE_SHARE,
                      (double)change->change_ns / (double)change->base_ns);
    vv_sheet_int(sheet, row, BASE_SELF, change->base_ns);
    vv_sheet_int(sheet, row, NEW_SELF, change->new_ns);
    if (change->difference.has_interval) {
        vv_sheet_int(sheet, row, LOW, llround(change->difference.low));
        vv_sheet_int(sheet, row, HIGH, llround(change->difference.high));
    }
}

static enum varve_code put_change(const struct view *view, const struct change *change,
                                  const char *word, const char *name, struct varve_error *error)
{
    struct vv_sheet *sheet = view->sheet;
    size_t row;
    VV_TRY(vv_sheet_row(sheet, VV_ROW_PLAIN, &row, error));
    put_figures(view, change, row);
    vv_sheet_int(sheet, row, BASE_CALLS, (int64_t)change->calls[VV_BASE]);
    vv_sheet_int(sheet, row, NEW_CALLS, (int64_t)change->calls[VV_NEW]);
    vv_sheet_int(sheet, row, BASE_TOTAL, change->total_ns[VV_BASE]);
    vv_sheet_int(sheet, row, NEW_TOTAL, change->total_ns[VV_NEW]);
    VV_TRY(vv_sheet_text(sheet, row, CALLS_CHANGE, calls_change(view, change), error));
    if (change->difference.has_interval && change->difference.is_noise)
        VV_TRY(vv_sheet_text(sheet, row, NOISE, "(noise)", error));
    if (change->group != VV_NONE && view->samples->groups.extras[change->group] != 0)
        VV_TRY(vv_sheet_text(sheet, row, SHAPES,
                             vv_intern_text(view->samples->texts,
                                            view->samples->groups.extras[change->group]),
                             error));
    VV_TRY(vv_sheet_text(sheet, row, ROW, word, error));
    return vv_sheet_text(sheet, row, NAME, name, error);
}

/* Writes a row that has only sums: the remainder or the total. */
static enum varve_code put_sum(const struct view *view, enum vv_row_kind kind,
                               const struct change *sum, const char *word, const char *name,
                               struct varve_error *error)
{
    size_t row;
    VV_TRY(vv_sheet_row(view->sheet, kind, &row, error));
    put_figures(view, sum, row);
    VV_TRY(vv_sheet_text(view->sheet, row, ROW, word, error));
    return vv_sheet_text(view->sheet, row, NAME, name, error);
}

static void add_to(struct change *sum, const struct change *change)
{
    sum->change_ns += change->change_ns;
    sum->base_ns += change->base_ns;
    sum->new_ns += change->new_ns;
}

/* Writes the rows of the groups, and their sum to *out_sum. */
static enum varve_code put_groups(struct view *view, int64_t wanted, struct change *out_sum,
                                  struct varve_error *error)
{
    uint32_t groups = view->samples->groups.count;
    uint32_t top = wanted > 0 && wanted < groups ? (uint32_t)wanted : groups;
    struct change more = { 0 };
    compare_groups(view);
    qsort_r(view->changes, groups, sizeof *view->changes, compare_changes, view);
    for (uint32_t i = 0; i < groups; i++) {
        add_to(out_sum, &view->changes[i]);
        if (i < top)
            VV_TRY(put_change(view, &view->changes[i], view->word,
                              name_of(view, view->changes[i].group), error));
        else
            add_to(&more, &view->changes[i]);
    }
    if (top == groups)
        return VARVE_OK;
    char name[64];
    snprintf(name, sizeof name, "%u more: --top 0", groups - top);
    return put_sum(view, VV_ROW_REMAINDER, &more, "more", name, error);
}

/* Writes the step as a row: its self time is the time in no operator, its calls are the steps. */
static enum varve_code put_step(struct view *view, const struct change *operators,
                                struct varve_error *error)
{
    struct change step, total;
    for (int i = 0; i < VV_SIDES; i++)
        memcpy(view->values[i], view->samples->sides[i].step_ns,
               view->samples->sides[i].step_count * sizeof *view->values[i]);
    total = compare_values(view);
    for (int i = 0; i < VV_SIDES; i++)
        memcpy(view->values[i], view->samples->sides[i].outside_ns,
               view->samples->sides[i].step_count * sizeof *view->values[i]);
    step = compare_values(view);
    step.base_ns = total.base_ns - operators->base_ns;
    step.new_ns = total.new_ns - operators->new_ns;
    step.change_ns = total.change_ns - operators->change_ns;
    for (int i = 0; i < VV_SIDES; i++) {
        step.calls[i] = view->samples->sides[i].step_count;
        for (size_t s = 0; s < step.calls[i]; s++)
            step.total_ns[i] += view->samples->sides[i].step_ns[s];
    }
    VV_TRY(put_change(view, &step, "step", "(the step itself)", error));
    return put_sum(view, VV_ROW_TOTAL, &total, "total", "total", error);
}

static enum varve_code make_view(struct view *view, struct varve_error *error)
{
    struct vv_scratch *scratch = view->samples->scratch;
    VV_TRY(vv_diff_order(view->samples, error));
    for (int i = 0; i < VV_SIDES; i++)
        VV_TRY(
            VV_SCRATCH_ARRAY(scratch, &view->values[i], view->samples->sides[i].step_count, error));
    return VV_SCRATCH_ARRAY(scratch, &view->changes, view->samples->groups.count, error);
}

enum varve_code vv_diff_operators(const struct vv_side sides[VV_SIDES],
                                  const struct vv_question *question, struct vv_scratch *scratch,
                                  struct vv_sheet *out, struct varve_error *error)
{
    struct vv_diff_samples samples;
    struct view view = { .samples = &samples, .sheet = out, .word = "operator" };
    struct change sum = { 0 };
    bool by_shape = question->by != NULL && strcmp(question->by, "shape") == 0;
    vv_sheet_init(out, "diff_operators", "OPERATORS", operator_columns, COLUMNS);
    VV_TRY(vv_diff_samples_init(&samples, sides, scratch, error));
    VV_TRY(vv_diff_add_operators(&samples, by_shape, error));
    VV_TRY(make_view(&view, error));
    VV_TRY(put_groups(&view, question->top, &sum, error));
    VV_TRY(put_step(&view, &sum, error));
    return vv_sheet_policy(out, error,
                           "self time a step, on the steps' own threads; calls on all threads; "
                           "the rows add up to the change");
}

enum varve_code vv_diff_kernels(const struct vv_side sides[VV_SIDES],
                                const struct vv_question *question, struct vv_scratch *scratch,
                                struct vv_sheet *out, struct varve_error *error)
{
    struct vv_diff_samples samples;
    struct view view = { .samples = &samples, .sheet = out, .word = "kernel" };
    struct change sum = { 0 };
    vv_sheet_init(out, "diff_kernels", "DEVICE WORK", kernel_columns, COLUMNS);
    VV_TRY(vv_diff_samples_init(&samples, sides, scratch, error));
    VV_TRY(vv_diff_add_kernels(&samples, sides, error));
    VV_TRY(make_view(&view, error));
    if (samples.groups.count == 0)
        return vv_sheet_policy(out, error, "no device work in these steps");
    VV_TRY(put_groups(&view, question->top, &sum, error));
    VV_TRY(put_sum(&view, VV_ROW_TOTAL, &sum, "total", "total", error));
    return vv_sheet_policy(out, error,
                           "time a step of the work that calls inside the steps launched");
}
