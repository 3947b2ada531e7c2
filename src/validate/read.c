/* SPDX-License-Identifier: Apache-2.0 */
/* read.c — reads the text of a Chrome trace into events that rules can check. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "validate/check.h"

#define NS_PER_US 1000

static enum varve_code text_of(struct vv_check *check, const struct vv_json *json, uint32_t *out,
                               struct varve_error *error)
{
    return vv_intern_add(&check->strings, json->text, json->length, out, error);
}

/* Returns the largest number if the result does not fit. */
static int64_t append_digit(int64_t number, int digit)
{
    return number > (INT64_MAX - digit) / 10 ? INT64_MAX : number * 10 + digit;
}

/* Reads microseconds from decimal text, exactly. Digits below a nanosecond are dropped; a number
 * with an exponent goes through a double. False: it is no number. */
static bool read_us(const char *text, int64_t *out_ns, bool *out_has_fraction)
{
    const char *at = text + (*text == '-');
    int64_t ns = 0;
    int decimals = -1;
    for (; (*at >= '0' && *at <= '9') || (*at == '.' && decimals < 0); at++) {
        if (*at == '.')
            decimals = 0;
        else if (decimals < 3)
            ns = append_digit(ns, *at - '0'), decimals += decimals >= 0;
    }
    for (int i = decimals < 0 ? 0 : decimals; i < 3; i++)
        ns = append_digit(ns, 0);
    *out_has_fraction = decimals >= 0 && ns % NS_PER_US != 0;
    *out_ns = *text == '-' ? -ns : ns;
    if (*at == 'e' || *at == 'E') {
        double value = strtod(text, NULL) * NS_PER_US;
        *out_ns = value > -9e18 && value < 9e18 ? (int64_t)value : 0;
        return true;
    }
    return *at == '\0' && at != text;
}

static void take_time(const struct vv_json *json, struct vv_check_event *event)
{
    bool has_fraction = false;
    if ((json->token != VV_JSON_INTEGER && json->token != VV_JSON_REAL &&
         json->token != VV_JSON_STRING) ||
        !read_us(json->text, &event->begin_ns, &has_fraction))
        return;
    event->has |=
        (uint16_t)(VV_CHECK_TIME | (json->token == VV_JSON_STRING ? VV_CHECK_TIME_TEXT : 0) |
                   (has_fraction ? VV_CHECK_FRACTION : 0));
}

static enum varve_code take_number_or_text(struct vv_check *check, const struct vv_json *json,
                                           int64_t *out, uint16_t *has, uint16_t present,
                                           struct varve_error *error)
{
    uint32_t string;
    if (json->token == VV_JSON_INTEGER) {
        *out = json->integer;
        *has |= present;
    } else if (json->token == VV_JSON_STRING || json->token == VV_JSON_REAL) {
        VV_TRY(text_of(check, json, &string, error));
        *out = string;
        *has |= (uint16_t)(present | present << 1); /* the next bit: it is a text                */
    }
    return VARVE_OK;
}

/* ---- arguments ---- */

static const struct { const char *key; enum vv_check_arg arg; } argument_keys[] = {
    { "correlation", VV_CHECK_CORRELATION },
    { "External id", VV_CHECK_EXTERNAL },
    { "external id", VV_CHECK_EXTERNAL },
    { "stream", VV_CHECK_STREAM },
    { "device", VV_CHECK_DEVICE },
    { "Sequence number", VV_CHECK_SEQUENCE },
    { "wait_on_cuda_event_record_corr_id", VV_CHECK_WAITS_ON },
    { "cuda_sync_kind", VV_CHECK_SYNC_KIND },
};

static const char *const comms_keys[] = { "Collective name", "dtype", "In msg nelems",
                                          "Out msg nelems",
                                          "Group size" };

static enum varve_code read_args(struct vv_check *check, struct vv_json *json,
                                 struct vv_check_event *event, struct varve_error *error)
{
    if (json->token != VV_JSON_OBJECT)
        return vv_json_skip(json, error);
    event->has |= VV_CHECK_ARGS;
    for (;;) {
        int64_t *place = NULL;
        VV_TRY(vv_json_next(json, error));
        if (json->token != VV_JSON_NAME)
            return VARVE_OK;
        for (size_t i = 0; i < sizeof argument_keys / sizeof *argument_keys && place == NULL; i++)
            if (vv_json_is(json, argument_keys[i].key))
                place = &event->args[argument_keys[i].arg];
        for (size_t i = 0; i < sizeof comms_keys / sizeof *comms_keys; i++)
            if (vv_json_is(json, comms_keys[i]))
                event->args[VV_CHECK_COMMS] |= INT64_C(1) << i;
        VV_TRY(vv_json_next(json, error));
        if (place != NULL && json->token == VV_JSON_INTEGER) {
            *place = json->integer;
        } else if (place == &event->args[VV_CHECK_SYNC_KIND] && json->token == VV_JSON_STRING) {
            uint32_t string;
            VV_TRY(text_of(check, json, &string, error));
            *place = string;
        } else {
            VV_TRY(vv_json_skip(json, error));
        }
    }
}

/* ---- events ---- */

enum member { PHASE, NAME, CATEGORY, TIME, DURATION, PID, TID, ID, ARGS, MEMBER_COUNT };
static const char *const member_names[] = { "ph", "name", "cat", "ts", "dur", "pid", "tid", "id",
                                            "args" };

static enum varve_code take_text(struct vv_check *check, const struct vv_json *json, uint32_t *out,
                                 uint16_t *has, uint16_t bit, struct varve_error *error)
{
    if (json->token != VV_JSON_STRING && json->token != VV_JSON_INTEGER &&
        json->token != VV_JSON_REAL)
        return VARVE_OK;
    *has |= bit;
    return text_of(check, json, out, error);
}

