/* SPDX-License-Identifier: Apache-2.0 */
/* control_page.h — the page through which another process switches recording on and off, while it runs.
 *
 * A recorded process maps its own copy of struct varve_control (include/varve/varve.h) onto the file
 * PID/.control of its trace folder; `varve start`, `stop` and `status` map the same file. The words that the
 * inline functions read come first. Written by the process under its recorder's lock, by others under
 * flock(2) on the file; all fields that both touch are accessed atomically. doc/control.md
 * Invariant:   noted <= asked <= noted + VV_CONTROL_SWITCHES,  and switch n lies at switches[n modulo that]. */
#ifndef VV_CTF_CONTROL_PAGE_H
#define VV_CTF_CONTROL_PAGE_H

#include <stddef.h>
#include <stdint.h>

#include "varve/varve.h"

#define VV_CONTROL_FILE ".control"
#define VV_CONTROL_MAGIC UINT64_C(0x4c52544345565256) /* "VRVECTRL" */
#define VV_CONTROL_VERSION 1u
#define VV_CONTROL_SWITCHES 64u

struct vv_control_switch {
    uint64_t ticks;  /* when, by the clock that the records carry; 0 = not known               */
    uint64_t layers; /* from then on                                                           */
};

struct vv_control_page {
    uint32_t layers, epoch, steps; /* struct varve_control                                      */
    uint32_t version;              /* VV_CONTROL_VERSION; of everything from here on            */
    uint64_t magic;
    uint64_t pid;                  /* whose page it is                                          */
    uint32_t clock_is_counter;     /* which clock `ticks` are of: base/system/clock.h                  */
    uint32_t wanted;               /* the mask that a start without one means                   */
    uint64_t asked;                /* switches made by other processes so far; written by them  */
    uint64_t noted;                /* … of them in the trace; written by the process            */
    struct vv_control_switch switches[VV_CONTROL_SWITCHES];
};
_Static_assert(sizeof(struct varve_control) == 4096, "one page");
_Static_assert(sizeof(struct vv_control_page) <= sizeof(struct varve_control), "fits the page");
_Static_assert(offsetof(struct vv_control_page, steps) == offsetof(struct varve_control, steps),
               "the same words");

/* Makes a process record `layers` from now on, 0 = nothing, as seen from another process that holds the
 * file's lock. Ends its schedule. Returns the former mask. */
uint32_t vv_control_page_switch(struct vv_control_page *page, uint32_t layers);

#endif
