/* SPDX-License-Identifier: Apache-2.0 */
/* syncs.c — table "syncs": the calls in which threads wait for a device, by the time that they
 * block.
 *
 * A call inside another counts with the outer call. While a call blocks, a device of the process'
 * rank may be at work, or none:
 *     blocked_ns = |U(calls)|, device_busy_ns = |U(calls) and A|, device_idle_ns = the rest.
 * A is the time in which a device works. In device_idle_ns the wait is not for a device's work.
 * drained_ns is the time after calls until a device works again, in the same step: meanwhile the
 * host launches again what it could have launched before. gain_ns is what a step takes less if the
 * host does so during the call: for each call, the shorter of its time and of the time after it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/binary_search.h"
#include "derive/devices/device_work.h"
#include "derive/select/track_order.h"
#include "meaning/host_role.h"
#include "numbers/pair_ids.h"
#include "numbers/samples.h"
#include "question/question.h"

enum { ROW, NAME, PROCESS, RANK, CALLS, TOTAL, MEDIAN, LONGEST, BLOCKED, DEVICE_BUSY, DEVICE_IDLE,
       DRAINED, GAIN, OPERATOR, COLUMNS };

static const struct vv_sheet_column sync_columns[COLUMNS] = {
    { "row", "row", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    { "name", "call", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "process", "process", VV_CELL_INT, VV_UNIT_NONE, true, false },
    { "rank", "rank", VV_CELL_INT, VV_UNIT_NONE, true, false },
    { "calls", "calls", VV_CELL_INT, VV_UNIT_COUNT, false, false },
    { "total_ns", "total", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "median_ns", "median", VV_CELL_INT, VV_UNIT_NS, false, VV_TEXT_IF_ROOM },
    { "longest_ns", "longest", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "blocked_ns", "blocked", VV_CELL_INT, VV_UNIT_NS, true, false },
    { "device_busy_ns", "device busy", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "device_idle_ns", "device idle", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "drained_ns", "idle after it", VV_CELL_INT, VV_UNIT_NS, false, VV_TEXT_IF_ROOM },
    { "gain_ns", "to gain", VV_CELL_INT, VV_UNIT_NS, true, false },
    { "op", "mostly in", VV_CELL_TEXT, VV_UNIT_NONE, false, VV_TEXT_IF_ROOM },
};

struct kind {
    int64_t values[COLUMNS];
    struct vv_intervals calls;
    int64_t longest_drained_ns;
    uint32_t slice;             /* the call before it; VV_NONE                                  */
};

/* A call, and what it is one of. */
struct ended { uint32_t kind, slice; };

struct view {
    const struct vv_scope *scope;
    const struct vv_device_work *work;
    struct vv_host_roles roles;
    bool *is_waiting;           /* by slice: it is a sync call, or is inside one                */
    struct vv_groups kinds;     /* (name, row of process) -> kind                               */
    struct kind *of_kind;       /* by kind; `capacity` of them are initialised                  */
    size_t capacity;
    struct ended *ended;
    size_t ended_count, ended_capacity;
    struct vv_samples durations;
    struct vv_rank_busy busy;
    struct vv_sheet *sheet;
};

/* ---- calls ---- */

/* A slice has a greater row than the slices around it. */
static bool counts(struct view *view, uint32_t slice)
{
    const struct vv_slices *slices = &view->scope->model->slices;
    bool is_call = vv_host_role_of(&view->roles, slice) == VV_HOST_SYNC;
    bool is_inside = slices->parent[slice] != VV_NONE && view->is_waiting[slices->parent[slice]];
    view->is_waiting[slice] = is_call || is_inside;
    return is_call && !is_inside && vv_scope_holds(view->scope, slice) &&
           vv_step_counts(view->scope, slices->step[slice]);
}

static enum varve_code add_call(struct view *view, uint32_t process, uint32_t slice,
                                struct varve_error *error)
{
    const struct vv_slices *slices = &view->scope->model->slices;
    int64_t begin_ns = slices->begin_ns[slice], duration_ns = slices->duration_ns[slice];
    size_t former = view->capacity;
    uint32_t kind;
    VV_TRY(vv_groups_add(&view->kinds, slices->name[slice], process, &kind, error));
    VV_TRY(VV_SCRATCH_RESERVE(view->scope->scratch, &view->of_kind, &view->capacity,
                              (size_t)kind + 1, error));
    for (; former < view->capacity; former++)
        view->of_kind[former] = (struct kind){ .calls = { .scratch = view->scope->scratch },
                                                 .slice = VV_NONE };
    int64_t *values = view->of_kind[kind].values;
    values[CALLS]++;
    values[TOTAL] += duration_ns;
    values[LONGEST] = duration_ns > values[LONGEST] ? duration_ns : values[LONGEST];
    VV_TRY(VV_SCRATCH_RESERVE(view->scope->scratch, &view->ended, &view->ended_capacity,
                              view->ended_count + 1, error));
    view->ended[view->ended_count++] = (struct ended){ kind, slice };
    VV_TRY(vv_intervals_add(&view->of_kind[kind].calls, begin_ns, begin_ns + duration_ns, error));
    return vv_samples_add(&view->durations, kind, duration_ns, error);
}

