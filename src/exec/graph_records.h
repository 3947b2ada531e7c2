/* SPDX-License-Identifier: Apache-2.0 */
/* graph_records.h — writes the records of a graph into the process's stream (doc/format.md §6). The
 * lock is held, and there is a stream. */
#ifndef VV_EXEC_GRAPH_RECORDS_H
#define VV_EXEC_GRAPH_RECORDS_H

#include "exec/graph_bytes.h"

/* How far the records of a graph and its subgraphs are written. */
struct vv_graph_progress {
    struct vv_graph_cursor cursor;
    uint32_t root;  /* number of the outermost graph                                            */
    uint32_t graph; /* number of the current graph; 0 = none has begun                          */
    uint32_t node;  /* of the next node                                                         */
    uint64_t lost;  /* records that found no room                                               */
};

/* Writes the records of up to `items` items. True: these were the last. */
VV_MUST_USE bool vv_graph_records_write(struct vv_graph_progress *progress, uint32_t items);

struct varve_placement;
/* Adds to progress->lost what found no room. */
void vv_placement_records_write(uint32_t graph, const struct varve_placement *placements,
                                size_t count, struct vv_graph_progress *progress);

#endif
