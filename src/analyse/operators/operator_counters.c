/* SPDX-License-Identifier: Apache-2.0 */
/* operator_counters.c — table "operator_counters": what the threads' counters say of each operator
 * itself, without the counted ranges inside it.
 *
 * Rows in order: most time of the processor first, "(outside operators)" for other counted ranges,
 * "total". Law: calls, self_ns and counts of the rows sum to those of "total". doc/metrics.md. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sum.h"
#include "derive/operators/counted.h"
#include "numbers/pair_ids.h"
#include "question/question.h"
#include "sheet/cells.h"

/* Reading the counters takes about 1,000 ns of a range itself. A share of shorter ranges, in the
 * mean, would say that they waited. */
#define SHARE_LEAST_NS 10000

enum { NAME, CALLS, SELF, CPU_SHARE, ROW, COLUMNS };

static const struct vv_sheet_column own_columns[COLUMNS] = {
    { "name", "operator", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "calls", "calls", VV_CELL_INT, VV_UNIT_COUNT, false, false },
    { "self_ns", "self", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "cpu_share", "on a processor", VV_CELL_REAL, VV_UNIT_RATIO, false, false },
    { "row", "row", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
};

struct figures {
    uint32_t name; /* string */
    int64_t calls, self_ns;
    struct vv_counts counts;
};

struct view {
    const struct vv_scope *scope;
    struct vv_counted counted;
    struct vv_groups names;   /* (name, 0) */
    struct figures *figures;  /* by group, until they are sorted */
    size_t capacity;
    struct figures outside, total;
};

/* ---- counting ---- */

static enum varve_code figures_of(struct view *view, uint32_t slice, struct figures **out,
                                  struct varve_error *error)
{
    const struct vv_model *model = view->scope->model;
    uint32_t group, known = view->names.count;
    *out = &view->outside;
    if (model->slices.layer[slice] != VARVE_LAYER_OP)
        return VARVE_OK;
    VV_TRY(vv_groups_add(&view->names, model->slices.name[slice], 0, &group, error));
    VV_TRY(VV_SCRATCH_RESERVE(view->scope->scratch, &view->figures, &view->capacity,
                              view->names.count, error));
    if (group == known)
        view->figures[group] = (struct figures){ .name = model->slices.name[slice] };
    *out = &view->figures[group];
    return VARVE_OK;
}

static bool is_chosen(const struct vv_scope *scope, uint32_t slice)
{
    return vv_step_counts(scope, scope->model->slices.step[slice]) && vv_scope_holds(scope, slice);
}

/* What a range used is not its parent's: it is taken from the innermost counted range around. */
static enum varve_code take_from_parent(struct view *view, uint32_t slice,
                                        const struct vv_counts *counts, struct varve_error *error)
{
    const struct vv_slices *slices = &view->scope->model->slices;
    struct vv_counts around;
    uint32_t parent = slices->parent[slice];
    while (parent != VV_NONE &&
           !vv_counts_of(&view->counted, view->scope->model, parent, &around))
        parent = slices->parent[parent];
    if (parent == VV_NONE || !is_chosen(view->scope, parent))
        return VARVE_OK;
    struct figures *figures;
    VV_TRY(figures_of(view, parent, &figures, error));
    vv_counts_add(&figures->counts, counts, true);
    vv_counts_add(&view->total.counts, counts, true);
    return VARVE_OK;
}

static enum varve_code count_track(struct view *view, uint32_t track, struct varve_error *error)
{
    const struct vv_model *model = view->scope->model;
    uint32_t first, last;
    vv_track_rows(model, track, &first, &last);
    for (uint32_t slice = first; slice < last; slice++) {
        struct vv_counts counts;
        struct figures *figures;
        if (!vv_counts_of(&view->counted, model, slice, &counts))
            continue;
        if (is_chosen(view->scope, slice)) {
            VV_TRY(figures_of(view, slice, &figures, error));
            figures->calls++;
            figures->self_ns = vv_sum(figures->self_ns, model->slices.self_ns[slice]);
            vv_counts_add(&figures->counts, &counts, false);
            view->total.calls++;
            view->total.self_ns = vv_sum(view->total.self_ns, model->slices.self_ns[slice]);
            vv_counts_add(&view->total.counts, &counts, false);
            VV_TRY(take_from_parent(view, slice, &counts, error));
        }
    }
    return VARVE_OK;
}

/* ---- rows ---- */

static int by_first_counter(const void *a, const void *b, void *context)
{
    const struct figures *left = a, *right = b;
    if (left->counts.values[0] != right->counts.values[0])
        return left->counts.values[0] > right->counts.values[0] ? -1 : 1;
    return strcmp(vv_text_of(context, left->name), vv_text_of(context, right->name));
}

static enum varve_code put(const struct view *view, struct vv_sheet *sheet,
                           const struct figures *figures, const char *name, enum vv_row_kind kind,
                           struct varve_error *error)
{
    struct vv_cell cells[COLUMNS + VV_COUNTED_MAX] = { 0 };
    double share;
    cells[NAME] = vv_text_cell(name);
    cells[CALLS] = vv_int_cell(figures->calls);
    cells[SELF] = vv_int_cell(figures->self_ns);
    bool is_long = figures->calls > 0 && figures->self_ns / figures->calls >= SHARE_LEAST_NS;
    if (is_long && vv_counted_cpu_share(&view->counted, view->scope->model, &figures->counts,
                                        figures->self_ns, &share))
        cells[CPU_SHARE] = vv_real_cell(share);
    cells[ROW] = vv_text_cell(kind == VV_ROW_PLAIN       ? "operator"
                              : kind == VV_ROW_REMAINDER ? "outside"
                                                         : "total");
    vv_counted_cells(&view->counted, &figures->counts, cells + COLUMNS);
    return vv_row_put(sheet, kind, cells, error);
}

static enum varve_code put_rows(struct view *view, struct vv_sheet *sheet,
                                struct varve_error *error)
{
    const struct vv_model *model = view->scope->model;
    if (view->names.count > 0)
        qsort_r(view->figures, view->names.count, sizeof *view->figures, by_first_counter,
                (void *)(uintptr_t)model);
    for (uint32_t i = 0; i < view->names.count; i++)
        VV_TRY(put(view, sheet, &view->figures[i], vv_text_of(model, view->figures[i].name),
                   VV_ROW_PLAIN, error));
    if (view->outside.calls > 0)
        VV_TRY(put(view, sheet, &view->outside, "(outside operators)", VV_ROW_REMAINDER, error));
    return put(view, sheet, &view->total, "total", VV_ROW_TOTAL, error);
}

enum varve_code vv_analyse_operator_counters(const struct vv_model *model,
                                             const struct vv_question *question,
                                             struct vv_scratch *scratch, struct vv_sheet *out,
                                             struct varve_error *error)
{
    struct vv_scope scope;
    struct view view = { .scope = &scope, .names = { .scratch = scratch } };
    char left_out[60];
    vv_sheet_init(out, "operator_counters", "COUNTERS OF OPERATORS", own_columns, COLUMNS);
    VV_TRY(vv_scope_init(&scope, model, &question->selection, scratch, error));
    vv_counted_init(&view.counted, &scope);
    for (uint32_t track = 0; track < model->tracks.table.count; track++)
        if (scope.tracks[track])
            VV_TRY(count_track(&view, track, error));
    if (view.total.calls == 0)
        return vv_sheet_policy(out, error,
                               "nothing was counted: varve record --metrics PipeUtilization");
    VV_TRY(vv_counted_columns(&view.counted, model, own_columns, COLUMNS, out, error));
    vv_scope_left_out_text(&scope, left_out, sizeof left_out);
    VV_TRY(vv_sheet_policy(out, error,
                           "%" PRId64 " counted ranges, each without those inside it%s",
                           view.total.calls, left_out));
    return put_rows(&view, out, error);
}
