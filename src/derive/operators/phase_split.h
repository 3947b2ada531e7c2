/* SPDX-License-Identifier: Apache-2.0 */
/* phase_split.h — how each chosen step divides into phases.
 *
 * Of phases inside phases only the outermost counts; where two overlap, the instant belongs to the
 * one that began first; one that sticks out of its step is cut. So, for each step:
 *     sum of its entries' duration_ns + other_ns = its duration_ns,  other_ns >= 0.
 * Where no phases were recorded, those of meaning/phases.h count, on all chosen threads of the step's process: the step's own
 * thread before others, then in the order of enum vv_op_phase; the time between two pieces of one phase is of that phase. */
#ifndef VV_DERIVE_OPERATORS_PHASE_SPLIT_H
#define VV_DERIVE_OPERATORS_PHASE_SPLIT_H

#include "derive/select/scope.h"
#include "numbers/pair_ids.h"

struct vv_phase_entry {
    uint32_t step;         /* row of a chosen step */
    uint32_t phase;        /* group; its name is a phase as meaning/phases.h has them */
    int64_t duration_ns;
};

struct vv_phase_split {
    struct vv_groups phases;
    bool is_found;                  /* from what operators say, since no phases were recorded */
    struct vv_phase_entry *entries; /* by step, then by first appearance; one a (step, phase) */
    size_t count, capacity;
    int64_t *other_ns;              /* by step row */
    int64_t *totals_ns;             /* by phase */
    uint32_t *order;                /* phases, by total, largest first */
};

/* The caller de-initialises *out_split, also on failure. */
enum varve_code vv_phase_split(const struct vv_scope *scope, struct vv_phase_split *out_split,
                               struct varve_error *error);
void vv_phase_split_deinit(struct vv_phase_split *split);

#endif
