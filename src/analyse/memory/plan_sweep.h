/* SPDX-License-Identifier: Apache-2.0 */
/* plan_sweep.h — passes over the buffers of a static plan in the order of operators. It knows how
 * much is live, and how many live buffers share bytes with the buffer that begins. O(n log n).
 * Thread-compatible. */
#ifndef VV_ANALYSE_MEMORY_PLAN_SWEEP_H
#define VV_ANALYSE_MEMORY_PLAN_SWEEP_H

#include "base/system/clock.h"
#include "model/model.h"

struct vv_plan_sweep {
    const struct vv_placements *rows; /* borrowed */
    const uint32_t *order;            /* borrowed: buffers in order of first use */
    size_t count, next;               /* count of `order`; buffers before `next` have begun */
    uint32_t *by_last;                /* the same buffers in order of last use */
    size_t gone;                      /* index in by_last: buffers before it have ended */
    uint64_t *places;                 /* the begins, then the ends, of all buffers that have a
                                         place; each sorted */
    uint32_t *begins, *ends;          /* Fenwick trees: how many live buffers begin, and end, up to
                                         a place */
    size_t placed;
    vv_u128 live_bytes;               /* includes the buffer that began last */
};

enum varve_code vv_plan_sweep_init(struct vv_plan_sweep *out_sweep,
                                   const struct vv_placements *rows, const uint32_t *order,
                                   size_t count, struct vv_scratch *scratch,
                                   struct varve_error *error);

/* Begins the next buffer, and ends those whose last use is before its first use. False after the
 * last buffer. *out_conflicts: how many live buffers share a byte with it. */
VV_MUST_USE bool vv_plan_sweep_next(struct vv_plan_sweep *sweep, uint32_t *out_row,
                                    uint32_t *out_conflicts);

/* True if the two buffers share a byte. */
bool vv_plan_shares(const struct vv_placements *rows, uint32_t a, uint32_t b);

#endif
