/* SPDX-License-Identifier: Apache-2.0 */
/* control_page.h — the page through which another process switches recording on and off while a
 * program runs.
 *
 * A recorded process maps its struct varve_control (include/varve/varve.h) onto the file
 * PID/.control of its trace folder; `varve start`, `stop` and `status` map the same file. The words
 * that the inline functions read come first. The process writes under its recorder's lock, others
 * write under flock(2) on the file. Fields that both sides access are atomic. doc/control.md
 * Switch n is at switches[n % VV_CONTROL_SWITCHES] while that place is free, and otherwise behind
 * the page, in the file alone, where the last VV_CONTROL_KEPT have a place each. The number in an
 * entry says whether it is the one. */
#ifndef VV_CTF_CONTROL_PAGE_H
#define VV_CTF_CONTROL_PAGE_H

#include <stddef.h>
#include <stdint.h>

#include "varve/varve.h"

#define VV_CONTROL_FILE ".control"
#define VV_CONTROL_MAGIC UINT64_C(0x4c52544345565256) /* "VRVECTRL" */
#define VV_CONTROL_VERSION 3u
#define VV_CONTROL_SWITCHES 64u
#define VV_CONTROL_KEPT 4096u

/* Bits of varve_control.steps. */
#define VV_STEPS_COUNTED 1u /* by a schedule                                                    */
#define VV_STEPS_TOLD VARVE_STEPS_TOLD /* callbacks are to be told of a switch                  */

struct vv_control_switch {
    uint64_t number; /* 1 + the number of switches before it                                   */
    uint64_t ticks;  /* instant of the switch, in the records' clock; 0 = not known            */
    uint32_t layers; /* mask from then on                                                      */
    uint32_t pid;    /* the process that asked                                                 */
};

struct vv_control_page {
    uint32_t layers;               /* these four are struct varve_control                       */
    uint32_t observers;            /* how many of the processes that share the page have any    */
    uint32_t steps, epoch;
    uint64_t magic;
    uint32_t version;              /* VV_CONTROL_VERSION; of all fields                         */
    uint32_t listens;              /* not 0: set VV_STEPS_TOLD after a switch                   */
    uint64_t pid;                  /* the process that the page belongs to                      */
    uint32_t clock_is_counter;     /* the clock of `ticks`: base/system/clock.h */
    uint32_t wanted;               /* the mask for a start without a mask                       */
    uint64_t asked;                /* switches made by other processes so far; these write it   */
    uint64_t noted;                /* … that are in the trace; the recorded process writes it   */
    struct vv_control_switch switches[VV_CONTROL_SWITCHES];
    /* Fields from here on are 0 where a process does not know them: record/stream/hand_over.h. */
    uint32_t giver;                /* the process, if it holds data elsewhere; its number       */
    uint32_t hand_overs_asked;     /* how often anybody asked it to hand these over             */
    uint32_t hand_overs_done;      /* of these; the recorded process writes it                  */
    uint32_t reserved;
};
_Static_assert(sizeof(struct varve_control) == 4096, "one page");
_Static_assert(sizeof(struct vv_control_page) <= sizeof(struct varve_control), "fits the page");
_Static_assert(offsetof(struct vv_control_page, epoch) == offsetof(struct varve_control, epoch),
               "the same words");

/* Where switch `number` stands in the page's file if it has no place in the page. */
static inline uint64_t vv_control_offset(uint64_t number)
{
    return sizeof(struct varve_control) +
           (number - 1) % VV_CONTROL_KEPT * sizeof(struct vv_control_switch);
}

/* Makes another process record `layers` from now on; 0 = nothing. `file` is the page's file, open
 * for writing; the caller holds its lock. Ends the process's schedule. Returns the former mask. */
uint32_t vv_control_page_switch(struct vv_control_page *page, int file, uint32_t layers);

#endif
