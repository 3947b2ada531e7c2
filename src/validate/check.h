/* SPDX-License-Identifier: Apache-2.0 */
/* check.h — the events of a Chrome trace as the rules of its consumers need them, and the findings.
 * The files of `varve validate` share it (validate.h). Thread-compatible. */
#ifndef VV_VALIDATE_CHECK_H
#define VV_VALIDATE_CHECK_H

#include "base/intern.h"
#include "validate/validate.h"

/* Bits of vv_check_event.has. */
enum {
    VV_CHECK_NAME = 1, VV_CHECK_CATEGORY = 2, VV_CHECK_TIME = 4, VV_CHECK_TIME_TEXT = 8,
    VV_CHECK_FRACTION = 16,
    VV_CHECK_DURATION = 32, VV_CHECK_ARGS = 64, VV_CHECK_PID = 128, VV_CHECK_PID_TEXT = 256,
    VV_CHECK_TID = 512,
    /* MEMBER: the event has any member at all */
    VV_CHECK_TID_TEXT = 1024, VV_CHECK_ID = 2048, VV_CHECK_MEMBER = 4096
};

/* Arguments that rules use; VV_CHECK_ABSENT if the event does not have one. */
enum vv_check_arg {
    VV_CHECK_CORRELATION, VV_CHECK_EXTERNAL, VV_CHECK_STREAM, VV_CHECK_DEVICE, VV_CHECK_SEQUENCE,
    /* WAITS_ON, SYNC_KIND: strings; COMMS: a bit for each of five keys */
    VV_CHECK_WAITS_ON, VV_CHECK_SYNC_KIND, VV_CHECK_COMMS,
    VV_CHECK_ARG_COUNT
};
#define VV_CHECK_ABSENT INT64_MIN

struct vv_check_event {
    uint64_t offset;                  /* offset of its '{'                                      */
    int64_t begin_ns, duration_ns;
    int64_t pid, tid;                 /* numbers, or strings                                    */
    int64_t args[VV_CHECK_ARG_COUNT];
    uint32_t name, category, id;      /* strings                                                */
    uint16_t has;
    char phase;
};

enum vv_check_rule {
    VV_RULE_NOT_JSON, VV_RULE_CUT, VV_RULE_CUT_OBJECT, VV_RULE_CONTROL, VV_RULE_UTF8,
    VV_RULE_NO_OBJECT,
    VV_RULE_FILE_NAME, VV_RULE_STEP_NAME, VV_RULE_TIME_TEXT, VV_RULE_RANK, VV_RULE_NO_ARGS,
    VV_RULE_NO_DEVICE,
    VV_RULE_SHORT_KERNEL, VV_RULE_NO_NAME, VV_RULE_NO_CATEGORY, VV_RULE_NO_TID, VV_RULE_PLUGIN_NAME,
    VV_RULE_NO_DURATION, VV_RULE_OVERLAP, VV_RULE_TID, VV_RULE_PID, VV_RULE_FLOW_END,
    VV_RULE_FLOW_TRACK,
    VV_RULE_EMPTY, VV_RULE_NEGATIVE, VV_RULE_PRECISION, VV_RULE_OPEN, VV_RULE_UNMATCHED_END,
    VV_RULE_PID_TWICE,
    VV_RULE_CAUSALITY, VV_RULE_WAIT_ID, VV_RULE_WAIT_PAST, VV_RULE_SYNC_OVERLAP, VV_RULE_COMMS,
    VV_RULE_SEQUENCE,
    VV_RULE_COUNT
};

struct vv_finding {
    uint64_t count, event, offset; /* event, offset: the first place; UINT64_MAX: the whole file */
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
/* Notes that events[event] breaks the rule. */
void vv_check_note(struct vv_check *check, enum vv_check_rule rule, size_t event);
/* Notes that the file breaks the rule, at `offset`, or at UINT64_MAX: in no particular place. */
void vv_check_note_file(struct vv_check *check, enum vv_check_rule rule, uint64_t offset);

/* Reads the events and the other data of the file. If the text is not JSON, reading ends there, and
 * that is a finding. validate/read.c */
enum varve_code vv_check_read(struct vv_check *check, struct vv_json *json,
                              struct varve_error *error);

/* Checks one event after the other, in the file's order. validate/events.c */
void vv_check_events(struct vv_check *check, const char *file_name);
/* Checks events together: those of one thread, flows, launches. validate/order.c,
 * validate/torch.c */
enum varve_code vv_check_order(struct vv_check *check, struct varve_error *error);
enum varve_code vv_check_torch(struct vv_check *check, struct varve_error *error);

static inline const char *vv_check_text(const struct vv_check *check, uint32_t string)
{
    return vv_intern_text(&check->strings, string);
}

#endif
