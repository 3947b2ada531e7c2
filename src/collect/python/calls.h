/* SPDX-License-Identifier: Apache-2.0 */
/* calls.h — records every call of a function, as a range of the thread that makes it.
 *
 * The caller holds the interpreter's lock, in the main interpreter. Calls of a subinterpreter are
 * not recorded. python/profile.c records up to 3.11, python/monitoring.c from 3.12 on. */
#ifndef VV_COLLECT_PYTHON_CALLS_H
#define VV_COLLECT_PYTHON_CALLS_H

#include "collect/python/code.h"
#include "record/outliving_range.h"
#include "varve/varve.h"

#define VV_PYTHON_SAYS_BYTES 160u

/* ---- the two ways. `out_says` becomes how it is done, or why it is not done. ---- */

VV_MUST_USE bool vv_python_profile_begin(const struct vv_python_api *api,
                                         char out_says[VV_PYTHON_SAYS_BYTES]);
VV_MUST_USE bool vv_python_monitoring_begin(const struct vv_python_api *api,
                                            char out_says[VV_PYTHON_SAYS_BYTES]);
/* End it. Afterwards it may begin again. */
void vv_python_profile_end(void);
void vv_python_monitoring_end(void);

/* Handles an audit event, in a thread that may be new. Returns what is not traced from now on, once
 * for each reason; or NULL. */
const char *vv_python_profile_hear(const char *event);

/* ---- the open calls of a thread: those that are recorded, and those too deep to be recorded
 * ---- */

extern _Thread_local uint32_t vv_python_depth;
extern uint32_t vv_python_depth_max;

static inline void vv_python_enter_call(struct varve_site *site)
{
    if (vv_python_depth++ < vv_python_depth_max && varve_layers() != 0)
        vv_frame_begin(site);
}

/* Also called when a frame returns that began before recording did. */
static inline void vv_python_leave_call(void)
{
    if (vv_python_depth != 0 && --vv_python_depth < vv_python_depth_max && varve_layers() != 0)
        vv_frame_end();
}

/* Other ranges that are open between these calls stay open. */
static inline void vv_python_leave_all(void)
{
    while (vv_python_depth != 0)
        vv_python_leave_call();
}

#endif
