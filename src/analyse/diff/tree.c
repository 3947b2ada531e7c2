/* SPDX-License-Identifier: Apache-2.0 */
/* tree.c — table "diff_tree": the median step of each side, call by call (doc/metrics.md §11).
 *
 * The two trees are aligned from the step down. Of two matched calls, the children that have the
 * same names in the same order are matched. A call without a partner is on one side alone, and so
 * are all calls below it. Law: change_ns over all rows = the duration of the new median step minus
 * that of the base; on each side, self times sum to the step's duration. */
#include "analyse/diff/diff.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/diff/samples.h"
#include "derive/operators/own_time.h"
#include "derive/select/median_step.h"
#include "numbers/sequence_match.h"

enum { CHANGE, BASE_SELF, NEW_SELF, BASE_TOTAL, NEW_TOTAL, DEPTH, STATUS, PATH, NAME, COLUMNS };

static const struct vv_sheet_column tree_columns[COLUMNS] = {
    { "change_ns", "change", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "base_self_ns", "base self", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "new_self_ns", "new self", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "base_total_ns", "base total", VV_CELL_INT, VV_UNIT_NS, true, false },
    { "new_total_ns", "new total", VV_CELL_INT, VV_UNIT_NS, true, false },
    { "depth", "depth", VV_CELL_INT, VV_UNIT_NONE, true, false },
    { "status", "is in", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "path", "path", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "name", "call", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
};

/* The calls of a step. Node 0 is the step; node i is the slice first + i - 1. */
struct tree {
    const struct vv_model *model;
    struct vv_scratch *scratch;
    uint32_t step, first, count;         /* count nodes                                         */
    uint32_t *names, *child, *sibling;   /* by node: text of the name, first child, next sibling; 0
                                            = none */
    int64_t *self_ns, *total_ns;
};

/* Two matched calls, or a call without a partner. `node` holds node numbers + 1; 0 = none. */
struct pair {
    uint32_t node[VV_SIDES];
    uint32_t above;  /* the pair around this one; the first pair is the steps                   */
    uint32_t depth;
    int64_t change_ns;
};

struct diff {
    struct tree trees[VV_SIDES];
    struct vv_scratch *scratch;
    struct vv_intern *texts;
    struct pair *pairs;
    size_t count, capacity;
};

/* ---- trees ---- */

static enum varve_code allocate(struct tree *tree, struct varve_error *error)
{
    size_t nodes = tree->count;
    VV_TRY(VV_SCRATCH_ZEROS(tree->scratch, &tree->names, nodes, error));
    VV_TRY(VV_SCRATCH_ZEROS(tree->scratch, &tree->child, nodes, error));
    VV_TRY(VV_SCRATCH_ZEROS(tree->scratch, &tree->sibling, nodes, error));
    VV_TRY(VV_SCRATCH_ZEROS(tree->scratch, &tree->self_ns, nodes, error));
    return VV_SCRATCH_ZEROS(tree->scratch, &tree->total_ns, nodes, error);
}

static enum varve_code measure(struct tree *tree, struct varve_error *error)
{
    const struct vv_slices *slices = &tree->model->slices;
    int64_t duration_ns = tree->model->steps.duration_ns[tree->step];
    int64_t end_ns = tree->model->steps.begin_ns[tree->step] + duration_ns;
    size_t rows = (size_t)tree->first + tree->count;
    uint32_t *stack;
    int64_t *own_ns;
    VV_TRY(VV_SCRATCH_ARRAY(tree->scratch, &stack, tree->count, error));
    VV_TRY(VV_SCRATCH_ARRAY(tree->scratch, &own_ns, rows, error));
    tree->total_ns[0] = duration_ns;
    tree->self_ns[0] = duration_ns - vv_own_time(slices, tree->first, tree->first + tree->count - 1,
                                                 end_ns, stack, own_ns);
    for (uint32_t i = 1; i < tree->count; i++) {
        uint32_t row = tree->first + i - 1;
        int64_t left_ns = end_ns - slices->begin_ns[row];
        tree->self_ns[i] = own_ns[row];
        tree->total_ns[i] = slices->duration_ns[row] < left_ns ? slices->duration_ns[row] : left_ns;
    }
    vv_scratch_release(tree->scratch, stack);
    vv_scratch_release(tree->scratch, own_ns);
    return VARVE_OK;
}

static enum varve_code grow_tree(struct tree *tree, struct vv_intern *texts,
                                 struct varve_error *error)
{
    const struct vv_slices *slices = &tree->model->slices;
    uint32_t last;
    vv_step_rows(tree->model, tree->step, &tree->first, &last);
    tree->count = last - tree->first + 1;
    VV_TRY(allocate(tree, error));
    VV_TRY(measure(tree, error));
    for (uint32_t i = tree->count; i-- > 1;) { /* from last to first: each node becomes the first
                                                  child */
        uint32_t row = tree->first + i - 1, parent = slices->parent[row];
        uint32_t above = parent != VV_NONE && parent >= tree->first && parent < last
                             ? parent - tree->first + 1
                             : 0;
        tree->sibling[i] = tree->child[above];
        tree->child[above] = i;
        VV_TRY(vv_diff_text(texts, vv_text_of(tree->model, slices->name[row]), &tree->names[i],
                            error));
    }
    return VARVE_OK;
}

/* ---- alignment ---- */

static enum varve_code add_pair(struct diff *diff, uint32_t above, uint32_t base, uint32_t other,
                                struct varve_error *error)
{
    VV_TRY(
        VV_SCRATCH_RESERVE(diff->scratch, &diff->pairs, &diff->capacity, diff->count + 1, error));
    struct pair *pair = &diff->pairs[diff->count++];
    *pair = (struct pair){ .node = { base, other }, .above = above };
    pair->depth = diff->count > 1 ? diff->pairs[above].depth + 1 : 0;
    for (int i = 0; i < VV_SIDES; i++)
        if (pair->node[i] != 0)
            pair->change_ns += (i == VV_NEW ? 1 : -1) * diff->trees[i].self_ns[pair->node[i] - 1];
    return VARVE_OK;
}

struct children {
    struct vv_scratch *scratch;
    uint32_t *nodes, *names;
    uint32_t count;
    size_t node_capacity, name_capacity;
};

static enum varve_code list_children(const struct tree *tree, uint32_t node, struct children *list,
                                     struct varve_error *error)
{
    list->count = 0;
    for (uint32_t child = node != 0 ? tree->child[node - 1] : 0; child != 0;
         child = tree->sibling[child]) {
        VV_TRY(VV_SCRATCH_RESERVE(list->scratch, &list->nodes, &list->node_capacity,
                                  list->count + 1u, error));
        VV_TRY(VV_SCRATCH_RESERVE(list->scratch, &list->names, &list->name_capacity,
                                  list->count + 1u, error));
        list->nodes[list->count] = child + 1;
        list->names[list->count++] = tree->names[child];
    }
    return VARVE_OK;
}

static enum varve_code add_children(struct diff *diff, uint32_t above, const struct children *lists,
                                    const uint32_t *partner, struct varve_error *error)
{
    const struct children *base = &lists[VV_BASE], *other = &lists[VV_NEW];
    uint32_t next = 0;
    for (uint32_t i = 0; i < base->count; i++) {
        uint32_t match = partner[i];
        for (; match != UINT32_MAX && next < match; next++)
            VV_TRY(add_pair(diff, above, 0, other->nodes[next], error));
        VV_TRY(add_pair(diff, above, base->nodes[i], match != UINT32_MAX ? other->nodes[match] : 0,
                        error));
        next = match != UINT32_MAX ? match + 1 : next;
    }
    for (; next < other->count; next++)
        VV_TRY(add_pair(diff, above, 0, other->nodes[next], error));
    return VARVE_OK;
}

static enum varve_code align(struct diff *diff, struct varve_error *error)
{
    struct children lists[VV_SIDES] = { { .scratch = diff->scratch },
                                        { .scratch = diff->scratch } };
    uint32_t *partner = NULL;
    size_t capacity = 0;
    VV_TRY(add_pair(diff, 0, 1, 1, error));
    for (size_t p = 0; p < diff->count; p++) {
        for (int i = 0; i < VV_SIDES; i++)
            VV_TRY(list_children(&diff->trees[i], diff->pairs[p].node[i], &lists[i], error));
        VV_TRY(VV_SCRATCH_RESERVE(diff->scratch, &partner, &capacity, lists[VV_BASE].count + 1u,
                                  error));
        VV_TRY(vv_sequence_match(lists[VV_BASE].names, lists[VV_BASE].count, lists[VV_NEW].names,
                                 lists[VV_NEW].count, partner, error));
        VV_TRY(add_children(diff, (uint32_t)p, lists, partner, error));
    }
    return VARVE_OK;
}

/* ---- rows ---- */

static const char *name_of(const struct diff *diff, const struct pair *pair)
{
    int side = pair->node[VV_BASE] != 0 ? VV_BASE : VV_NEW;
    uint32_t node = pair->node[side] - 1;
    return node == 0 ? "(the step itself)"
                     : vv_intern_text(diff->texts, diff->trees[side].names[node]);
}

/* "forward > conv > aten::empty". If the path is too long, the outermost calls are left out. */
static void write_path(const struct diff *diff, size_t pair, char *text, size_t bytes)
{
    size_t at = bytes - 1;
    text[at] = '\0';
    for (;; pair = diff->pairs[pair].above) {
        const char *name = name_of(diff, &diff->pairs[pair]),
                   *joint = text[at] == '\0' ? "" : " > ";
        size_t length = strlen(name), all = length + strlen(joint);
        if (all + 4 > at) {
            memcpy(text + (at -= 3), "...", 3);
            break;
        }
        memcpy(text + at - strlen(joint), joint, strlen(joint));
        memcpy(text + at - all, name, length);
        at -= all;
        if (diff->pairs[pair].depth <= 1)
            break;
    }
    memmove(text, text + at, bytes - at);
}

static enum varve_code put_pair(const struct diff *diff, size_t number, struct vv_sheet *sheet,
                                struct varve_error *error)
{
    const struct pair *pair = &diff->pairs[number];
    static const size_t self_columns[] = { BASE_SELF, NEW_SELF },
    total_columns[] = { BASE_TOTAL, NEW_TOTAL };
    char path[2048];
    size_t row;
    write_path(diff, number, path, sizeof path);
    VV_TRY(vv_sheet_row(sheet, VV_ROW_PLAIN, &row, error));
    vv_sheet_int(sheet, row, CHANGE, pair->change_ns);
    vv_sheet_int(sheet, row, DEPTH, pair->depth);
    for (int i = 0; i < VV_SIDES; i++)
        if (pair->node[i] != 0) {
            vv_sheet_int(sheet, row, self_columns[i], diff->trees[i].self_ns[pair->node[i] - 1]);
            vv_sheet_int(sheet, row, total_columns[i], diff->trees[i].total_ns[pair->node[i] - 1]);
        }
    VV_TRY(vv_sheet_text(sheet, row, STATUS, pair->node[VV_BASE] == 0  ? "new only"
                                             : pair->node[VV_NEW] == 0 ? "base only"
                                                                       : "both",
                         error));
    VV_TRY(vv_sheet_text(sheet, row, PATH, path, error));
    return vv_sheet_text(sheet, row, NAME, name_of(diff, pair), error);
}

static int compare_pairs(const void *a, const void *b, void *context)
{
    const struct diff *diff = context;
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    int64_t left_ns = llabs(diff->pairs[left].change_ns),
            right_ns = llabs(diff->pairs[right].change_ns);
    if (left_ns != right_ns)
        return left_ns > right_ns ? -1 : 1;
    return (left > right) - (left < right);
}

static enum varve_code put_sum(const struct diff *diff, enum vv_row_kind kind, int64_t change_ns,
                               const char *name, struct vv_sheet *sheet, struct varve_error *error)
{
    size_t row;
    VV_TRY(vv_sheet_row(sheet, kind, &row, error));
    vv_sheet_int(sheet, row, CHANGE, change_ns);
    if (kind == VV_ROW_TOTAL) {
        vv_sheet_int(sheet, row, BASE_SELF, diff->trees[VV_BASE].total_ns[0]);
        vv_sheet_int(sheet, row, NEW_SELF, diff->trees[VV_NEW].total_ns[0]);
    }
    return vv_sheet_text(sheet, row, PATH, name, error);
}

static enum varve_code put_rows(struct diff *diff, int64_t wanted, struct vv_sheet *sheet,
                                struct varve_error *error)
{
    uint32_t *order;
    VV_TRY(VV_SCRATCH_ARRAY(diff->scratch, &order, diff->count, error));
    size_t top = wanted > 0 && (size_t)wanted < diff->count ? (size_t)wanted : diff->count;
    int64_t shown_ns = 0,
            all_ns = diff->trees[VV_NEW].total_ns[0] - diff->trees[VV_BASE].total_ns[0];
    char name[64];
    for (size_t i = 0; i < diff->count; i++)
        order[i] = (uint32_t)i;
    qsort_r(order, diff->count, sizeof *order, compare_pairs, diff);
    for (size_t i = 0; i < top; i++) {
        shown_ns += diff->pairs[order[i]].change_ns;
        VV_TRY(put_pair(diff, order[i], sheet, error));
    }
    snprintf(name, sizeof name, "%zu more: --top 0", diff->count - top);
    if (top < diff->count)
        VV_TRY(put_sum(diff, VV_ROW_REMAINDER, all_ns - shown_ns, name, sheet, error));
    return put_sum(diff, VV_ROW_TOTAL, all_ns, "total", sheet, error);
}

static enum varve_code compare(const struct vv_side *sides, const struct vv_diff_samples *samples,
                               struct diff *diff, struct varve_error *error)
{
    VV_TRY(vv_intern_in(diff->scratch, &diff->texts, error));
    for (int i = 0; i < VV_SIDES; i++) {
        diff->trees[i] = (struct tree){ .model = sides[i].model, .scratch = diff->scratch };
        VV_TRY(vv_median_step(&samples->sides[i].scope, &diff->trees[i].step, error));
        VV_TRY(grow_tree(&diff->trees[i], diff->texts, error));
    }
    return align(diff, error);
}

static enum varve_code put_tree(const struct vv_side *sides, const struct vv_diff_samples *samples,
                                int64_t top, struct vv_sheet *sheet, struct varve_error *error)
{
    struct diff diff = { .scratch = samples->scratch };
    VV_TRY(compare(sides, samples, &diff, error));
    VV_TRY(put_rows(&diff, top, sheet, error));
    return vv_sheet_policy(sheet, error,
                           "step %" PRId64 " of the base and step %" PRId64
                           " of the new: the medians; self times of the steps' own threads",
                           sides[VV_BASE].model->steps.index[diff.trees[VV_BASE].step],
                           sides[VV_NEW].model->steps.index[diff.trees[VV_NEW].step]);
}

enum varve_code vv_diff_tree(const struct vv_side sides[VV_SIDES],
                             const struct vv_question *question, struct vv_scratch *scratch,
                             struct vv_sheet *out, struct varve_error *error)
{
    struct vv_diff_samples samples;
    vv_sheet_init(out, "diff_tree", "CALLS", tree_columns, COLUMNS);
    VV_TRY(vv_diff_samples_init(&samples, sides, scratch, error));
    if (!samples.sides[VV_BASE].by_step)
        return vv_sheet_policy(out, error, "not both sides have steps");
    return put_tree(sides, &samples, question->top, out, error);
}
