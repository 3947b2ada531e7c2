/* SPDX-License-Identifier: Apache-2.0 */
/* totals.h — what the producer says that an allocator has given out and holds, from event to event
 * (doc/metrics.md §10). Thread-compatible. */
#ifndef VV_ANALYSE_MEMORY_TOTALS_H
#define VV_ANALYSE_MEMORY_TOTALS_H

#include "analyse/memory/lifetimes.h"

/* After an event: how much is held, or how what is free lies, or both. */
struct vv_memory_total {
    int64_t time_ns, allocated_bytes, reserved_bytes; /* reserved <= 0: unsaid */
    double free_fragmentation;                        /* < 0: unsaid */
};

struct vv_memory_totals {
    struct vv_memory_total *items; /* in order of time, of one instant the least first */
    size_t count;
};

/* None where the producer says none, or where only a part of the allocations was chosen. De-initialise also after a
 * failure. */
enum varve_code vv_memory_totals_init(struct vv_memory_totals *out, const struct vv_allocations *allocations,
                                      const struct vv_pool *pool, struct varve_error *error);
void vv_memory_totals_deinit(struct vv_memory_totals *totals);

/* May the two stand beside each other? A producer may leave one out, or have it from elsewhere. */
static inline bool vv_is_consistent(const struct vv_memory_total *total)
{
    return total->reserved_bytes > 0 && total->allocated_bytes >= 0 && total->allocated_bytes <= total->reserved_bytes;
}

/* The last consistent one up to the instant; NULL before the first. */
const struct vv_memory_total *vv_memory_total_at(const struct vv_memory_totals *totals, int64_t time_ns);

/* What the last event up to the instant that says so says of how the free memory lies; < 0 before the first. */
double vv_free_fragmentation_at(const struct vv_memory_totals *totals, int64_t time_ns);

/* The share of what the allocator holds that it has not given out. */
static inline double vv_fragmentation(const struct vv_memory_total *total)
{
    return 1 - (double)total->allocated_bytes / (double)total->reserved_bytes;
}

/* The largest stretch between neighbours of what is live at the instant, of those no larger than what the allocator
 * then holds and has not given out: a larger one is not its memory. -1: not every address is known. */
enum varve_code vv_largest_hole(const struct vv_allocations *allocations, const struct vv_pool *pool,
                                const struct vv_memory_total *total, int64_t time_ns, int64_t *out_bytes,
                                struct varve_error *error);

#endif
