/* SPDX-License-Identifier: Apache-2.0 */
/* points.h — the trace points of a graph: the nodes before and after which its streams mark the
 * time (varve/trace_points.h). */
#ifndef GRAPHRUN_POINTS_H
#define GRAPHRUN_POINTS_H

#include <stdbool.h>
#include <stdio.h>

#include <varve/trace_points.h>

#include "graph.h"

#define POINTS_AT_NODE_MAX 8

/* Tags to be marked at one side of a node, in their order. */
struct point_tags {
    uint64_t tags[POINTS_AT_NODE_MAX];
    int count;
};

/* The nodes that the user named, or NULL. */
struct point_names {
    const char *fp_point, *bp_point;
};

/* Finds the points of a graph that learns as the names, the profiling options and the graph say;
 * those of another graph as it alone says. The plan borrows the description; the caller destroys
 * it. The plan is NULL, without points, in a program that is compiled without Varve
 * (include/varve/unlinked.h). False: a line on standard error says why. */
bool points_find(const struct graph *graph, const struct varve_graph_info *description,
                 struct point_names names, struct varve_trace_plan **out_plan);

/* The tags before a node (`is_after` = false), or after it. */
struct point_tags points_at(const struct varve_trace_plan *plan, int node, bool is_after);

/* Prints each point, and why it is there. */
void points_print(const struct graph *graph, const struct varve_trace_plan *plan, FILE *file);

#endif
