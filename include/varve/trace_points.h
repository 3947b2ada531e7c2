/* SPDX-License-Identifier: Apache-2.0 */
/* trace_points.h — where an executor marks what a step consists of: forward start, backward end,
 * iteration end, every collective, every data fetch; and the marks themselves.
 *
 *     struct varve_trace_plan *plan;
 *     varve_trace_plan(&graph, NULL, &plan, &error);        once, when the graph is compiled
 *     for (uint32_t i = 0; i < varve_trace_plan_count(plan); i++) {
 *         const struct varve_trace_point *point = varve_trace_plan_point(plan, i);
 *         … point->before_tag is marked before node point->node of point->graph runs (0 = not),
 *           point->after_tag after it; point->reason says why just there …
 *     }
 *
 *     struct varve_mark_info mark = VARVE_MARK_INFO_INIT;
 *     mark.tag = point->before_tag;
 *     varve_trace_mark(&mark);                              each time it is reached
 *
 * `varve steps` then prints forward–backward time, iteration refresh, data augmentation bound and
 * each reduce, per step and model: doc/trace-points.md. */
#ifndef VARVE_TRACE_POINTS_H
#define VARVE_TRACE_POINTS_H

#include "varve/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- points ---- */

enum varve_point_kind {
    VARVE_POINT_MODEL = 1,  /* one execution of a model: before and after it. Never in a plan    */
    VARVE_POINT_FORWARD,    /* forward start: before a node                                      */
    VARVE_POINT_BACKWARD,   /* backward end: after a node                                        */
    VARVE_POINT_ITERATION,  /* iteration end: after a node                                       */
    VARVE_POINT_COLLECTIVE, /* before and after it                                               */
    VARVE_POINT_FETCH,      /* a data fetch: before and after it                                 */
    VARVE_POINT_STEP,       /* a step of the program: before and after it. Never in a plan       */
    VARVE_POINT_KIND_COUNT
};

/* The tag of a mark. Each kind has 2^31 numbers of its own, so no two marks have the same tag.
 * `is_end`: 0 = before, 1 = after. */
#define VARVE_POINT_TAG(kind, index, is_end) \
    ((uint64_t)(kind) << 32 | (uint64_t)(index) << 1 | (uint64_t)(is_end))

/* GE's numbers, 16 bits: 0/1 model, 2 forward start, 3 backward end, 4 iteration end, 10000 + 2i
 * and 10001 + 2i all-reduce i, 20000 + 2i and 20001 + 2i data fetch i, 60000/60001 step.
 * varve_trace_mark takes both. */
enum varve_numbering { VARVE_NUMBERING_OWN = 0, VARVE_NUMBERING_GE = 1 };
#define VARVE_GE_POINTS_MAX 5000u /* all-reduces, and data fetches, that GE has numbers for      */

struct varve_trace_options {
    uint32_t struct_size; /* sizeof(struct varve_trace_options)                                */
    uint32_t numbering;   /* enum varve_numbering                                              */
    /* The node before which forward starts: the first of this name, or the first that was fused
     * from a node of this name. NULL = the option fp_point of the process's profiling options
     * (doc/control.md) or, without it, found; "" = found. */
    const char *fp_point;
    const char *bp_point; /* the node after which backward ends: the last of this name; same   */
    /* end of ABI 0 */
};
#define VARVE_TRACE_OPTIONS_INIT \
    { (uint32_t)sizeof(struct varve_trace_options), VARVE_NUMBERING_OWN, NULL, NULL }

enum varve_point_state {
    VARVE_POINT_NONE = 0,   /* there is no such point: node is -1, and the reason says why       */
    VARVE_POINT_FOUND,
    VARVE_POINT_REFUSED     /* there is, but GE's numbers have none for it: both tags are 0      */
};