static enum varve_code find_calls(struct view *view, struct varve_error *error)
{
    const struct vv_model *model = view->scope->model;
    struct vv_scratch *scratch = view->scope->scratch;
    uint32_t *order;
    VV_TRY(VV_SCRATCH_ZEROS(scratch, &view->is_waiting, model->slices.table.count, error));
    VV_TRY(vv_track_order(model, scratch, &order, error));
    for (uint64_t i = 0; i < model->tracks.table.count; i++) {
        uint32_t first, last;
        if (!view->scope->tracks[order[i]])
            continue;
        vv_track_rows(model, order[i], &first, &last);
        for (uint32_t slice = first; slice < last; slice++)
            if (counts(view, slice))
                VV_TRY(add_call(view, model->tracks.process[order[i]], slice, error));
    }
    return VARVE_OK;
}

/* ---- devices during the calls ---- */

/* The time from the call's end until a device works again, if none works at its end, one did before
 * in the step, and the step lasts so long. */
static int64_t drained_after(const struct view *view, uint32_t slice)
{
    const struct vv_slices *slices = &view->scope->model->slices;
    const struct vv_steps *steps = &view->scope->model->steps;
    const struct vv_intervals *busy = &view->busy.time;
    uint32_t step = slices->step[slice];
    int64_t end_ns = slices->begin_ns[slice] + slices->duration_ns[slice];
    size_t next = VV_FIRST_NOT(i, 0, busy->count, busy->items[i].end_ns <= end_ns);
    if (next == 0 || next == busy->count || busy->items[next].begin_ns <= end_ns ||
        step == VV_NONE || busy->items[next - 1].end_ns <= steps->begin_ns[step] ||
        busy->items[next].begin_ns > steps->begin_ns[step] + steps->duration_ns[step])
        return 0;
    return busy->items[next].begin_ns - end_ns;
}

static void find_drained(struct view *view, uint32_t kind)
{
    struct kind *of_kind = &view->of_kind[kind];
    for (size_t i = 0; i < view->ended_count; i++) {
        if (view->ended[i].kind != kind)
            continue;
        int64_t drained_ns = drained_after(view, view->ended[i].slice);
        int64_t call_ns = view->scope->model->slices.duration_ns[view->ended[i].slice];
        of_kind->values[DRAINED] += drained_ns;
        of_kind->values[GAIN] += drained_ns < call_ns ? drained_ns : call_ns;
        if (drained_ns <= of_kind->longest_drained_ns)
            continue;
        of_kind->longest_drained_ns = drained_ns;
        of_kind->slice = view->ended[i].slice;
    }
}

/* The outermost operator around a call; none: nothing is around it. */
static enum varve_code put_operator(struct view *view, size_t row, uint32_t slice,
                                    struct varve_error *error)
{
    const struct vv_model *model = view->scope->model;
    uint32_t op = VV_NONE;
    while (slice != VV_NONE && (slice = model->slices.parent[slice]) != VV_NONE)
        if (vv_is_operator(model, slice))
            op = slice;
    return op == VV_NONE ? VARVE_OK
                         : vv_sheet_text(view->sheet, row, OPERATOR,
                                         vv_text_of(model, model->slices.name[op]), error);
}

static enum varve_code measure(struct view *view, uint32_t kind, struct varve_error *error)
{
    const struct vv_model *model = view->scope->model;
    uint32_t process = view->kinds.extras[kind];
    int64_t *values = view->of_kind[kind].values;
    values[RANK] = process != VV_NONE ? view->scope->ranks[process] : -1;
    values[PROCESS] = process != VV_NONE ? model->processes.pid[process] : 0;
    vv_intervals_unite(&view->of_kind[kind].calls);
    VV_TRY(vv_busy_of_process(view->work, process, &view->busy, error));
    values[BLOCKED] = vv_intervals_length(&view->of_kind[kind].calls);
    values[DEVICE_BUSY] = vv_intervals_length_common(&view->of_kind[kind].calls, &view->busy.time);
    values[DEVICE_IDLE] = values[BLOCKED] - values[DEVICE_BUSY];
    find_drained(view, kind);
    return VARVE_OK;
}

