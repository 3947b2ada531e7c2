/* SPDX-License-Identifier: Apache-2.0 */
/* live.h — the most memory that is live, and the memory live at begin and end, in the chosen steps
 * or the whole run. */
#ifndef VV_ANALYSE_MEMORY_LIVE_H
#define VV_ANALYSE_MEMORY_LIVE_H

#include "analyse/memory/lifetimes.h"
#include "numbers/intervals.h"

struct vv_memory_peak {
    int64_t bytes;       /* the most that was live */
    int64_t time_ns;     /* the first instant at which that much was live */
    int64_t begin_bytes; /* live at the first of the instants; end_bytes: at the last */
    int64_t end_bytes;
};

/* The peak of a pool with these changes. `instants` must be united and not empty. */
struct vv_memory_peak vv_memory_peak(const struct vv_pool *pool, const struct vv_change *changes,
                                     size_t count, const struct vv_intervals *instants);

/* The instants of the chosen steps of a scope, or of the run if all steps are chosen. The result is
 * united. */
enum varve_code vv_chosen_instants(const struct vv_scope *scope, uint32_t scope_number,
                                   struct vv_intervals *out_instants, struct varve_error *error);

#endif
