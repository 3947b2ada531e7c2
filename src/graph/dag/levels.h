/* SPDX-License-Identifier: Apache-2.0 */
/* levels.h — the levels of a graph: a node's level is the length of the longest path to it.
 * Thread-compatible. */
#ifndef VV_GRAPH_DAG_LEVELS_H
#define VV_GRAPH_DAG_LEVELS_H

#include "graph/dag/dag.h"

/* Sets the level of every node but those of kind OUTSIDE, which have none. Time and memory grow
 * with nodes and edges. VARVE_INVALID: there is a cycle, and the message names it. With
 * `break_cycles` the edges that lead back are taken out of the graph, and a note "cycles" says how
 * many. VARVE_CORRUPT: an edge leads to no node. */
enum varve_code vv_dag_levels(struct vv_dag *dag, bool break_cycles, struct varve_error *error);

#endif
