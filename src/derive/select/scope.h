/* SPDX-License-Identifier: Apache-2.0 */
/* scope.h — a selection, resolved against a model: the processes, tracks and steps that count.
 *
 * Every analysis that takes a selection makes one. Invariant: a chosen step lies on a chosen track.
 * Only tracks of threads are ever chosen. Asynchronous ranges wait rather than work, and other
 * slices also cover their time (doc/metrics.md). device_work.h chooses the work of devices.
 * Thread-compatible. */
#ifndef VV_DERIVE_SELECT_SCOPE_H
#define VV_DERIVE_SELECT_SCOPE_H

#include "model/find.h"
#include "question/question.h"
#include "varve/varve.h"

struct vv_scope {
    const struct vv_model *model; /* borrowed                                                  */
    struct vv_scratch *scratch; /* of the analysis: functions that take a scope allocate there   */
    bool *processes;       /* row of a process -> chosen                                       */
    int64_t *ranks;        /* row of a process -> its rank, or that of its scope; -1 = not known */
    bool *tracks;          /* row of a track -> chosen                                         */
    bool *steps;           /* row of a step -> chosen                                          */
    bool *warm_up;         /* row of a step -> it is a warm-up step of its thread (warm_up.h)    */
    bool *step_tracks;     /* row of a track -> it holds a chosen step                          */
    bool *admitted;        /* row of a slice -> the filter lets it through; NULL = no filter     */
    bool every_step;       /* no steps were named: slices outside steps count too              */
    bool by_thread;        /* threads were named: device work counts if its call is on one of
                              them */
    bool keeps_warm_up;    /* slices in warm-up steps count too                                */
    uint64_t left_out;     /* warm-up steps of chosen processes that do not count              */
    uint64_t track_count;  /* chosen tracks                                                    */
    uint64_t step_count;   /* chosen steps                                                     */
    int64_t step_time_ns;  /* sum of the chosen steps' durations                               */
};

/* VARVE_INVALID: there is no such rank, thread or step. The message names those that exist. */
enum varve_code vv_scope_init(struct vv_scope *scope, const struct vv_model *model,
                              const struct vv_selection *selection, struct vv_scratch *scratch,
                              struct varve_error *error);

/* The same selection, but with every step, warm-up steps included. */
static inline struct vv_selection vv_selection_without_step(const struct vv_selection *selection)
{
    struct vv_selection every = *selection;
    every.first_step = INT64_MIN;
    every.last_step = INT64_MAX;
    every.warm_up = true;
    return every;
}

/* "train, loader" or "train, loader and 7 more": the threads that hold chosen steps, or all chosen
 * threads if there is no step. `text` holds at least 200 bytes. */
void vv_scope_threads_text(const struct vv_scope *scope, bool with_steps, char *text, size_t bytes);
/* Writes "; 2 warm-up steps left out", or "". `text` holds at least 60 bytes. */
void vv_scope_left_out_text(const struct vv_scope *scope, char *text, size_t bytes);
/* The rank of a track's process; -1 = not known. */
static inline int64_t vv_scope_rank(const struct vv_scope *scope, uint32_t track)
{
    uint32_t process = scope->model->tracks.process[track];
    return process != VV_NONE ? scope->ranks[process] : -1;
}
/* The number of ranks of the chosen processes: 0 means that none is known, 2 means two or more. */
uint32_t vv_scope_rank_count(const struct vv_scope *scope);
/* The number of threads that hold chosen steps. */
uint64_t vv_scope_step_tracks(const struct vv_scope *scope);
/* True if slices that begin in this step count; VV_NONE stands for "in no step". If no steps were
 * chosen, everything counts except warm-up steps, on every thread. */
static inline bool vv_step_counts(const struct vv_scope *scope, uint32_t step)
{
    if (step == VV_NONE)
        return scope->every_step;
    return scope->steps[step] ||
           (scope->every_step && (scope->keeps_warm_up || !scope->warm_up[step]));
}

/* True if no process, thread or slice is left out. Steps may be. */
bool vv_scope_has_all_rows(const struct vv_scope *scope);

/* True if there is no filter, or it lets the slice through. */
static inline bool vv_scope_holds(const struct vv_scope *scope, uint32_t slice)
{
    return scope->admitted == NULL || scope->admitted[slice];
}

/* The same scope without the filter and without the choice of threads: all work of the devices
 * counts, because other work waits for it. */
static inline struct vv_scope vv_scope_of_whole_devices(const struct vv_scope *scope)
{
    struct vv_scope all = *scope;
    all.admitted = NULL;
    all.by_thread = false;
    return all;
}

/* The same scope without the filter. For filters that choose operators: all work done for such an
 * operator counts. */
static inline struct vv_scope vv_unfiltered(const struct vv_scope *scope)
{
    struct vv_scope all = *scope;
    all.admitted = NULL;
    return all;
}

#endif
