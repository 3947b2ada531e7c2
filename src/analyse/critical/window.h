/* SPDX-License-Identifier: Apache-2.0 */
/* window.h — the window of time that the critical path is asked for: steps, an annotation, or
 * everything. Thread-compatible. */
#ifndef VV_ANALYSE_CRITICAL_WINDOW_H
#define VV_ANALYSE_CRITICAL_WINDOW_H

#include "derive/select/scope.h"

struct vv_critical_window {
    int64_t begin_ns, end_ns;  /* events that begin in [begin, end) count; begin == end: none     */
    uint32_t slice;            /* slice of the step or annotation, if the window is one; VV_NONE  */
};

struct vv_critical_windows {
    struct vv_critical_window *of_scope; /* by the scope of a process: each rank has a window of its
                                            own */
    uint32_t scope_count;
    char says[200];                      /* "step 7, the median of 20"                           */
};

/* Chooses the steps given by number; otherwise the annotation; otherwise the step of median
 * duration; without steps everything. VARVE_INVALID if there is no such annotation or no instance
 * with that number. */
enum varve_code vv_critical_windows_init(struct vv_critical_windows *windows,
                                         const struct vv_scope *scope,
                                         const struct vv_question *question,
                                         struct varve_error *error);

/* The scope of a track's process; 0 if no process is known. */
static inline uint32_t vv_scope_of_track(const struct vv_model *model, uint32_t track)
{
    uint32_t process = model->tracks.process[track];
    return process != VV_NONE ? model->processes.scope[process] : 0;
}

#endif
