/* SPDX-License-Identifier: Apache-2.0 */
/* cut.c — of a folded graph the nodes that are asked for: those around a name, and those with most
 * time of their own. All others become one node of kind REST in each group, so nothing is lost from
 * the sums. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/nearest.h"
#include "graph/fold/folding.h"

enum { NAMES_SHOWN = 500 };

static bool is_leaf(const struct vv_dag *dag, uint32_t row)
{
    return dag->nodes.kind[row] != VV_DAG_GROUP;
}

static enum varve_code refuse_name(const struct vv_dag *dag, const char *name,
                                   struct varve_error *error)
{
    const char *names[NAMES_SHOWN + 1] = { NULL };
    size_t count = 0;
    for (uint32_t row = 0; row < dag->nodes.table.count && count < NAMES_SHOWN; row++)
        names[count++] = vv_dag_string(dag, dag->nodes.name[row]);
    const char *nearest = vv_nearest(name, names);
    if (nearest != NULL)
        VV_FAIL_SAID(error, VARVE_INVALID, "no node is called '%.80s'. Nearest: '%.80s'", name,
                     nearest);
    VV_FAIL_SAID(error, VARVE_INVALID,
                 "no node is called '%.80s'. varve dag --table graph_nodes lists them", name);
}

/* The other ends of each node's edges, in either direction: first[row] … first[row + 1]
 * of `others`. */
static enum varve_code find_neighbours(const struct vv_dag *dag, struct vv_scratch *scratch,
                                       uint64_t **out_first, uint32_t **out_others,
                                       struct varve_error *error)
{
    const struct vv_dag_edges *edges = &dag->edges;
    uint64_t nodes = dag->nodes.table.count, *first;
    uint32_t *others;
    VV_TRY(VV_SCRATCH_ZEROS(scratch, &first, nodes + 2, error));
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &others, edges->table.count * 2, error));
    for (uint64_t e = 0; e < edges->table.count; e++) {
        first[(uint64_t)edges->from[e] + 2]++;
        first[(uint64_t)edges->to[e] + 2]++;
    }
    for (uint64_t row = 2; row < nodes + 2; row++)
        first[row] += first[row - 1];
    for (uint64_t e = 0; e < edges->table.count; e++) {
        others[first[(uint64_t)edges->from[e] + 1]++] = edges->to[e];
        others[first[(uint64_t)edges->to[e] + 1]++] = edges->from[e];
    }
    *out_first = first;
    *out_others = others;
    return VARVE_OK;
}

/* Sets near[row] for all nodes that lie at most `hops` edges away from one where it is set. */
static enum varve_code walk_from(const struct vv_dag *dag, int64_t hops, bool *near,
                                 struct vv_scratch *scratch, struct varve_error *error)
{
    uint64_t *first, reached = 0, done = 0;
    uint32_t *others, *queue;
    VV_TRY(find_neighbours(dag, scratch, &first, &others, error));
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &queue, dag->nodes.table.count, error));
    for (uint32_t row = 0; row < dag->nodes.table.count; row++)
        if (near[row])
            queue[reached++] = row;
    for (int64_t hop = 0; hop < hops && done < reached; hop++)
        for (uint64_t end = reached; done < end; done++)
            for (uint64_t i = first[queue[done]]; i < first[queue[done] + 1]; i++)
                if (!near[others[i]]) {
                    near[others[i]] = true;
                    queue[reached++] = others[i];
                }
    return VARVE_OK;
}

/* Sets near[row] for the nodes of the name or id, those in groups of it, and all that lie at most
 * `hops` edges away, in either direction. */
static enum varve_code find_near(const struct vv_dag *dag, const struct vv_fold_options *options,
                                 bool *near, struct vv_scratch *scratch,
                                 struct varve_error *error)
{
    bool is_found = false;
    char *end;
    uint64_t id = strtoull(options->around, &end, 10);
    if (*end != '\0')
        id = 0; /* which no node has */
    for (uint32_t row = 0; row < dag->nodes.table.count; row++) {
        uint32_t parent = dag->nodes.parent[row];
        near[row] = strcmp(vv_dag_string(dag, dag->nodes.name[row]), options->around) == 0 ||
                    (id != 0 && dag->nodes.id[row] == id) || (parent != VV_NONE && near[parent]);
        is_found = is_found || near[row];
    }
    if (!is_found)
        return refuse_name(dag, options->around, error);
    return walk_from(dag, options->hops, near, scratch, error);
}

struct weight { int64_t self_ns; uint32_t row; };

static int compare_weights(const void *a, const void *b)
{
    const struct weight *left = a, *right = b;
    if (left->self_ns != right->self_ns)
        return left->self_ns > right->self_ns ? -1 : 1;
    return left->row < right->row ? -1 : left->row > right->row;
}

