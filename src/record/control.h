/* SPDX-License-Identifier: Apache-2.0 */
/* control.h — the process's side of its control page: the file behind it, and what other processes
 * did through it.
 *
 * The caller holds the recorder's lock. The page begins as private memory. Once the process has a
 * folder, the page lies over the file PID/.control. If that fails, recording goes on, but no other
 * process can switch it. A forked child reads its parent's page until it has a folder of its own or
 * must write. So whoever stops the parent also stops the forked workers that have recorded nothing
 * yet. doc/control.md */
#ifndef VV_RECORD_CONTROL_H
#define VV_RECORD_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/system/own_folder.h"
#include "ctf/control_page.h"

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
void vv_control_set_steps(uint32_t steps);
/* From now on the running session records these layers, and its trace says so. Returns the former
 * layers. */
uint32_t vv_control_switch(uint32_t layers);
/* The page's file was cut: makes the page private memory with its last content. False: that failed.
 * Async-signal-safe. */
bool vv_control_lost(void);
/* Writes varve.layers records for the switches that other processes made, each with the time of its
 * switch. */
void vv_control_note(void);

#endif
