/* SPDX-License-Identifier: Apache-2.0 */
/* iterations.h — trace points put together: the iterations of each model, with their parts.
 *
 * A model is a process and a number. Where the points have the program's number of the iteration,
 * it counts. Where no point of a model has one, it is found from the order of the points, from 1 on
 * (number.c). Arithmetic is signed, and a missing point leaves its own cells empty and no others.
 * Thread-compatible. */
#ifndef VV_ANALYSE_POINTS_ITERATIONS_H
#define VV_ANALYSE_POINTS_ITERATIONS_H

#include "derive/select/scope.h"
#include "varve/trace_points.h"

/* Where an iteration begins. */
enum vv_iteration_begin {
    VV_BEGINS_WITH_MODEL,    /* at the begin of the model's execution                           */
    VV_BEGINS_WITH_STEP,     /* at the program's own mark of a step                             */
    VV_BEGINS_AFTER_OTHER,   /* at the end of the iteration before                              */
    VV_BEGINS_WITH_POINT     /* at its first point: nothing else is known                       */
};

/* An instant that may not be known. */
struct vv_maybe_ns {
    int64_t ns;
    bool is_known;
};

struct vv_iteration {
    uint64_t model;
    int64_t number;
    uint32_t process;       /* row                                                              */
    uint32_t track;         /* row: of its first point                                          */
    size_t first, limit;    /* its points: order[first..limit), in order of time                */
    bool is_found;          /* its number was found from the order                              */
    enum vv_iteration_begin begins;
    struct vv_maybe_ns begin, forward, backward, end;
    struct vv_maybe_ns former_end; /* latest end of another iteration, not after `forward`      */
};

struct vv_iterations {
    const struct vv_model *model;
    uint32_t *order;        /* rows in trace_points                                             */
    size_t count;           /* of points                                                        */
    int64_t *numbers;       /* row -> number of its iteration; -1 = of none                     */
    bool *is_found;         /* row -> its number was found                                      */
    struct vv_iteration *items;
    size_t item_count;
    uint64_t without;       /* points that belong to no iteration                               */
};

/* The iterations of the chosen processes, by process, model and number. */
enum varve_code vv_iterations_find(const struct vv_scope *scope, struct vv_iterations *out,
                                   struct varve_error *error);

/* number.c: gives the points at order[first..limit), of one model in order of time, their numbers
 * from 1 on. */
enum varve_code vv_iterations_number(struct vv_iterations *all, struct vv_scratch *scratch,
                                     size_t first, size_t limit, struct varve_error *error);

/* A begin and an end of the same index, of one iteration. One of them may be missing. */
struct vv_point_pair {
    struct vv_maybe_ns begin, end;
    int64_t stream;
    uint32_t index;
};

struct vv_point_pairs {
    struct vv_point_pair *items; /* the scratch's                                               */
    size_t count;
};

/* The pairs of this kind in an iteration, by index and time. */
enum varve_code vv_iteration_pairs(const struct vv_iterations *all, const struct vv_iteration *of,
                                   enum varve_point_kind kind, struct vv_scratch *scratch,
                                   struct vv_point_pairs *out_pairs, struct varve_error *error);

static inline struct vv_maybe_ns vv_between(struct vv_maybe_ns from, struct vv_maybe_ns to)
{
    return (struct vv_maybe_ns){ from.is_known && to.is_known ? to.ns - from.ns : 0,
                                 from.is_known && to.is_known };
}

#endif
