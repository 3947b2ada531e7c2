/* SPDX-License-Identifier: Apache-2.0 */
/* options.h — what the options text means: GE's keys and ours, from a call or from the environment.
 *
 * Used by profiling.c. Nothing is cut and nothing is passed over: an unknown key or value fails, naming the
 * nearest one; a known key without a meaning on this machine is kept and said to be without effect. Allocates
 * nothing. Thread-compatible. The keys, one by one: doc/control.md */
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

#define VV_OPTIONS_TEXT_BYTES 16384u
#define VV_OPTIONS_FILE ".options.json"

struct vv_options {
    const char *source;    /* "the call", or the variable's name; static storage                */
    char output[PATH_MAX]; /* "" = not said                                                     */
    uint32_t layers;       /* never 0                                                           */
    bool paused;           /* wait for a start                                                  */
    struct vv_schedule schedule;
    uint64_t max_bytes;    /* of a process's streams; 0 = no limit                              */
    bool grow;             /* past max_bytes, instead of losing what comes last                 */
    struct vv_keep keep;   /* the flight recorder's; with it there is no max_bytes              */
    struct vv_reserve reserve; /* what of the disk is left to others                             */
    bool is_shared;        /* others may read the trace                                         */
    int dump_signal;       /* 0 = none                                                          */
    bool joins;            /* a session that `varve record` began: its command line goes first  */
    uint64_t given;        /* bit n: row n of the table was said                                */
    size_t text_bytes;
    char text[VV_OPTIONS_TEXT_BYTES]; /* as given                                               */
};

/* On failure *options is not to be used. */
enum varve_code vv_options_parse(struct vv_options *out_options, const char *text,
                                 struct varve_error *error);

/* VARVE_OPTIONS, then PROFILING_MODE, then GE_PROFILING_MODE. *out_asked false: none of them asks for
 * recording. */
enum varve_code vv_options_from_environment(struct vv_options *out_options, bool *out_asked,
                                            struct varve_error *error);

/* "in effect", "accepted, no effect here: …", or NULL: not said. Static storage. */
const char *vv_options_effect(const struct vv_options *options, const char *key);

/* Fails unless `name` is one of the values of aic_metrics. */
enum varve_code vv_options_check_metrics(const char *name, struct varve_error *error);

/* FOLDER/.options.json: the text, where it came from, and what in it has no effect. 0 or an errno number. */
VV_MUST_USE int vv_options_write(const struct vv_options *options, const struct vv_own_folder *folder);

#endif
