/* SPDX-License-Identifier: Apache-2.0 */
/* lifetimes.h — each allocation with its release, and the changes of live memory. Every analysis of
 * memory begins with them (doc/metrics.md §10).
 *
 * A pool is the memory of one device of one scope (model.h). A release belongs to the allocation
 * that is live at its address. If the producer gives no addresses, it belongs to the last
 * allocation of its size. Memory that is released without a recorded allocation was live before the
 * trace, so live memory is never negative. If an address is allocated again without a release in
 * between, the release was not recorded; it counts at that instant. Thread-compatible. */
#ifndef VV_ANALYSE_MEMORY_LIFETIMES_H
#define VV_ANALYSE_MEMORY_LIFETIMES_H

#include "derive/select/scope.h"

struct vv_allocation {
    int64_t begin_ns;      /* INT64_MIN: before the trace                                       */
    int64_t end_ns;        /* INT64_MAX: not released in the trace                              */
    int64_t bytes;
    uint32_t pool;
    uint32_t made, freed;  /* rows in memory; VV_NONE: not in the trace                         */
};

struct vv_pool {
    uint32_t scope, device; /* kind << 16 | index                                               */
    uint32_t owner;         /* as that of a device: device_work.h                               */
    int64_t rank;           /* -1 = not known                                                   */
    size_t first, last;     /* the pool's allocations: items [first, last)                      */
    uint64_t made, freed;   /* events: allocations, and releases                                */
    uint64_t reused;        /* allocations whose release was not recorded                       */
    int64_t made_bytes, freed_bytes;
    int64_t before_bytes;   /* live when the trace begins: released later, or part of the producer's
                               total */
    int64_t until_said_bytes; /* allocated minus released, up to the first event that has the
                                 producer's total */
    int64_t unnamed_bytes;  /* part of before_bytes: in the producer's total, and never released */
};

struct vv_allocations {
    const struct vv_scope *scope; /* borrowed                                                   */
    const struct vv_allocation *items; /* by pool, then begin                                   */
    size_t count;
    const struct vv_pool *pools;  /* by rank, scope, device and owner                           */
    size_t pool_count;
    bool is_part;                 /* only allocations of some threads or operators: none was live
                                     before */
    bool by_size;                 /* some events had no address: releases are paired by size    */
    const int64_t *steps_end_ns;  /* process -> end of its last step; INT64_MAX: it has no steps */
    bool is_absurd;               /* the sum of sizes and totals overflows: there are no pools */
};

/* Only chosen ranks, threads, operators (filter) and `device` count. `device` is as in
 * vv_device_work_init, and so is whose the arrays are. */
enum varve_code vv_allocations_init(struct vv_allocations *out, const struct vv_scope *scope,
                                    const char *device, struct varve_error *error);
/* Is the allocation kept: not released, or only after the last step of its process, as by an
 * interpreter that ends? */
bool vv_is_kept(const struct vv_allocations *allocations, const struct vv_allocation *item);
/* The reason why there are no pools. */
const char *vv_allocations_none(const struct vv_allocations *allocations);

/* One change of live memory. */
struct vv_change {
    int64_t time_ns;
    int64_t bytes;          /* < 0: released                                                    */
    uint32_t allocation;    /* row                                                              */
};

/* The changes of a pool in order of time. At one instant releases come before allocations;
 * otherwise memory that is released and allocated again in one nanosecond would count twice. An
 * allocation that is released in its own instant is never live, and gives no changes. */
enum varve_code vv_pool_changes(const struct vv_allocations *allocations, uint32_t pool,
                                struct vv_change **out_changes, size_t *out_count,
                                struct varve_error *error);

#endif
