/* SPDX-License-Identifier: Apache-2.0 */
/* session.h — a session begins, goes on in forked children, pauses and ends. The public functions
 * and the control API use this. */
#ifndef VV_RECORD_SESSION_SESSION_H
#define VV_RECORD_SESSION_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "settings/reserve.h"
#include "settings/schedule.h"
#include "varve/varve.h"

/* How a session begins. */
struct vv_session_manner {
    const char *begun_by;  /* completes "belongs to …"; NULL = varve_session_stop may end it     */
    bool is_shared;        /* others may read the trace                                          */
    bool by_command;       /* `varve record` has made the trace with its lost page: lost.h */
    bool folder_now;       /* make the folder now, not at the first record                       */
    bool paused;           /* nothing is recorded until somebody asks for it                     */
    struct vv_schedule schedule; /* which steps are recorded; active 0 = all                     */
    uint64_t max_bytes;    /* for this process's streams; 0 = no limit                           */
    bool grow;             /* may exceed max_bytes instead of losing the last records            */
    struct vv_reserve reserve; /* disk space that is left to others                              */
    /* Of the flight recorder (record/stream/flight_recorder.h); if both are 0, everything is
     * kept. */
    uint64_t keep_bytes;
    uint64_t keep_ns;
    int dump_signal;       /* 0 = none: dump.h                                                   */
    const char *metrics;   /* counters of each range: counts.h. NULL = the environment's         */
};

/* Makes or joins the trace folder, and begins a session in it. Takes the lock. */
enum varve_code vv_session_begin(const struct varve_session_options *options,
                                 const struct vv_session_manner *manner, struct varve_error *error);

/* Does what varve_layers_set does. `asker`: as in vv_control_switch. */
uint32_t vv_session_switch(uint32_t layers, uint32_t asker);

/* The functions below need the lock. */
/* From now on the running session, which others began, does what the options say. */
void vv_session_follow(uint32_t layers, const struct vv_schedule *schedule);
/* Ends the running session. */
void vv_session_end(void);

#endif
