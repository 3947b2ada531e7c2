/* SPDX-License-Identifier: Apache-2.0 */
/* plan_sweep.h — the buffers of a static plan as they come and go, in the order of operators: what is live, and how many
 * of it lie on the bytes of the one that comes. In time that grows with n log n. Thread-compatible. */
#ifndef VV_ANALYSE_MEMORY_PLAN_SWEEP_H
#define VV_ANALYSE_MEMORY_PLAN_SWEEP_H

#include "base/system/clock.h"
#include "model/model.h"

struct vv_plan_sweep {
    const struct vv_placements *rows; /* borrowed */
    const uint32_t *order;            /* borrowed: buffers by first use */
    size_t count, next;               /* of order: those before `next` have come */
    uint32_t *by_last;                /* the same by last use */
    size_t gone;                      /* of by_last */
    uint64_t *places;                 /* of all buffers that have a place: begins, then ends, each sorted */
    uint32_t *begins, *ends;          /* how many live ones begin, and end, up to a place: Fenwick trees */
    size_t placed;
    vv_u128 live_bytes;               /* with the one that came last */
};

/* De-initialise also after a failure. */
enum varve_code vv_plan_sweep_init(struct vv_plan_sweep *out_sweep, const struct vv_placements *rows, const uint32_t *order,
                                   size_t count, struct varve_error *error);
void vv_plan_sweep_deinit(struct vv_plan_sweep *sweep);

/* The next buffer comes, and those go whose last use lies before its first. False behind the last one.
 * *out_conflicts: how many live ones lie on some byte of it. */
VV_MUST_USE bool vv_plan_sweep_next(struct vv_plan_sweep *sweep, uint32_t *out_row, uint32_t *out_conflicts);

/* Do the two share a byte? */
bool vv_plan_shares(const struct vv_placements *rows, uint32_t a, uint32_t b);

#endif
