/* SPDX-License-Identifier: Apache-2.0 */
/* control.h — the process's side of its control page: the file behind it, and what others did through it.
 *
 * Called by session.c, with the recorder's lock held. The page begins as private memory. Once the process has
 * a folder it lies over the file PID/.control; where that fails recording goes on and nobody else can switch
 * it. A forked child shares its parent's page, reading only, until it has a folder of its own or must write:
 * so who stops the parent stops the workers that it forked and that have recorded nothing yet.
 * doc/control.md */
#ifndef VV_RECORD_SESSION_CONTROL_H
#define VV_RECORD_SESSION_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/system/own_folder.h"
#include "ctf/control_page.h"

/* The page, wherever the dynamic linker put it: a program may hold the variable itself. */
static inline struct vv_control_page *vv_control(void)
{
    return (struct vv_control_page *)(void *)&varve_control_page;
}

/* The session has a folder, whose stream says that `layers` are recorded. */
void vv_control_open(const struct vv_own_folder *folder, uint32_t layers);
/* The session is over: the page is private again, and its file is gone. */
void vv_control_close(void);
/* The process ends, and may still record: only the file's name goes. */
void vv_control_forget(void);
/* In a forked child. */
void vv_control_forked(void);
/* Before this process stores into its page: it is not the parent's any more. */
void vv_control_own(void);
/* The page's file was cut: the page is private memory now and says what it said last. Async-signal-safe. False:
 * it could not be done. */
bool vv_control_lost(void);
/* The trace says, or is about to say, that `layers` are recorded. */
void vv_control_recorded(uint32_t layers);
/* Writes varve.layers records for switches that others made; each carries the time of the switch. */
void vv_control_note(void);

#endif
