/* SPDX-License-Identifier: Apache-2.0 */
/* devices.c — table "devices": how each device spent its time; every instant counts once
 * (doc/metrics.md §8).
 *
 * C, M, P and A are the unions of the times of computation (memset included), communication, memcpy
 * and all work:
 *     computation = |C|, exposed communication = |M\C|,
 *     exposed memcpy = |(P\C)\M|, idle = span(A) - |A|.
 * Law: the four sum to span_ns, to the nanosecond. */
#include <inttypes.h>
#include <stdio.h>

#include "derive/devices/device_work.h"
#include "question/question.h"
#include "sheet/number.h"

#define MICRO_IDLE_NS 5000 /* shorter gaps are the cost of launching, not a wait */

enum {
    DEVICE, RANK, COMPUTATION, EXPOSED_COMM, EXPOSED_COPY, BUSY, BUSY_SHARE, IDLE, MICRO_IDLE,
    MACRO_IDLE, SPAN, STEP_BUSY, STEPS_TIME, STEP_BUSY_SHARE,
    COMM, COPY, SET, LINKED_BUSY, EVENTS, UNLINKED, ROW, STEPS, COLUMNS
};

static const struct vv_sheet_column device_columns[COLUMNS] = {
    { "device", "device", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "rank", "rank", VV_CELL_INT, VV_UNIT_NONE, true, false },
    { "computation_ns", "computation", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "exposed_communication_ns", "exposed comm", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "exposed_memcpy_ns", "exposed memcpy", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "busy_ns", "busy", VV_CELL_INT, VV_UNIT_NS, true, false },
    { "busy_share", "busy in span", VV_CELL_REAL, VV_UNIT_RATIO, false, VV_TEXT_IF_ROOM },
    { "idle_ns", "idle in span", VV_CELL_INT, VV_UNIT_NS, false, VV_TEXT_IF_MUCH_ROOM },
    { "micro_idle_ns", "gaps < 5 us", VV_CELL_INT, VV_UNIT_NS, true, false },
    { "macro_idle_ns", "gaps >= 5 us", VV_CELL_INT, VV_UNIT_NS, true, false },
    { "span_ns", "span", VV_CELL_INT, VV_UNIT_NS, false, VV_TEXT_IF_ROOM },
    { "step_busy_ns", "busy, ns of steps", VV_CELL_INT, VV_UNIT_NS, true, false },
    { "steps_ns", "steps", VV_CELL_INT, VV_UNIT_NS, true, false },
    { "step_busy_share", "busy in steps", VV_CELL_REAL, VV_UNIT_RATIO, false, false },
    { "communication_ns", "communication", VV_CELL_INT, VV_UNIT_NS, true, false },
    { "memcpy_ns", "memcpy", VV_CELL_INT, VV_UNIT_NS, true, false },
    { "memset_ns", "memset", VV_CELL_INT, VV_UNIT_NS, true, false },
    { "linked_busy_ns", "busy, linked", VV_CELL_INT, VV_UNIT_NS, true, false },
    { "events", "events", VV_CELL_INT, VV_UNIT_COUNT, false, VV_TEXT_IF_ROOM },
    { "unlinked", "unlinked", VV_CELL_INT, VV_UNIT_COUNT, true, false },
    { "row", "row", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    { "steps", "number of steps", VV_CELL_INT, VV_UNIT_COUNT, true, false },
};

/* The unions from which one device's row is made. */
struct unions {
    struct vv_intervals compute, comm, copy, all, linked, rest, steps;
};

/* The time of the chosen steps of the device's rank, and their number. */
static enum varve_code unite_steps(const struct vv_device_work *work,
                                   const struct vv_device *device, struct vv_intervals *out,
                                   int64_t *out_count, struct varve_error *error)
{
    const struct vv_scope *scope = work->scope;
    const struct vv_model *model = scope->model;
    const struct vv_steps *steps = &model->steps;
    out->count = 0;
    *out_count = 0;
    for (uint32_t s = 0; s < steps->table.count; s++) {
        uint32_t process = model->tracks.process[steps->track[s]];
        if (!scope->steps[s] || model->processes.scope[process] != device->scope ||
            (device->rank >= 0 && scope->ranks[process] != device->rank))
            continue;
        ++*out_count;
        VV_TRY(vv_intervals_add(out, steps->begin_ns[s],
                                steps->begin_ns[s] + steps->duration_ns[s], error));
    }
    vv_intervals_unite(out);
    return VARVE_OK;
}

/* Unites only the work whose call is in the trace. Tools that join work and calls by correlation
 * count this work. */
static enum varve_code unite_linked(const struct vv_device_work *work,
                                    const struct vv_device *device, struct vv_intervals *out,
                                    int64_t *out_unlinked, struct varve_error *error)
{
    const struct vv_activities *activities = &work->scope->model->activities;
    out->count = 0;
    *out_unlinked = 0;
    for (size_t i = device->first; i < device->last; i++) {
        if (activities->launch[work->items[i].activity] == VV_NONE)
            ++*out_unlinked;
        else
            VV_TRY(vv_intervals_add(out, work->items[i].begin_ns, work->items[i].end_ns, error));
    }
    vv_intervals_unite(out);
    return VARVE_OK;
}

/* Sums the gaps between the device's work (gaps.c) that are shorter than the limit. With `cut`,
 * sums the gaps where the device's time is cut. */
static int64_t gaps_below(const struct vv_device_work *work, const struct vv_device *device,
                          int64_t limit_ns, bool cut)
{
    int64_t sum_ns = 0;
    size_t before = device->first;
    for (size_t i = device->first; i < device->last; i++) {
        const struct vv_work_item *item = &work->items[i], *former = &work->items[before];
        int64_t gap_ns = item->begin_ns - former->end_ns;
        if (item->end_ns == item->begin_ns && i > device->first && i + 1 < device->last)
            continue;
        if (gap_ns > 0 && gap_ns < limit_ns && cut == (item->stretch != former->stretch))
            sum_ns += gap_ns;
        before = item->end_ns >= former->end_ns ? i : before;
    }
    return sum_ns;
}

/* Work without length counts too, at both ends of the span. */
static int64_t span_of(const struct vv_device_work *work, const struct vv_device *device)
{
    int64_t end_ns = INT64_MIN;
    for (size_t i = device->first; i < device->last; i++)
        end_ns = work->items[i].end_ns > end_ns ? work->items[i].end_ns : end_ns;
    return device->first < device->last ? end_ns - work->items[device->first].begin_ns : 0;
}

static enum varve_code measure(const struct vv_device_work *work, const struct vv_device *device,
                               struct unions *unions, int64_t *values, struct varve_error *error)
{
    const struct { unsigned classes; struct vv_intervals *set; } parts[] = {
        { VV_CLASS_BIT(VV_CLASS_SET), &unions->rest },
        { VV_CLASS_BIT(VV_CLASS_COMPUTE) | VV_CLASS_BIT(VV_CLASS_SET), &unions->compute },
        { VV_CLASS_BIT(VV_CLASS_COMM), &unions->comm },
        { VV_CLASS_BIT(VV_CLASS_COPY), &unions->copy },
        { VV_CLASS_ALL, &unions->all },
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        VV_TRY(vv_device_busy(work, device, parts[i].classes, VV_ALWAYS, parts[i].set, error));
        if (i == 0)
            values[SET] = vv_intervals_length(&unions->rest);
    }
    VV_TRY(vv_intervals_subtract(&unions->copy, &unions->compute, &unions->rest, error));
    values[COMPUTATION] = vv_intervals_length(&unions->compute);
    values[COMM] = vv_intervals_length(&unions->comm);
    values[COPY] = vv_intervals_length(&unions->copy);
    values[BUSY] = vv_intervals_length(&unions->all);
    values[EXPOSED_COMM] = vv_intervals_length_without(&unions->comm, &unions->compute);
    values[EXPOSED_COPY] = vv_intervals_length_without(&unions->rest, &unions->comm);
    values[SPAN] = span_of(work, device) - gaps_below(work, device, INT64_MAX, true);
    values[IDLE] = values[SPAN] - values[BUSY];
    values[MICRO_IDLE] = gaps_below(work, device, MICRO_IDLE_NS, false);
    values[MACRO_IDLE] = values[IDLE] - values[MICRO_IDLE];
    values[EVENTS] = (int64_t)(device->last - device->first);
    VV_TRY(unite_linked(work, device, &unions->linked, &values[UNLINKED], error));
    values[LINKED_BUSY] = vv_intervals_length(&unions->linked);
    VV_TRY(unite_steps(work, device, &unions->steps, &values[STEPS], error));
    values[STEPS_TIME] = vv_intervals_length(&unions->steps);
    values[STEP_BUSY] = vv_intervals_length_common(&unions->all, &unions->steps);
    return VARVE_OK;
}

static enum varve_code put_row(struct vv_sheet *sheet, enum vv_row_kind kind, const char *name,
                               int64_t rank, const int64_t *values, struct varve_error *error)
{
    size_t row;
    VV_TRY(vv_sheet_row(sheet, kind, &row, error));
    VV_TRY(vv_sheet_text(sheet, row, DEVICE, name, error));
    if (rank >= 0)
        vv_sheet_int(sheet, row, RANK, rank);
    for (size_t c = COMPUTATION; c < COLUMNS; c++)
        if (device_columns[c].type == VV_CELL_INT &&
            (values[STEPS_TIME] > 0 || (c != STEP_BUSY && c != STEPS_TIME && c != STEPS)))
            vv_sheet_int(sheet, row, c, values[c]);
    if (values[STEPS_TIME] > 0)
        vv_sheet_real(sheet, row, STEP_BUSY_SHARE,
                      (double)values[STEP_BUSY] / (double)values[STEPS_TIME]);
    if (values[SPAN] > 0)
        vv_sheet_real(sheet, row, BUSY_SHARE, (double)values[BUSY] / (double)values[SPAN]);
    return vv_sheet_text(sheet, row, ROW, kind == VV_ROW_PLAIN ? "device" : "total", error);
}

static enum varve_code put_devices(const struct vv_device_work *work, struct unions *unions,
                                   struct vv_sheet *sheet, struct varve_error *error)
{
    int64_t sums[COLUMNS] = { 0 };
    for (size_t d = 0; d < work->device_count; d++) {
        int64_t values[COLUMNS] = { 0 };
        char name[40];
        vv_device_text(work->devices[d].id, name, sizeof name);
        VV_TRY(measure(work, &work->devices[d], unions, values, error));
        VV_TRY(put_row(sheet, VV_ROW_PLAIN, name, work->devices[d].rank, values, error));
        for (size_t c = 0; c < COLUMNS; c++)
            sums[c] += values[c];
    }
    return work->device_count > 1 ? put_row(sheet, VV_ROW_TOTAL, "total", -1, sums, error)
                                  : VARVE_OK;
}

static enum varve_code state_policy(const struct vv_device_work *work,
                                    const struct vv_question *question, struct vv_sheet *sheet,
                                    struct varve_error *error)
{
    if (work->count == 0)
        return vv_no_work_policy(work->scope, sheet, error);
    char unlinked[96] = "";
    if (work->unlinked > 0)
        snprintf(unlinked, sizeof unlinked,
                 "; %" PRIu64 " of them without a call that launched them, counted all the same",
                 work->unlinked);
    return vv_sheet_policy(sheet, error, "%zu %s from first to last%s%s%s", work->count,
                           vv_device_work_word(work->count), vv_device_part_label(work->scope),
                           unlinked, vv_compat_text(question));
}

enum varve_code vv_analyse_devices(const struct vv_model *model, const struct vv_question *question,
                                   struct vv_scratch *scratch, struct vv_sheet *out,
                                   struct varve_error *error)
{
    struct vv_scope scope;
    struct vv_device_work work;
    const struct vv_intervals none = { .scratch = scratch };
    struct unions unions = { none, none, none, none, none, none, none };
    vv_sheet_init(out, "devices", "DEVICES", device_columns, COLUMNS);
    VV_TRY(vv_scope_init(&scope, model, &question->selection, scratch, error));
    VV_TRY(vv_device_work_asked(&work, &scope, question, error));
    VV_TRY(put_devices(&work, &unions, out, error));
    VV_TRY(vv_sheet_hide_unknown(out, STEP_BUSY_SHARE, STEP_BUSY_SHARE + 1, error));
    return state_policy(&work, question, out, error);
}
