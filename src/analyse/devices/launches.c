/* SPDX-License-Identifier: Apache-2.0 */
/* launches.c — table "launches": the cost of launching, by call (doc/metrics.md §8.4).
 *
 * A call counts once, however much work it launched: the call of a graph has the work of all its
 * nodes. The delay of a call is the time from its end to the begin of its first work. The delay is
 * queueing if the stream was still at work when the call began. Otherwise it is launching. Law:
 * delay_ns + queueing_ns is the sum of all delays. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/radix.h"
#include "derive/devices/streams.h"
#include "meaning/host_role.h"
#include "numbers/pair_ids.h"
#include "numbers/samples.h"
#include "question/question.h"

#define SHORT_WORK_NS 10000   /* TraceLens' limit */
#define LONG_CALL_NS 50000    /* HTA's limit */
#define LONG_DELAY_NS 100000  /* HTA's limit */

enum {
    ROW, NAME, CALLS, WORKS, CALL, LAUNCHING, WORK, LATENCY, DELAY, QUEUED, QUEUEING, SHORT,
    UNDER_10_US, CALLS_OVER_50_US, DELAYS_OVER_100_US, COLUMNS
};

static const struct vv_sheet_column launch_columns[COLUMNS] = {
    { "row", "row", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    { "name", "call", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "calls", "calls", VV_CELL_INT, VV_UNIT_COUNT, false, false },
    { "works", "works", VV_CELL_INT, VV_UNIT_COUNT, true, false },
    { "call_ns", "calls take", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "launching_ns", "launching", VV_CELL_INT, VV_UNIT_NS, true, false },
    { "work_ns", "work takes", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "median_latency_ns", "median latency", VV_CELL_INT, VV_UNIT_NS, false, VV_TEXT_IF_ROOM },
    { "delay_ns", "delay", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "queued", "queued", VV_CELL_INT, VV_UNIT_COUNT, false, false },
    { "queueing_ns", "queueing", VV_CELL_INT, VV_UNIT_NS, false, VV_TEXT_IF_ROOM },
    { "short", "shorter than call", VV_CELL_INT, VV_UNIT_COUNT, false, VV_TEXT_IF_ROOM },
    { "under_10_us", "work < 10 us", VV_CELL_INT, VV_UNIT_COUNT, false, VV_TEXT_IF_ROOM },
    { "calls_over_50_us", "call > 50 us", VV_CELL_INT, VV_UNIT_COUNT, false, VV_TEXT_IF_ROOM },
    { "delays_over_100_us", "delay > 100 us", VV_CELL_INT, VV_UNIT_COUNT, true, false },
};

/* Sums over the calls of one name, or over all calls. */
struct tally { int64_t values[COLUMNS]; };

struct view {
    const struct vv_device_work *work;
    bool *queued;             /* by item: its stream was still at work when it was launched       */
    struct vv_keyed_row *calls; /* linked items by launch, then begin                             */
    size_t call_count;
    struct vv_groups names;
    struct tally *tallies;    /* by name + 1; [0] is the tally of all calls                       */
    size_t capacity;
    struct vv_host_roles roles;
    struct vv_samples latencies; /* of the calls that were not queued, by name + 1; 0 = all       */
    struct vv_sheet *sheet;
};

/* ---- queued work ---- */

static enum varve_code find_queued(struct view *view, struct varve_error *error)
{
    const struct vv_device_work *work = view->work;
    struct vv_streams streams;
    VV_TRY(vv_streams_init(&streams, work, work->scope->scratch, error));
    for (size_t s = 0; s < streams.count; s++) {
        int64_t busy_until_ns = INT64_MIN;
        for (size_t i = streams.streams[s].first; i < streams.streams[s].last; i++) {
            const struct vv_work_item *item = &work->items[streams.rows[i]];
            struct vv_interval call;
            bool is_linked = vv_device_call(work, item, &call);
            view->queued[streams.rows[i]] = is_linked && call.begin_ns < busy_until_ns;
            busy_until_ns = item->end_ns > busy_until_ns ? item->end_ns : busy_until_ns;
        }
    }
    return VARVE_OK;
}

/* ---- each call ---- */

static enum varve_code group_calls(struct view *view, struct varve_error *error)
{
    const struct vv_device_work *work = view->work;
    const struct vv_model *model = work->scope->model;
    for (uint32_t i = 0; i < work->count; i++) {
        uint32_t launch = model->activities.launch[work->items[i].activity];
        if (launch != VV_NONE && vv_is_device_work(model, work->items[i].activity) &&
            (!work->is_hta ||
             vv_hta_launches(vv_text_of(model, model->slices.name[launch]), false)))
            view->calls[view->call_count++] = (struct vv_keyed_row){ launch, i };
    }
    /* The sort is stable, so the work of a device stays in order. */
    return vv_radix_sort(view->calls, view->call_count, error);
}

static void add(struct tally *tally, const int64_t *values)
{
    for (size_t c = CALLS; c < COLUMNS; c++)
        tally->values[c] += values[c];
}

/* Adds the call that launched the items of calls[first, last). */
static enum varve_code add_call(struct view *view, size_t first, size_t last,
                                struct varve_error *error)
{
    const struct vv_device_work *work = view->work;
    int64_t values[COLUMNS] = { [CALLS] = 1, [WORKS] = (int64_t)(last - first) };
    uint32_t begins_first = view->calls[first].row, launch = (uint32_t)view->calls[first].key, name;
    for (size_t i = first; i < last; i++) {
        const struct vv_work_item *item = &work->items[view->calls[i].row];
        values[WORK] += item->end_ns - item->begin_ns;
        values[UNDER_10_US] += item->end_ns - item->begin_ns < SHORT_WORK_NS;
        if (item->begin_ns < work->items[begins_first].begin_ns)
            begins_first = view->calls[i].row;
    }
    struct vv_interval call;
    vv_device_call(work, &work->items[begins_first], &call);
    int64_t begin_ns = work->items[begins_first].begin_ns;
    int64_t delay_ns = begin_ns > call.end_ns ? begin_ns - call.end_ns : 0;
    values[CALL] = call.end_ns - call.begin_ns;
    if (vv_host_role_of(&view->roles, launch) != VV_HOST_SYNC)
        values[LAUNCHING] = values[CALL];
    values[QUEUED] = view->queued[begins_first];
    values[view->queued[begins_first] ? QUEUEING : DELAY] = delay_ns;
    values[SHORT] = values[WORK] < values[CALL];
    values[CALLS_OVER_50_US] = values[CALL] > LONG_CALL_NS;
    values[DELAYS_OVER_100_US] = delay_ns > LONG_DELAY_NS;
    uint32_t string = work->scope->model->slices.name[launch];
    VV_TRY(vv_groups_add(&view->names, string, 0, &name, error));
    size_t former = view->capacity;
    VV_TRY(VV_SCRATCH_RESERVE(view->names.scratch, &view->tallies, &view->capacity,
                              (size_t)name + 2, error));
    for (; former < view->capacity; former++)
        view->tallies[former] = (struct tally){ { 0 } };
    add(&view->tallies[0], values);
    add(&view->tallies[name + 1], values);
    if (view->queued[begins_first])
        return VARVE_OK;
    int64_t latency_ns = begin_ns > call.begin_ns ? begin_ns - call.begin_ns : 0;
    VV_TRY(vv_samples_add(&view->latencies, 0, latency_ns, error));
    return vv_samples_add(&view->latencies, name + 1, latency_ns, error);
}

/* ---- rows ---- */

static enum varve_code put_row(struct view *view, uint32_t group, const char *name,
                               struct varve_error *error)
{
    size_t row;
    VV_TRY(vv_sheet_row(view->sheet, group > 0 ? VV_ROW_PLAIN : VV_ROW_TOTAL, &row, error));
    VV_TRY(vv_sheet_text(view->sheet, row, ROW, group > 0 ? "call" : "total", error));
    VV_TRY(vv_sheet_text(view->sheet, row, NAME, name, error));
    for (size_t c = CALLS; c < COLUMNS; c++)
        if (c != LATENCY)
            vv_sheet_int(view->sheet, row, c, view->tallies[group].values[c]);
    if (vv_samples_size(&view->latencies, group) > 0)
        vv_sheet_int(view->sheet, row, LATENCY, vv_samples_percentile(&view->latencies, group, 50));
    return VARVE_OK;
}

static int by_calls(const void *a, const void *b, void *context)
{
    const struct tally *tallies = context;
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    int64_t left_ns = tallies[left].values[CALL], right_ns = tallies[right].values[CALL];
    if (left_ns != right_ns)
        return left_ns > right_ns ? -1 : 1;
    return (left > right) - (left < right);
}

static enum varve_code put_rows(struct view *view, struct varve_error *error)
{
    const struct vv_model *model = view->work->scope->model;
    uint32_t count = view->names.count;
    if (count == 0)
        return VARVE_OK;
    VV_TRY(vv_samples_sort(&view->latencies, count + 1, error));
    uint32_t *order;
    VV_TRY(VV_SCRATCH_ARRAY(view->names.scratch, &order, count, error));
    for (uint32_t i = 0; i < count; i++)
        order[i] = i + 1;
    qsort_r(order, count, sizeof *order, by_calls, view->tallies);
    for (uint32_t i = 0; i < count; i++)
        VV_TRY(put_row(view, order[i], vv_text_of(model, view->names.names[order[i] - 1]), error));
    return put_row(view, 0, "total", error);
}

static enum varve_code put_calls(struct view *view, struct varve_error *error)
{
    size_t count = view->work->count;
    VV_TRY(vv_host_roles_init(&view->roles, view->work->scope->model, error));
    VV_TRY(VV_SCRATCH_ZEROS(view->names.scratch, &view->queued, count, error));
    VV_TRY(VV_SCRATCH_ARRAY(view->names.scratch, &view->calls, count, error));
    VV_TRY(find_queued(view, error));
    VV_TRY(group_calls(view, error));
    for (size_t first = 0, last; first < view->call_count; first = last) {
        for (last = first + 1;
             last < view->call_count && view->calls[last].key == view->calls[first].key;)
            last++;
        VV_TRY(add_call(view, first, last, error));
    }
    return put_rows(view, error);
}

enum varve_code vv_analyse_launches(const struct vv_model *model,
                                    const struct vv_question *question, struct vv_scratch *scratch,
                                    struct vv_sheet *out, struct varve_error *error)
{
    struct vv_scope scope;
    struct vv_device_work work;
    struct view view = { .work = &work, .names = { .scratch = scratch },
                         .latencies = { .scratch = scratch }, .sheet = out };
    vv_sheet_init(out, "launches", "LAUNCHES", launch_columns, COLUMNS);
    VV_TRY(vv_scope_init(&scope, model, &question->selection, scratch, error));
    VV_TRY(vv_device_work_asked(&work, &scope, question, error));
    VV_TRY(put_calls(&view, error));
    if (work.count == 0)
        return vv_no_work_policy(&scope, out, error);
    return vv_sheet_policy(
        out, error,
        "%zu pieces of device work%s whose call is in the trace; %" PRIu64
        " others are left out; queued: the stream was at work when the call began%s",
        view.call_count, vv_device_part_label(&scope), work.unlinked, vv_compat_text(question));
}
