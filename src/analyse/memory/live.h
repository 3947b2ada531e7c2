/* SPDX-License-Identifier: Apache-2.0 */
/* live.h — what is live when: the most, at the begin and at the end, in the chosen steps or in all. */
#ifndef VV_ANALYSE_MEMORY_LIVE_H
#define VV_ANALYSE_MEMORY_LIVE_H

#include "analyse/memory/lifetimes.h"
#include "numbers/intervals.h"

struct vv_memory_peak {
    int64_t bytes;       /* most that was live */
    int64_t time_ns;     /* the first instant at which it was */
    int64_t begin_bytes; /* live at the first and at the last of the instants */
    int64_t end_bytes;
};

/* Of a pool with those changes, in a united set of instants that is not empty. */
struct vv_memory_peak vv_memory_peak(const struct vv_pool *pool, const struct vv_change *changes, size_t count,
                                     const struct vv_intervals *instants);

/* The instants of the chosen steps of a scope; where all are chosen, those of the run. United. */
enum varve_code vv_chosen_instants(const struct vv_scope *scope, uint32_t scope_number,
                                   struct vv_intervals *out_instants, struct varve_error *error);

#endif
