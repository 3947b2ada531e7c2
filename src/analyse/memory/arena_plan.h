/* SPDX-License-Identifier: Apache-2.0 */
/* arena_plan.h — the places that a planner would choose in one arena if it knew all lifetimes, and
 * the arena's size.
 *
 * The planner is greedy best fit by decreasing size. Each allocation, the largest first, goes into
 * the smallest gap between placed allocations that live at the same time. The arena's size is an
 * upper bound of the needed size; the most that is live at once is the lower bound. */
#ifndef VV_ANALYSE_MEMORY_ARENA_PLAN_H
#define VV_ANALYSE_MEMORY_ARENA_PLAN_H

#include "analyse/memory/lifetimes.h"

/* Only the largest allocations of a pool are placed, because the planner compares every pair. */
#define VV_ARENA_PLAN_MOST 4096

struct vv_placement {
    uint32_t allocation; /* row */
    int64_t offset_bytes;
};

struct vv_arena_plan {
    struct vv_placement *placements; /* largest first */
    size_t count;
    int64_t bytes;                   /* size of the arena */
    int64_t live_peak_bytes;         /* the most of the placed allocations that is live at once */
};

enum varve_code vv_arena_plan(const struct vv_allocations *allocations, uint32_t pool,
                              struct vv_arena_plan *out_plan, struct varve_error *error);

#endif
