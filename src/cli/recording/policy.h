/* SPDX-License-Identifier: Apache-2.0 */
/* policy.h — how much `varve record` keeps, and from which end: --keep, --max-size, --when-full,
 * and --dump-on. Thread-compatible. doc/control.md */
#ifndef VV_CLI_RECORDING_POLICY_H
#define VV_CLI_RECORDING_POLICY_H

#include <stdbool.h>

#include "cli/line/arguments.h"
#include "model/model.h"
#include "settings/keep_last.h"
#include "settings/reserve.h"

struct vv_record_policy {
    struct vv_keep keep; /* flight recorder; both 0 = keep everything */
    uint64_t max_bytes;  /* 0 = no limit */
    bool grow;           /* continue beyond max_bytes */
    char keep_text[32];  /* texts for the library's environment; "" = not given */
    struct vv_reserve reserve;
    char standard_reserve[32]; /* the default: one for all processes of the trace */
    const char *max_size, *when_full, *dump_on, *reserve_text;
};

/* Reads the options. If they contradict each other, VARVE_INVALID with one sentence. Texts are
 * borrowed from the arguments. */
enum varve_code vv_record_policy_read(const struct vv_arguments *arguments,
                                      struct vv_record_policy *out_policy,
                                      struct varve_error *error);

/* Called when the trace folder exists: decides how much of its disk is left to others. */
void vv_record_policy_begin(struct vv_record_policy *policy, const char *trace);

/* Says on standard error which processes of the trace passed --max-size, if they may. */
void vv_record_policy_say_grown(const struct vv_record_policy *policy, const char *trace);

/* Says on standard error why records were lost, as far as that is still known, and what to do. */
void vv_record_policy_say_lost(const struct vv_record_policy *policy, const char *trace,
                               const struct vv_model *model);

/* If less than `bytes` are free where the trace is, says so and returns true. */
bool vv_record_policy_say_room(const char *trace, uint64_t bytes);

/* Did any process of the trace record more than its flight recorder kept? */
bool vv_record_policy_forgot(const struct vv_model *model);

#endif
