/* SPDX-License-Identifier: Apache-2.0 */
/* host_gaps.c — table "host_gaps": where the threads of the steps were in no recorded call: a row
 * for each pair of calls with such a gap between them, the most time first.
 *
 * Rows in order: pairs, "N more", "total", which all rows above sum to. doc/metrics.md. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "derive/operators/host_gaps.h"
#include "meaning/call_kind.h"
#include "model/find.h"
#include "numbers/pair_ids.h"
#include "question/question.h"
#include "sheet/cells.h"
#include "sheet/number.h"

enum { TOTAL, SHARE, GAPS, LONG, LONG_GAPS, OUTSIDE, GREATEST, STEP, TINY, TINY_CALLS, ROW, AFTER,
       UNTIL, MEANWHILE, COLUMNS };

static const struct vv_sheet_column columns[COLUMNS] = {
    { "total_ns", "total", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "share", "share", VV_CELL_REAL, VV_UNIT_RATIO, false, false },
    { "gaps", "gaps", VV_CELL_INT, VV_UNIT_COUNT, false, false },
    { "long_ns", "in long ones", VV_CELL_INT, VV_UNIT_NS, false, VV_TEXT_IF_ROOM },
    { "long_gaps", "long ones", VV_CELL_INT, VV_UNIT_COUNT, true, false },
    { "outside_ns", "outside of ranges", VV_CELL_INT, VV_UNIT_NS, true, false },
    { "max_ns", "longest", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "step", "step", VV_CELL_INT, VV_UNIT_NONE, true, false },
    { "tiny_ns", "short calls", VV_CELL_INT, VV_UNIT_NS, true, false },
    { "tiny_calls", "of short calls", VV_CELL_INT, VV_UNIT_COUNT, true, false },
    { "row", "row", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    { "after", "after", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "until", "until", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "meanwhile", "another thread was in", VV_CELL_TEXT, VV_UNIT_NONE, false, VV_TEXT_IF_ROOM },
};

struct pair {
    uint32_t group;
    int64_t total_ns, long_ns, outside_ns, greatest_ns;
    int64_t gaps, long_gaps;
    int64_t middle_ns; /* of the longest                                                        */
    uint32_t step;     /* … its step                                                            */
};

/* Largest time first, then by name. */
static int compare(const void *a, const void *b)
{
    const struct pair *left = a, *right = b;
    if (left->total_ns != right->total_ns)
        return left->total_ns > right->total_ns ? -1 : 1;
    return (left->group > right->group) - (left->group < right->group);
}

static void add_gap(struct pair *pair, const struct vv_host_gap *gap)
{
    int64_t time_ns = gap->end_ns - gap->begin_ns;
    pair->total_ns += time_ns;
    pair->gaps++;
    pair->outside_ns += gap->is_inside ? 0 : time_ns;
    if (time_ns >= VV_SHORT_GAP_NS) {
        pair->long_ns += time_ns;
        pair->long_gaps++;
    }
    if (time_ns > pair->greatest_ns) {
        pair->greatest_ns = time_ns;
        pair->step = gap->step;
        pair->middle_ns = gap->begin_ns + time_ns / 2;
    }
}

static void add_pair(struct pair *sum, const struct pair *pair)
{
    sum->total_ns += pair->total_ns;
    sum->gaps += pair->gaps;
    sum->outside_ns += pair->outside_ns;
    sum->long_ns += pair->long_ns;
    sum->long_gaps += pair->long_gaps;
}

/* The pairs, by time. */
static enum varve_code sum_up(const struct vv_scope *scope, const struct vv_host_gaps *gaps,
                              struct vv_groups *groups, struct pair **out_pairs,
                              struct varve_error *error)
{
    const struct vv_slices *slices = &scope->model->slices;
    struct pair *pairs;
    VV_TRY(VV_SCRATCH_ZEROS(scope->scratch, &pairs, gaps->count + 1, error));
    for (size_t i = 0; i < gaps->count; i++) {
        const struct vv_host_gap *gap = &gaps->gaps[i];
        uint32_t group;
        VV_TRY(vv_groups_add(groups, gap->after != VV_NONE ? slices->name[gap->after] : 0,
                             gap->until != VV_NONE ? slices->name[gap->until] : 0, &group, error));
        pairs[group].group = group;
        add_gap(&pairs[group], gap);
    }
    if (groups->count > 0)
        qsort(pairs, groups->count, sizeof *pairs, compare);
    *out_pairs = pairs;
    return VARVE_OK;
}

static void fill(const struct pair *pair, int64_t steps_ns, struct vv_cell *cells)
{
    cells[TOTAL] = vv_int_cell(pair->total_ns);
    cells[GAPS] = vv_int_cell(pair->gaps);
    cells[LONG] = vv_int_cell(pair->long_ns);
    cells[LONG_GAPS] = vv_int_cell(pair->long_gaps);
    cells[OUTSIDE] = vv_int_cell(pair->outside_ns);
    if (steps_ns > 0)
        cells[SHARE] = vv_real_cell((double)pair->total_ns / (double)steps_ns);
}

