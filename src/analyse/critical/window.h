/* SPDX-License-Identifier: Apache-2.0 */
/* window.h — the window of time that the critical path is asked for: steps, an annotation, or
 * everything. Thread-compatible. */
#ifndef VV_ANALYSE_CRITICAL_WINDOW_H
#define VV_ANALYSE_CRITICAL_WINDOW_H

#include "derive/select/host_collectives.h"
#include "derive/select/scope.h"

struct vv_critical_window {
    int64_t begin_ns, end_ns;  /* events that begin in [begin, end) count; begin == end: none     */
    uint32_t slice;            /* slice of the step or annotation, if the window is one; VV_NONE  */
};

struct vv_critical_windows {
    struct vv_critical_window *items; /* first those of the scopes; then those of ranks that share
                                         a scope. Such a scope's own window covers theirs        */
    uint32_t count;
    uint32_t *of_process;             /* row of a process -> its window: each rank has its own   */
    char says[200];                      /* "step 7, the median of 20"                           */
};

/* Chooses the steps given by number; otherwise the annotation; otherwise the step of median
 * duration; without steps everything. VARVE_INVALID if there is no such annotation or no instance
 * with that number. */
enum varve_code vv_critical_windows_init(struct vv_critical_windows *windows,
                                         const struct vv_scope *scope,
                                         const struct vv_question *question,
                                         const struct vv_host_collectives *collectives,
                                         struct varve_error *error);

/* The scope of a track's process; 0 if no process is known. */
static inline uint32_t vv_scope_of_track(const struct vv_model *model, uint32_t track)
{
    uint32_t process = model->tracks.process[track];
    return process != VV_NONE ? model->processes.scope[process] : 0;
}

/* The window that counts for a track: its number in items. */
static inline uint32_t vv_window_of_track(const struct vv_critical_windows *windows,
                                          const struct vv_model *model, uint32_t track)
{
    uint32_t process = model->tracks.process[track];
    return process != VV_NONE ? windows->of_process[process] : 0;
}

#endif
