/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/critical/solve.h"

#include <stdlib.h>
#include <string.h>

#include "base/binary_search.h"
#include "base/radix.h"

#define FROM_BEFORE UINT32_MAX        /* in came_by: the edge from the node before               */
#define FROM_NOWHERE (UINT32_MAX - 1) /* a path begins here                                      */

struct solving {
    struct vv_critical_graph *graph;
    struct vv_critical_solution *solution;
    uint32_t *came_by;     /* node -> the last edge of the longest path to it                    */
    uint32_t *pending;     /* first edge to a node -> how many edges to this node start from nodes
                              not yet done */
    uint32_t *first_of;    /* edge -> the first edge to the same node                            */
    uint32_t *next_node, *next_in, *next_out; /* chain -> its next node and edges                */
    uint32_t *ready;       /* ring of chains that can go on                                      */
    uint32_t ready_first, ready_count;
    uint32_t stuck;        /* all chains before this one are done                                */
};

static uint32_t chain_at(const struct vv_critical_graph *graph, uint32_t node)
{
    return VV_FIRST_NOT(i, 1, graph->chain_count, graph->chains[i] <= node) - 1;
}

/* ---- edges by chain ---- */

static enum varve_code order_out(struct vv_critical_solution *solution, struct vv_scratch *own,
                                 struct varve_error *error)
{
    const struct vv_critical_graph *graph = solution->graph;
    struct vv_keyed_row *keys;
    VV_TRY(VV_SCRATCH_ARRAY(own, &keys, graph->edge_count, error));
    for (size_t e = 0; e < graph->edge_count; e++)
        keys[e] = (struct vv_keyed_row){ graph->edges[e].from, (uint32_t)e };
    VV_TRY(vv_radix_sort(keys, graph->edge_count, error));
    for (size_t e = 0; e < graph->edge_count; e++)
        solution->out[e] = keys[e].row;
    return VARVE_OK;
}

static void index_chains(struct vv_critical_solution *solution)
{
    const struct vv_critical_graph *graph = solution->graph;
    uint32_t in = 0, out = 0;
    for (uint32_t c = 0; c <= graph->chain_count; c++) {
        uint32_t node = graph->chains[c];
        while (in < graph->edge_count && graph->edges[in].to < node)
            in++;
        while (out < graph->edge_count && graph->edges[solution->out[out]].from < node)
            out++;
        solution->first_in[c] = in;
        solution->first_out[c] = out;
    }
}

/* ---- the walk ---- */

static void set_longest(struct solving *solving, uint32_t node, uint32_t in, uint32_t in_last)
{
    const struct vv_critical_graph *graph = solving->graph;
    int64_t *longest_ns = solving->solution->longest_ns, best_ns = -1;
    uint32_t by = FROM_NOWHERE;
    if (graph->link[node] != VV_LINK_NONE) {
        best_ns = longest_ns[node - 1] + vv_critical_span(graph, node);
        by = FROM_BEFORE;
    }
    for (; in < in_last; in++) {
        const struct vv_critical_edge *edge = &graph->edges[in];
        int64_t length_ns = longest_ns[edge->from] + edge->weight_ns;
        if (edge->link != VV_LINK_NONE && length_ns > best_ns) {
            best_ns = length_ns;
            by = in;
        }
    }
    longest_ns[node] = best_ns < 0 ? 0 : best_ns;
    solving->came_by[node] = by;
}

static void make_ready(struct solving *solving, uint32_t chain)
{
    uint32_t place = solving->ready_first + solving->ready_count++;
    solving
        ->ready[place < solving->graph->chain_count ? place : place - solving->graph->chain_count] =
        chain;
}

static void release(struct solving *solving, uint32_t chain, uint32_t node)
{
    const struct vv_critical_graph *graph = solving->graph;
    uint32_t out = solving->next_out[chain], out_last = solving->solution->first_out[chain + 1];
    for (; out < out_last && graph->edges[solving->solution->out[out]].from == node; out++) {
        uint32_t edge = solving->solution->out[out], to = graph->edges[edge].to;
        if (graph->edges[edge].link == VV_LINK_NONE)
            continue;
        uint32_t other = graph->chain_count == graph->node_count ? to : chain_at(graph, to);
        if (--solving->pending[solving->first_of[edge]] == 0 && other != chain &&
            solving->next_node[other] == to)
            make_ready(solving, other);
    }
    solving->next_out[chain] = out;
}

