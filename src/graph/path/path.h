/* SPDX-License-Identifier: Apache-2.0 */
/* path.h — the longest way through a graph, for any times of its nodes: what would the whole take
 * if everything ran as soon as what it waits for is over?
 *
 * A node that holds others begins before them and ends after them, and who waits for it waits for
 * all of them. A group that takes no time itself and that no edge leads to is only a name for its
 * members. Thread-compatible; the graph is borrowed, and must not change. */
#ifndef VV_GRAPH_PATH_PATH_H
#define VV_GRAPH_PATH_PATH_H

#include "base/scratch.h"
#include "graph/dag/dag.h"

struct vv_path {
    const struct vv_dag *dag;
    uint32_t count;        /* vertices: a begin for each node, and an end for each               */
    uint32_t *order;       /* the vertices: each after all that it waits for                     */
    uint32_t *first;       /* by vertex: its rows in `from`; one more at the end                 */
    uint32_t *from;        /* vertices that it waits for                                        */
    int64_t *done_ns;      /* by vertex, of the last answer                                     */
};

/* All memory is the scratch's. VARVE_INVALID: the graph has a cycle, through its groups. */
enum varve_code vv_path_init(struct vv_path *path, const struct vv_dag *dag,
                             struct vv_scratch *scratch, struct varve_error *error);
/* The length for these times of nodes, by row; none is negative, and their sum is below 2^63. */
int64_t vv_path_length(struct vv_path *path, const int64_t *node_ns);
/* Sets on_path[row] for the nodes of the longest way of the last answer. */
void vv_path_mark(const struct vv_path *path, const int64_t *node_ns, bool *on_path);

#endif
