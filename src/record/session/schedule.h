/* SPDX-License-Identifier: Apache-2.0 */
/* schedule.h — the running session's schedule: recording goes on and off with the steps of one thread.
 *
 * While there is one, varve_control_page.steps is not 0 and each step begin and end comes by here. The first
 * thread that steps is the one whose steps count, until it ends. Lock held. doc/control.md */
#ifndef VV_RECORD_SESSION_SCHEDULE_H
#define VV_RECORD_SESSION_SCHEDULE_H

#include "settings/schedule.h"

/* With the session, which records nothing yet. A schedule without active steps is none. */
void vv_schedule_begin(const struct vv_schedule *schedule);
/* Somebody decides otherwise, or the session ends: steps are not counted any more. */
void vv_schedule_end(void);
/* What varve_control_page.steps is to be, unless others stored something. Safe in a signal handler, without the lock. */
uint32_t vv_schedule_steps(void);

#endif
