/* SPDX-License-Identifier: Apache-2.0 */
/* path.c — tables "critical_path" (the segments of the path, in order) and "critical_ops" (the
 * path's time by operator).
 *
 * Laws: the segments and gaps sum to the window; the operators sum to the path. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/critical/critical.h"
#include "numbers/pair_ids.h"

/* ---- table "critical_path" ---- */

enum { AT, TIME, BOUND, THREAD, SHARE, BEGIN, RANK, ROW, NAME, COLUMNS };

static const struct vv_sheet_column path_columns[COLUMNS] = {
    { "at_ns", "at", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "time_ns", "time", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "bound", "bound by", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "thread", "thread or stream", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "window_share", "of the window", VV_CELL_REAL, VV_UNIT_RATIO, true, false },
    { "begin_ns", "begin", VV_CELL_INT, VV_UNIT_TIME, true, false },
    { "rank", "rank", VV_CELL_INT, VV_UNIT_NONE, true, false },
    { "row", "row", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    { "name", "name", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
};

/* Neighbours on the path with the same owner and link form one segment. */
struct segment {
    int64_t begin_ns, time_ns;
    uint32_t owner, node;
    uint8_t link;
    bool is_gap, is_shown;
};

struct segments {
    struct vv_scratch *scratch;
    struct segment *items;
    size_t count, capacity;
};

static enum varve_code add_segment(struct segments *segments, struct segment segment,
                                   struct varve_error *error)
{
    struct segment *last = segments->count > 0 ? &segments->items[segments->count - 1] : NULL;
    if (segment.time_ns == 0)
        return VARVE_OK;
    if (last != NULL && last->owner == segment.owner && last->link == segment.link &&
        last->is_gap == segment.is_gap) {
        last->time_ns += segment.time_ns;
        return VARVE_OK;
    }
    VV_TRY(VV_SCRATCH_RESERVE(segments->scratch, &segments->items, &segments->capacity,
                              segments->count + 1, error));
    segments->items[segments->count++] = segment;
    return VARVE_OK;
}

static enum varve_code find_segments(const struct vv_critical *critical, struct segments *segments,
                                     struct varve_error *error)
{
    const struct vv_critical_graph *graph = &critical->graph;
    const struct vv_path_step *path = critical->solution.path;
    size_t count = critical->solution.path_count;
    if (count == 0)
        return VARVE_OK;
    int64_t first_ns = graph->time_ns[path[0].node], last_ns = graph->time_ns[path[count - 1].node];
    if (graph->is_exact)
        VV_TRY(add_segment(segments,
                           (struct segment){ graph->begin_ns, first_ns - graph->begin_ns, VV_NONE,
                                             path[0].node, VV_LINK_NONE, true, false },
                           error));
    for (size_t i = 1; i < count; i++) {
        int64_t begin_ns = graph->time_ns[path[i - 1].node], gap_ns = vv_gap_ns(critical, i);
        uint32_t owner = vv_link_weighs(path[i].link) ? path[i].owner : VV_NONE;
        VV_TRY(add_segment(segments,
                           (struct segment){ begin_ns, path[i].weight_ns, owner, path[i].node,
                                             path[i].link, false, false },
                           error));
        VV_TRY(add_segment(segments,
                           (struct segment){ begin_ns + path[i].weight_ns, gap_ns, VV_NONE,
                                             path[i].node, path[i].link, true, false },
                           error));
    }
    if (graph->is_exact)
        VV_TRY(add_segment(segments,
                           (struct segment){ last_ns, graph->end_ns - last_ns, VV_NONE,
                                             path[count - 1].node, VV_LINK_NONE, true, false },
                           error));
    return VARVE_OK;
}

static int longer_first(const void *a, const void *b)
{
    const struct segment *left = *(struct segment *const *)a, *right = *(struct segment *const *)b;
    if (left->time_ns != right->time_ns)
        return left->time_ns > right->time_ns ? -1 : 1;
    return (left > right) - (left < right);
}

/* People see the longest segments, in order of time. */
static enum varve_code choose_shown(struct segments *segments, int64_t top,
                                    struct varve_error *error)
{
    struct segment **longest;
    VV_TRY(VV_SCRATCH_ARRAY(segments->scratch, &longest, segments->count, error));
    for (size_t i = 0; i < segments->count; i++)
        longest[i] = &segments->items[i];
    if (top > 0 && (uint64_t)top < segments->count)
        qsort(longest, segments->count, sizeof *longest, longer_first);
    for (size_t i = 0; i < segments->count && (top == 0 || i < (uint64_t)top); i++)
        longest[i]->is_shown = true;
    return VARVE_OK;
}

/* Writes where the segment is: the track of its owner, or of the node that it leads to. */
static enum varve_code put_place(const struct vv_critical *critical, struct vv_sheet *sheet,
                                 size_t row, const struct segment *segment,
                                 struct varve_error *error)
{
    const struct vv_model *model = critical->graph.model;
    uint32_t slice =
        segment->owner != VV_NONE ? segment->owner : critical->graph.event[segment->node];
    char text[120];
    if (slice == VV_NONE)
        return VARVE_OK;
    uint32_t track = model->slices.track[slice], process = model->tracks.process[track];
    vv_track_text(model, track, text, sizeof text);
    if (process != VV_NONE && critical->scope.ranks[process] >= 0)
        vv_sheet_int(sheet, row, RANK, critical->scope.ranks[process]);
    return vv_sheet_text(sheet, row, THREAD, text, error);
}

static enum varve_code put_segment(struct vv_critical *critical, struct vv_sheet *sheet,
                                   const struct segment *segment, struct varve_error *error)
{
    const struct vv_critical_graph *graph = &critical->graph;
    int64_t window_ns = graph->end_ns - graph->begin_ns;
    size_t row;
    VV_TRY(vv_sheet_row(sheet, VV_ROW_PLAIN, &row, error));
    vv_sheet_int(sheet, row, AT, segment->begin_ns - graph->begin_ns);
    vv_sheet_int(sheet, row, BEGIN, segment->begin_ns);
    vv_sheet_int(sheet, row, TIME, segment->time_ns);
    if (window_ns > 0)
        vv_sheet_real(sheet, row, SHARE, (double)segment->time_ns / (double)window_ns);
    VV_TRY(vv_sheet_text(sheet, row, NAME,
                         segment->is_gap ? vv_gap_text(segment->link)
                                         : vv_owner_text(critical, segment->link, segment->owner),
                         error));
    VV_TRY(vv_sheet_text(sheet, row, BOUND,
                         segment->is_gap
                             ? "gap"
                             : vv_bound_text(vv_bound_of(critical, segment->link, segment->owner)),
                         error));
    VV_TRY(vv_sheet_text(sheet, row, ROW, segment->is_gap ? "gap" : "segment", error));
    return put_place(critical, sheet, row, segment, error);
}

/* Shows the column of ranks where there are several ranks. */
static enum varve_code show_ranks(const struct vv_critical *critical, struct vv_sheet *sheet,
                                  struct varve_error *error)
{
    const struct vv_scope *scope = &critical->scope;
    struct vv_sheet_column *columns = vv_arena_alloc(&sheet->arena, sizeof path_columns);
    if (columns == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for the columns of the path");
    memcpy(columns, path_columns, sizeof path_columns);
    for (uint32_t p = 1; p < scope->model->processes.table.count; p++)
        if (scope->ranks[p] != scope->ranks[0])
            columns[RANK].hidden = false;
    sheet->columns = columns;
    return VARVE_OK;
}

static enum varve_code put_path(struct vv_critical *critical, const struct vv_question *question,
                                struct segments *segments, struct vv_sheet *sheet,
                                struct varve_error *error)
{
    int64_t rest_ns = 0, total_ns = 0;
    size_t rest = 0, row;
    char text[60];
    VV_TRY(show_ranks(critical, sheet, error));
    VV_TRY(find_segments(critical, segments, error));
    VV_TRY(choose_shown(segments, question->top, error));
    for (size_t i = 0; i < segments->count; i++) {
        total_ns += segments->items[i].time_ns;
        if (segments->items[i].is_shown) {
            VV_TRY(put_segment(critical, sheet, &segments->items[i], error));
            continue;
        }
        rest++;
        rest_ns += segments->items[i].time_ns;
    }
    if (rest > 0) {
        VV_TRY(vv_sheet_row(sheet, VV_ROW_REMAINDER, &row, error));
        snprintf(text, sizeof text, "%zu more: --top 0", rest);
        VV_TRY(vv_sheet_text(sheet, row, NAME, text, error));
        vv_sheet_int(sheet, row, TIME, rest_ns);
        VV_TRY(vv_sheet_text(sheet, row, ROW, "more", error));
    }
    if (segments->count == 0)
        return VARVE_OK;
    VV_TRY(vv_sheet_row(sheet, VV_ROW_TOTAL, &row, error));
    VV_TRY(vv_sheet_text(sheet, row, NAME, critical->graph.is_exact ? "the window" : "the path",
                         error));
    vv_sheet_int(sheet, row, TIME, total_ns);
    return vv_sheet_text(sheet, row, ROW, "total", error);
}

enum varve_code vv_analyse_critical_path(const struct vv_model *model,
                                         const struct vv_question *question,
                                         struct vv_scratch *scratch, struct vv_sheet *out,
                                         struct varve_error *error)
{
    struct vv_critical critical;
    struct segments segments = { .scratch = scratch };
    vv_sheet_init(out, "critical_path", "CRITICAL PATH", path_columns, COLUMNS);
    VV_TRY(vv_critical_init(&critical, model, question, scratch, error));
    VV_TRY(put_path(&critical, question, &segments, out, error));
    return vv_critical_policy(&critical, out,
                              question->top > 0
                                  ? "the longest segments of the path, in order of time"
                                  : "the path in order",
                              error);
}

/* ---- table "critical_ops" ---- */

enum { OP_BOUND, OP_TIME, OP_SHARE, OP_RUNNING, OP_EDGES, OP_ROW, OP_NAME, OP_COLUMNS };

static const struct vv_sheet_column op_columns[OP_COLUMNS] = {
    { "bound", "bound by", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "time_ns", "on the path", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "share", "share", VV_CELL_REAL, VV_UNIT_RATIO, false, VV_TEXT_BAR },
    { "running_share", "sum", VV_CELL_REAL, VV_UNIT_RATIO, false, VV_TEXT_IF_ROOM },
    { "edges", "edges", VV_CELL_INT, VV_UNIT_COUNT, true, false },
    { "row", "row", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    { "name", "name", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
};

struct op { const char *name; int64_t time_ns, edges; uint8_t bound; };

static int heavier_first(const void *a, const void *b)
{
    const struct op *left = a, *right = b;
    if (left->time_ns != right->time_ns)
        return left->time_ns > right->time_ns ? -1 : 1;
    int order = strcmp(left->name, right->name);
    return order != 0 ? order : (left->bound > right->bound) - (left->bound < right->bound);
}

static enum varve_code sum_ops(struct vv_critical *critical, struct vv_groups *groups,
                               struct op **ops, struct varve_error *error)
{
    const struct vv_critical_solution *solution = &critical->solution;
    size_t capacity = 0;
    for (size_t i = 1; i < solution->path_count; i++) {
        const struct vv_path_step *step = &solution->path[i];
        if (!vv_link_weighs(step->link))
            continue;
        enum vv_bound bound = vv_bound_of(critical, step->link, step->owner);
        uint32_t known = groups->count, group,
                 name = step->link == VV_LINK_OWN && step->owner != VV_NONE
                            ? vv_critical_name(&critical->graph, step->owner) : 0;
        VV_TRY(vv_groups_add(groups, name, (uint32_t)bound, &group, error));
        VV_TRY(VV_SCRATCH_RESERVE(groups->scratch, ops, &capacity, groups->count, error));
        if (groups->count > known)
            (*ops)[group] = (struct op){ vv_owner_text(critical, step->link, step->owner), 0, 0,
                                         (uint8_t)bound };
        (*ops)[group].time_ns += step->weight_ns;
        (*ops)[group].edges++;
    }
    return VARVE_OK;
}

static enum varve_code put_op(struct vv_sheet *sheet, enum vv_row_kind kind, const struct op *op,
                              int64_t running_ns, int64_t length_ns, struct varve_error *error)
{
    static const char *const texts[] = { [VV_ROW_PLAIN] = "operator", [VV_ROW_REMAINDER] = "more",
                                         [VV_ROW_TOTAL] = "total" };
    size_t row;
    VV_TRY(vv_sheet_row(sheet, kind, &row, error));
    VV_TRY(vv_sheet_text(sheet, row, OP_NAME, op->name, error));
    if (kind == VV_ROW_PLAIN)
        VV_TRY(vv_sheet_text(sheet, row, OP_BOUND, vv_bound_text((enum vv_bound)op->bound), error));
    vv_sheet_int(sheet, row, OP_TIME, op->time_ns);
    if (length_ns > 0) {
        vv_sheet_real(sheet, row, OP_SHARE, (double)op->time_ns / (double)length_ns);
        vv_sheet_real(sheet, row, OP_RUNNING, (double)running_ns / (double)length_ns);
    }
    vv_sheet_int(sheet, row, OP_EDGES, op->edges);
    return vv_sheet_text(sheet, row, OP_ROW, texts[kind], error);
}

static enum varve_code put_ops(struct vv_critical *critical, const struct vv_question *question,
                               struct vv_groups *groups, struct op **ops, struct vv_sheet *sheet,
                               struct varve_error *error)
{
    int64_t length_ns = critical->solution.length_ns, running_ns = 0;
    struct op rest = { NULL, 0, 0, 0 }, total = { "the path", 0, 0, 0 };
    char text[60];
    VV_TRY(sum_ops(critical, groups, ops, error));
    if (groups->count == 0)
        return VARVE_OK;
    qsort(*ops, groups->count, sizeof **ops, heavier_first);
    for (uint32_t i = 0; i < groups->count; i++) {
        const struct op *op = &(*ops)[i];
        total.time_ns += op->time_ns;
        total.edges += op->edges;
        running_ns += op->time_ns;
        if (question->top == 0 || i < (uint64_t)question->top)
            VV_TRY(put_op(sheet, VV_ROW_PLAIN, op, running_ns, length_ns, error));
        else {
            rest.time_ns += op->time_ns;
            rest.edges += op->edges;
        }
    }
    if (question->top > 0 && (uint64_t)question->top < groups->count) {
        snprintf(text, sizeof text, "%llu more: --top 0",
                 (unsigned long long)groups->count - (uint64_t)question->top);
        rest.name = text;
        VV_TRY(put_op(sheet, VV_ROW_REMAINDER, &rest, total.time_ns, length_ns, error));
    }
    return put_op(sheet, VV_ROW_TOTAL, &total, total.time_ns, length_ns, error);
}

enum varve_code vv_analyse_critical_ops(const struct vv_model *model,
                                        const struct vv_question *question,
                                        struct vv_scratch *scratch, struct vv_sheet *out,
                                        struct varve_error *error)
{
    struct vv_critical critical;
    struct vv_groups groups = { .scratch = scratch };
    struct op *ops = NULL;
    vv_sheet_init(out, "critical_ops", "OPERATORS ON THE CRITICAL PATH", op_columns, OP_COLUMNS);
    VV_TRY(vv_critical_init(&critical, model, question, scratch, error));
    VV_TRY(put_ops(&critical, question, &groups, &ops, out, error));
    return vv_critical_policy(&critical, out, "what is on the path, by name", error);
}
