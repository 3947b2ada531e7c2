/* SPDX-License-Identifier: Apache-2.0 */
/* async.c — table "async": asynchronous ranges, which belong to an id and not to a thread, by name,
 * category and process.
 *
 * Rows in order: the longest total first, "N more: --top 0", "total". Law: calls, total_ns and
 * left_open of the rows sum to those of "total". doc/metrics.md. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/events/instants.h"
#include "base/sum.h"
#include "derive/select/track_order.h"
#include "numbers/pair_ids.h"
#include "numbers/samples.h"
#include "question/question.h"

enum {
    ROW, TOTAL, CALLS, MEDIAN, LONGEST, MOST, LEFT_OPEN, PROCESS, RANK, CATEGORY, NAME, COLUMNS
};

static const struct vv_sheet_column async_columns[COLUMNS] = {
    { "row", "row", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    { "total_ns", "total", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "calls", "calls", VV_CELL_INT, VV_UNIT_COUNT, false, false },
    { "median_ns", "median", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "max_ns", "max", VV_CELL_INT, VV_UNIT_NS, false, VV_TEXT_IF_ROOM },
    { "most_at_once", "at once", VV_CELL_INT, VV_UNIT_COUNT, false, false },
    { "left_open", "left open", VV_CELL_INT, VV_UNIT_COUNT, false, VV_TEXT_IF_ROOM },
    { "process", "process", VV_CELL_INT, VV_UNIT_NONE, true, false },
    { "rank", "rank", VV_CELL_INT, VV_UNIT_NONE, true, false },
    { "category", "category", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    { "name", "range", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
};

struct kind {
    uint32_t name, category, process, group;
    int64_t total_ns, median_ns, max_ns;
    uint64_t calls, left_open, most;
};

struct view {
    const struct vv_scope *scope;
    struct vv_groups names, all; /* (name, category); (that, process)                           */
    struct kind *kinds;          /* by group of `all`, until they are sorted                    */
    size_t capacity;
    struct vv_samples durations, begins, ends; /* by group                                      */
    struct vv_sheet *sheet;
};

/* ---- ranges ---- */

static enum varve_code add(struct view *view, uint32_t slice, uint32_t process,
                           struct varve_error *error)
{
    const struct vv_slices *slices = &view->scope->model->slices;
    int64_t begin_ns = slices->begin_ns[slice], duration_ns = slices->duration_ns[slice];
    uint32_t group, known = view->all.count;
    VV_TRY(vv_groups_add(&view->names, slices->name[slice], slices->category[slice], &group,
                         error));
    VV_TRY(vv_groups_add(&view->all, group, process, &group, error));
    VV_TRY(VV_SCRATCH_RESERVE(view->scope->scratch, &view->kinds, &view->capacity, view->all.count,
                              error));
    struct kind *kind = &view->kinds[group];
    if (group == known)
        *kind = (struct kind){ slices->name[slice], slices->category[slice], process, group, 0, 0,
                               0, 0, 0, 0 };
    kind->calls++;
    kind->total_ns = vv_sum(kind->total_ns, duration_ns);
    kind->left_open += (slices->flags[slice] & VV_SLICE_UNFINISHED) != 0;
    VV_TRY(vv_samples_add(&view->begins, group, begin_ns, error));
    /* A range without a duration is open at its instant. */
    VV_TRY(vv_samples_add(&view->ends, group, begin_ns + (duration_ns > 0 ? duration_ns : 1),
                          error));
    return vv_samples_add(&view->durations, group, duration_ns, error);
}

static enum varve_code find_ranges(struct view *view, struct varve_error *error)
{
    const struct vv_model *model = view->scope->model;
    for (uint32_t track = 0; track < model->tracks.table.count; track++) {
        uint32_t first, last, process = model->tracks.process[track];
        if (model->tracks.kind[track] != VV_TRACK_ASYNC ||
            (process != VV_NONE && !view->scope->processes[process]))
            continue;
        vv_track_rows(model, track, &first, &last);
        for (uint32_t slice = first; slice < last; slice++)
            if (vv_scope_holds(view->scope, slice) &&
                vv_step_counts(view->scope, model->slices.step[slice]))
                VV_TRY(add(view, slice, process, error));
    }
    VV_TRY(vv_samples_sort(&view->durations, view->all.count, error));
    VV_TRY(vv_samples_sort(&view->begins, view->all.count, error));
    return vv_samples_sort(&view->ends, view->all.count, error);
}

/* The begins and the ends of a group are sorted, each on its own: a range that ends when another
 * begins is no longer open. */
static uint64_t most_at_once(const struct view *view, uint32_t group)
{
    size_t first = view->begins.starts[group], count = vv_samples_size(&view->begins, group),
           ended = 0, most = 0;
    const int64_t *begins = view->begins.values + first, *ends = view->ends.values + first;
    for (size_t i = 0; i < count; i++) {
        while (ends[ended] <= begins[i])
            ended++;
        most = i + 1 - ended > most ? i + 1 - ended : most;
    }
    return most;
}

/* ---- rows ---- */