/* Walks the chain until a node must wait for another chain. */
static enum varve_code walk_chain(struct solving *solving, uint32_t chain,
                                  struct varve_error *error)
{
    const struct vv_critical_graph *graph = solving->graph;
    struct vv_critical_solution *solution = solving->solution;
    uint32_t node = solving->next_node[chain], last = graph->chains[chain + 1], first = node;
    uint32_t in = solving->next_in[chain], in_first = in, in_last = solution->first_in[chain + 1];
    for (; node < last; node++) {
        uint32_t in_end = in;
        if (in < in_last && graph->edges[in].to == node) {
            if (solving->pending[in] > 0)
                break;
            while (in_end < in_last && graph->edges[in_end].to == node)
                in_end++;
        }
        set_longest(solving, node, in, in_end);
        in = in_end;
        if (solving->next_out[chain] < solution->first_out[chain + 1])
            release(solving, chain, node);
    }
    solving->next_node[chain] = node;
    solving->next_in[chain] = in;
    if (first == node)
        return VARVE_OK;
    VV_TRY(VV_SCRATCH_RESERVE(solving->graph->scratch, &solution->runs, &solution->run_capacity,
                              solution->run_count + 1, error));
    solution->runs[solution->run_count++] = (struct vv_critical_run){ chain, first, node, in_first,
                                                                       solving->next_out[chain] };
    return VARVE_OK;
}

/* All chains that are not done wait for each other. Leaves out the edges that the first of them
 * waits for, so that it can go on. */
static bool break_circle(struct solving *solving)
{
    struct vv_critical_graph *graph = solving->graph;
    while (solving->stuck < graph->chain_count &&
           solving->next_node[solving->stuck] == graph->chains[solving->stuck + 1])
        solving->stuck++;
    if (solving->stuck == graph->chain_count)
        return false;
    uint32_t in = solving->next_in[solving->stuck], node = solving->next_node[solving->stuck];
    solving->pending[in] = 0;
    for (; in < graph->edge_count && graph->edges[in].to == node; in++) {
        uint32_t from = graph->edges[in].from;
        if (graph->edges[in].link == VV_LINK_NONE ||
            from < solving->next_node[chain_at(graph, from)])
            continue;
        graph->edges[in].link = VV_LINK_NONE;
        graph->contradictions++;
    }
    make_ready(solving, solving->stuck);
    return true;
}

static enum varve_code walk_all(struct solving *solving, struct varve_error *error)
{
    const struct vv_critical_graph *graph = solving->graph;
    for (uint32_t e = 0; e < graph->edge_count; e++) {
        bool is_first = e == 0 || graph->edges[e].to != graph->edges[e - 1].to;
        solving->first_of[e] = is_first ? e : solving->first_of[e - 1];
        solving->pending[solving->first_of[e]] += graph->edges[e].link != VV_LINK_NONE;
    }
    for (uint32_t c = 0; c < graph->chain_count; c++) {
        uint32_t in = solving->solution->first_in[c];
        solving->next_node[c] = graph->chains[c];
        solving->next_in[c] = in;
        solving->next_out[c] = solving->solution->first_out[c];
        if (in == graph->edge_count || graph->edges[in].to != graph->chains[c])
            make_ready(solving, c);
    }
    do {
        while (solving->ready_count > 0) {
            uint32_t chain = solving->ready[solving->ready_first];
            solving->ready_first =
                solving->ready_first + 1 == graph->chain_count ? 0 : solving->ready_first + 1;
            solving->ready_count--;
            VV_TRY(walk_chain(solving, chain, error));
        }
    } while (break_circle(solving));
    return VARVE_OK;
}

/* ---- the path ---- */

/* The last node of the longest path. Of equally long paths the first in the order of the walk
 * counts. */
static uint32_t last_node(const struct vv_critical_solution *solution)
{
    uint32_t best = solution->run_count > 0 ? solution->runs[0].first : 0;
    for (size_t r = 0; r < solution->run_count; r++)
        for (uint32_t n = solution->runs[r].first; n < solution->runs[r].last; n++)
            best = solution->longest_ns[n] > solution->longest_ns[best] ? n : best;
    return best;
}

static struct vv_path_step step_to(const struct solving *solving, uint32_t node)
{
    const struct vv_critical_graph *graph = solving->graph;
    uint32_t by = solving->came_by[node];
    if (by == FROM_NOWHERE)
        return (struct vv_path_step){ node, VV_NONE, 0, VV_LINK_NONE };
    if (by == FROM_BEFORE)
        return (struct vv_path_step){ node, graph->owner[node], vv_critical_span(graph, node),
                                      graph->link[node] };
    return (struct vv_path_step){ node, graph->edges[by].owner, graph->edges[by].weight_ns,
                                  graph->edges[by].link };
}

