/* SPDX-License-Identifier: Apache-2.0 */
/* plan.h — a plan while it is made. Private to this room. */
#ifndef VV_POINTS_PLAN_H
#define VV_POINTS_PLAN_H

#include "base/arena.h"
#include "points/search.h"
#include "varve/trace_points.h"

struct varve_trace_plan {
    VV_ARRAY_OF(struct varve_trace_point) points;
    struct vv_arena texts; /* of the reasons                                                    */
};

struct vv_planning {
    struct varve_trace_plan *plan;
    const struct vv_flat_graph *flat;
    struct vv_search search;
    uint32_t numbering;
    const char *fp_point, *bp_point; /* NULL = found                                            */
    uint32_t counts[VARVE_POINT_KIND_COUNT];    /* points of the kind so far                    */
    uint32_t ge_counts[VARVE_POINT_KIND_COUNT]; /* those with a number of GE's                  */
};

/* Adds a point at node `id`, or (VV_FLAT_NONE) says why there is none. Gives it its tags. */
enum varve_code vv_plan_add(struct vv_planning *planning, enum varve_point_kind kind, uint32_t id,
                            struct varve_error *error, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* The kinds, each in its way: find.c */
enum varve_code vv_plan_forward(struct vv_planning *planning, struct varve_error *error);
enum varve_code vv_plan_backward(struct vv_planning *planning, struct varve_error *error);
enum varve_code vv_plan_iteration(struct vv_planning *planning, struct varve_error *error);
enum varve_code vv_plan_collectives(struct vv_planning *planning, struct varve_error *error);
enum varve_code vv_plan_fetches(struct vv_planning *planning, struct varve_error *error);

/* named.c: a point that the user named, at the first or the last node of that name. */
enum varve_code vv_plan_named(struct vv_planning *planning, enum varve_point_kind kind,
                              const char *option, const char *name, struct varve_error *error);

#endif