/* Leaves only the `top` leaves with most time; OUTSIDE and BEFORE always remain. */
static enum varve_code keep_top(const struct vv_dag *dag, int64_t top, bool *keep,
                                struct vv_scratch *scratch, struct varve_error *error)
{
    struct weight *weights;
    size_t count = 0;
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &weights, dag->nodes.table.count, error));
    for (uint32_t row = 0; row < dag->nodes.table.count; row++)
        if (keep[row] && is_leaf(dag, row) && dag->nodes.kind[row] != VV_DAG_OUTSIDE &&
            dag->nodes.kind[row] != VV_DAG_BEFORE && dag->nodes.kind[row] != VV_DAG_REST)
            weights[count++] = (struct weight){ dag->nodes.self_ns[row], row };
    if (count > 0)
        qsort(weights, count, sizeof *weights, compare_weights);
    for (size_t i = (size_t)top; i < count; i++)
        keep[weights[i].row] = false;
    return VARVE_OK;
}

/* ---- the smaller graph ---- */

static enum varve_code copy_node(const struct vv_dag *dag, uint32_t row, struct vv_dag *out,
                                 uint32_t to, struct varve_error *error)
{
    struct vv_dag_nodes *nodes = &out->nodes;
    const struct vv_dag_nodes *in = &dag->nodes;
    const struct { const uint32_t *from; uint32_t *to; } texts[] = {
        { in->where, nodes->where },   { in->device, nodes->device }, { in->module, nodes->module },
        { in->phase, nodes->phase },   { in->source, nodes->source }, { in->inputs, nodes->inputs },
        { in->outputs, nodes->outputs },
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        VV_TRY(vv_dag_text(out, vv_dag_string(dag, texts[i].from[row]), &texts[i].to[to], error));
    nodes->min_ns[to] = in->min_ns[row];
    nodes->max_ns[to] = in->max_ns[row];
    nodes->p50_ns[to] = in->p50_ns[row];
    nodes->p95_ns[to] = in->p95_ns[row];
    nodes->begin_rest_ps[to] = in->begin_rest_ps[row];
    nodes->total_rest_ps[to] = in->total_rest_ps[row];
    for (uint32_t i = 0; i < in->occurrence_count[row]; i++) {
        uint32_t at = in->first_occurrence[row] + i;
        VV_TRY(vv_dag_add_occurrence(out, to, dag->occurrences.step[at],
                                     dag->occurrences.count[at], dag->occurrences.total_ns[at],
                                     error));
    }
    return VARVE_OK;
}

static void add_figures(const struct vv_dag_nodes *in, uint32_t row, struct vv_dag_nodes *out,
                        uint32_t to, bool is_first)
{
    if (is_first || in->begin_ns[row] < out->begin_ns[to])
        out->begin_ns[to] = in->begin_ns[row];
    if (is_first || in->end_ns[row] > out->end_ns[to])
        out->end_ns[to] = in->end_ns[row];
    out->count[to] += in->count[row];
    out->total_ns[to] += in->kind[row] == VV_DAG_REST || out->kind[to] != VV_DAG_REST
                             ? in->total_ns[row] : in->self_ns[row];
    out->self_ns[to] += in->self_ns[row];
    out->critical_ns[to] += in->critical_ns[row];
    out->flop[to] += in->flop[row];
    out->bytes[to] += in->bytes[row];
    out->memory_bytes[to] += in->memory_bytes[row];
    out->flags[to] |= in->flags[row];
}

struct cutting {
    const struct vv_dag *dag;
    struct vv_dag *out;
    struct vv_scratch *scratch;
    bool *keep;          /* row -> it remains                                                   */
    uint32_t *home_of;   /* row -> the innermost group around it that remains; VV_NONE           */
    uint32_t *row_of;    /* row -> row of the smaller graph                                     */
    uint32_t *rest_of;   /* group + 1 -> its node of kind REST; VV_NONE                          */
    uint32_t *others;    /* group + 1 -> leaves that are left out                               */
};

/* A group remains if something in it does, or it is around nothing at all. */
static void keep_groups(struct cutting *cutting)
{
    const struct vv_dag_nodes *nodes = &cutting->dag->nodes;
    for (uint32_t row = (uint32_t)nodes->table.count; row-- > 0;) {
        if (nodes->kind[row] == VV_DAG_OUTSIDE)
            cutting->keep[row] = true;
        if (cutting->keep[row] && nodes->parent[row] != VV_NONE)
            cutting->keep[nodes->parent[row]] = true;
    }
}

/* A parent's row is smaller, so its own home is known before. */
static void find_homes(struct cutting *cutting)
{
    const struct vv_dag_nodes *nodes = &cutting->dag->nodes;
    for (uint32_t row = 0; row < nodes->table.count; row++) {
        uint32_t parent = nodes->parent[row];
        cutting->home_of[row] =
            parent == VV_NONE || cutting->keep[parent] ? parent : cutting->home_of[parent];
    }
}

static enum varve_code add_kept(struct cutting *cutting, struct varve_error *error)
{
    const struct vv_dag_nodes *nodes = &cutting->dag->nodes;
    struct vv_dag *out = cutting->out;
    for (uint32_t row = 0; row < nodes->table.count; row++) {
        uint32_t to, home = cutting->home_of[row];
        if (!cutting->keep[row]) {
            cutting->others[home + 1] += is_leaf(cutting->dag, row);
            continue;
        }
        VV_TRY(vv_dag_add_node(out, vv_dag_string(cutting->dag, nodes->name[row]),
                               nodes->kind[row], &to, error));
        cutting->row_of[row] = to;
        if (home != VV_NONE)
            out->nodes.parent[to] = cutting->row_of[home];
        if (!is_leaf(cutting->dag, row))
            continue;
        add_figures(nodes, row, &out->nodes, to, true);
        VV_TRY(copy_node(cutting->dag, row, out, to, error));
    }
    return VARVE_OK;
}

static enum varve_code add_rest(struct cutting *cutting, struct varve_error *error)
{
    const struct vv_dag_nodes *nodes = &cutting->dag->nodes;
    for (uint32_t row = 0; row < nodes->table.count; row++) {
        if (cutting->keep[row] || !is_leaf(cutting->dag, row))
            continue;
        uint32_t home = cutting->home_of[row], *rest = &cutting->rest_of[home + 1];
        bool is_first = *rest == VV_NONE;
        if (is_first) {
            char name[60];
            snprintf(name, sizeof name, "(%u other%s)", cutting->others[home + 1],
                     cutting->others[home + 1] == 1 ? "" : "s");
            VV_TRY(vv_dag_add_node(cutting->out, name, VV_DAG_REST, rest, error));
            if (home != VV_NONE)
                cutting->out->nodes.parent[*rest] = cutting->row_of[home];
        }
        cutting->row_of[row] = *rest;
        add_figures(nodes, row, &cutting->out->nodes, *rest, is_first);
    }
    return VARVE_OK;
}

static enum varve_code add_edges(struct cutting *cutting, struct varve_error *error)
{
    const struct vv_dag_edges *edges = &cutting->dag->edges;
    struct vv_dag *out = cutting->out;
    struct vv_groups ids = { .scratch = cutting->scratch };
    for (uint64_t e = 0; e < edges->table.count; e++) {
        uint32_t from = cutting->row_of[edges->from[e]], to = cutting->row_of[edges->to[e]];
        uint32_t row, known = ids.count;
        if (from == to)
            continue;
        VV_TRY(vv_groups_add(&ids, from, to * VV_DAG_EDGE_KINDS + edges->kind[e], &row, error));
        if (row == known) {
            VV_TRY(vv_dag_add_edge(out, from, to, edges->kind[e], &row, error));
            VV_TRY(vv_dag_text(out, vv_dag_string(cutting->dag, edges->name[e]),
                               &out->edges.name[row], error));
            out->edges.count[row] = 0;
            out->edges.longest_ns[row] = edges->longest_ns[e];
        }
        out->edges.count[row] += edges->count[e];
        out->edges.bytes[row] += edges->bytes[e];
        out->edges.flags[row] |= edges->flags[e];
        if (edges->longest_ns[e] > out->edges.longest_ns[row])
            out->edges.longest_ns[row] = edges->longest_ns[e];
    }
    return VARVE_OK;
}

static enum varve_code cut(struct cutting *cutting, const struct vv_fold_options *options,
                           struct varve_error *error)
{
    uint64_t count = cutting->dag->nodes.table.count;
    VV_TRY(VV_SCRATCH_ZEROS(cutting->scratch, &cutting->keep, count, error));
    VV_TRY(VV_SCRATCH_ARRAY(cutting->scratch, &cutting->home_of, count, error));
    VV_TRY(VV_SCRATCH_ZEROS(cutting->scratch, &cutting->row_of, count, error));
    VV_TRY(VV_SCRATCH_ZEROS(cutting->scratch, &cutting->others, count + 1, error));
    VV_TRY(VV_SCRATCH_ARRAY(cutting->scratch, &cutting->rest_of, count + 1, error));
    memset(cutting->rest_of, 0xff, (count + 1) * sizeof *cutting->rest_of);
    memset(cutting->keep, 1, count * sizeof *cutting->keep);
    if (options->around != NULL)
        VV_TRY(find_near(cutting->dag, options, cutting->keep, cutting->scratch,
                         error));
    if (options->top > 0)
        VV_TRY(keep_top(cutting->dag, options->top, cutting->keep, cutting->scratch, error));
    for (uint32_t row = 0; row < count; row++)
        if (!is_leaf(cutting->dag, row))
            cutting->keep[row] = false;
    keep_groups(cutting);
    find_homes(cutting);
    VV_TRY(add_kept(cutting, error));
    VV_TRY(add_rest(cutting, error));
    return add_edges(cutting, error);
}

enum varve_code vv_fold_cut(const struct vv_dag *dag, const struct vv_fold_options *options,
                            struct vv_dag *out_dag, struct varve_error *error)
{
    struct vv_scratch scratch = { 0 };
    struct cutting cutting = { .dag = dag, .out = out_dag, .scratch = &scratch };
    enum varve_code code = cut(&cutting, options, error);
    vv_scratch_deinit(&scratch);
    return code;
}
