/* SPDX-License-Identifier: Apache-2.0 */
/* schedule.h — the running session's schedule: the steps of one thread switch recording on and off.
 *
 * While there is a schedule, varve_control_page.steps is not 0, and each begin and end of a step is
 * reported here. The first thread that makes a step is the one whose steps count, until that thread
 * ends. Lock held. doc/control.md */
#ifndef VV_RECORD_SESSION_SCHEDULE_H
#define VV_RECORD_SESSION_SCHEDULE_H

#include "settings/schedule.h"

/* Begins with the session, which records nothing yet. A schedule without active steps is no
 * schedule. */
void vv_schedule_begin(const struct vv_schedule *schedule);
/* The session ends, or somebody switches recording: steps are not counted any more. */
void vv_schedule_end(void);

#endif