/* ---- rows ---- */

static enum varve_code put_row(struct view *view, enum vv_row_kind row_kind, const char *name,
                               const int64_t *values, size_t *out_row, struct varve_error *error)
{
    VV_TRY(vv_sheet_row(view->sheet, row_kind, out_row, error));
    VV_TRY(vv_sheet_text(view->sheet, *out_row, ROW, row_kind == VV_ROW_PLAIN ? "call" : "total",
                         error));
    VV_TRY(vv_sheet_text(view->sheet, *out_row, NAME, name, error));
    for (size_t c = CALLS; c < OPERATOR; c++)
        if (c != MEDIAN)
            vv_sheet_int(view->sheet, *out_row, c, values[c]);
    return VARVE_OK;
}

static enum varve_code put_kind(struct view *view, uint32_t kind, struct varve_error *error)
{
    const int64_t *values = view->of_kind[kind].values;
    size_t row;
    VV_TRY(put_row(view, VV_ROW_PLAIN, vv_text_of(view->scope->model, view->kinds.names[kind]),
                   values, &row, error));
    vv_sheet_int(view->sheet, row, PROCESS, values[PROCESS]);
    if (values[RANK] >= 0)
        vv_sheet_int(view->sheet, row, RANK, values[RANK]);
    vv_sheet_int(view->sheet, row, MEDIAN, vv_samples_percentile(&view->durations, kind, 50));
    return put_operator(view, row, view->of_kind[kind].slice, error);
}

static int by_total(const void *a, const void *b, void *context)
{
    const struct kind *of_kind = context;
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    int64_t left_ns = of_kind[left].values[TOTAL], right_ns = of_kind[right].values[TOTAL];
    if (left_ns != right_ns)
        return left_ns > right_ns ? -1 : 1;
    return (left > right) - (left < right);
}

static enum varve_code put_rows(struct view *view, struct varve_error *error)
{
    int64_t total[COLUMNS] = { 0 };
    uint32_t count = view->kinds.count, *order;
    size_t row;
    VV_TRY(VV_SCRATCH_ARRAY(view->scope->scratch, &order, count, error));
    for (uint32_t i = 0; i < count; i++) {
        order[i] = i;
        VV_TRY(measure(view, i, error));
        for (size_t c = CALLS; c < OPERATOR; c++)
            total[c] += c != LONGEST ? view->of_kind[i].values[c] : 0;
        if (view->of_kind[i].values[LONGEST] > total[LONGEST])
            total[LONGEST] = view->of_kind[i].values[LONGEST];
    }
    if (count > 0)
        qsort_r(order, count, sizeof *order, by_total, view->of_kind);
    for (uint32_t i = 0; i < count; i++)
        VV_TRY(put_kind(view, order[i], error));
    return count > 1 ? put_row(view, VV_ROW_TOTAL, "total", total, &row, error) : VARVE_OK;
}

static enum varve_code put_calls(struct view *view, struct varve_error *error)
{
    VV_TRY(vv_host_roles_init(&view->roles, view->scope->model, error));
    VV_TRY(find_calls(view, error));
    VV_TRY(vv_samples_sort(&view->durations, view->kinds.count, error));
    VV_TRY(put_rows(view, error));
    if (view->kinds.count == 0)
        return vv_sheet_policy(view->sheet, error, "no call that waits for a device");
    return vv_sheet_policy(view->sheet, error,
                           "%zu calls in which threads waited for a device%s, and what the devices "
                           "of the rank did meanwhile",
                           view->durations.count,
                           !view->scope->every_step    ? " in these steps"
                           : view->scope->left_out > 0 ? " outside warm-up"
                                                       : "");
}

enum varve_code vv_analyse_syncs(const struct vv_model *model, const struct vv_question *question,
                                 struct vv_scratch *scratch, struct vv_sheet *out,
                                 struct varve_error *error)
{
    struct vv_scope scope, every;
    struct vv_device_work work;
    struct view view = { .scope = &scope, .work = &work, .kinds = { .scratch = scratch },
                         .durations = { .scratch = scratch }, .sheet = out };
    struct vv_selection whole = vv_selection_without_step(&question->selection);
    vv_sheet_init(out, "syncs", "CALLS THAT WAIT", sync_columns, COLUMNS);
    VV_TRY(vv_scope_init(&scope, model, &question->selection, scratch, error));
    VV_TRY(vv_scope_init(&every, model, &whole, scratch, error));
    struct vv_scope all = vv_scope_of_whole_devices(&every);
    VV_TRY(vv_device_work_init(&work, &all, question->selection.device, error));
    return put_calls(&view, error);
}
