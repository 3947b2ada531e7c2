/* SPDX-License-Identifier: Apache-2.0 */
/* check.h — the events of a Chrome trace as its consumers' rules look at them, and what was found. Shared by
 * the files of `varve validate` (validate.h). Thread-compatible. */
#ifndef VV_VALIDATE_CHECK_H
#define VV_VALIDATE_CHECK_H

#include "base/intern.h"
#include "validate/validate.h"

/* Bits of vv_check_event.has. */
enum {
    VV_CHECK_NAME = 1, VV_CHECK_CATEGORY = 2, VV_CHECK_TIME = 4, VV_CHECK_TIME_TEXT = 8, VV_CHECK_FRACTION = 16,
    VV_CHECK_DURATION = 32, VV_CHECK_ARGS = 64, VV_CHECK_PID = 128, VV_CHECK_PID_TEXT = 256, VV_CHECK_TID = 512,
    VV_CHECK_TID_TEXT = 1024, VV_CHECK_ID = 2048, VV_CHECK_MEMBER = 4096 /* any at all                   */
};

/* Arguments that rules look at; VV_CHECK_ABSENT where there is none. */
enum vv_check_arg {
    VV_CHECK_CORRELATION, VV_CHECK_EXTERNAL, VV_CHECK_STREAM, VV_CHECK_DEVICE, VV_CHECK_SEQUENCE,
    VV_CHECK_WAITS_ON, VV_CHECK_SYNC_KIND, VV_CHECK_COMMS, /* strings; bits of the five keys      */
    VV_CHECK_ARG_COUNT
};
#define VV_CHECK_ABSENT INT64_MIN

struct vv_check_event {
    uint64_t offset;                  /* of its '{'                                             */
    int64_t begin_ns, duration_ns;
    int64_t pid, tid;                 /* numbers, or strings                                    */
    int64_t args[VV_CHECK_ARG_COUNT];
    uint32_t name, category, id;      /* strings                                                */
    uint16_t has;
    char phase;
};

enum vv_check_rule {
    VV_RULE_NOT_JSON, VV_RULE_CUT, VV_RULE_CUT_OBJECT, VV_RULE_CONTROL, VV_RULE_UTF8, VV_RULE_NO_OBJECT,
    VV_RULE_FILE_NAME, VV_RULE_STEP_NAME, VV_RULE_TIME_TEXT, VV_RULE_RANK, VV_RULE_NO_ARGS, VV_RULE_NO_DEVICE,
    VV_RULE_SHORT_KERNEL, VV_RULE_NO_NAME, VV_RULE_NO_CATEGORY, VV_RULE_NO_TID, VV_RULE_PLUGIN_NAME,
    VV_RULE_NO_DURATION, VV_RULE_OVERLAP, VV_RULE_TID, VV_RULE_PID, VV_RULE_FLOW_END, VV_RULE_FLOW_TRACK,
    VV_RULE_EMPTY, VV_RULE_NEGATIVE, VV_RULE_PRECISION, VV_RULE_OPEN, VV_RULE_UNMATCHED_END, VV_RULE_PID_TWICE,
    VV_RULE_CAUSALITY, VV_RULE_WAIT_ID, VV_RULE_WAIT_PAST, VV_RULE_SYNC_OVERLAP, VV_RULE_COMMS, VV_RULE_SEQUENCE,
    VV_RULE_COUNT
};

struct vv_finding {
    uint64_t count, event, offset; /* of the first; UINT64_MAX: of the whole file                */
    uint32_t name;                 /* string                                                    */
};

struct vv_check {
    struct vv_check_event *events;
    size_t event_count, event_capacity;
    struct vv_intern strings;
    struct vv_finding findings[VV_RULE_COUNT];
    bool is_array, has_events_array, is_kineto, says_rank;
};

void vv_check_deinit(struct vv_check *check);
/* The rule is broken by events[event]. */
void vv_check_note(struct vv_check *check, enum vv_check_rule rule, size_t event);
/* By the file, at `offset` or, UINT64_MAX, nowhere in particular. */
void vv_check_note_file(struct vv_check *check, enum vv_check_rule rule, uint64_t offset);

/* Events and what there is beside them. Text that is no JSON ends the reading and is a finding. validate/read.c */
enum varve_code vv_check_read(struct vv_check *check, struct vv_json *json, struct varve_error *error);

/* Event after event, in the file's order. validate/events.c */
void vv_check_events(struct vv_check *check, const char *file_name);
/* Events of one thread together, flows, launches. validate/order.c, validate/torch.c */
enum varve_code vv_check_order(struct vv_check *check, struct varve_error *error);
enum varve_code vv_check_torch(struct vv_check *check, struct varve_error *error);

static inline const char *vv_check_text(const struct vv_check *check, uint32_t string)
{
    return vv_intern_text(&check->strings, string);
}

#endif