static enum varve_code take_member(struct vv_check *check, struct vv_json *json, size_t member,
                                   struct vv_check_event *event, struct varve_error *error)
{
    bool has_fraction;
    switch (member) {
    case PHASE:
        event->phase = json->token == VV_JSON_STRING ? json->text[0] : '\0';
        break;
    case NAME:
        VV_TRY(take_text(check, json, &event->name, &event->has, VV_CHECK_NAME, error));
        break;
    case CATEGORY:
        VV_TRY(take_text(check, json, &event->category, &event->has, VV_CHECK_CATEGORY, error));
        break;
    case ID:
        VV_TRY(take_text(check, json, &event->id, &event->has, VV_CHECK_ID, error));
        break;
    case TIME:
        take_time(json, event);
        break;
    case DURATION:
        if (json->text != NULL && (json->token == VV_JSON_INTEGER || json->token == VV_JSON_REAL ||
                                   json->token == VV_JSON_STRING) &&
            read_us(json->text, &event->duration_ns, &has_fraction))
            event->has |= VV_CHECK_DURATION;
        break;
    case PID:
        VV_TRY(take_number_or_text(check, json, &event->pid, &event->has, VV_CHECK_PID, error));
        break;
    case TID:
        VV_TRY(take_number_or_text(check, json, &event->tid, &event->has, VV_CHECK_TID, error));
        break;
    case ARGS:
        return read_args(check, json, event, error);
    default:
        break;
    }
    return vv_json_skip(json, error);
}

static enum varve_code read_event(struct vv_check *check, struct vv_json *json,
                                  struct varve_error *error)
{
    struct vv_check_event event = { .offset = json->offset };
    for (int i = 0; i < VV_CHECK_ARG_COUNT; i++)
        event.args[i] = VV_CHECK_ABSENT;
    event.args[VV_CHECK_COMMS] = 0;
    if (json->token != VV_JSON_OBJECT)
        return vv_json_skip(json, error);
    for (;;) {
        size_t member = 0;
        VV_TRY(vv_json_next(json, error));
        if (json->token != VV_JSON_NAME)
            break;
        event.has |= VV_CHECK_MEMBER;
        while (member < MEMBER_COUNT && !vv_json_is(json, member_names[member]))
            member++;
        VV_TRY(vv_json_next(json, error));
        VV_TRY(take_member(check, json, member, &event, error));
    }
    VV_TRY(vv_array_reserve(&check->events, &check->event_capacity, check->event_count + 1,
                            sizeof *check->events, error));
    check->events[check->event_count++] = event;
    return VARVE_OK;
}

static enum varve_code read_array(struct vv_check *check, struct vv_json *json,
                                  struct varve_error *error)
{
    for (;;) {
        VV_TRY(vv_json_next(json, error));
        if (json->token == VV_JSON_ARRAY_END)
            return VARVE_OK;
        VV_TRY(read_event(check, json, error));
    }
}

/* ---- the whole file ---- */

/* Reads {"rank": 3, …}; the rank may be at any place in it. */
static enum varve_code read_distributed(struct vv_check *check, struct vv_json *json,
                                        struct varve_error *error)
{
    uint32_t outside = json->depth - 1;
    if (json->token != VV_JSON_OBJECT)
        return vv_json_skip(json, error);
    while (json->depth > outside) {
        VV_TRY(vv_json_next(json, error));
        if (json->token == VV_JSON_NAME && json->depth == outside + 1 && vv_json_is(json, "rank"))
            check->says_rank = true;
    }
    return VARVE_OK;
}

static enum varve_code read_object(struct vv_check *check, struct vv_json *json,
                                   struct varve_error *error)
{
    for (;;) {
        VV_TRY(vv_json_next(json, error));
        if (json->token != VV_JSON_NAME)
            return VARVE_OK;
        bool is_events = vv_json_is(json, "traceEvents"),
             is_ranks = vv_json_is(json, "distributedInfo");
        check->is_kineto = check->is_kineto || is_ranks || vv_json_is(json, "deviceProperties") ||
                           vv_json_is(json, "baseTimeNanoseconds");
        VV_TRY(vv_json_next(json, error));
        if (is_events && json->token == VV_JSON_ARRAY) {
            check->has_events_array = true;
            VV_TRY(read_array(check, json, error));
        } else if (is_ranks) {
            VV_TRY(read_distributed(check, json, error));
        } else {
            VV_TRY(vv_json_skip(json, error));
        }
    }
}

static enum varve_code read_text(struct vv_check *check, struct vv_json *json,
                                 struct varve_error *error)
{
    VV_TRY(vv_json_next(json, error));
    check->is_array = json->token == VV_JSON_ARRAY;
    if (check->is_array)
        VV_TRY(read_array(check, json, error));
    else if (json->token == VV_JSON_OBJECT)
        VV_TRY(read_object(check, json, error));
    return vv_json_next(json, error);
}

enum varve_code vv_check_read(struct vv_check *check, struct vv_json *json,
                              struct varve_error *error)
{
    struct varve_error found;
    enum varve_code code = read_text(check, json, &found);
    if (code == VARVE_TRUNCATED)
        vv_check_note_file(check, check->is_array ? VV_RULE_CUT : VV_RULE_CUT_OBJECT, found.offset);
    else if (code == VARVE_CORRUPT)
        vv_check_note_file(check, VV_RULE_NOT_JSON, found.offset);
    else if (code != VARVE_OK && error != NULL)
        *error = found;
    return code == VARVE_TRUNCATED || code == VARVE_CORRUPT ? VARVE_OK : code;
}
