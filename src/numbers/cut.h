/* SPDX-License-Identifier: Apache-2.0 */
/* cut.h — divides points into two sides so that what is cut costs least: a minimum cut (Dinic).
 * Thread-compatible; all memory is the scratch's.
 *
 * An edge costs its capacity if its begin is on the first side and its end on the second one. */
#ifndef VV_NUMBERS_CUT_H
#define VV_NUMBERS_CUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/scratch.h"

#define VV_CUT_NEVER (INT64_MAX / 4) /* the capacity of an edge that may not be cut               */

struct vv_cut_edge { uint32_t to, next; int64_t left; };

struct vv_cut {
    struct vv_scratch *scratch;
    struct vv_cut_edge *edges; /* in pairs: an edge and its reverse                             */
    uint32_t *first;           /* by point: its newest edge + 1; 0 = none                        */
    uint32_t *level, *arc, *queue;
    size_t edge_count, edge_capacity;
    uint32_t points;
};

/* Points are 0 … points - 1. */
enum varve_code vv_cut_init(struct vv_cut *cut, uint32_t points, struct vv_scratch *scratch,
                            struct varve_error *error);
/* `capacity` >= 0; those of all edges that may be cut add up to less than VV_CUT_NEVER. */
enum varve_code vv_cut_add(struct vv_cut *cut, uint32_t from, uint32_t to, int64_t capacity,
                           struct varve_error *error);
/* The least cost, with `first` on the first side and `second` on the second. on_second[point] says
 * where each one is; of equally cheap divisions the one with the fewest on the second side. */
int64_t vv_cut_solve(struct vv_cut *cut, uint32_t first, uint32_t second, bool *on_second);

#endif