struct view {
    const struct vv_scope *scope;
    const struct pair *pairs;
    size_t count, shown;
    struct vv_groups groups;
    struct vv_host_gaps gaps;
    struct vv_sheet *sheet;
};

/* The longest operator in which another thread of the process is in the middle of the longest gap;
 * VV_NONE. */
static uint32_t meanwhile(const struct vv_model *model, const struct pair *pair)
{
    const struct vv_tracks *tracks = &model->tracks;
    const int64_t *duration_ns = model->slices.duration_ns;
    uint32_t own = model->steps.track[pair->step], longest = VV_NONE;
    for (uint32_t t = 0; t < tracks->table.count; t++) {
        if (t == own || tracks->process[t] != tracks->process[own] ||
            tracks->kind[t] != VV_TRACK_THREAD)
            continue;
        uint32_t slice = vv_operator_at(model, t, pair->middle_ns);
        if (slice != VV_NONE && vv_is_own_operator(model, slice) &&
            !vv_is_no_work(vv_text_of(model, model->slices.name[slice])) &&
            (longest == VV_NONE || duration_ns[slice] > duration_ns[longest]))
            longest = slice;
    }
    return longest;
}

static enum varve_code put_pairs(const struct view *view, struct varve_error *error)
{
    const struct vv_model *model = view->scope->model;
    for (size_t i = 0; i < view->shown; i++) {
        const struct pair *pair = &view->pairs[i];
        struct vv_cell cells[COLUMNS] = { 0 };
        uint32_t after = view->groups.names[pair->group], until = view->groups.extras[pair->group];
        uint32_t other = meanwhile(model, pair);
        fill(pair, view->scope->step_time_ns, cells);
        if (other != VV_NONE)
            cells[MEANWHILE] = vv_text_cell(vv_text_of(model, model->slices.name[other]));
        cells[GREATEST] = vv_int_cell(pair->greatest_ns);
        cells[STEP] = vv_int_cell(model->steps.index[pair->step]);
        cells[ROW] = vv_text_cell("gap");
        cells[AFTER] = vv_text_cell(after != 0 ? vv_text_of(model, after) : "(begin of the step)");
        cells[UNTIL] = vv_text_cell(until != 0 ? vv_text_of(model, until) : "(end of the step)");
        VV_TRY(vv_row_put(view->sheet, VV_ROW_PLAIN, cells, error));
    }
    return VARVE_OK;
}

static enum varve_code put_sums(const struct view *view, struct varve_error *error)
{
    struct vv_cell more_cells[COLUMNS] = { 0 }, total_cells[COLUMNS] = { 0 };
    struct pair more = { 0 }, total = { 0 };
    char text[40];
    for (size_t i = 0; i < view->count; i++) {
        add_pair(&total, &view->pairs[i]);
        if (i >= view->shown)
            add_pair(&more, &view->pairs[i]);
    }
    if (view->shown < view->count) {
        snprintf(text, sizeof text, "%zu more: --top 0", view->count - view->shown);
        fill(&more, view->scope->step_time_ns, more_cells);
        more_cells[ROW] = vv_text_cell("more");
        more_cells[AFTER] = vv_text_cell(text);
        VV_TRY(vv_row_put(view->sheet, VV_ROW_REMAINDER, more_cells, error));
    }
    fill(&total, view->scope->step_time_ns, total_cells);
    total_cells[ROW] = total_cells[AFTER] = vv_text_cell("total");
    total_cells[TINY] = vv_int_cell(view->gaps.tiny_ns);
    total_cells[TINY_CALLS] = vv_int_cell((int64_t)view->gaps.tiny_calls);
    return vv_row_put(view->sheet, VV_ROW_TOTAL, total_cells, error);
}

enum varve_code vv_analyse_host_gaps(const struct vv_model *model,
                                     const struct vv_question *question, struct vv_scratch *scratch,
                                     struct vv_sheet *out, struct varve_error *error)
{
    struct vv_scope scope;
    struct view view = { .scope = &scope, .groups = { .scratch = scratch }, .sheet = out };
    struct pair *pairs;
    char threads[200], left_out[60];
    vv_sheet_init(out, "host_gaps", "BETWEEN CALLS", columns, COLUMNS);
    VV_TRY(vv_scope_init(&scope, model, &question->selection, scratch, error));
    vv_scope_left_out_text(&scope, left_out, sizeof left_out);
    if (scope.step_count == 0)
        return vv_sheet_policy(out, error, "no steps%s", left_out);
    VV_TRY(vv_find_host_gaps(&scope, scratch, &view.gaps, error));
    VV_TRY(sum_up(&scope, &view.gaps, &view.groups, &pairs, error));
    view.pairs = pairs;
    view.count = view.shown = view.groups.count;
    if (question->top > 0 && (uint64_t)question->top < view.count)
        view.shown = (size_t)question->top;
    VV_TRY(put_pairs(&view, error));
    VV_TRY(put_sums(&view, error));
    vv_scope_threads_text(&scope, true, threads, sizeof threads);
    return vv_sheet_policy(out, error, "%" PRIu64 " step%s on %s; a gap is long from 50 us on%s",
                           scope.step_count, scope.step_count == 1 ? "" : "s", threads, left_out);
}
