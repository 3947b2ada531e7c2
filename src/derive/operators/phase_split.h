/* SPDX-License-Identifier: Apache-2.0 */
/* phase_split.h — divides each chosen step into phases.
 *
 * Of nested phases only the outermost counts. Where two phases overlap, the instant belongs to the
 * phase that began first. The part of a phase after its step's end is cut. So, for each step: sum
 * of its entries' duration_ns + other_ns = its duration_ns, and other_ns >= 0. If no phases were
 * recorded, those of meaning/phases.h count, on all chosen threads of the step's process. Then an
 * instant belongs to the step's own thread before other threads, and to phases in the order of enum
 * vv_op_phase. Collectives that run in the background have the time that is in no other
 * phase. The time between two pieces of a phase is in no phase. */
#ifndef VV_DERIVE_OPERATORS_PHASE_SPLIT_H
#define VV_DERIVE_OPERATORS_PHASE_SPLIT_H

#include "derive/select/scope.h"
#include "numbers/pair_ids.h"

struct vv_phase_entry {
    uint32_t step;         /* row of a chosen step */
    uint32_t phase;        /* group; its name is that of the phase, as in meaning/phases.h */
    int64_t duration_ns;
};

struct vv_phase_split {
    struct vv_groups phases;
    bool is_found;                  /* the phases were not recorded, but found from what the
                                       operators say */
    struct vv_phase_entry *entries; /* by step, then by first appearance; one for each (step,
                                       phase) */
    size_t count, capacity;
    int64_t *other_ns;              /* row of a step -> time in no phase */
    int64_t *totals_ns;             /* phase -> time over all steps */
    uint32_t *order;                /* phases sorted by total, the largest first */
};

enum varve_code vv_phase_split(const struct vv_scope *scope, struct vv_phase_split *out_split,
                               struct varve_error *error);

#endif
