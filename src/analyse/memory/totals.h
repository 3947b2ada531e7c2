/* SPDX-License-Identifier: Apache-2.0 */
/* totals.h — the producer's own totals of an allocator after each event: the bytes that it has
 * given out and the bytes that it holds (doc/metrics.md §10). Thread-compatible. */
#ifndef VV_ANALYSE_MEMORY_TOTALS_H
#define VV_ANALYSE_MEMORY_TOTALS_H

#include "analyse/memory/lifetimes.h"

/* The producer's figures after an event: the totals, or the fragmentation of free memory, or
 * both. */
struct vv_memory_total {
    int64_t time_ns, allocated_bytes, reserved_bytes; /* reserved <= 0: the producer gives none */
    double free_fragmentation;                        /* < 0: the producer gives none */
};

struct vv_memory_totals {
    struct vv_memory_total *items; /* in order of time; at one instant the smallest comes first */
    size_t count;
};

/* There are no totals if the producer gives none, or if only a part of the allocations was
 * chosen. */
enum varve_code vv_memory_totals_init(struct vv_memory_totals *out,
                                      const struct vv_allocations *allocations,
                                      const struct vv_pool *pool, struct varve_error *error);

/* True if the two totals agree with each other. A producer may leave one out, or take it from
 * another source. */
static inline bool vv_is_consistent(const struct vv_memory_total *total)
{
    return total->reserved_bytes > 0 && total->allocated_bytes >= 0 &&
           total->allocated_bytes <= total->reserved_bytes;
}

/* The last consistent total up to the instant; NULL if there is none. */
const struct vv_memory_total *vv_memory_total_at(const struct vv_memory_totals *totals,
                                                 int64_t time_ns);

/* The fragmentation of free memory, from the last event up to the instant that has it; < 0 if there
 * is none. */
double vv_free_fragmentation_at(const struct vv_memory_totals *totals, int64_t time_ns);

/* The share of the held bytes that the allocator has not given out. */
static inline double vv_fragmentation(const struct vv_memory_total *total)
{
    return 1 - (double)total->allocated_bytes / (double)total->reserved_bytes;
}

/* The largest stretch between neighbours of the memory that is live at the instant. Stretches
 * larger than what was then reserved and not allocated do not count: they belong to others. -1: not
 * every address is known. */
enum varve_code vv_largest_hole(const struct vv_allocations *allocations,
                                const struct vv_pool *pool, const struct vv_memory_total *total,
                                int64_t time_ns, int64_t *out_bytes, struct varve_error *error);

#endif
