/* SPDX-License-Identifier: Apache-2.0 */
/* forward_only.c — table "forward_only": operators that recorded a graph which no backward pass of
 * the trace used: evaluation without torch.no_grad.
 *
 * A thread's sequence number grows when a node of the graph is made, so an operator made a node if
 * a later one on its thread has a larger number; of several with its number it is the last one.
 * Under no_grad operators have no number. The node was used if a backward operator, of whatever
 * thread, names its number, or one up to the next operator's.
 *
 * Rows in order: operators, "N more", "total", which all rows above sum to. doc/metrics.md. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/binary_search.h"
#include "derive/operators/step_summary.h"
#include "derive/select/scope.h"
#include "meaning/autograd_links.h"
#include "numbers/pair_ids.h"
#include "question/question.h"
#include "sheet/cells.h"

enum { NAME, NODES, RECORDED, TOTAL, SHARE, ROW, COLUMNS };

static const struct vv_sheet_column columns[COLUMNS] = {
    { "name", "operator", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "nodes", "unused nodes", VV_CELL_INT, VV_UNIT_COUNT, false, false },
    { "all_nodes", "of", VV_CELL_INT, VV_UNIT_COUNT, false, false },
    { "total_ns", "total", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "share", "share", VV_CELL_REAL, VV_UNIT_RATIO, false, VV_TEXT_BAR },
    { "row", "row", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
};

struct group {
    const char *name;
    int64_t nodes, recorded, total_ns;
};

struct view {
    const struct vv_scope *scope;
    const struct vv_model *model;
    uint8_t *is_back; /* string -> 1 = no, 2 = the name of a backward operator                   */
    int64_t *used; /* sequence numbers that backward operators name, sorted                     */
    size_t used_count;
    struct vv_groups ids;
    struct group *groups;
    size_t capacity;
    struct vv_sheet *sheet;
};

static bool is_backward(const struct view *view, uint32_t slice)
{
    const struct vv_model *model = view->model;
    uint32_t name = model->slices.name[slice];
    if (model->ops.forward_tid[model->slices.op[slice]] != 0)
        return true;
    if (view->is_back[name] == 0)
        view->is_back[name] = vv_is_backward_name(vv_text_of(model, name)) ? 2 : 1;
    return view->is_back[name] == 2;
}

static int64_t sequence_of(const struct vv_model *model, uint32_t slice)
{
    uint32_t op = model->slices.op[slice];
    return op != VV_NONE ? model->ops.sequence[op] : -1;
}

