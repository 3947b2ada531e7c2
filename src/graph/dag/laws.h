/* SPDX-License-Identifier: Apache-2.0 */
/* laws.h — may the numbers of a graph that a file says be added? Thread-compatible. */
#ifndef VV_GRAPH_DAG_LAWS_H
#define VV_GRAPH_DAG_LAWS_H

#include "graph/dag/dag.h"

/* VARVE_CORRUPT: the message names the row and the column. Counts, times and sizes are not negative
 * and add up to less than 2^63; so does the time from the first begin to the last end; picoseconds
 * are less than a nanosecond; a parent's row is smaller than its child's, and an edge's ends are
 * rows. */
enum varve_code vv_dag_check(const struct vv_dag *dag, struct varve_error *error);

#endif
