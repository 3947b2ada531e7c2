/* SPDX-License-Identifier: Apache-2.0 */
/* window.h — which time the critical path is asked for: a step, an annotation, or all. Thread-compatible. */
#ifndef VV_ANALYSE_CRITICAL_WINDOW_H
#define VV_ANALYSE_CRITICAL_WINDOW_H

#include "derive/select/scope.h"

struct vv_critical_window {
    int64_t begin_ns, end_ns;  /* events that begin in [begin, end) count; begin == end: none     */
    uint32_t slice;            /* the step or annotation itself, if a slice says it; VV_NONE      */
};

struct vv_critical_windows {
    struct vv_critical_window *of_scope; /* by the scope of a process: each rank has its own     */
    uint32_t scope_count;
    char says[200];                      /* "step 7, the median of 20"                           */
};

/* The steps chosen by number, else the annotation, else the step of median duration, else all. VARVE_INVALID: no such
 * annotation, or not so many of it. De-initialise also after a failure. */
enum varve_code vv_critical_windows_init(struct vv_critical_windows *windows, const struct vv_scope *scope,
                                         const struct vv_question *question, struct varve_error *error);
void vv_critical_windows_deinit(struct vv_critical_windows *windows);

/* The scope of a track's process; 0 where no process is known. */
static inline uint32_t vv_scope_of_track(const struct vv_model *model, uint32_t track)
{
    uint32_t process = model->tracks.process[track];
    return process != VV_NONE ? model->processes.scope[process] : 0;
}

#endif
