/* SPDX-License-Identifier: Apache-2.0 */
/* arena_plan.h — where a planner that knew all lifetimes would have put each allocation, and in how much.
 *
 * Greedy best fit by decreasing size: each, the largest first, goes into the smallest gap between those placed
 * that live at the same time. The bytes are an upper bound of what would do; the most that is live at once is
 * the lower one. */
#ifndef VV_ANALYSE_MEMORY_ARENA_PLAN_H
#define VV_ANALYSE_MEMORY_ARENA_PLAN_H

#include "analyse/memory/lifetimes.h"

/* Of one pool the largest so many: the placement looks at every pair. */
#define VV_ARENA_PLAN_MOST 4096

struct vv_placement {
    uint32_t allocation; /* row */
    int64_t offset_bytes;
};

struct vv_arena_plan {
    struct vv_placement *placements; /* largest first */
    size_t count;
    int64_t bytes;                   /* the arena's */
    int64_t live_peak_bytes;         /* most of the placed that is live at once */
};

enum varve_code vv_arena_plan(const struct vv_allocations *allocations, uint32_t pool,
                              struct vv_arena_plan *out_plan, struct varve_error *error);
void vv_arena_plan_deinit(struct vv_arena_plan *plan);

#endif
