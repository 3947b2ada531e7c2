/* SPDX-License-Identifier: Apache-2.0 */
/* options.h — the meaning of the options text: GE's keys and Varve's own, from a call or from the
 * environment.
 *
 * No option is ignored silently. An unknown key or value fails, with the nearest known one in the
 * message. A known key that has no meaning on this machine is kept and reported as without effect.
 * Allocates nothing. Thread-compatible. doc/control.md lists the keys. */
#ifndef VV_RECORD_OPTIONS_OPTIONS_H
#define VV_RECORD_OPTIONS_OPTIONS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/system/own_folder.h"
#include "settings/keep_last.h"
#include "settings/reserve.h"
#include "settings/schedule.h"
#include "varve/control.h"

#define VV_OPTIONS_TEXT_BYTES 16384u
#define VV_POINT_NAME_BYTES 1024u
#define VV_OPTIONS_FILE ".options.json"
#define VV_OPTIONS_METRICS_BYTES 128u

struct vv_options {
    const char *source;    /* "the call", or the variable's name; static storage                */
    char output[PATH_MAX]; /* "" = not given                                                    */
    uint32_t layers;       /* never 0                                                           */
    bool paused;           /* recording waits for a start                                       */
    struct vv_schedule schedule;
    uint64_t max_bytes;    /* for the streams of a process; 0 = no limit                        */
    bool grow;             /* may exceed max_bytes instead of losing the last records           */
    struct vv_keep keep;   /* flight recorder's limits; then max_bytes is 0                     */
    struct vv_reserve reserve; /* disk space that is left to others                              */
    bool is_shared;        /* others may read the trace                                         */
    int dump_signal;       /* 0 = none                                                          */
    char fp_point[VV_POINT_NAME_BYTES]; /* "" = not given; as is bp_point                       */
    char bp_point[VV_POINT_NAME_BYTES];
    char metrics[VV_OPTIONS_METRICS_BYTES]; /* counters of each range; "" = none                 */
    bool joins;            /* `varve record` began the session: its command line has priority   */
    uint64_t given;        /* bit n: row n of the table was given                               */
    size_t text_bytes;
    char text[VV_OPTIONS_TEXT_BYTES]; /* as given                                               */
};

/* On failure *out_options must not be used. */
enum varve_code vv_options_parse(struct vv_options *out_options, const char *text,
                                 struct varve_error *error);

/* Reads VARVE_OPTIONS; if that is not set PROFILING_MODE, and then GE_PROFILING_MODE. *out_asked
 * false: none of them asks for recording. */
enum varve_code vv_options_from_environment(struct vv_options *out_options, bool *out_asked,
                                            struct varve_error *error);

#define VV_OPTIONS_KEY_OF_MAP "ge.exec.profilingOptions"

/* Finds the options text in a map of GE's. NULL: the map does not ask for recording. */
enum varve_code vv_options_of_map(const struct varve_profiling_entry *entries, size_t count,
                                  const char **out_text, struct varve_error *error);

/* Returns "in effect", or "accepted, no effect here: …", or NULL if the key was not given. Static
 * storage. */
const char *vv_options_effect(const struct vv_options *options, const char *key);

/* Fails unless `name` is one of the values of aic_metrics. */
enum varve_code vv_options_check_metrics(const char *name, struct varve_error *error);

/* Writes FOLDER/.options.json: the text, its source, and the keys that have no effect. Returns 0 or
 * an errno number. */
VV_MUST_USE int vv_options_write(const struct vv_options *options,
                                 const struct vv_own_folder *folder);

#endif