static int by_total(const void *a, const void *b, void *context)
{
    const struct kind *left = a, *right = b;
    const struct vv_model *model = context;
    if (left->total_ns != right->total_ns)
        return left->total_ns > right->total_ns ? -1 : 1;
    int difference = strcmp(vv_text_of(model, left->name), vv_text_of(model, right->name));
    if (difference == 0)
        difference = strcmp(vv_text_of(model, left->category), vv_text_of(model, right->category));
    return difference != 0 ? difference
                           : vv_process_compare(model, left->process, right->process);
}

static enum varve_code put_sums(struct view *view, enum vv_row_kind row_kind, const char *name,
                                const struct kind *kind, size_t *out_row,
                                struct varve_error *error)
{
    struct vv_sheet *sheet = view->sheet;
    VV_TRY(vv_sheet_row(sheet, row_kind, out_row, error));
    vv_sheet_int(sheet, *out_row, TOTAL, kind->total_ns);
    vv_sheet_int(sheet, *out_row, CALLS, (int64_t)kind->calls);
    vv_sheet_int(sheet, *out_row, LEFT_OPEN, (int64_t)kind->left_open);
    VV_TRY(vv_sheet_text(sheet, *out_row, ROW,
                         row_kind == VV_ROW_PLAIN   ? "range"
                         : row_kind == VV_ROW_TOTAL ? "total"
                                                    : "more",
                         error));
    return vv_sheet_text(sheet, *out_row, NAME, name, error);
}

static enum varve_code put_kind(struct view *view, const struct kind *kind,
                                struct varve_error *error)
{
    const struct vv_model *model = view->scope->model;
    struct vv_sheet *sheet = view->sheet;
    size_t row;
    VV_TRY(put_sums(view, VV_ROW_PLAIN, vv_text_of(model, kind->name), kind, &row, error));
    vv_sheet_int(sheet, row, MEDIAN, kind->median_ns);
    vv_sheet_int(sheet, row, LONGEST, kind->max_ns);
    vv_sheet_int(sheet, row, MOST, (int64_t)kind->most);
    vv_put_process(view->scope, sheet, row, PROCESS, kind->process);
    return kind->category == 0 ? VARVE_OK
                               : vv_sheet_text(sheet, row, CATEGORY,
                                               vv_text_of(model, kind->category), error);
}

static void add_kind(struct kind *sum, const struct kind *kind)
{
    sum->calls += kind->calls;
    sum->total_ns = vv_sum(sum->total_ns, kind->total_ns);
    sum->left_open += kind->left_open;
}

static enum varve_code put_rows(struct view *view, int64_t wanted, struct varve_error *error)
{
    uint32_t count = view->all.count,
             top = wanted > 0 && wanted < count ? (uint32_t)wanted : count;
    struct kind rest = { 0 }, total = { 0 };
    char name[60];
    size_t row;
    for (uint32_t group = 0; group < count; group++) {
        view->kinds[group].median_ns = vv_samples_percentile(&view->durations, group, 50);
        view->kinds[group].max_ns = vv_samples_percentile(&view->durations, group, 100);
        view->kinds[group].most = most_at_once(view, group);
    }
    qsort_r(view->kinds, count, sizeof *view->kinds, by_total, (void *)view->scope->model);
    for (uint32_t i = 0; i < count; i++) {
        add_kind(&total, &view->kinds[i]);
        if (i < top)
            VV_TRY(put_kind(view, &view->kinds[i], error));
        else
            add_kind(&rest, &view->kinds[i]);
    }
    snprintf(name, sizeof name, "%" PRIu32 " more: --top 0", count - top);
    if (top < count)
        VV_TRY(put_sums(view, VV_ROW_REMAINDER, name, &rest, &row, error));
    VV_TRY(put_sums(view, VV_ROW_TOTAL, "total", &total, &row, error));
    return vv_sheet_policy(view->sheet, error,
                           "%" PRIu64 " asynchronous range%s, from begin to end; those at once "
                           "count each; warm-up steps count",
                           total.calls, total.calls == 1 ? "" : "s");
}

enum varve_code vv_analyse_async(const struct vv_model *model, const struct vv_question *question,
                                 struct vv_scratch *scratch, struct vv_sheet *out,
                                 struct varve_error *error)
{
    struct vv_scope scope;
    struct vv_selection with_warm_up = question->selection;
    struct view view = { .scope = &scope, .names = { .scratch = scratch },
                         .all = { .scratch = scratch }, .durations = { .scratch = scratch },
                         .begins = { .scratch = scratch }, .ends = { .scratch = scratch },
                         .sheet = out };
    with_warm_up.warm_up = true;
    vv_sheet_init(out, "async", "ASYNCHRONOUS RANGES", async_columns, COLUMNS);
    VV_TRY(vv_scope_init(&scope, model, &with_warm_up, scratch, error));
    VV_TRY(find_ranges(&view, error));
    if (view.all.count == 0)
        return vv_sheet_policy(out, error, "no asynchronous ranges here");
    return put_rows(&view, question->top, error);
}
