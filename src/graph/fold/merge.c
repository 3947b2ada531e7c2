/* SPDX-License-Identifier: Apache-2.0 */
/* merge.c — the folded graph: a node for each group and for each leaf, and the edges between
 * leaves. A call of a leaf by itself is part of the outer one, as in table `operators`. */
#include <stdlib.h>
#include <string.h>

#include "graph/fold/folding.h"
#include "numbers/samples.h"

struct occurrence { uint32_t leaf; int64_t step; uint64_t count; int64_t total_ns; };

struct merging {
    struct vv_folding *folding;
    struct vv_dag *out;
    uint32_t *row_of_group, *row_of_leaf;
    uint32_t *first;         /* leaf -> its first node                                          */
    uint32_t *members;       /* leaf -> nodes of the input in it                                */
    uint32_t *caller;        /* node -> the node that called it; VV_NONE                        */
    uint32_t leaf_count;
    struct vv_samples samples;
    struct occurrence *occurrences;
    size_t occurrence_count, occurrence_capacity;
};

/* ---- which leaf a node is in ---- */

static bool is_leaf(const struct vv_dag *dag, uint32_t node)
{
    return dag->nodes.kind[node] != VV_DAG_GROUP;
}

static enum varve_code find_leaves(struct merging *merging, struct varve_error *error)
{
    struct vv_folding *folding = merging->folding;
    const struct vv_dag_nodes *nodes = &folding->dag->nodes;
    struct vv_groups ids = { .scratch = folding->scratch };
    uint32_t count = (uint32_t)nodes->table.count;
    VV_TRY(VV_SCRATCH_ARRAY(folding->scratch, &merging->first, count, error));
    VV_TRY(VV_SCRATCH_ZEROS(folding->scratch, &merging->members, count, error));
    for (uint32_t node = 0; node < count; node++) {
        uint32_t group = folding->group_of[node], leaf = merging->leaf_count;
        folding->leaf_of[node] = VV_NONE;
        if (!is_leaf(folding->dag, node))
            continue;
        if (group != VV_NONE)
            group = folding->group_of[node] = folding->groups[group].same_as;
        if (folding->options->leaf != VV_FOLD_EXECUTION)
            VV_TRY(vv_groups_add(&ids, group + 1,
                                 folding->name_of[node] * VV_DAG_KINDS + nodes->kind[node], &leaf,
                                 error));
        if (leaf == merging->leaf_count)
            merging->first[merging->leaf_count++] = node;
        folding->leaf_of[node] = leaf;
        merging->members[leaf]++;
    }
    return VARVE_OK;
}

/* ---- rows ---- */

static enum varve_code add_groups(struct merging *merging, struct varve_error *error)
{
    struct vv_folding *folding = merging->folding;
    uint32_t count = folding->group_ids.count;
    VV_TRY(VV_SCRATCH_ARRAY(folding->scratch, &merging->row_of_group, count, error));
    for (uint32_t group = 0; group < count; group++) {
        const struct vv_fold_group *own = &folding->groups[group];
        uint32_t row;
        if (own->same_as != group) {
            merging->row_of_group[group] = merging->row_of_group[own->same_as];
            continue;
        }
        VV_TRY(vv_dag_add_node(merging->out, vv_intern_text(&folding->strings, own->name),
                               VV_DAG_GROUP, &row, error));
        merging->row_of_group[group] = row;
        if (own->parent != VV_NONE)
            merging->out->nodes.parent[row] = merging->row_of_group[own->parent];
    }
    return VARVE_OK;
}

struct leaf_key { int64_t begin_ns; const char *name; uint32_t leaf, group; uint8_t kind; };

static int compare_keys(const void *a, const void *b)
{
    const struct leaf_key *left = a, *right = b;
    if (left->begin_ns != right->begin_ns)
        return left->begin_ns < right->begin_ns ? -1 : 1;
    int by_name = strcmp(left->name, right->name);
    if (by_name != 0)
        return by_name;
    if (left->kind != right->kind)
        return left->kind < right->kind ? -1 : 1;
    if (left->group != right->group)
        return left->group < right->group ? -1 : 1;
    return left->leaf < right->leaf ? -1 : left->leaf > right->leaf;
}

