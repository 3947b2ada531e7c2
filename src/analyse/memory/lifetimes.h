/* SPDX-License-Identifier: Apache-2.0 */
/* lifetimes.h — each allocation with its release, and what is live when: what every analysis of memory
 * begins with (doc/metrics.md §10).
 *
 * A pool is the memory of one device of one scope (model.h). A release belongs to the allocation that is live at
 * its address; where the producer gives no addresses, to the last one of its size. What is released and was
 * not seen allocated was there before the trace, and counts from its begin: so nothing is ever negative.
 * An address that is allocated again without a release in between was released unseen: at that instant at the latest.
 * Thread-compatible. */
#ifndef VV_ANALYSE_MEMORY_LIFETIMES_H
#define VV_ANALYSE_MEMORY_LIFETIMES_H

#include "derive/select/scope.h"

struct vv_allocation {
    int64_t begin_ns;      /* INT64_MIN: before the trace                                       */
    int64_t end_ns;        /* INT64_MAX: not released in it                                     */
    int64_t bytes;
    uint32_t pool;
    uint32_t made, freed;  /* rows in memory; VV_NONE where not in the trace                    */
};

struct vv_pool {
    uint32_t scope, device; /* kind << 16 | index                                               */
    int64_t rank;           /* -1 = not known                                                   */
    size_t first, last;     /* its allocations: [first, last)                                   */
    uint64_t made, freed;   /* events                                                           */
    uint64_t reused;        /* allocations whose release was not seen                           */
    int64_t made_bytes, freed_bytes;
    int64_t before_bytes;   /* live when the trace begins: released in it, or in the producer's total */
    int64_t until_said_bytes; /* allocated less released up to the first event that says the producer's total */
    int64_t unnamed_bytes;  /* of those: in the producer's total, and never released            */
};

struct vv_allocations {
    const struct vv_scope *scope; /* borrowed                                                   */
    struct vv_allocation *items;  /* by pool, then begin                                        */
    size_t count;
    struct vv_pool *pools;        /* by rank, scope and device                                  */
    size_t pool_count;
    bool is_part;                 /* only what some threads or operators allocated: nothing was there before */
    bool by_size;                 /* some had no address                                        */
    bool is_absurd;               /* sizes that no sum can hold were recorded: there are no pools */
};

/* Of the chosen ranks, threads, operators (filter) and `device` (as vv_device_work_init has it). De-initialise also after a failure. */
enum varve_code vv_allocations_init(struct vv_allocations *out, const struct vv_scope *scope, const char *device,
                                    struct varve_error *error);
void vv_allocations_deinit(struct vv_allocations *allocations);
/* Where there are no pools: why. */
const char *vv_allocations_none(const struct vv_allocations *allocations);

/* One change of what is live. */
struct vv_change {
    int64_t time_ns;
    int64_t bytes;          /* < 0: released                                                    */
    uint32_t allocation;    /* row                                                              */
};

/* The changes of a pool in order; at one instant, allocations come last, so that what follows a release in the
 * same nanosecond does not look like more. What is released as it is allocated is live at no instant, and has
 * none. *out_changes belongs to the caller (free). */
enum varve_code vv_pool_changes(const struct vv_allocations *allocations, uint32_t pool,
                                struct vv_change **out_changes, size_t *out_count, struct varve_error *error);

#endif
