/* SPDX-License-Identifier: Apache-2.0 */
/* call_tree.c — table "call_tree": operators in each place that calls them, from the outermost
 * down.
 *
 * A node is a name below another node. Slices of all chosen threads with the same path of names
 * share a node. The total of a node is its own time plus the totals of its children. own_time.h
 * says how time is divided. So in each column
 *     self + the rows one level below = total;
 *     self of all rows + "(outside operators)" = the row "total".
 * Rows in order: each node before the nodes below it, the largest first; the rest of a level as one
 * row. doc/metrics.md. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "derive/devices/device_share.h"
#include "derive/operators/own_time.h"
#include "derive/select/track_order.h"
#include "numbers/pair_ids.h"
#include "numbers/spread.h"
#include "question/question.h"
#include "sheet/cells.h"
#include "sheet/number.h"

#define INDENT_MAX 1000  /* levels; deeper levels are indented no further */
#define LEAST_SHARE 200  /* --top shows no node that takes less than 1 / 200 of all time */

enum { TOTAL, SHARE, SELF, CALLS, DEVICE_TOTAL, DEVICE_SELF, KERNELS, MEAN, DEVIATION, DEPTH, NODE,
       PARENT, ROW, NAME, TREE, COLUMNS };

static const struct vv_sheet_column tree_columns[COLUMNS] = {
    { "total_ns", "total", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "total_share", "share", VV_CELL_REAL, VV_UNIT_RATIO, false, false },
    { "self_ns", "self", VV_CELL_INT, VV_UNIT_NS, false, VV_TEXT_IF_ROOM },
    { "calls", "calls", VV_CELL_INT, VV_UNIT_COUNT, false, VV_TEXT_IF_MUCH_ROOM },
    { "device_total_ns", "device total", VV_CELL_INT, VV_UNIT_NS, false, VV_TEXT_IF_ROOM },
    { "device_self_ns", "device self", VV_CELL_INT, VV_UNIT_NS, false, VV_TEXT_IF_MUCH_ROOM },
    { "kernels", "kernels", VV_CELL_INT, VV_UNIT_COUNT, true, false },
    { "mean_ns", "mean", VV_CELL_INT, VV_UNIT_NS, true, false },
    { "deviation_ns", "spread", VV_CELL_INT, VV_UNIT_NS, true, false },
    { "depth", "depth", VV_CELL_INT, VV_UNIT_NONE, true, false },
    { "node", "node", VV_CELL_INT, VV_UNIT_NONE, true, false },
    { "parent", "parent", VV_CELL_INT, VV_UNIT_NONE, true, false },
    { "row", "row", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    { "name", "name", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    { "tree", "operator", VV_CELL_TEXT, VV_UNIT_NONE, false, VV_TEXT_TREE },
};

struct figures { int64_t values[DEVIATION + 1]; }; /* by column; SHARE is not used */

struct tree {
    const struct vv_scope *scope;
    struct vv_groups nodes;    /* (name, parent + 1); a parent is below its children            */
    struct figures *figures;   /* by node                                                       */
    size_t capacity;
    struct figures outside, covered;
    struct vv_device_share share;
    uint32_t *tracks;          /* in order                                                      */
    uint32_t *node_of;         /* slice -> node; VV_NONE: not a chosen operator                  */
    uint32_t *children;        /* nodes by parent, then in order                                */
    uint32_t *first_child;     /* node + 1 -> its first entry in `children`; [0] is for the
                                  outermost nodes */
    int sort;
    bool has_device;
};

/* ---- the tree ---- */

static void add_slice(struct tree *tree, struct figures *figures, uint32_t row, int64_t own_ns)
{
    figures->values[SELF] += own_ns;
    figures->values[CALLS]++;
    if (!tree->has_device)
        return;
    figures->values[DEVICE_SELF] += tree->share.self_ns[row];
    figures->values[KERNELS] += tree->share.kernels[row];
}

/* Takes the time of a slice that has no node out of own_ns. */
static enum varve_code place_slice(struct tree *tree, uint32_t row, int64_t *own_ns,
                                   struct varve_error *error)
{
    const struct vv_slices *slices = &tree->scope->model->slices;
    uint32_t above = slices->parent[row] != VV_NONE ? tree->node_of[slices->parent[row]] : VV_NONE;
    uint32_t step = slices->step[row], node, known = tree->nodes.count;
    bool is_chosen = vv_step_counts(tree->scope, step);
    if (!is_chosen || !vv_is_own_operator(tree->scope->model, row) ||
        !vv_scope_holds(tree->scope, row)) {
        tree->node_of[row] = above;
        if (is_chosen)
            add_slice(tree, &tree->outside, row, *own_ns);
        *own_ns = 0;
        return VARVE_OK;
    }
    /* VV_NONE + 1 = 0 */
    VV_TRY(vv_groups_add(&tree->nodes, slices->name[row], above + 1, &node, error));
    VV_TRY(VV_SCRATCH_RESERVE(tree->nodes.scratch, &tree->figures, &tree->capacity,
                              tree->nodes.count, error));
    if (node == known)
        tree->figures[node] = (struct figures){ 0 };
    tree->node_of[row] = node;
    add_slice(tree, &tree->figures[node], row, *own_ns);
    return VARVE_OK;
}

static enum varve_code place_slices(struct tree *tree, uint32_t *stack, int64_t *own_ns,
                                    struct varve_error *error)
{
    const struct vv_model *model = tree->scope->model;
    for (uint64_t i = 0; i < model->tracks.table.count; i++) {
        uint32_t track = tree->tracks[i], first, last;
        vv_track_rows(model, track, &first, &last);
        if (!tree->scope->tracks[track] || !vv_track_works(model, track))
            continue;
        vv_own_time(&model->slices, first, last, INT64_MAX, stack, own_ns);
        for (uint32_t row = first; row < last; row++)
            VV_TRY(place_slice(tree, row, &own_ns[row], error));
    }
    return VARVE_OK;
}

/* ---- the mean of a node's calls, and their deviation from it ---- */

/* Makes of each slice's own time the time of the call: its own and that of the operators inside it.
 * Then adds the calls to their nodes. A slice without a node has that of the slice around it, and
 * is no call. */
static void add_calls(const struct tree *tree, uint32_t first, uint32_t last, int64_t *times_ns,
                      struct vv_deviation *deviations)
{
    const struct vv_slices *slices = &tree->scope->model->slices;
    for (uint32_t row = last; row-- > first;) {
        uint32_t parent = slices->parent[row], node = tree->node_of[row];
        if (parent != VV_NONE)
            times_ns[parent] += times_ns[row];
        if (node != (parent != VV_NONE ? tree->node_of[parent] : VV_NONE))
            vv_deviation_add(&deviations[node], times_ns[row]);
    }
}

static enum varve_code find_means(struct tree *tree, int64_t *times_ns, struct varve_error *error)
{
    const struct vv_model *model = tree->scope->model;
    struct vv_deviation *deviations;
    VV_TRY(VV_SCRATCH_ZEROS(tree->nodes.scratch, &deviations, tree->nodes.count, error));
    for (uint32_t node = 0; node < tree->nodes.count; node++)
        deviations[node].mean =
            tree->figures[node].values[TOTAL] / tree->figures[node].values[CALLS];
    for (uint32_t track = 0; track < model->tracks.table.count; track++) {
        uint32_t first, last;
        vv_track_rows(model, track, &first, &last);
        if (tree->scope->tracks[track] && vv_track_works(model, track))
            add_calls(tree, first, last, times_ns, deviations);
    }
    for (uint32_t node = 0; node < tree->nodes.count; node++) {
        tree->figures[node].values[MEAN] = deviations[node].mean;
        tree->figures[node].values[DEVIATION] = vv_deviation_end(&deviations[node]);
    }
    vv_scratch_release(tree->nodes.scratch, deviations);
    return VARVE_OK;
}

/* Adds up totals from the leaves up, and the time that is in no node. */
static void add_up(struct tree *tree)
{
    static const struct {
        int self, total;
    } pairs[] = { { SELF, TOTAL }, { DEVICE_SELF, DEVICE_TOTAL } };
    struct figures *covered = &tree->covered;
    *covered = tree->outside;
    for (uint32_t node = tree->nodes.count; node > 0; node--) {
        struct figures *figures = &tree->figures[node - 1];
        uint32_t parent = tree->nodes.extras[node - 1];
        for (size_t i = 0; i < 2; i++) {
            figures->values[pairs[i].total] += figures->values[pairs[i].self];
            if (parent > 0)
                tree->figures[parent - 1].values[pairs[i].total] += figures->values[pairs[i].total];
        }
        covered->values[SELF] += figures->values[SELF];
        covered->values[CALLS] += figures->values[CALLS];
    }
    int64_t placed_ns = 0, placed = 0;
    for (uint32_t node = 0; node < tree->nodes.count; node++) {
        placed_ns += tree->figures[node].values[DEVICE_SELF];
        placed += tree->figures[node].values[KERNELS];
    }
    covered->values[DEVICE_SELF] = tree->share.work_ns;
    covered->values[KERNELS] = (int64_t)tree->share.count;
    tree->outside.values[DEVICE_SELF] = tree->share.work_ns - placed_ns;
    tree->outside.values[KERNELS] = (int64_t)tree->share.count - placed;
    covered->values[CALLS] -= tree->outside.values[CALLS]; /* those slices are steps and phases */
    covered->values[TOTAL] = covered->values[SELF];
    covered->values[DEVICE_TOTAL] = covered->values[DEVICE_SELF];
}

static int compare_nodes(const void *a, const void *b, void *context)
{
    const struct tree *tree = context;
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    const int keys[] = { tree->sort, TOTAL };
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
        int64_t of_left = tree->figures[left].values[keys[k]],
                of_right = tree->figures[right].values[keys[k]];
        if (of_left != of_right)
            return of_left < of_right ? 1 : -1;
    }
    return (left > right) - (left < right);
}

static enum varve_code order_children(struct tree *tree, struct varve_error *error)
{
    uint32_t count = tree->nodes.count;
    VV_TRY(VV_SCRATCH_ZEROS(tree->nodes.scratch, &tree->first_child, (size_t)count + 3, error));
    VV_TRY(VV_SCRATCH_ARRAY(tree->nodes.scratch, &tree->children, count, error));
    /* Counts stand one place further right, as in numbers/samples.c, so first_child is right after
     * the loop that follows. */
    for (uint32_t node = 0; node < count; node++)
        tree->first_child[tree->nodes.extras[node] + 2]++;
    for (uint32_t i = 2; i < count + 3; i++)
        tree->first_child[i] += tree->first_child[i - 1];
    for (uint32_t node = 0; node < count; node++)
        tree->children[tree->first_child[tree->nodes.extras[node] + 1]++] = node;
    for (uint32_t i = 0; i <= count; i++)
        qsort_r(tree->children + tree->first_child[i],
                tree->first_child[i + 1] - tree->first_child[i], sizeof *tree->children,
                compare_nodes, tree);
    return VARVE_OK;
}

/* ---- rows ---- */

/* The children of a node that have not been printed yet: [next, last) of tree->children. */
struct level { uint32_t parent, next, last, printed; };

struct printing {
    const struct tree *tree;
    struct vv_sheet *sheet;
    struct level *levels; /* the open levels, outermost first                                   */
    size_t depth, capacity;
    char *indented;       /* the name in the column of the tree                                 */
    size_t indented_capacity;
    uint32_t top;         /* 0 = all                                                            */
};

static void fill_figures(const struct tree *tree, const struct figures *figures,
                         struct vv_cell *cells)
{
    for (int c = 0; c <= KERNELS; c++)
        if (c != SHARE && (tree->has_device || c < DEVICE_TOTAL))
            cells[c] = vv_int_cell(figures->values[c]);
    if (tree->covered.values[SELF] > 0)
        cells[SHARE] =
            vv_real_cell((double)figures->values[TOTAL] / (double)tree->covered.values[SELF]);
}

static enum varve_code put_row(struct printing *printing, const char *row, const char *name,
                               struct vv_cell *cells, struct varve_error *error)
{
    size_t depth = printing->depth > 0 ? printing->depth - 1 : 0;
    size_t indent = 2 * (depth < INDENT_MAX ? depth : INDENT_MAX), length = strlen(name);
    /* The rest of a level stays below its parent. Only the time in no node goes to the end of the
     * table. */
    enum vv_row_kind kind = strcmp(row, "outside") == 0 ? VV_ROW_REMAINDER : VV_ROW_PLAIN;
    VV_TRY(VV_SCRATCH_RESERVE(printing->tree->nodes.scratch, &printing->indented,
                              &printing->indented_capacity, indent + length + 1, error));
    memset(printing->indented, ' ', indent);
    memcpy(printing->indented + indent, name, length + 1);
    cells[DEPTH] = vv_int_cell((int64_t)depth);
    cells[ROW] = vv_text_cell(row);
    cells[NAME] = vv_text_cell(name);
    cells[TREE] = vv_text_cell(printing->indented);
    return vv_row_put(printing->sheet, kind, cells, error);
}

static enum varve_code put_node(struct printing *printing, uint32_t node, struct varve_error *error)
{
    const struct tree *tree = printing->tree;
    struct vv_cell cells[COLUMNS] = { 0 };
    fill_figures(tree, &tree->figures[node], cells);
    cells[NODE] = vv_int_cell(node);
    cells[MEAN] = vv_int_cell(tree->figures[node].values[MEAN]);
    cells[DEVIATION] = vv_int_cell(tree->figures[node].values[DEVIATION]);
    if (tree->nodes.extras[node] > 0)
        cells[PARENT] = vv_int_cell(tree->nodes.extras[node] - 1);
    return put_row(printing, "operator", vv_text_of(tree->scope->model, tree->nodes.names[node]),
                   cells, error);
}

/* Writes the rest of the level, with all nodes below it, as one row. */
static enum varve_code put_rest(struct printing *printing, struct level *level,
                                struct varve_error *error)
{
    const struct tree *tree = printing->tree;
    struct figures rest = { 0 };
    struct vv_cell cells[COLUMNS] = { 0 };
    char name[64];
    for (uint32_t i = level->next; i < level->last; i++)
        for (int c = 0; c <= KERNELS; c++)
            rest.values[c] += tree->figures[tree->children[i]].values[c];
    rest.values[SELF] = rest.values[TOTAL];
    rest.values[DEVICE_SELF] = rest.values[DEVICE_TOTAL];
    fill_figures(tree, &rest, cells);
    cells[KERNELS].present = false;
    if (level->parent != VV_NONE)
        cells[PARENT] = vv_int_cell(level->parent);
    snprintf(name, sizeof name, "%u more: --top 0", level->last - level->next);
    level->next = level->last;
    return put_row(printing, "more", name, cells, error);
}

static enum varve_code open_level(struct printing *printing, uint32_t parent,
                                  struct varve_error *error)
{
    const uint32_t *first = printing->tree->first_child + (parent + 1); /* VV_NONE + 1 = 0 */
    VV_TRY(VV_SCRATCH_RESERVE(printing->tree->nodes.scratch, &printing->levels, &printing->capacity,
                              printing->depth + 1, error));
    printing->levels[printing->depth++] = (struct level){ parent, first[0], first[1], 0 };
    return VARVE_OK;
}

/* True if this node, and so all later ones of the level, are too small to be shown with --top. */
static bool is_cut(const struct printing *printing, const struct level *level)
{
    const struct tree *tree = printing->tree;
    bool is_by_total = tree->sort == TOTAL || tree->sort == DEVICE_TOTAL;
    int64_t value = tree->figures[tree->children[level->next]].values[tree->sort];
    return printing->top > 0 &&
           (level->printed == printing->top ||
            (is_by_total && value < tree->covered.values[tree->sort] / LEAST_SHARE));
}

static enum varve_code put_rows(struct printing *printing, struct varve_error *error)
{
    VV_TRY(open_level(printing, VV_NONE, error));
    while (printing->depth > 0) {
        struct level *level = &printing->levels[printing->depth - 1];
        if (level->next == level->last) {
            printing->depth--;
        } else if (is_cut(printing, level)) {
            VV_TRY(put_rest(printing, level, error));
        } else {
            uint32_t node = printing->tree->children[level->next++];
            level->printed++;
            VV_TRY(put_node(printing, node, error));
            VV_TRY(open_level(printing, node, error));
        }
    }
    struct vv_cell outside[COLUMNS] = { 0 }, total[COLUMNS] = { 0 };
    fill_figures(printing->tree, &printing->tree->outside, outside);
    outside[CALLS].present = outside[TOTAL].present = outside[SHARE].present =
        outside[DEVICE_TOTAL].present = false;
    VV_TRY(put_row(printing, "outside",
                   printing->tree->scope->admitted == NULL ? "(outside operators)"
                                                           : "(outside the filter)",
                   outside, error));
    fill_figures(printing->tree, &printing->tree->covered, total);
    total[ROW] = vv_text_cell("total");
    total[NAME] = total[TREE] = vv_text_cell("total");
    total[DEPTH] = vv_int_cell(0);
    return vv_row_put(printing->sheet, VV_ROW_TOTAL, total, error);
}

/* ---- the table ---- */

static enum varve_code choose_order(struct tree *tree, const char *sort, struct varve_error *error)
{
    static const int columns[] = { TOTAL, SELF, CALLS, DEVICE_TOTAL, DEVICE_SELF, KERNELS, MEAN,
                                   DEVIATION };
    tree->sort = TOTAL;
    if (sort == NULL)
        return VARVE_OK;
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        tree->sort = columns[i];
        if (vv_column_is_called(&tree_columns[columns[i]], sort))
            return VARVE_OK;
    }
    VV_FAIL(error, VARVE_INVALID,
            "cannot sort the call tree by '%s'. Try total, self, calls, device_total, device_self, "
            "kernels, mean or deviation",
            sort);
}