/* Leaves in order of their first begin, so the order of the input does not show. */
static enum varve_code add_leaves(struct merging *merging, struct varve_error *error)
{
    struct vv_folding *folding = merging->folding;
    const struct vv_dag_nodes *nodes = &folding->dag->nodes;
    struct leaf_key *keys;
    VV_TRY(VV_SCRATCH_ARRAY(folding->scratch, &keys, merging->leaf_count, error));
    VV_TRY(VV_SCRATCH_ARRAY(folding->scratch, &merging->row_of_leaf, merging->leaf_count, error));
    for (uint32_t leaf = 0; leaf < merging->leaf_count; leaf++) {
        uint32_t node = merging->first[leaf];
        keys[leaf] = (struct leaf_key){ nodes->begin_ns[node],
                                        vv_intern_text(&folding->strings, folding->name_of[node]),
                                        leaf, folding->group_of[node], nodes->kind[node] };
    }
    for (uint32_t node = 0; node < nodes->table.count; node++) {
        uint32_t leaf = folding->leaf_of[node];
        if (leaf != VV_NONE && nodes->begin_ns[node] < keys[leaf].begin_ns)
            keys[leaf].begin_ns = nodes->begin_ns[node];
    }
    qsort(keys, merging->leaf_count, sizeof *keys, compare_keys);
    for (uint32_t i = 0; i < merging->leaf_count; i++) {
        uint32_t row;
        VV_TRY(vv_dag_add_node(merging->out, keys[i].name, keys[i].kind, &row, error));
        merging->row_of_leaf[keys[i].leaf] = row;
        if (keys[i].group != VV_NONE)
            merging->out->nodes.parent[row] = merging->row_of_group[keys[i].group];
        merging->out->nodes.begin_ns[row] = INT64_MAX;
        merging->out->nodes.min_ns[row] = INT64_MAX;
        merging->out->nodes.end_ns[row] = INT64_MIN;
    }
    vv_scratch_release(folding->scratch, keys);
    return VARVE_OK;
}

/* ---- figures ---- */

/* A text that all members share; 0 if they differ. The first member sets it. */
static enum varve_code share_texts(struct merging *merging, uint32_t node, uint32_t row,
                                   bool is_first, struct varve_error *error)
{
    const struct vv_dag *dag = merging->folding->dag;
    struct vv_dag *out = merging->out;
    const struct { const uint32_t *from; uint32_t *to; } texts[] = {
        { dag->nodes.where, out->nodes.where },   { dag->nodes.device, out->nodes.device },
        { dag->nodes.module, out->nodes.module }, { dag->nodes.phase, out->nodes.phase },
        { dag->nodes.source, out->nodes.source }, { dag->nodes.inputs, out->nodes.inputs },
        { dag->nodes.outputs, out->nodes.outputs },
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const char *text = vv_dag_string(dag, texts[i].from[node]);
        if (is_first)
            VV_TRY(vv_dag_text(out, text, &texts[i].to[row], error));
        else if (texts[i].to[row] != 0 && strcmp(vv_dag_string(out, texts[i].to[row]), text) != 0)
            texts[i].to[row] = 0;
    }
    return VARVE_OK;
}

