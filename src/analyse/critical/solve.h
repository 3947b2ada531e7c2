/* SPDX-License-Identifier: Apache-2.0 */
/* solve.h — the longest path through a graph, slack, and how long it were if something took less.
 *
 * Linear in nodes and edges: chains are walked in order, and wait where another chain's node is still to come. The order
 * found once serves every later walk. Thread-compatible. */
#ifndef VV_ANALYSE_CRITICAL_SOLVE_H
#define VV_ANALYSE_CRITICAL_SOLVE_H

#include "analyse/critical/graph.h"

struct vv_critical_run {
    uint32_t chain, first, last; /* nodes [first, last) of the chain                            */
    uint32_t in, out;            /* the first edge to one of them or to a later node; the first in `out` behind them */
};

/* An edge of the path: from the node before it on the path to `node`. */
struct vv_path_step {
    uint32_t node;
    uint32_t owner;     /* slice; VV_NONE                                                      */
    int64_t weight_ns;
    uint8_t link;       /* enum vv_critical_link; NONE of the first                            */
};

struct vv_critical_solution {
    const struct vv_critical_graph *graph; /* borrowed                                         */
    struct vv_critical_run *runs;          /* in an order in which every node comes after what it waits for */
    size_t run_count, run_capacity;
    uint32_t *first_in;                    /* chain -> the first edge that leads to it or to a later one; + 1 */
    uint32_t *out;                         /* edges in order of where they come from           */
    uint32_t *first_out;                   /* chain -> its first in `out`; chain_count + 1     */
    int64_t *longest_ns;                   /* node -> the longest path to it                   */
    struct vv_path_step *path;
    size_t path_count;
    int64_t length_ns;                     /* sum of the path's weights                        */
};

/* A graph with no nodes has an empty path. Edges that contradict each other are left out and counted in the graph.
 * De-initialise also after a failure. */
enum varve_code vv_critical_solve(struct vv_critical_solution *solution, struct vv_critical_graph *graph,
                                  struct varve_error *error);
void vv_critical_solution_deinit(struct vv_critical_solution *solution);

/* out_rest_ns: node -> the longest path from it; node_count of them. Slack of a node: length - longest - rest. */
void vv_critical_rest(const struct vv_critical_solution *solution, int64_t *out_rest_ns);

/* ---- what if ---- */

enum vv_what { VV_WHAT_NAME, VV_WHAT_LAUNCH, VV_WHAT_COMM };

struct vv_what_if {
    enum vv_what what;
    uint32_t name;        /* string, as vv_critical_name gives it                               */
    double factor;        /* k: the time becomes 1/k; > 0                                       */
    int64_t length_ns;    /* the answer                                                         */
};

#define VV_WHAT_IF_LANES 8

/* Lengths of the longest path in `count` cases, VV_WHAT_IF_LANES of them in each walk. */
enum varve_code vv_critical_what_if(const struct vv_critical_solution *solution, struct vv_what_if *cases, size_t count,
                                    struct varve_error *error);

/* What the time of a slice is called: its name; 0 of steps and phases, which are no operators, and of operators that
 * the filter does not let through. */
static inline uint32_t vv_critical_name(const struct vv_critical_graph *graph, uint32_t slice)
{
    bool is_admitted = graph->admitted == NULL || graph->admitted[slice];
    return is_admitted && vv_is_operator(graph->model, slice) ? graph->model->slices.name[slice] : 0;
}

#endif
