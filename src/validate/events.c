/* SPDX-License-Identifier: Apache-2.0 */
/* events.c — rules that a single event can break, and rules about the file as a whole. */
#include <stdlib.h>
#include <string.h>

#include "base/sum.h"
#include "validate/check.h"

#define PRECISION_NS INT64_C(4000000000000000) /* from here on, a double has no digits for ns */
#define TID_LIMIT (INT64_C(1) << 32)

void vv_check_deinit(struct vv_check *check)
{
    free(check->events);
    vv_intern_deinit(&check->strings);
    *check = (struct vv_check){ 0 };
}

void vv_check_note(struct vv_check *check, enum vv_check_rule rule, size_t event)
{
    struct vv_finding *finding = &check->findings[rule];
    if (finding->count++ == 0 || event < finding->event) {
        finding->event = event;
        finding->offset = check->events[event].offset;
        finding->name = check->events[event].name;
    }
}

void vv_check_note_file(struct vv_check *check, enum vv_check_rule rule, uint64_t offset)
{
    struct vv_finding *finding = &check->findings[rule];
    if (finding->count++ == 0)
        *finding = (struct vv_finding){ 1, UINT64_MAX, offset, 0 };
}

static bool has(const struct vv_check_event *event, unsigned bits)
{
    return (event->has & bits) == bits;
}

static bool is_device_event(const struct vv_check_event *event)
{
    return event->args[VV_CHECK_STREAM] != VV_CHECK_ABSENT && event->args[VV_CHECK_STREAM] >= 0;
}

static bool is_step_misnamed(const char *name)
{
    static const char word[] = "ProfilerStep";
    if (strncmp(name, word, sizeof word - 1) != 0)
        return false;
    const char *rest = name + sizeof word - 1;
    return *rest != '#' || rest[1] == '\0' || rest[1 + strspn(rest + 1, "0123456789")] != '\0';
}

static int64_t ceil_us(int64_t ns)
{
    return ns / 1000 + (ns % 1000 > 0);
}

static int64_t floor_us(int64_t ns)
{
    return ns / 1000 - (ns % 1000 < 0);
}

/* HTA reads the events that have a duration and a category, except spans. */
static bool is_read_by_hta(const struct vv_check *check, const struct vv_check_event *event)
{
    return has(event, VV_CHECK_DURATION | VV_CHECK_CATEGORY) &&
           strcmp(vv_check_text(check, event->category), "Trace") != 0;
}

static void check_python(struct vv_check *check, size_t i)
{
    const struct vv_check_event *event = &check->events[i];
    bool is_hta = is_read_by_hta(check, event);
    if (is_hta && is_step_misnamed(vv_check_text(check, event->name)))
        vv_check_note(check, VV_RULE_STEP_NAME, i);
    if (has(event, VV_CHECK_TIME_TEXT) && (is_hta || event->phase == 'X'))
        vv_check_note(check, VV_RULE_TIME_TEXT, i);
    if (is_hta && is_device_event(event) && has(event, VV_CHECK_TIME) && event->duration_ns > 0 &&
        ceil_us(event->begin_ns) > floor_us(vv_sum(event->begin_ns, event->duration_ns)))
        vv_check_note(check, VV_RULE_SHORT_KERNEL, i);
    if (!has(event, VV_CHECK_NAME))
        vv_check_note(check, VV_RULE_NO_NAME, i);
    if (event->phase == 'X' && !has(event, VV_CHECK_CATEGORY))
        vv_check_note(check, VV_RULE_NO_CATEGORY, i);
    if (event->phase == 'X' && !has(event, VV_CHECK_TID))
        vv_check_note(check, VV_RULE_NO_TID, i);
}

static void check_perfetto(struct vv_check *check, size_t i)
{
    const struct vv_check_event *event = &check->events[i];
    bool is_slice = event->phase == 'X' || event->phase == 'B';
    if (!has(event, VV_CHECK_MEMBER)) {
        vv_check_note(check, VV_RULE_EMPTY, i);
        return;
    }
    if (event->phase == 'X' && !has(event, VV_CHECK_DURATION))
        vv_check_note(check, VV_RULE_NO_DURATION, i);
    if (event->phase == 'M')
        return;
    if ((has(event, VV_CHECK_TIME) && event->begin_ns < 0) ||
        (has(event, VV_CHECK_DURATION) && event->duration_ns < 0))
        vv_check_note(check, VV_RULE_NEGATIVE, i);
    if (has(event, VV_CHECK_FRACTION) && event->begin_ns >= PRECISION_NS)
        vv_check_note(check, VV_RULE_PRECISION, i);
    if (is_slice && !has(event, VV_CHECK_TID_TEXT) &&
        (!has(event, VV_CHECK_TID) || event->tid <= 0 || event->tid >= TID_LIMIT))
        vv_check_note(check, VV_RULE_TID, i);
    if (is_slice && !has(event, VV_CHECK_PID_TEXT) &&
        (!has(event, VV_CHECK_PID) || event->pid < 0 || event->pid >= TID_LIMIT))
        vv_check_note(check, VV_RULE_PID, i);
}

static bool ends_in(const char *text, const char *end)
{
    size_t length = strlen(text), wanted = strlen(end);
    return length >= wanted && strcmp(text + length - wanted, end) == 0;
}

static void check_file(struct vv_check *check, const char *file_name)
{
    bool has_args = false, has_device = false;
    for (size_t i = 0; i < check->event_count; i++) {
        has_args = has_args || (check->events[i].has & VV_CHECK_ARGS) != 0;
        has_device = has_device || is_device_event(&check->events[i]);
    }
    if (check->is_array || !check->has_events_array)
        vv_check_note_file(check, VV_RULE_NO_OBJECT, UINT64_MAX);
    if (!ends_in(file_name, ".json") && !ends_in(file_name, ".gz"))
        vv_check_note_file(check, VV_RULE_FILE_NAME, UINT64_MAX);
    if (!ends_in(file_name, ".pt.trace.json") && !ends_in(file_name, ".pt.trace.json.gz"))
        vv_check_note_file(check, VV_RULE_PLUGIN_NAME, UINT64_MAX);
    if (!has_args)
        vv_check_note_file(check, VV_RULE_NO_ARGS, UINT64_MAX);
    if (!has_device)
        vv_check_note_file(check, VV_RULE_NO_DEVICE, UINT64_MAX);
}

void vv_check_events(struct vv_check *check, const char *file_name)
{
    for (size_t i = 0; i < check->event_count; i++) {
        check_python(check, i);
        check_perfetto(check, i);
    }
    check_file(check, file_name);
}
