/* SPDX-License-Identifier: Apache-2.0 */
/* scope.h — a selection, resolved against a model: which tracks and which steps count.
 *
 * Made by every analysis that takes a selection. Invariant: a chosen step lies on a chosen track.
 * Only thread tracks are ever chosen: asynchronous ranges wait, they do not work, and their time is
 * also somebody else's (doc/metrics.md); the work of devices is chosen by device_work.h. Thread-compatible. */
#ifndef VV_DERIVE_SELECT_SCOPE_H
#define VV_DERIVE_SELECT_SCOPE_H

#include "model/find.h"
#include "question/question.h"
#include "varve/varve.h"

struct vv_scope {
    const struct vv_model *model; /* borrowed                                                  */
    bool *processes;       /* a process' row -> chosen                                         */
    int64_t *ranks;        /* a process' row -> its rank, or that of its scope; -1 = none known */
    bool *tracks;          /* a track's row -> chosen                                          */
    bool *steps;           /* a step's row -> chosen                                           */
    bool *warm_up;         /* a step's row -> it is a warm-up step of its thread (warm_up.h)     */
    bool *step_tracks;     /* a track's row -> it holds a chosen step                           */
    bool *admitted;        /* a slice's row -> the filter lets it through; NULL = there is none  */
    bool every_step;       /* no steps were named: slices outside steps count too              */
    bool by_thread;        /* threads were named: device work counts whose call is on one of them */
    bool keeps_warm_up;    /* slices in warm-up steps count too                                */
    uint64_t left_out;     /* warm-up steps of chosen processes that do not                    */
    uint64_t track_count;  /* chosen                                                           */
    uint64_t step_count;   /* chosen                                                           */
    int64_t step_time_ns;  /* sum of the chosen steps' durations                               */
};

/* VARVE_INVALID: no such rank, no such thread, or no such step; the message names those that exist. */
enum varve_code vv_scope_init(struct vv_scope *scope, const struct vv_model *model,
                              const struct vv_selection *selection, struct varve_error *error);
void vv_scope_deinit(struct vv_scope *scope); /* NULL-safe, idempotent */

/* The same selection of every step, warm-up too. */
static inline struct vv_selection vv_every_step(const struct vv_selection *selection)
{
    struct vv_selection every = *selection;
    every.first_step = INT64_MIN;
    every.last_step = INT64_MAX;
    every.warm_up = true;
    return every;
}

/* "train, loader" or "train, loader and 7 more": the threads that hold chosen steps, or all chosen
 * threads where there is no step. `text` holds at least 200 bytes. */
void vv_scope_threads_text(const struct vv_scope *scope, bool with_steps, char *text, size_t bytes);
/* "; 2 warm-up steps left out", or "": at least 60 bytes. */
void vv_scope_left_out_text(const struct vv_scope *scope, char *text, size_t bytes);
/* Ranks of the chosen processes: 2 means two or more, 0 that none is known. */
uint32_t vv_scope_rank_count(const struct vv_scope *scope);
/* Threads that hold chosen steps. */
uint64_t vv_scope_step_tracks(const struct vv_scope *scope);
/* Does what begins in this step count, or with VV_NONE in none? Without a choice of steps that is everything but
 * warm-up, whatever thread counts the steps. */
static inline bool vv_step_counts(const struct vv_scope *scope, uint32_t step)
{
    if (step == VV_NONE)
        return scope->every_step;
    return scope->steps[step] || (scope->every_step && (scope->keeps_warm_up || !scope->warm_up[step]));
}

/* Does the filter, if any, let the slice through? */
static inline bool vv_admits(const struct vv_scope *scope, uint32_t slice)
{
    return scope->admitted == NULL || scope->admitted[slice];
}

/* The same choice without the filter, and what a device did for whatever thread: what others wait for is all of it. */
static inline struct vv_scope vv_whole_devices(const struct vv_scope *scope)
{
    struct vv_scope all = *scope;
    all.admitted = NULL;
    all.by_thread = false;
    return all;
}

/* The same choice without the filter: where it chooses operators, the work that was done for them counts whole. */
static inline struct vv_scope vv_unfiltered(const struct vv_scope *scope)
{
    struct vv_scope all = *scope;
    all.admitted = NULL;
    return all;
}

#endif
