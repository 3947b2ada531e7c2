/* SPDX-License-Identifier: Apache-2.0 */
/* policy.h — how much `varve record` keeps, and which end of it: --keep, --max-size, --when-full, and
 * --dump-on. Thread-compatible. doc/control.md */
#ifndef VV_CLI_RECORDING_POLICY_H
#define VV_CLI_RECORDING_POLICY_H

#include <stdbool.h>

#include "cli/line/arguments.h"
#include "model/model.h"
#include "settings/keep_last.h"
#include "settings/reserve.h"

struct vv_record_policy {
    struct vv_keep keep; /* of a flight recorder; both 0 = everything */
    uint64_t max_bytes;  /* 0 = no limit */
    bool grow;           /* past max_bytes */
    char keep_text[32];  /* the library's environment; "" = not said */
    struct vv_reserve reserve;
    char standard_reserve[32]; /* where none was said: one for all processes of the trace */
    const char *max_size, *when_full, *dump_on, *reserve_text;
};

/* Refuses what contradicts itself, in one sentence. Texts are borrowed from the arguments. */
enum varve_code vv_record_policy_read(const struct vv_arguments *arguments,
                                      struct vv_record_policy *out_policy, struct varve_error *error);

/* The trace folder is there: decides how much of its disk is left to others. */
void vv_record_policy_begin(struct vv_record_policy *policy, const char *trace);

/* Says on standard error which processes of the trace passed --max-size, where they may. */
void vv_record_policy_say_grown(const struct vv_record_policy *policy, const char *trace);

/* Says on standard error what records were lost to, as far as it can be told afterwards, and what to do. */
void vv_record_policy_say_lost(const struct vv_record_policy *policy, const char *trace, const struct vv_model *model);

/* Says so if less than `bytes` are left where the trace lies. */
bool vv_record_policy_say_room(const char *trace, uint64_t bytes);

/* Has any process of the trace more than its flight recorder kept? */
bool vv_record_policy_forgot(const struct vv_model *model);

#endif
