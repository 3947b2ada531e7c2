/* SPDX-License-Identifier: Apache-2.0 */
/* links.c — table "links": each backward operator with its forward operator, and the times of both.
 *
 * Rows in order: links, "N more: --top 0", "total". The times of the rows sum to "total". If a
 * forward operator has several backward operators, its time counts only with the first.
 * doc/metrics.md. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "derive/devices/device_share.h"
#include "meaning/autograd_links.h"
#include "question/question.h"
#include "sheet/cells.h"

enum {
    SEQUENCE, FORWARD_AT, FORWARD, FORWARD_DEVICE, BACKWARD_AT, BACKWARD, BACKWARD_DEVICE, ORDINAL,
    AGAIN, FORWARD_THREAD, BACKWARD_THREAD, ROW, FORWARD_OP, BACKWARD_OP, COLUMNS
};

static const struct vv_sheet_column link_columns[COLUMNS] = {
    { "sequence", "sequence", VV_CELL_INT, VV_UNIT_NONE, false, false },
    { "forward_at_ns", "forward at", VV_CELL_INT, VV_UNIT_NS, false, VV_TEXT_IF_ROOM },
    { "forward_ns", "forward", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "forward_device_ns", "on device", VV_CELL_INT, VV_UNIT_NS, false, VV_TEXT_IF_ROOM },
    { "backward_at_ns", "backward at", VV_CELL_INT, VV_UNIT_NS, false, VV_TEXT_IF_ROOM },
    { "backward_ns", "backward", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "backward_device_ns", "on device", VV_CELL_INT, VV_UNIT_NS, false, VV_TEXT_IF_ROOM },
    { "ordinal", "ordinal", VV_CELL_INT, VV_UNIT_NONE, true, false },
    { "again_ns", "again", VV_CELL_INT, VV_UNIT_NS, true, false },
    { "forward_thread", "forward thread", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    { "backward_thread", "backward thread", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    { "row", "row", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    { "forward_op", "forward operator", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "backward_op", "backward operator", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
};

static const int sums[] = { FORWARD, FORWARD_DEVICE, BACKWARD, BACKWARD_DEVICE };
enum { SUMS = sizeof sums / sizeof *sums };

struct view {
    const struct vv_scope *scope;
    const struct vv_device_share *share;
    struct vv_sheet *sheet;
    struct vv_autograd_link *links; /* the chosen links, sorted                                 */
    size_t count;
    int sort;
};

static int64_t device_ns(const struct view *view, uint32_t slice)
{
    return view->share->total_ns != NULL ? view->share->total_ns[slice] : 0;
}

static int64_t value_of(const struct view *view, const struct vv_autograd_link *link, int column)
{
    const struct vv_slices *slices = &view->scope->model->slices;
    bool is_first = link->ordinal == 1;
    uint32_t op = slices->op[link->backward];
    switch (column) {
    case SEQUENCE:
        return op != VV_NONE ? view->scope->model->ops.sequence[op] : -1;
    case FORWARD_AT:
        return slices->begin_ns[link->forward] - view->scope->model->run.begin_ns;
    case FORWARD:
        return is_first ? slices->duration_ns[link->forward] : 0;
    case FORWARD_DEVICE:
        return is_first ? device_ns(view, link->forward) : 0;
    case BACKWARD_AT:
        return slices->begin_ns[link->backward] - view->scope->model->run.begin_ns;
    case BACKWARD:
        return slices->duration_ns[link->backward];
    case BACKWARD_DEVICE:
        return device_ns(view, link->backward);
    default:
        return link->ordinal;
    }
}

/* Points in time are sorted upwards; durations and counts downwards. */
static int compare_links(const void *a, const void *b, void *context)
{
    const struct view *view = context;
    const int keys[] = { view->sort, FORWARD_AT, BACKWARD_AT, ORDINAL };
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
        int64_t left = value_of(view, a, keys[k]), right = value_of(view, b, keys[k]);
        bool is_downwards = link_columns[keys[k]].unit == VV_UNIT_NS && keys[k] != FORWARD_AT &&
                            keys[k] != BACKWARD_AT;
        if (left != right)
            return (left < right) == is_downwards ? 1 : -1;
    }
    return 0;
}

static enum varve_code put_link(struct view *view, const struct vv_autograd_link *link,
                                struct varve_error *error)
{
    const struct vv_model *model = view->scope->model;
    struct vv_cell cells[COLUMNS] = { 0 };
    char threads[2][120];
    for (int c = SEQUENCE; c <= ORDINAL; c++)
        cells[c] = vv_int_cell(value_of(view, link, c));
    cells[AGAIN] = vv_int_cell(link->ordinal > 1 ? cells[BACKWARD].integer : 0);
    cells[SEQUENCE].present = cells[SEQUENCE].integer >= 0;
    vv_track_text(model, model->slices.track[link->forward], threads[0], sizeof threads[0]);
    vv_track_text(model, model->slices.track[link->backward], threads[1], sizeof threads[1]);
    cells[FORWARD_THREAD] = vv_text_cell(threads[0]);
    cells[BACKWARD_THREAD] = vv_text_cell(threads[1]);
    cells[ROW] = vv_text_cell("link");
    cells[FORWARD_OP] = vv_text_cell(vv_text_of(model, model->slices.name[link->forward]));
    cells[BACKWARD_OP] = vv_text_cell(vv_text_of(model, model->slices.name[link->backward]));
    return vv_row_put(view->sheet, VV_ROW_PLAIN, cells, error);
}