static uint32_t node_before(const struct solving *solving, uint32_t node)
{
    uint32_t by = solving->came_by[node];
    return by == FROM_BEFORE ? node - 1 : solving->graph->edges[by].from;
}

static enum varve_code trace_path(struct solving *solving, struct varve_error *error)
{
    struct vv_critical_solution *solution = solving->solution;
    if (solving->graph->node_count == 0)
        return VARVE_OK;
    uint32_t last = last_node(solution);
    solution->length_ns = solution->longest_ns[last];
    solution->path_count = 1;
    for (uint32_t node = last; solving->came_by[node] != FROM_NOWHERE;
         node = node_before(solving, node))
        solution->path_count++;
    VV_TRY(VV_SCRATCH_ARRAY(solving->graph->scratch, &solution->path, solution->path_count, error));
    size_t place = solution->path_count;
    for (uint32_t node = last;; node = node_before(solving, node)) {
        solution->path[--place] = step_to(solving, node);
        if (place == 0)
            break;
    }
    return VARVE_OK;
}

static enum varve_code solve(struct solving *solving, struct vv_scratch *own,
                             struct varve_error *error)
{
    const struct vv_critical_graph *graph = solving->graph;
    struct vv_critical_solution *solution = solving->solution;
    size_t chains = (size_t)graph->chain_count + 2, edges = graph->edge_count,
           nodes = (size_t)graph->node_count;
    uint32_t **const by_chain[] = { &solving->next_node, &solving->next_in, &solving->next_out,
                                    &solving->ready };
    VV_TRY(VV_SCRATCH_ARRAY(graph->scratch, &solution->first_in, chains, error));
    VV_TRY(VV_SCRATCH_ARRAY(graph->scratch, &solution->first_out, chains, error));
    VV_TRY(VV_SCRATCH_ARRAY(graph->scratch, &solution->out, edges, error));
    VV_TRY(VV_SCRATCH_ARRAY(graph->scratch, &solution->longest_ns, nodes, error));
    VV_TRY(VV_SCRATCH_ARRAY(own, &solving->came_by, nodes, error));
    VV_TRY(VV_SCRATCH_ZEROS(own, &solving->pending, edges, error));
    VV_TRY(VV_SCRATCH_ARRAY(own, &solving->first_of, edges, error));
    for (size_t i = 0; i < sizeof by_chain / sizeof *by_chain; i++)
        VV_TRY(VV_SCRATCH_ARRAY(own, by_chain[i], chains, error));
    VV_TRY(order_out(solution, own, error));
    index_chains(solution);
    VV_TRY(walk_all(solving, error));
    return trace_path(solving, error);
}

enum varve_code vv_critical_solve(struct vv_critical_solution *solution,
                                  struct vv_critical_graph *graph, struct varve_error *error)
{
    struct vv_scratch own = { 0 };
    struct solving solving = { .graph = graph, .solution = solution };
    *solution = (struct vv_critical_solution){ .graph = graph };
    enum varve_code code = solve(&solving, &own, error);
    vv_scratch_deinit(&own);
    return code;
}

void vv_critical_rest(const struct vv_critical_solution *solution, int64_t *out_rest_ns)
{
    const struct vv_critical_graph *graph = solution->graph;
    for (size_t r = solution->run_count; r > 0; r--) {
        const struct vv_critical_run *run = &solution->runs[r - 1];
        uint32_t chain_last = graph->chains[run->chain + 1], out = run->out;
        for (uint32_t node = run->last; node > run->first; node--) {
            int64_t rest_ns = 0;
            if (node < chain_last && graph->link[node] != VV_LINK_NONE)
                rest_ns = out_rest_ns[node] + vv_critical_span(graph, node);
            for (; out > solution->first_out[run->chain] &&
                   graph->edges[solution->out[out - 1]].from == node - 1;
                 out--) {
                const struct vv_critical_edge *edge = &graph->edges[solution->out[out - 1]];
                if (edge->link != VV_LINK_NONE && out_rest_ns[edge->to] + edge->weight_ns > rest_ns)
                    rest_ns = out_rest_ns[edge->to] + edge->weight_ns;
            }
            out_rest_ns[node - 1] = rest_ns;
        }
    }
}
