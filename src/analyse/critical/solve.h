/* SPDX-License-Identifier: Apache-2.0 */
/* solve.h — the longest path through a graph, the slack of nodes, and the path's length if
 * something took less time.
 *
 * Linear in nodes and edges. Chains are walked in order; a chain waits until the nodes that it
 * needs of other chains are done. The order is found once and serves every later walk.
 * Thread-compatible. */
#ifndef VV_ANALYSE_CRITICAL_SOLVE_H
#define VV_ANALYSE_CRITICAL_SOLVE_H

#include "analyse/critical/graph.h"

struct vv_critical_run {
    uint32_t chain, first, last; /* nodes [first, last) of the chain                            */
    uint32_t in, out;            /* `in`: the first edge to one of these nodes or to a later one;
                                    `out`: the first in `out` from a node after them */
};

/* An edge of the path, from the path's node before it to `node`. */
struct vv_path_step {
    uint32_t node;
    uint32_t owner;     /* slice; VV_NONE                                                      */
    int64_t weight_ns;
    uint8_t link;       /* enum vv_critical_link; VV_LINK_NONE for the first step              */
};

struct vv_critical_solution {
    const struct vv_critical_graph *graph; /* borrowed                                         */
    struct vv_critical_run *runs;          /* in an order in which every node comes after all that
                                              it waits for */
    size_t run_count, run_capacity;
    uint32_t *first_in;                    /* chain -> the first edge that leads to it or to a later
                                              one; chain_count + 1 */
    uint32_t *out;                         /* edges in order of the node that they start from  */
    uint32_t *first_out;                   /* chain -> its first edge in `out`; chain_count + 1 */
    int64_t *longest_ns;                   /* node -> the length of the longest path to it     */
    struct vv_path_step *path;
    size_t path_count;
    int64_t length_ns;                     /* sum of the path's weights                        */
};

/* A graph without nodes has an empty path. Edges that contradict each other are left out; the graph
 * counts them. */
enum varve_code vv_critical_solve(struct vv_critical_solution *solution,
                                  struct vv_critical_graph *graph, struct varve_error *error);

/* Fills out_rest_ns, node_count items: node -> the length of the longest path from it. The slack of
 * a node is length_ns - longest_ns - rest_ns. */
void vv_critical_rest(const struct vv_critical_solution *solution, int64_t *out_rest_ns);

/* ---- what if ---- */

enum vv_what { VV_WHAT_NAME, VV_WHAT_LAUNCH, VV_WHAT_COMM };

struct vv_what_if {
    enum vv_what what;
    uint32_t name;        /* string from vv_critical_name                                       */
    double factor;        /* k: the time becomes 1/k; > 0                                       */
    int64_t length_ns;    /* result: the length of the new path                                 */
};

#define VV_WHAT_IF_LANES 8

/* Finds the length of the longest path in `count` cases. One walk solves VV_WHAT_IF_LANES cases. */
enum varve_code vv_critical_what_if(const struct vv_critical_solution *solution,
                                    struct vv_what_if *cases, size_t count,
                                    struct varve_error *error);

/* The name that owns a slice's time. 0 for steps and phases, which are no operators, and for
 * operators that the filter does not admit. */
static inline uint32_t vv_critical_name(const struct vv_critical_graph *graph, uint32_t slice)
{
    bool is_admitted = graph->admitted == NULL || graph->admitted[slice];
    return is_admitted && vv_is_operator(graph->model, slice) ? graph->model->slices.name[slice]
                                                              : 0;
}

#endif