struct varve_trace_point {
    uint32_t kind;          /* enum varve_point_kind                                           */
    uint32_t state;         /* enum varve_point_state                                          */
    /* 0, 1 … among the points of its kind, in the order in which their nodes run. Several forward
     * starts, backward ends or iteration ends are alternatives: branches that may run instead of
     * each other. */
    uint32_t index;
    uint32_t reserved;      /* 0                                                               */
    const struct varve_graph_info *graph; /* the program's; NULL = none                        */
    int64_t node;           /* its number in that graph; -1 = none                             */
    int64_t stream;         /* the node's; -1 = none                                           */
    uint64_t before_tag;    /* to mark before the node; 0 = nothing                            */
    uint64_t after_tag;     /* to mark after it; 0 = nothing                                   */
    const char *operation;  /* "all_reduce" …; NULL = not a collective                         */
    const char *reason;     /* one sentence: where it was found and how, or why not            */
    /* end of ABI 0 */
};

struct varve_trace_plan; /* immutable; borrows the graph, which must outlive it */

/* Finds the points of a graph. `options` may be NULL. There is at least one point of each kind but
 * model and step, and it says if there is none. Points come in the order in which marks at one node
 * follow each other: forward start, collectives, fetches before it; backward end, iteration end,
 * collectives, fetches after it. The caller owns *out_plan.
 * VARVE_INVALID: the graph is not whole, or has a cycle, which the message names; a named node has
 * no task. VARVE_NOT_FOUND: no node has the name fp_point or bp_point; the message names the
 * nearest. VARVE_LIMIT: 2^26 nodes. VARVE_NO_MEMORY. Thread-safe; not from signal handlers. */
VARVE_API enum varve_code varve_trace_plan(const struct varve_graph_info *graph,
                                           const struct varve_trace_options *options,
                                           struct varve_trace_plan **out_plan,
                                           struct varve_error *error);
VARVE_API uint32_t varve_trace_plan_count(const struct varve_trace_plan *plan);
/* Valid until the plan is destroyed; NULL if there are not so many. */
VARVE_API const struct varve_trace_point *
varve_trace_plan_point(const struct varve_trace_plan *plan, uint32_t number);
VARVE_API void varve_trace_plan_destroy(struct varve_trace_plan *plan); /* NULL-safe */

/* Records the plan, while layer STEP is recorded: tables trace_plan and step_reduces name the nodes
 * by it. `model` is the number that the marks have. A session that begins later does not have it.
 * Names and reasons are cut at 1023 bytes. Thread-safe; not from signal handlers. */
VARVE_API void varve_trace_plan_record(const struct varve_trace_plan *plan, uint64_t model);

/* ---- marks ---- */

struct varve_mark_info {
    uint32_t struct_size;  /* sizeof(struct varve_mark_info)                                   */
    uint32_t track;        /* of a device, as varve_track_add numbered it; 0 = this thread, now */
    uint64_t tag;          /* a plan's, VARVE_POINT_TAG, or GE's number                        */
    int64_t time;          /* in the track's clock; not read if track is 0                     */
    uint64_t model;        /* the program's number of the model or graph                       */
    int64_t iteration;     /* the program's number; -1 = not known: it is found from the order */
    int64_t stream;        /* the executor's own number; -1 = not known                        */
    /* end of ABI 0 */
};
#define VARVE_MARK_INFO_INIT { (uint32_t)sizeof(struct varve_mark_info), 0, 0, 0, 0, -1, -1 }

VARVE_API VARVE_DIRECT void varve_emit_trace_mark(const struct varve_mark_info *info);

/* A point was reached. Recorded with layer STEP: the option training_trace switches it. What names
 * no track, has no known tag, or a struct that is too small, is counted as lost. Marks of a device
 * may be told in any order, by any thread. Thread-safe; with track 0 also from signal handlers. */
static inline void varve_trace_mark(const struct varve_mark_info *info)
{
    if (VARVE_UNLIKELY(varve_layers() & VARVE_LAYER_STEP))
        varve_emit_trace_mark(info);
}

#ifdef __cplusplus
}
#endif
#ifdef VARVE_UNLINKED
#define VARVE_CALLS_OF_TRACE_POINTS 1
#include "varve/unlinked.h"
#endif
#endif
