/* SPDX-License-Identifier: Apache-2.0 */
/* keep.h — leaves nodes out of a graph. Thread-compatible. */
#ifndef VV_GRAPH_DAG_KEEP_H
#define VV_GRAPH_DAG_KEEP_H

#include "base/scratch.h"
#include "graph/dag/dag.h"

/* Keeps the nodes that keep[row] names, and the edges between them. The group of a kept node must
 * be kept, too. Occurrences stay where they are. */
enum varve_code vv_dag_keep(struct vv_dag *dag, const bool *keep, struct vv_scratch *scratch,
                            struct varve_error *error);

#endif
