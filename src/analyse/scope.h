/* SPDX-License-Identifier: Apache-2.0 */
/* scope.h — a selection, resolved against a model: which tracks and which steps count.
 *
 * Made by every analysis that takes a selection. Invariant: a chosen step lies on a chosen track.
 * Only thread tracks are ever chosen: asynchronous ranges wait, they do not work, and their time is
 * also somebody else's (doc/metrics.md); the work of devices is chosen by device_work.h. Thread-compatible. */
#ifndef VV_ANALYSE_SCOPE_H
#define VV_ANALYSE_SCOPE_H

#include "analyse/analyse.h"
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

/* Rows [*out_first, *out_last) of the slices on a track. */
void vv_track_rows(const struct vv_model *model, uint32_t track, uint32_t *out_first,
                   uint32_t *out_last);
/* Does it hold an operator or a step? A profiler's own spans may have a track to themselves. */
bool vv_track_works(const struct vv_model *model, uint32_t track);
/* The first row in [first, last), rows of one track, that begins at or after begin_ns. */
uint32_t vv_first_from(const struct vv_slices *slices, uint32_t first, uint32_t last, int64_t begin_ns);
/* Rows of the slices that begin inside a step on the step's own track, the step itself left out. */
void vv_step_rows(const struct vv_model *model, uint32_t step, uint32_t *out_first,
                  uint32_t *out_last);

/* "train, loader" or "train, loader and 7 more": the threads that hold chosen steps, or all chosen
 * threads where there is no step. `text` holds at least 200 bytes. */
void vv_scope_threads_text(const struct vv_scope *scope, bool with_steps, char *text, size_t bytes);
/* "; 2 warm-up steps left out", or "": at least 60 bytes. */
void vv_scope_left_out_text(const struct vv_scope *scope, char *text, size_t bytes);
/* Ranks of the chosen processes: 2 means two or more, 0 that none is known. */
uint32_t vv_scope_rank_count(const struct vv_scope *scope);
/* Threads that hold chosen steps. */
uint64_t vv_scope_step_tracks(const struct vv_scope *scope);
/* The name of a track for people: its own, else "thread TID". */
void vv_track_text(const struct vv_model *model, uint32_t track, char *text, size_t bytes);

/* Every slice is an operator unless it marks the program's own course: a step or a range of layer STEP. */
static inline bool vv_is_operator(const struct vv_model *model, uint32_t slice)
{
    return model->slices.layer[slice] != VARVE_LAYER_STEP &&
           (model->slices.flags[slice] & (VV_SLICE_STEP | VV_SLICE_PHASE)) == 0;
}

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

/* Of the track's process; 0 where no process is known. */
static inline int64_t vv_pid_of(const struct vv_model *model, uint32_t track)
{
    uint32_t process = model->tracks.process[track];
    return process != VV_NONE ? model->processes.pid[process] : 0;
}

static inline const char *vv_text_of(const struct vv_model *model, uint32_t string)
{
    return vv_intern_text(&model->strings, string);
}

#endif