static enum varve_code build(struct tree *tree, const struct vv_device_work *work,
                             struct varve_error *error)
{
    struct vv_scratch *scratch = tree->nodes.scratch;
    size_t rows = (size_t)tree->scope->model->slices.table.count;
    uint32_t *stack;
    int64_t *own_ns;
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &stack, rows, error));
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &own_ns, rows, error));
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &tree->node_of, rows, error));
    VV_TRY(vv_device_share(work, scratch, &tree->share, error));
    tree->has_device = work->count > 0;
    VV_TRY(place_slices(tree, stack, own_ns, error));
    vv_scratch_release(scratch, stack);
    add_up(tree);
    VV_TRY(find_means(tree, own_ns, error));
    vv_scratch_release(scratch, own_ns);
    return order_children(tree, error);
}

static enum varve_code fill(struct tree *tree, const struct vv_question *question,
                            struct vv_sheet *sheet, struct varve_error *error)
{
    char threads[200], time[VV_NUMBER_BYTES], left_out[60];
    vv_scope_left_out_text(tree->scope, left_out, sizeof left_out);
    if (tree->nodes.count == 0)
        return vv_sheet_policy(sheet, error, "no operators here%s", left_out);
    struct printing printing = {
        .tree = tree, .sheet = sheet,
        .top = question->top > 0 && question->top < UINT32_MAX ? (uint32_t)question->top : 0,
    };
    VV_TRY(put_rows(&printing, error));
    VV_TRY(vv_sheet_hide_unknown(sheet, DEVICE_TOTAL, KERNELS + 1, error));
    vv_scope_threads_text(tree->scope, false, threads, sizeof threads);
    vv_number_duration(tree->covered.values[SELF], time, sizeof time);
    return vv_sheet_policy(sheet, error, "%s of work on %s; in %u places%s%s", time, threads,
                           tree->nodes.count,
                           printing.top > 0 ? ", those below 0.5 % summed up" : "", left_out);
}

enum varve_code vv_analyse_call_tree(const struct vv_model *model,
                                     const struct vv_question *question, struct vv_scratch *scratch,
                                     struct vv_sheet *out, struct varve_error *error)
{
    struct vv_scope scope;
    struct vv_device_work work;
    struct tree tree = { .scope = &scope, .nodes = { .scratch = scratch } };
    vv_sheet_init(out, "call_tree", "CALL TREE", tree_columns, COLUMNS);
    VV_TRY(vv_scope_init(&scope, model, &question->selection, scratch, error));
    struct vv_scope all = vv_unfiltered(&scope);
    VV_TRY(vv_device_work_init(&work, &all, question->selection.device, error));
    VV_TRY(choose_order(&tree, question->sort, error));
    VV_TRY(vv_track_order(model, scratch, &tree.tracks, error));
    VV_TRY(build(&tree, &work, error));
    return fill(&tree, question, out, error);
}