static enum varve_code put_sum(struct view *view, size_t from, enum vv_row_kind kind,
                               const char *name, struct varve_error *error)
{
    struct vv_cell cells[COLUMNS] = { 0 };
    for (int s = 0; s < SUMS; s++) {
        cells[sums[s]] = vv_int_cell(0);
        for (size_t i = from; i < view->count; i++)
            cells[sums[s]].integer += value_of(view, &view->links[i], sums[s]);
    }
    cells[ROW] = vv_text_cell(kind == VV_ROW_TOTAL ? "total" : "more");
    cells[FORWARD_OP] = vv_text_cell(name);
    return vv_row_put(view->sheet, kind, cells, error);
}

static enum varve_code put_rows(struct view *view, int64_t wanted, struct varve_error *error)
{
    size_t top = wanted > 0 && (uint64_t)wanted < view->count ? (size_t)wanted : view->count;
    char name[64];
    if (view->count == 0)
        return VARVE_OK;
    for (size_t i = 0; i < top; i++)
        VV_TRY(put_link(view, &view->links[i], error));
    snprintf(name, sizeof name, "%zu more: --top 0", view->count - top);
    if (top < view->count)
        VV_TRY(put_sum(view, top, VV_ROW_REMAINDER, name, error));
    return put_sum(view, 0, VV_ROW_TOTAL, "total", error);
}

/* Keeps the links whose backward operator is on a chosen thread and in a chosen step. */
static enum varve_code choose_links(struct view *view, const struct vv_autograd_links *links,
                                    struct vv_scratch *scratch, struct varve_error *error)
{
    const struct vv_slices *slices = &view->scope->model->slices;
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &view->links, links->count, error));
    for (size_t i = 0; i < links->count; i++) {
        uint32_t backward = links->items[i].backward, step = slices->step[backward];
        if (view->scope->tracks[slices->track[backward]] && vv_scope_holds(view->scope, backward) &&
            vv_step_counts(view->scope, step))
            view->links[view->count++] = links->items[i];
    }
    return VARVE_OK;
}

/* Does an operator of the trace have a name or numbers of a backward pass? */
static bool has_backward(const struct vv_model *model)
{
    for (uint32_t op = 0; op < model->ops.table.count; op++)
        if (model->ops.forward_tid[op] != 0)
            return true;
    for (uint32_t row = 0; row < model->slices.table.count; row++)
        if (vv_is_backward_name(vv_text_of(model, model->slices.name[row])))
            return true;
    return false;
}

static enum varve_code fill(struct view *view, const struct vv_question *question,
                            struct varve_error *error)
{
    view->sort = FORWARD_AT;
    for (int c = SEQUENCE; question->sort != NULL && c <= ORDINAL + 1; c++) {
        view->sort = c;
        if (c <= ORDINAL && vv_column_is_called(&link_columns[c], question->sort))
            break;
    }
    if (view->sort > ORDINAL)
        VV_FAIL(error, VARVE_INVALID,
                "cannot sort links by '%s'. Try forward_at, forward, backward, backward_device or "
                "sequence",
                question->sort);
    if (view->count > 0)
        qsort_r(view->links, view->count, sizeof *view->links, compare_links, view);
    VV_TRY(put_rows(view, question->top, error));
    if (view->count == 0)
        return vv_sheet_policy(view->sheet, error, "%s",
                               has_backward(view->scope->model)
                                   ? "no backward operator here names its forward one"
                                   : "no backward pass of PyTorch's or of varve_op_backward here");
    return vv_sheet_policy(view->sheet, error,
                           "%zu backward operators with the forward operators they belong to",
                           view->count);
}

enum varve_code vv_analyse_links(const struct vv_model *model, const struct vv_question *question,
                                 struct vv_scratch *scratch, struct vv_sheet *out,
                                 struct varve_error *error)
{
    struct vv_scope scope;
    struct vv_device_work work;
    struct vv_device_share share;
    struct vv_autograd_links links;
    struct view view = { .scope = &scope, .share = &share, .sheet = out };
    vv_sheet_init(out, "links", "FORWARD AND BACKWARD", link_columns, COLUMNS);
    VV_TRY(vv_scope_init(&scope, model, &question->selection, scratch, error));
    struct vv_scope all = vv_unfiltered(&scope);
    VV_TRY(vv_device_work_init(&work, &all, question->selection.device, error));
    VV_TRY(vv_device_share(&work, scratch, &share, error));
    VV_TRY(vv_autograd_links(model, &links, error));
    VV_TRY(choose_links(&view, &links, scratch, error));
    return fill(&view, question, error);
}
