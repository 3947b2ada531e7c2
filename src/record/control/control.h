/* SPDX-License-Identifier: Apache-2.0 */
/* control.h — the process's side of its control page: the file behind it, what other processes did
 * through it, and who is told.
 *
 * The caller holds the recorder's lock, except where this page says otherwise. The page begins as
 * private memory. Once the process has a folder, the page lies over the file PID/.control. If that
 * fails, recording goes on, but no other process can switch it. A forked child reads its parent's
 * page until it has a folder of its own or must write. So whoever stops the parent also stops the
 * forked workers that have recorded nothing yet. doc/control.md */
#ifndef VV_RECORD_CONTROL_CONTROL_H
#define VV_RECORD_CONTROL_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/system/own_folder.h"
#include "ctf/control_page.h"
#include "record/control/switch_queue.h"

/* The page, wherever the dynamic linker put it: a program may contain the variable itself. */
static inline struct vv_control_page *vv_control(void)
{
    return (struct vv_control_page *)(void *)&varve_control_page;
}

/* The session now has a folder, and its stream says that `layers` are recorded. */
void vv_control_open(const struct vv_own_folder *folder, uint32_t layers);
/* Ends with the session: makes the page private again and removes its file. */
void vv_control_close(void);
/* Removes only the file's name: the process ends, but may still record. */
void vv_control_forget(void);
/* In a forked child. */
void vv_control_forked(void);
/* These two store into the page what holds from now on. The trace does not change. */
void vv_control_set_layers(uint32_t layers);
void vv_control_count_steps(bool counted);
/* This process now has observers, or has none any more (doc/observers.md). */
void vv_control_observe(bool observed);
/* From now on the running session records these layers, and its trace says so. `asker` is an enum
 * varve_profiling_asker whose switch callbacks are told of; 0 = they are not. A switch by
 * VARVE_PROFILING_BY_PROGRAM is told also if nothing changes. Returns the former layers. */
uint32_t vv_control_switch(uint32_t layers, uint32_t asker);
/* The page's file was cut: makes the page private memory with its last content. False: that failed.
 * Async-signal-safe. */
bool vv_control_lost(void);
/* Writes varve.layers records for the switches that other processes made, each with the time of its
 * switch, and puts these switches into the queue of those to tell. */
void vv_control_note(void);

/* ---- without the lock ---- */

/* From now on `tell` is called, without the lock, where callbacks may be told of switches. NULL:
 * there are no callbacks any more. Returns the layers that are recorded now; later switches are
 * told. */
uint32_t vv_control_listen(void (*tell)(void));
/* Takes the oldest switch that callbacks are to be told of. False: there is none. *out_left: how
 * many are left. */
VV_MUST_USE bool vv_control_take(struct vv_told_switch *out, size_t *out_left);

static inline bool vv_control_has_news(void)
{
    return (__atomic_load_n(&varve_control_page.steps, __ATOMIC_RELAXED) & VV_STEPS_TOLD) != 0;
}

/* A safe point of the calling thread: calls `tell` if there is something to tell. */
void vv_control_tell(void);

#endif