static int compare_numbers(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

/* Of the whole trace: a graph may be used in a later step. */
static enum varve_code find_used(struct view *view, struct varve_error *error)
{
    uint32_t count = view->model->slices.table.count;
    VV_TRY(VV_SCRATCH_ARRAY(view->scope->scratch, &view->used, (size_t)count + 1, error));
    for (uint32_t slice = 0; slice < count; slice++) {
        int64_t sequence = sequence_of(view->model, slice);
        if (sequence >= 0 && is_backward(view, slice))
            view->used[view->used_count++] = sequence;
    }
    if (view->used_count > 0)
        qsort(view->used, view->used_count, sizeof *view->used, compare_numbers);
    return VARVE_OK;
}

/* Does a backward operator name a number in [first, last)? */
static bool is_used(const struct view *view, int64_t first, int64_t last)
{
    size_t at = VV_FIRST_NOT(i, 0, view->used_count, view->used[i] < first);
    return at < view->used_count && view->used[at] < last;
}

static enum varve_code add_node(struct view *view, uint32_t slice, bool used,
                                struct varve_error *error)
{
    const struct vv_slices *slices = &view->model->slices;
    uint32_t id;
    if (!vv_scope_holds(view->scope, slice) || !vv_step_counts(view->scope, slices->step[slice]))
        return VARVE_OK;
    VV_TRY(vv_groups_add(&view->ids, slices->name[slice], 0, &id, error));
    size_t former = view->capacity;
    VV_TRY(VV_SCRATCH_RESERVE(view->scope->scratch, &view->groups, &view->capacity, (size_t)id + 1,
                              error));
    for (size_t i = former; i < view->capacity; i++)
        view->groups[i] = (struct group){ 0 };
    struct group *group = &view->groups[id];
    group->name = vv_text_of(view->model, slices->name[slice]);
    group->recorded++;
    group->nodes += !used;
    group->total_ns += used ? 0 : slices->duration_ns[slice];
    return VARVE_OK;
}

static enum varve_code add_track(struct view *view, uint32_t track, struct varve_error *error)
{
    uint32_t first, last, maker = VV_NONE;
    int64_t number = -1;
    vv_track_rows(view->model, track, &first, &last);
    for (uint32_t slice = first; slice < last; slice++) {
        int64_t sequence = sequence_of(view->model, slice);
        if (sequence < 0 || is_backward(view, slice))
            continue;
        if (maker != VV_NONE && sequence > number)
            VV_TRY(add_node(view, maker, is_used(view, number, sequence), error));
        maker = slice;
        number = sequence;
    }
    return VARVE_OK;
}

static int compare_groups(const void *a, const void *b)
{
    const struct group *left = a, *right = b;
    if (left->total_ns != right->total_ns)
        return left->total_ns > right->total_ns ? -1 : 1;
    return strcmp(left->name, right->name);
}

static enum varve_code put_row(const struct view *view, const struct group *group, const char *name,
                               const char *row, enum vv_row_kind kind, struct varve_error *error)
{
    struct vv_cell cells[COLUMNS] = { 0 };
    cells[NAME] = vv_text_cell(name);
    cells[NODES] = vv_int_cell(group->nodes);
    cells[RECORDED] = vv_int_cell(group->recorded);
    cells[TOTAL] = vv_int_cell(group->total_ns);
    if (view->scope->step_time_ns > 0)
        cells[SHARE] = vv_real_cell((double)group->total_ns / (double)view->scope->step_time_ns);
    cells[ROW] = vv_text_cell(row);
    return vv_row_put(view->sheet, kind, cells, error);
}

static enum varve_code put_rows(struct view *view, int64_t top, struct varve_error *error)
{
    struct group more = { 0 }, total = { 0 };
    size_t shown = top > 0 && (uint64_t)top < view->ids.count ? (size_t)top : view->ids.count;
    char text[40];
    qsort(view->groups, view->ids.count, sizeof *view->groups, compare_groups);
    for (size_t i = 0; i < view->ids.count; i++) {
        const struct group *group = &view->groups[i];
        struct group *sums[] = { &total, i < shown ? NULL : &more };
        for (size_t s = 0; s < 2 && sums[s] != NULL; s++) {
            sums[s]->nodes += group->nodes;
            sums[s]->recorded += group->recorded;
            sums[s]->total_ns += group->total_ns;
        }
        if (i < shown)
            VV_TRY(put_row(view, group, group->name, "operator", VV_ROW_PLAIN, error));
    }
    snprintf(text, sizeof text, "%zu more: --top 0", view->ids.count - shown);
    if (shown < view->ids.count)
        VV_TRY(put_row(view, &more, text, "more", VV_ROW_REMAINDER, error));
    return put_row(view, &total, "total", "total", VV_ROW_TOTAL, error);
}

enum varve_code vv_analyse_forward_only(const struct vv_model *model,
                                        const struct vv_question *question,
                                        struct vv_scratch *scratch, struct vv_sheet *out,
                                        struct varve_error *error)
{
    struct vv_scope scope;
    struct view view = { .scope = &scope, .model = model, .ids = { .scratch = scratch },
                         .sheet = out };
    vv_sheet_init(out, "forward_only", "FORWARD ONLY", columns, COLUMNS);
    VV_TRY(vv_scope_init(&scope, model, &question->selection, scratch, error));
    VV_TRY(VV_SCRATCH_ZEROS(scratch, &view.is_back, model->strings.count, error));
    VV_TRY(find_used(&view, error));
    for (uint32_t track = 0; track < model->tracks.table.count; track++)
        if (scope.tracks[track])
            VV_TRY(add_track(&view, track, error));
    if (view.ids.count == 0)
        return vv_sheet_policy(out, error,
                               "no operator here recorded a graph for a backward pass");
    VV_TRY(put_rows(&view, question->top, error));
    return vv_step_policy(&scope, out, error);
}
