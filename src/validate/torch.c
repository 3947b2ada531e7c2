/* SPDX-License-Identifier: Apache-2.0 */
/* torch.c — the rules of PyTorch's own validator of its traces, and a rule of Varve about process
 * ids.
 *
 * Each rule joins two kinds of events by a number: the events are put into lists, which are sorted
 * by the number and read side by side. */
#include <stdlib.h>
#include <string.h>

#include "base/binary_search.h"
#include "base/sum.h"
#include "validate/check.h"

struct entry {
    int64_t key, second, time_ns, end_ns;
    uint32_t event;
};

struct entries { struct entry *items; size_t count; };

static bool is_of(const struct vv_check *check, const struct vv_check_event *event,
                  const char *category)
{
    return event->phase == 'X' && strcmp(vv_check_text(check, event->category), category) == 0;
}

static int compare(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int compare_entries(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;
    int order = compare(a->key, b->key);
    if (order == 0)
        order = compare(a->second, b->second);
    if (order == 0)
        order = compare(a->time_ns, b->time_ns);
    return order != 0 ? order : compare(a->event, b->event);
}

static enum varve_code entries_init(struct entries *entries, const struct vv_check *check,
                                    struct varve_error *error)
{
    /* An event is in a list at most twice. */
    entries->items = malloc((check->event_count * 2 + 1) * sizeof *entries->items);
    entries->count = 0;
    if (entries->items == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory to check %zu events", check->event_count);
    return VARVE_OK;
}

static void entries_add(struct entries *entries, const struct vv_check *check, size_t event,
                        int64_t key, int64_t second)
{
    const struct vv_check_event *of = &check->events[event];
    if (key != VV_CHECK_ABSENT)
        entries->items[entries->count++] = (struct entry){ key, second, of->begin_ns,
                                                           vv_sum(of->begin_ns, of->duration_ns),
                                                           (uint32_t)event };
}

static void entries_sort(struct entries *entries)
{
    qsort(entries->items, entries->count, sizeof *entries->items, compare_entries);
}

/* The first entry with the key or a larger one; if several have the key, the earliest in time. */
static const struct entry *find(const struct entries *entries, int64_t key)
{
    size_t at = VV_FIRST_NOT(i, 0, entries->count, entries->items[i].key < key);
    return at < entries->count && entries->items[at].key == key ? &entries->items[at] : NULL;
}

/* ---- no kernel begins before its launch ---- */

static enum varve_code check_causality(struct vv_check *check, struct varve_error *error)
{
    struct entries launches, kernels = { 0 };
    VV_TRY(entries_init(&launches, check, error));
    enum varve_code code = entries_init(&kernels, check, error);
    for (size_t i = 0; i < check->event_count && code == VARVE_OK; i++) {
        const struct vv_check_event *event = &check->events[i];
        if (is_of(check, event, "cuda_runtime") &&
            strcmp(vv_check_text(check, event->name), "cudaLaunchKernel") == 0)
            entries_add(&launches, check, i, event->args[VV_CHECK_EXTERNAL], 0);
        else if (is_of(check, event, "kernel"))
            entries_add(&kernels, check, i, event->args[VV_CHECK_EXTERNAL], 0);
    }
    entries_sort(&launches);
    entries_sort(&kernels);
    for (size_t i = 0; i < kernels.count; i++) {
        const struct entry *kernel = &kernels.items[i];
        const struct entry *launch = find(&launches, kernel->key);
        if ((i == 0 || kernel[-1].key != kernel->key) && launch != NULL &&
            kernel->time_ns < launch->time_ns)
            vv_check_note(check, VV_RULE_CAUSALITY, kernel->event);
    }
    free(launches.items);
    free(kernels.items);
    return code;
}

/* ---- a wait names the record that it waits for ---- */

static bool is_wait(const struct vv_check *check, const struct vv_check_event *event,
                    const char *kind)
{
    return event->phase == 'X' && event->args[VV_CHECK_SYNC_KIND] != VV_CHECK_ABSENT &&
           strcmp(vv_check_text(check, (uint32_t)event->args[VV_CHECK_SYNC_KIND]), kind) == 0;
}

static bool is_event_record(const struct vv_check *check, const struct vv_check_event *event)
{
    static const char *const names[] = { "cudaEventRecord", "cudaEventRecord_ptsz",
                                         "cudaEventRecordWithFlags",
                                         "cudaEventRecordWithFlags_ptsz" };
    if (!is_of(check, event, "cuda_runtime") && !is_of(check, event, "cuda_driver"))
        return false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(vv_check_text(check, event->name), names[i]) == 0)
            return true;
    return false;
}

static enum varve_code check_waits(struct vv_check *check, struct varve_error *error)
{
    struct entries records;
    VV_TRY(entries_init(&records, check, error));
    for (size_t i = 0; i < check->event_count; i++) {
        const struct vv_check_event *event = &check->events[i];
        if (is_event_record(check, event)) {
            entries_add(&records, check, i, event->args[VV_CHECK_EXTERNAL], 0);
            entries_add(&records, check, i, event->args[VV_CHECK_CORRELATION], 0);
        }
    }
    entries_sort(&records);
    for (size_t i = 0; i < check->event_count; i++) {
        const struct vv_check_event *event = &check->events[i];
        int64_t waits_on = event->args[VV_CHECK_WAITS_ON];
        bool is_stream_wait = is_wait(check, event, "Stream Wait Event");
        if (!is_stream_wait && !is_wait(check, event, "Event Sync"))
            continue;
        if (waits_on == VV_CHECK_ABSENT || waits_on < 0) {
            vv_check_note(check, VV_RULE_WAIT_ID, i);
        } else if (is_stream_wait) {
            const struct entry *record = find(&records, waits_on);
            if (record == NULL || record->time_ns > event->begin_ns)
                vv_check_note(check, VV_RULE_WAIT_PAST, i);
        }
    }
    free(records.items);
    return VARVE_OK;
}

/* ---- a stream is idle after a wait for it ---- */

/* The number of kernels of the stream that run at the instant. `ends` are the running maxima of
 * their ends. */
static uint64_t count_running(const struct entries *kernels, const int64_t *ends,
                              const struct vv_check_event *sync)
{
    const struct entry wanted = { sync->args[VV_CHECK_DEVICE], sync->args[VV_CHECK_STREAM],
                                  sync->begin_ns, 0, 0 };
    size_t at =
        VV_FIRST_NOT(i, 0, kernels->count, compare_entries(&kernels->items[i], &wanted) < 0);
    uint64_t running = 0;
    while (at-- > 0) {
        const struct entry *kernel = &kernels->items[at];
        if (kernel->key != wanted.key || kernel->second != wanted.second ||
            ends[at] <= sync->begin_ns)
            break;
        running += kernel->time_ns < sync->begin_ns && kernel->end_ns > sync->begin_ns;
    }
    return running;
}

static enum varve_code check_syncs(struct vv_check *check, struct varve_error *error)
{
    struct entries kernels;
    VV_TRY(entries_init(&kernels, check, error));
    for (size_t i = 0; i < check->event_count; i++)
        if (is_of(check, &check->events[i], "kernel"))
            entries_add(&kernels, check, i, check->events[i].args[VV_CHECK_DEVICE],
                        check->events[i].args[VV_CHECK_STREAM]);
    entries_sort(&kernels);
    int64_t *ends = malloc((kernels.count + 1) * sizeof *ends);
    for (size_t i = 0; i < kernels.count && ends != NULL; i++) {
        const struct entry *kernel = &kernels.items[i];
        bool goes_on =
            i > 0 && kernel[-1].key == kernel->key && kernel[-1].second == kernel->second;
        ends[i] = goes_on && ends[i - 1] > kernel->end_ns ? ends[i - 1] : kernel->end_ns;
    }
    for (size_t i = 0; i < check->event_count && ends != NULL; i++) {
        const struct vv_check_event *event = &check->events[i];
        if (!is_of(check, event, "cuda_sync") || !is_wait(check, event, "Stream Sync"))
            continue;
        for (uint64_t running = count_running(&kernels, ends, event); running > 0; running--)
            vv_check_note(check, VV_RULE_SYNC_OVERLAP, i);
    }
    bool has_room = ends != NULL;
    free(ends);
    free(kernels.items);
    if (!has_room)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory to check %zu events", check->event_count);
    return VARVE_OK;
}

/* ---- collectives and sequence numbers ---- */

#define ALL_COMMS_KEYS 31

static void check_comms(struct vv_check *check)
{
    for (size_t i = 0; i < check->event_count; i++) {
        const struct vv_check_event *event = &check->events[i];
        if (event->phase == 'X' && event->args[VV_CHECK_COMMS] != ALL_COMMS_KEYS &&
            strcmp(vv_check_text(check, event->name), "record_param_comms") == 0)
            vv_check_note(check, VV_RULE_COMMS, i);
    }
}

static enum varve_code check_sequences(struct vv_check *check, struct varve_error *error)
{
    struct entries backward;
    VV_TRY(entries_init(&backward, check, error));
    for (size_t i = 0; i < check->event_count; i++) {
        const struct vv_check_event *event = &check->events[i];
        if (event->phase == 'X' && event->args[VV_CHECK_SEQUENCE] != 0 &&
            strstr(vv_check_text(check, event->name), "autograd::engine::evaluate_function:") !=
                NULL)
            entries_add(&backward, check, i, event->args[VV_CHECK_SEQUENCE], event->name);
    }
    entries_sort(&backward);
    for (size_t i = 0, first = 0; i < backward.count; i++) {
        const struct entry *entry = &backward.items[i];
        if (entry->key != backward.items[first].key)
            first = i;
        bool is_last = i + 1 == backward.count || entry[1].key != entry->key;
        if (is_last && entry->second != backward.items[first].second)
            vv_check_note(check, VV_RULE_SEQUENCE, backward.items[first].event);
    }
    free(backward.items);
    return VARVE_OK;
}

/* ---- no process and device have the same number ---- */

static enum varve_code check_pids(struct vv_check *check, struct varve_error *error)
{
    struct entries hosts;
    VV_TRY(entries_init(&hosts, check, error));
    for (size_t i = 0; i < check->event_count; i++)
        if (is_of(check, &check->events[i], "cpu_op") &&
            (check->events[i].has & VV_CHECK_PID_TEXT) == 0)
            entries_add(&hosts, check, i, check->events[i].pid, 0);
    entries_sort(&hosts);
    for (size_t i = 0; i < check->event_count; i++)
        if (is_of(check, &check->events[i], "kernel") &&
            (check->events[i].has & VV_CHECK_PID_TEXT) == 0 &&
            find(&hosts, check->events[i].pid) != NULL)
            vv_check_note(check, VV_RULE_PID_TWICE, i);
    free(hosts.items);
    return VARVE_OK;
}

enum varve_code vv_check_torch(struct vv_check *check, struct varve_error *error)
{
    VV_TRY(check_causality(check, error));
    VV_TRY(check_waits(check, error));
    VV_TRY(check_syncs(check, error));
    check_comms(check);
    VV_TRY(check_sequences(check, error));
    return check_pids(check, error);
}