static uint64_t add_capped(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static enum varve_code keep_occurrences(struct merging *merging, uint32_t node, uint32_t leaf,
                                        struct varve_error *error)
{
    const struct vv_dag *dag = merging->folding->dag;
    uint32_t first = dag->nodes.first_occurrence[node];
    for (uint32_t i = 0; i < dag->nodes.occurrence_count[node]; i++) {
        VV_TRY(VV_SCRATCH_RESERVE(merging->folding->scratch, &merging->occurrences,
                                  &merging->occurrence_capacity, merging->occurrence_count + 1,
                                  error));
        merging->occurrences[merging->occurrence_count++] = (struct occurrence){
            merging->row_of_leaf[leaf], dag->occurrences.step[first + i],
            dag->occurrences.count[first + i], dag->occurrences.total_ns[first + i] };
    }
    return VARVE_OK;
}

/* A call: what counts once for calls of a leaf by itself. */
static enum varve_code add_call(struct merging *merging, uint32_t node, uint32_t leaf,
                                struct varve_error *error)
{
    const struct vv_dag_nodes *in = &merging->folding->dag->nodes;
    struct vv_dag_nodes *out = &merging->out->nodes;
    uint32_t row = merging->row_of_leaf[leaf];
    bool is_single = in->count[node] <= 1;
    int64_t least_ns = is_single ? in->total_ns[node] : in->min_ns[node],
            most_ns = is_single ? in->total_ns[node] : in->max_ns[node];
    out->count[row] += in->count[node];
    out->total_ns[row] += in->total_ns[node];
    unsigned rest_ps = out->total_rest_ps[row] + in->total_rest_ps[node];
    out->total_ns[row] += rest_ps / 1000;
    out->total_rest_ps[row] = (uint16_t)(rest_ps % 1000);
    if (in->count[node] > 0 && least_ns < out->min_ns[row])
        out->min_ns[row] = least_ns;
    if (in->count[node] > 0 && most_ns > out->max_ns[row])
        out->max_ns[row] = most_ns;
    if (merging->members[leaf] == 1 && !is_single) {
        out->p50_ns[row] = in->p50_ns[node];
        out->p95_ns[row] = in->p95_ns[node];
    } else if (is_single && in->count[node] == 1) {
        VV_TRY(vv_samples_add(&merging->samples, leaf, in->total_ns[node], error));
    }
    return keep_occurrences(merging, node, leaf, error);
}

static enum varve_code add_node(struct merging *merging, uint32_t node, struct varve_error *error)
{
    const struct vv_folding *folding = merging->folding;
    const struct vv_dag_nodes *in = &folding->dag->nodes;
    struct vv_dag_nodes *out = &merging->out->nodes;
    uint32_t leaf = folding->leaf_of[node], row = merging->row_of_leaf[leaf];
    uint32_t caller = merging->caller[node];
    VV_TRY(share_texts(merging, node, row, out->begin_ns[row] == INT64_MAX &&
                                               out->end_ns[row] == INT64_MIN, error));
    if (in->begin_ns[node] < out->begin_ns[row]) {
        out->begin_ns[row] = in->begin_ns[node];
        out->begin_rest_ps[row] = in->begin_rest_ps[node];
    }
    if (in->end_ns[node] > out->end_ns[row])
        out->end_ns[row] = in->end_ns[node];
    out->self_ns[row] += in->self_ns[node];
    out->critical_ns[row] += in->critical_ns[node];
    out->flags[row] |= in->flags[node];
    out->flop[row] = add_capped(out->flop[row], in->flop[node]);
    out->bytes[row] = add_capped(out->bytes[row], in->bytes[node]);
    out->memory_bytes[row] = add_capped(out->memory_bytes[row], in->memory_bytes[node]);
    if (caller != VV_NONE && folding->leaf_of[caller] == leaf)
        return VARVE_OK;
    return add_call(merging, node, leaf, error);
}

/* Percentiles are known where every execution is. */
static enum varve_code find_percentiles(struct merging *merging, struct varve_error *error)
{
    struct vv_dag_nodes *out = &merging->out->nodes;
    VV_TRY(vv_samples_sort(&merging->samples, merging->leaf_count, error));
    for (uint32_t leaf = 0; leaf < merging->leaf_count; leaf++) {
        uint32_t row = merging->row_of_leaf[leaf];
        if (out->min_ns[row] == INT64_MAX)
            out->min_ns[row] = 0;
        size_t known = vv_samples_size(&merging->samples, leaf);
        if (known == 0 || known != out->count[row])
            continue;
        out->p50_ns[row] = vv_samples_percentile(&merging->samples, leaf, 50);
        out->p95_ns[row] = vv_samples_percentile(&merging->samples, leaf, 95);
    }
    return VARVE_OK;
}

static int compare_occurrences(const void *a, const void *b)
{
    const struct occurrence *left = a, *right = b;
    if (left->leaf != right->leaf)
        return left->leaf < right->leaf ? -1 : 1;
    return left->step < right->step ? -1 : left->step > right->step;
}

static enum varve_code add_occurrences(struct merging *merging, struct varve_error *error)
{
    struct occurrence *items = merging->occurrences;
    size_t count = merging->occurrence_count;
    if (count > 0)
        qsort(items, count, sizeof *items, compare_occurrences);
    for (size_t i = 0; i < count;) {
        struct occurrence sum = items[i];
        for (i++; i < count && compare_occurrences(&sum, &items[i]) == 0; i++) {
            sum.count += items[i].count;
            sum.total_ns += items[i].total_ns;
        }
        VV_TRY(vv_dag_add_occurrence(merging->out, sum.leaf, sum.step, sum.count, sum.total_ns,
                                     error));
    }
    return VARVE_OK;
}

/* ---- edges ---- */

static enum varve_code find_callers(struct merging *merging, struct varve_error *error)
{
    const struct vv_dag *dag = merging->folding->dag;
    uint64_t count = dag->nodes.table.count;
    VV_TRY(VV_SCRATCH_ARRAY(merging->folding->scratch, &merging->caller, count, error));
    memset(merging->caller, 0xff, count * sizeof *merging->caller);
    for (uint64_t edge = 0; edge < dag->edges.table.count; edge++)
        if (dag->edges.kind[edge] == VV_DAG_EDGE_NESTING)
            merging->caller[dag->edges.to[edge]] = dag->edges.from[edge];
    return VARVE_OK;
}

static enum varve_code add_edge(struct merging *merging, uint64_t edge, struct vv_groups *ids,
                                struct varve_error *error)
{
    const struct vv_dag *dag = merging->folding->dag;
    struct vv_dag *out = merging->out;
    uint32_t from = merging->folding->leaf_of[dag->edges.from[edge]],
             to = merging->folding->leaf_of[dag->edges.to[edge]];
    if (from == VV_NONE || to == VV_NONE || from == to)
        return VARVE_OK;
    uint32_t row, known = ids->count;
    from = merging->row_of_leaf[from];
    to = merging->row_of_leaf[to];
    if (to > UINT32_MAX / VV_DAG_EDGE_KINDS - 1)
        VV_FAIL(error, VARVE_LIMIT, "a graph of %u nodes is too large to be folded", to);
    VV_TRY(vv_groups_add(ids, from, to * VV_DAG_EDGE_KINDS + dag->edges.kind[edge], &row, error));
    const char *name = vv_dag_string(dag, dag->edges.name[edge]);
    if (row == known) {
        VV_TRY(vv_dag_add_edge(out, from, to, dag->edges.kind[edge], &row, error));
        VV_TRY(vv_dag_text(out, name, &out->edges.name[row], error));
        out->edges.count[row] = 0;
        out->edges.longest_ns[row] = dag->edges.longest_ns[edge];
    } else if (strcmp(name, vv_dag_string(out, out->edges.name[row])) != 0) {
        out->edges.name[row] = 0;
    }
    out->edges.count[row] += dag->edges.count[edge];
    out->edges.bytes[row] = add_capped(out->edges.bytes[row], dag->edges.bytes[edge]);
    out->edges.flags[row] |= dag->edges.flags[edge];
    if (dag->edges.longest_ns[edge] > out->edges.longest_ns[row])
        out->edges.longest_ns[row] = dag->edges.longest_ns[edge];
    return VARVE_OK;
}

enum varve_code vv_fold_merge(struct vv_folding *folding, struct vv_dag *out_dag,
                              struct varve_error *error)
{
    struct merging merging = { .folding = folding, .out = out_dag,
                               .samples.scratch = folding->scratch };
    struct vv_groups ids = { .scratch = folding->scratch };
    VV_TRY(find_leaves(&merging, error));
    VV_TRY(find_callers(&merging, error));
    VV_TRY(add_groups(&merging, error));
    VV_TRY(add_leaves(&merging, error));
    for (uint32_t node = 0; node < folding->dag->nodes.table.count; node++)
        if (folding->leaf_of[node] != VV_NONE)
            VV_TRY(add_node(&merging, node, error));
    VV_TRY(find_percentiles(&merging, error));
    VV_TRY(add_occurrences(&merging, error));
    for (uint64_t edge = 0; edge < folding->dag->edges.table.count; edge++)
        VV_TRY(add_edge(&merging, edge, &ids, error));
    return VARVE_OK;
}
