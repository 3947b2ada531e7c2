/* SPDX-License-Identifier: Apache-2.0 */
/* meeting.h — the nodes where ranks meet: a collective starts when the last rank begins it, and
 * then takes its pure latency. Thread-compatible. */
#ifndef VV_ANALYSE_CRITICAL_MEETING_H
#define VV_ANALYSE_CRITICAL_MEETING_H

#include "analyse/critical/graph.h"

/* A rank's part in a collective. Its slice has nodes in the graph. */
struct vv_critical_piece {
    int64_t order_ns;         /* pieces of a rank and group are counted in this order            */
    int64_t begin_ns, end_ns;
    uint32_t tie;             /* decides if two have one order_ns                                */
    uint32_t rank, group;     /* group: dense, below the number of pieces                        */
    int64_t number;           /* of its group, as the program counts; -1 = not known             */
    uint32_t ordinal;         /* filled by vv_critical_meet                                      */
    uint32_t slice, asked;    /* asked: slice of a host thread that started it; or VV_NONE       */
    bool all_wait;            /* no rank can be done before all have begun                       */
};

/* Pieces of one group and ordinal meet, if all ranks of the group have equally many, and all are
 * inside at once. If all pieces of a group have numbers, these are their ordinals, and not all
 * ranks need have each of them. Other pieces get no edges, and the graph counts them. If not all
 * ranks wait for each other in the operation, pieces that are not inside at once are not counted:
 * nobody waited. The order of the pieces changes. */
enum varve_code vv_critical_meet(struct vv_critical_graph *graph, struct vv_critical_piece *pieces,
                                 size_t count, struct varve_error *error);

#endif
