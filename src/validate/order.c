/* SPDX-License-Identifier: Apache-2.0 */
/* order.c — rules about events that belong together: slices of one thread, begins and ends,
 * flows. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "validate/check.h"

/* The context of the comparison, because qsort passes none; `varve validate` runs once, on one
 * thread. */
static const struct vv_check *sorted_check;

static int compare(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int compare_threads(const struct vv_check_event *a, const struct vv_check_event *b)
{
    const uint16_t texts = VV_CHECK_PID_TEXT | VV_CHECK_TID_TEXT;
    int order = compare(a->pid, b->pid);
    if (order == 0)
        order = compare(a->tid, b->tid);
    return order != 0 ? order : compare(a->has & texts, b->has & texts);
}

static int compare_slices(const void *left, const void *right)
{
    const struct vv_check_event *a = &sorted_check->events[*(const uint32_t *)left];
    const struct vv_check_event *b = &sorted_check->events[*(const uint32_t *)right];
    int order = compare_threads(a, b);
    if (order == 0)
        order = compare(a->begin_ns, b->begin_ns);
    if (order == 0)
        order = compare(b->duration_ns, a->duration_ns);
    return order != 0
               ? order
               : compare((int64_t)(a - sorted_check->events), (int64_t)(b - sorted_check->events));
}

static int compare_flows(const void *left, const void *right)
{
    const struct vv_check_event *a = &sorted_check->events[*(const uint32_t *)left];
    const struct vv_check_event *b = &sorted_check->events[*(const uint32_t *)right];
    int order = compare(a->category, b->category);
    if (order == 0)
        order = compare(a->name, b->name);
    if (order == 0)
        order = compare(a->id, b->id);
    if (order == 0) /* begins come first */
        order = (a->phase != 's') - (b->phase != 's');
    return order != 0
               ? order
               : compare((int64_t)(a - sorted_check->events), (int64_t)(b - sorted_check->events));
}

/* Collects and sorts the events of some phases. The caller frees *out. */
static enum varve_code collect(const struct vv_check *check, const char *phases,
                               int (*order)(const void *, const void *), uint32_t **out,
                               size_t *out_count, struct varve_error *error)
{
    uint32_t *rows = malloc((check->event_count + 1) * sizeof *rows);
    size_t count = 0;
    if (rows == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory to check %zu events", check->event_count);
    for (size_t i = 0; i < check->event_count; i++)
        if (check->events[i].phase != '\0' && strchr(phases, check->events[i].phase) != NULL)
            rows[count++] = (uint32_t)i;
    if (order != NULL) {
        sorted_check = check;
        qsort(rows, count, sizeof *rows, order);
    }
    *out = rows;
    *out_count = count;
    return VARVE_OK;
}

/* ---- slices that do not nest ---- */

/* Perfetto drops a slice that begins inside another one and ends after it. A dropped slice hides
 * nothing. */
static enum varve_code check_nesting(struct vv_check *check, struct varve_error *error)
{
    uint32_t *rows;
    size_t count, depth = 0;
    VV_TRY(collect(check, "X", compare_slices, &rows, &count, error));
    int64_t *ends = malloc((count + 1) * sizeof *ends);
    for (size_t i = 0; i < count && ends != NULL; i++) {
        const struct vv_check_event *event = &check->events[rows[i]];
        int64_t end;
        if (i > 0 && compare_threads(event, &check->events[rows[i - 1]]) != 0)
            depth = 0;
        if (__builtin_add_overflow(event->begin_ns, event->duration_ns, &end))
            end = INT64_MAX;
        while (depth > 0 && ends[depth - 1] <= event->begin_ns)
            depth--;
        if (depth > 0 && ends[depth - 1] < end)
            vv_check_note(check, VV_RULE_OVERLAP, rows[i]);
        else
            ends[depth++] = end;
    }
    bool has_room = ends != NULL;
    free(ends);
    free(rows);
    if (!has_room)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory to check %zu slices", count);
    return VARVE_OK;
}

/* ---- begins and ends ---- */

static int compare_in_time(const void *left, const void *right)
{
    const struct vv_check_event *a = &sorted_check->events[*(const uint32_t *)left];
    const struct vv_check_event *b = &sorted_check->events[*(const uint32_t *)right];
    int order = compare_threads(a, b);
    if (order == 0)
        order = compare(a->begin_ns, b->begin_ns);
    return order != 0
               ? order
               : compare((int64_t)(a - sorted_check->events), (int64_t)(b - sorted_check->events));
}

static enum varve_code check_pairs(struct vv_check *check, struct varve_error *error)
{
    uint32_t *rows, *open;
    size_t count, depth = 0;
    VV_TRY(collect(check, "BE", compare_in_time, &rows, &count, error));
    open = malloc((count + 1) * sizeof *open);
    for (size_t i = 0; i <= count && open != NULL; i++) {
        bool is_last = i == count;
        bool is_other = is_last || (i > 0 && compare_threads(&check->events[rows[i]],
                                                             &check->events[rows[i - 1]]) != 0);
        while (is_other && depth > 0)
            vv_check_note(check, VV_RULE_OPEN, open[--depth]);
        if (is_last)
            break;
        if (check->events[rows[i]].phase == 'B')
            open[depth++] = rows[i];
        else if (depth > 0)
            depth--;
        else
            vv_check_note(check, VV_RULE_UNMATCHED_END, rows[i]);
    }
    bool has_room = open != NULL;
    free(open);
    free(rows);
    if (!has_room)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory to check %zu begins", count);
    return VARVE_OK;
}

/* ---- flows ---- */

static bool same_flow(const struct vv_check_event *a, const struct vv_check_event *b)
{
    return a->category == b->category && a->name == b->name && a->id == b->id;
}

static enum varve_code check_flows(struct vv_check *check, struct varve_error *error)
{
    uint32_t *rows;
    size_t count;
    bool has_start = false;
    VV_TRY(collect(check, "stf", compare_flows, &rows, &count, error));
    for (size_t i = 0; i < count; i++) {
        const struct vv_check_event *event = &check->events[rows[i]];
        if (i == 0 || !same_flow(event, &check->events[rows[i - 1]]))
            has_start = false;
        has_start = has_start || event->phase == 's';
        if (event->phase == 'f' && !has_start)
            vv_check_note(check, VV_RULE_FLOW_END, rows[i]);
    }
    free(rows);
    return VARVE_OK;
}

/* Compares the sorted threads of slices with those of flows: the end of a flow on a thread without
 * slices is in no slice. */
static enum varve_code check_flow_tracks(struct vv_check *check, struct varve_error *error)
{
    uint32_t *slices, *flows;
    size_t slice_count, flow_count;
    VV_TRY(collect(check, "XB", compare_slices, &slices, &slice_count, error));
    enum varve_code code = collect(check, "stf", compare_slices, &flows, &flow_count, error);
    for (size_t i = 0, j = 0; i < flow_count && code == VARVE_OK; i++) {
        const struct vv_check_event *flow = &check->events[flows[i]];
        while (j < slice_count && compare_threads(&check->events[slices[j]], flow) < 0)
            j++;
        if (j == slice_count || compare_threads(&check->events[slices[j]], flow) != 0)
            vv_check_note(check, VV_RULE_FLOW_TRACK, flows[i]);
    }
    free(slices);
    if (code == VARVE_OK)
        free(flows);
    return code;
}

enum varve_code vv_check_order(struct vv_check *check, struct varve_error *error)
{
    VV_TRY(check_nesting(check, error));
    VV_TRY(check_pairs(check, error));
    VV_TRY(check_flows(check, error));
    return check_flow_tracks(check, error);
}
