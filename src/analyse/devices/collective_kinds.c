/* SPDX-License-Identifier: Apache-2.0 */
/* collective_kinds.c — table "collective_kinds": collectives by rank, operation, group, number of
 * elements and type.
 *
 * A collective that did device work counts as that work, once a piece. A call on the host counts
 * only if no such work was launched inside it: a library of the host ran it. A range that starts a
 * collective of a device counts only where no work of devices is recorded. Laws: calls and total_ns
 * of the rows sum to those of "total"; those of the rows on devices are "calls" and "sum_ns" of
 * table "overlap". doc/metrics.md §8.1. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "derive/devices/rank_work.h"
#include "derive/select/host_collectives.h"
#include "meaning/collective_name.h"
#include "numbers/samples.h"
#include "question/question.h"

enum {
    ROW, TOTAL, CALLS, MEDIAN, LONGEST, EXPOSED, IN_ELEMENTS, OUT_ELEMENTS, DTYPE, GROUP, RANKS,
    GROUP_SIZE, RANK, PLACE, NAME, STEPS_TIME, STEPS, COLUMNS
};

static const struct vv_sheet_column kind_columns[COLUMNS] = {
    { "row", "row", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    { "total_ns", "total", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "calls", "calls", VV_CELL_INT, VV_UNIT_COUNT, false, false },
    { "median_ns", "median", VV_CELL_INT, VV_UNIT_NS, false, VV_TEXT_IF_ROOM },
    { "max_ns", "max", VV_CELL_INT, VV_UNIT_NS, true, false },
    { "exposed_ns", "exposed", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "in_elements", "elements in", VV_CELL_INT, VV_UNIT_COUNT, false, VV_TEXT_IF_ROOM },
    { "out_elements", "out", VV_CELL_INT, VV_UNIT_COUNT, false, VV_TEXT_IF_MUCH_ROOM },
    { "dtype", "type", VV_CELL_TEXT, VV_UNIT_NONE, false, VV_TEXT_IF_ROOM },
    { "group", "group", VV_CELL_TEXT, VV_UNIT_NONE, false, VV_TEXT_IF_MUCH_ROOM },
    { "ranks", "ranks", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    { "group_size", "group size", VV_CELL_INT, VV_UNIT_COUNT, true, false },
    { "rank", "rank", VV_CELL_INT, VV_UNIT_NONE, false, false },
    { "place", "on", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    { "name", "collective", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "steps_ns", "steps of the rank", VV_CELL_INT, VV_UNIT_NS, true, false },
    { "steps", "their number", VV_CELL_INT, VV_UNIT_COUNT, true, false },
};

#define ON_HOST UINT32_MAX

struct call {
    uint32_t collective; /* row; or VV_NONE                                                     */
    uint32_t slice;
    uint32_t device;     /* in work->devices; or ON_HOST                                        */
    int64_t rank, begin_ns, duration_ns, exposed_ns;
};

/* Calls that have a row of the table in common: calls[first, last). */
struct kind {
    size_t first, last;
    int64_t total_ns, exposed_ns, median_ns, max_ns;
    bool is_host;
};

struct view {
    const struct vv_model *model;
    const struct vv_scope *scope;
    const struct vv_device_work *work;
    bool *does_device_work; /* by slice: communication of a device was launched inside it       */
    bool *has_device_work;  /* by process: devices communicate                                  */
    bool *is_collective;    /* by slice: its thread is in a collective of the host              */
    struct call *calls;
    size_t count, capacity;
    struct kind *kinds;
    size_t kind_count, kind_capacity;
    struct vv_samples durations; /* by kind                                                     */
    struct vv_sheet *sheet;
};

/* ---- calls ---- */

static enum varve_code add(struct view *view, const struct call *call, struct varve_error *error)
{
    VV_TRY(VV_SCRATCH_RESERVE(view->scope->scratch, &view->calls, &view->capacity, view->count + 1,
                              error));
    view->calls[view->count++] = *call;
    return VARVE_OK;
}

static enum varve_code add_device(struct view *view, uint32_t number, struct varve_error *error)
{
    const struct vv_device *device = &view->work->devices[number];
    const struct vv_activities *activities = &view->model->activities;
    struct vv_intervals compute = { .scratch = view->scope->scratch };
    VV_TRY(vv_device_busy(view->work, device,
                          VV_CLASS_BIT(VV_CLASS_COMPUTE) | VV_CLASS_BIT(VV_CLASS_SET), VV_ALWAYS,
                          &compute, error));
    for (size_t i = device->first; i < device->last; i++) {
        const struct vv_work_item *item = &view->work->items[i];
        if (item->class != VV_CLASS_COMM)
            continue;
        int64_t duration_ns = item->end_ns - item->begin_ns;
        struct call call = {
            .collective = activities->collective[item->activity],
            .slice = activities->slice[item->activity],
            .device = number,
            .rank = device->rank,
            .duration_ns = duration_ns,
            .exposed_ns = duration_ns - vv_intervals_length_within(&compute, item->begin_ns,
                                                                   item->end_ns),
        };
        VV_TRY(add(view, &call, error));
    }
    return VARVE_OK;
}

/* The process that launched the work; without a launch, the one that has it. */
static void note_process(struct view *view, uint32_t activity)
{
    const struct vv_model *model = view->model;
    uint32_t launch = model->activities.launch[activity],
             slice = launch != VV_NONE ? launch : model->activities.slice[activity],
             process = slice != VV_NONE ? model->tracks.process[model->slices.track[slice]]
                                        : VV_NONE;
    if (process < model->processes.table.count)
        view->has_device_work[process] = true;
}

/* Marks the slices around each launch of communication, whatever is chosen. */
static enum varve_code find_device_calls(struct view *view, struct varve_error *error)
{
    const struct vv_model *model = view->model;
    const struct vv_slices *slices = &model->slices;
    struct vv_scratch *scratch = view->scope->scratch;
    uint8_t *by_name;
    VV_TRY(VV_SCRATCH_ZEROS(scratch, &view->does_device_work, slices->table.count, error));
    VV_TRY(VV_SCRATCH_ZEROS(scratch, &view->has_device_work, model->processes.table.count, error));
    VV_TRY(VV_SCRATCH_ZEROS(scratch, &by_name, model->strings.count, error));
    for (uint32_t row = 0; row < model->activities.table.count; row++) {
        if (!vv_is_device_work(model, row) ||
            vv_device_class_of(model, row, by_name) != VV_CLASS_COMM)
            continue;
        note_process(view, row);
        const uint32_t from[] = { model->activities.launch[row], model->activities.caller[row] };
        for (size_t i = 0; i < 2; i++)
            for (uint32_t slice = from[i]; slice != VV_NONE && !view->does_device_work[slice];
                 slice = slices->parent[slice])
                view->does_device_work[slice] = true;
    }
    return VARVE_OK;
}

/* Did the program mark the range as a collective that the thread itself runs (MPI_Allreduce)? A
 * name such as "gloo:all_reduce" is of a backend: the operator that asks for it counts. */
static bool is_marked(const struct vv_model *model, uint32_t slice)
{
    if (slice == VV_NONE || model->slices.layer[slice] != VARVE_LAYER_COMM)
        return false;
    const char *text = vv_text_of(model, model->slices.name[slice]);
    const struct vv_collective_name name = vv_collective_name(text);
    return name.operation != VV_COLLECTIVE_OTHER && !name.asks && strchr(text, ':') == NULL;
}

static uint32_t collective_of(const struct vv_model *model, uint32_t slice)
{
    uint32_t op = slice != VV_NONE ? model->slices.op[slice] : VV_NONE;
    return op != VV_NONE ? model->ops.collective[op] : VV_NONE;
}

/* Does the range only start a collective that a device runs (ncclAllReduce)? */
static bool is_start(const struct vv_model *model, uint32_t slice)
{
    return collective_of(model, slice) != VV_NONE &&
           vv_collective_name(vv_text_of(model, model->slices.name[slice])).starts;
}

/* What is told inside a told collective is a part of it: the sends of a ring. So is a start inside
 * the operator that asks for it. */
static enum varve_code find_parts(struct view *view, bool **out_is_part, struct varve_error *error)
{
    const struct vv_model *model = view->model;
    const struct vv_slices *slices = &model->slices;
    bool *is_inside;
    VV_TRY(VV_SCRATCH_ZEROS(view->scope->scratch, out_is_part, slices->table.count, error));
    VV_TRY(VV_SCRATCH_ZEROS(view->scope->scratch, &is_inside, slices->table.count, error));
    for (uint32_t slice = 0; slice < slices->table.count; slice++) {
        uint32_t parent = slices->parent[slice];
        if (parent == VV_NONE)
            continue;
        is_inside[slice] = is_inside[parent] || collective_of(model, parent) != VV_NONE;
        (*out_is_part)[slice] = (*out_is_part)[parent] ||
                                vv_told_collective(model, parent) != VV_NONE ||
                                (is_inside[slice] && is_start(model, slice));
    }
    return VARVE_OK;
}

/* *out_runs: row of a slice -> 1 + row of the range in which the collective that it asks for runs
 * in the background, on a track of its own; 0 = it runs in none. */
static enum varve_code find_runs(struct view *view, uint32_t **out_runs, struct varve_error *error)
{
    const struct vv_model *model = view->model;
    struct vv_host_collectives found;
    VV_TRY(VV_SCRATCH_ZEROS(view->scope->scratch, out_runs, model->slices.table.count, error));
    VV_TRY(vv_host_collectives_find(&found, view->scope, view->scope->scratch, error));
    for (size_t i = 0; i < found.count; i++) {
        const struct vv_host_collective *item = &found.items[i];
        if (item->asked != VV_NONE && item->run != VV_NONE && item->run != item->asked &&
            model->tracks.kind[model->slices.track[item->run]] == VV_TRACK_ASYNC)
            (*out_runs)[item->asked] = 1 + item->run;
    }
    return VARVE_OK;
}

/* A start counts only where no work of devices is recorded in its process. */
static bool is_seen_on_device(const struct view *view, uint32_t slice)
{
    uint32_t process = view->model->tracks.process[view->model->slices.track[slice]];
    return process < view->model->processes.table.count && view->has_device_work[process] &&
           is_start(view->model, slice);
}

static enum varve_code add_host(struct view *view, struct varve_error *error)
{
    const struct vv_model *model = view->model;
    const struct vv_slices *slices = &model->slices;
    bool *is_part;
    uint32_t *runs;
    VV_TRY(find_parts(view, &is_part, error));
    VV_TRY(find_runs(view, &runs, error));
    VV_TRY(VV_SCRATCH_ZEROS(view->scope->scratch, &view->is_collective, slices->table.count,
                            error));
    for (uint32_t slice = 0; slice < slices->table.count; slice++) {
        uint32_t track = slices->track[slice], collective = collective_of(model, slice);
        bool is_collective = collective != VV_NONE || (is_marked(model, slice) &&
                                                       !is_marked(model, slices->parent[slice]));
        view->is_collective[slice] = is_collective && !view->does_device_work[slice] &&
                                     !is_seen_on_device(view, slice);
        if (!view->is_collective[slice] || is_part[slice] ||
            !view->scope->tracks[track] ||
            !vv_scope_holds(view->scope, slice) ||
            !vv_step_counts(view->scope, slices->step[slice]))
            continue;
        uint32_t process = model->tracks.process[track],
                 run = runs[slice] > 0 ? runs[slice] - 1 : slice;
        struct call call = { .collective = collective,
                             .slice = slice,
                             .device = ON_HOST,
                             .rank = process != VV_NONE ? view->scope->ranks[process] : -1,
                             .begin_ns = slices->begin_ns[run],
                             .duration_ns = slices->duration_ns[run] };
        VV_TRY(add(view, &call, error));
    }
    return VARVE_OK;
}

/* A call on the host is exposed while no other thread and no device of its rank works. */
static enum varve_code expose_host(struct view *view, struct varve_error *error)
{
    const struct vv_model *model = view->model;
    const struct vv_slices *slices = &model->slices;
    struct vv_rank_work rank;
    VV_TRY(vv_rank_work_init(&rank, view->work, view->is_collective, error));
    for (size_t i = 0; i < view->count; i++) {
        struct call *call = &view->calls[i];
        const struct vv_intervals *others;
        if (call->device != ON_HOST)
            continue;
        uint32_t process = model->tracks.process[slices->track[call->slice]];
        call->exposed_ns = call->duration_ns;
        if (process >= model->processes.table.count)
            continue;
        VV_TRY(vv_rank_work_of(&rank, process, &others, error));
        call->exposed_ns -= vv_intervals_length_within(others, call->begin_ns,
                                                       call->begin_ns + call->duration_ns);
    }
    return VARVE_OK;
}

/* ---- kinds ---- */

static uint32_t name_of(const struct vv_model *model, const struct call *call)
{
    uint32_t named = call->collective != VV_NONE ? model->collectives.name[call->collective] : 0;
    return named != 0 ? named : model->slices.name[call->slice];
}

static int compare_numbers(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int compare_texts(const struct vv_model *model, uint32_t a, uint32_t b)
{
    return a == b ? 0 : strcmp(vv_text_of(model, a), vv_text_of(model, b));
}

/* What the producer says of the collectives; calls of which it says nothing come first. */
static int compare_collectives(const struct vv_model *model, uint32_t a, uint32_t b)
{
    const struct vv_collectives *collectives = &model->collectives;
    if (a == VV_NONE || b == VV_NONE)
        return (a != VV_NONE) - (b != VV_NONE);
    const uint32_t *const texts[] = { collectives->group, collectives->ranks, collectives->dtype };
    const int64_t *const numbers[] = { collectives->in_elements, collectives->out_elements,
                                       collectives->group_size };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        int difference = compare_texts(model, texts[i][a], texts[i][b]);
        if (difference != 0)
            return difference;
    }
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (numbers[i][a] != numbers[i][b])
            return compare_numbers(numbers[i][a], numbers[i][b]);
    return 0;
}

/* 0: the calls are of one kind. */
static int compare_kinds(const void *a, const void *b, void *context)
{
    const struct call *left = a, *right = b;
    const struct vv_model *model = context;
    int difference = compare_numbers(left->rank, right->rank);
    if (difference == 0)
        difference = (left->device == ON_HOST) - (right->device == ON_HOST);
    if (difference == 0)
        difference = compare_texts(model, name_of(model, left), name_of(model, right));
    return difference != 0 ? difference
                           : compare_collectives(model, left->collective, right->collective);
}

static enum varve_code find_kinds(struct view *view, struct varve_error *error)
{
    if (view->count > 0)
        qsort_r(view->calls, view->count, sizeof *view->calls, compare_kinds, (void *)view->model);
    for (size_t i = 0; i < view->count; i++) {
        const struct call *call = &view->calls[i];
        if (i == 0 || compare_kinds(&view->calls[i - 1], call, (void *)view->model) != 0) {
            VV_TRY(VV_SCRATCH_RESERVE(view->scope->scratch, &view->kinds, &view->kind_capacity,
                                      view->kind_count + 1, error));
            view->kinds[view->kind_count++] =
                (struct kind){ .first = i, .is_host = call->device == ON_HOST };
        }
        struct kind *kind = &view->kinds[view->kind_count - 1];
        kind->last = i + 1;
        kind->total_ns += call->duration_ns;
        kind->exposed_ns += call->exposed_ns;
        VV_TRY(vv_samples_add(&view->durations, (uint32_t)(view->kind_count - 1),
                              call->duration_ns, error));
    }
    VV_TRY(vv_samples_sort(&view->durations, (uint32_t)view->kind_count, error));
    for (uint32_t k = 0; k < view->kind_count; k++) {
        view->kinds[k].median_ns = vv_samples_percentile(&view->durations, k, 50);
        view->kinds[k].max_ns = vv_samples_percentile(&view->durations, k, 100);
    }
    return VARVE_OK;
}

/* ---- rows ---- */

static int by_total(const void *a, const void *b)
{
    const struct kind *left = a, *right = b;
    if (left->total_ns != right->total_ns)
        return left->total_ns > right->total_ns ? -1 : 1;
    return (left->first > right->first) - (left->first < right->first);
}

static enum varve_code put_sums(struct view *view, enum vv_row_kind row_kind, const char *name,
                                const struct kind *kind, size_t *out_row,
                                struct varve_error *error)
{
    struct vv_sheet *sheet = view->sheet;
    VV_TRY(vv_sheet_row(sheet, row_kind, out_row, error));
    vv_sheet_int(sheet, *out_row, TOTAL, kind->total_ns);
    vv_sheet_int(sheet, *out_row, CALLS, (int64_t)(kind->last - kind->first));
    vv_sheet_int(sheet, *out_row, EXPOSED, kind->exposed_ns);
    VV_TRY(vv_sheet_text(sheet, *out_row, ROW,
                         row_kind == VV_ROW_PLAIN   ? "collective"
                         : row_kind == VV_ROW_TOTAL ? "total"
                                                    : "more",
                         error));
    return vv_sheet_text(sheet, *out_row, NAME, name, error);
}

static enum varve_code put_stated(struct view *view, size_t row, uint32_t collective,
                                  struct varve_error *error)
{
    const struct vv_collectives *collectives = &view->model->collectives;
    const struct { size_t column; uint32_t string; } texts[] = {
        { GROUP, collectives->group[collective] }, { RANKS, collectives->ranks[collective] },
        { DTYPE, collectives->dtype[collective] },
    };
    const struct { size_t column; int64_t number; } numbers[] = {
        { IN_ELEMENTS, collectives->in_elements[collective] },
        { OUT_ELEMENTS, collectives->out_elements[collective] },
        { GROUP_SIZE, collectives->group_size[collective] },
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i].string != 0)
            VV_TRY(vv_sheet_text(view->sheet, row, texts[i].column,
                                 vv_text_of(view->model, texts[i].string), error));
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (numbers[i].number > 0)
            vv_sheet_int(view->sheet, row, numbers[i].column, numbers[i].number);
    return VARVE_OK;
}

/* The chosen steps of a rank; -1: of all. */
static void put_steps(struct view *view, size_t row, int64_t rank)
{
    const struct vv_steps *steps = &view->model->steps;
    int64_t time_ns = 0, count = 0;
    for (uint32_t s = 0; s < steps->table.count; s++) {
        uint32_t process = view->model->tracks.process[steps->track[s]];
        if (!view->scope->steps[s] || (rank >= 0 && view->scope->ranks[process] != rank))
            continue;
        time_ns += steps->duration_ns[s];
        count++;
    }
    if (count == 0)
        return;
    vv_sheet_int(view->sheet, row, STEPS_TIME, time_ns);
    vv_sheet_int(view->sheet, row, STEPS, count);
}

static enum varve_code put_kind(struct view *view, const struct kind *kind,
                                struct varve_error *error)
{
    const struct call *call = &view->calls[kind->first];
    size_t row;
    VV_TRY(put_sums(view, VV_ROW_PLAIN,
                    vv_text_of(view->model, name_of(view->model, call)), kind, &row, error));
    vv_sheet_int(view->sheet, row, MEDIAN, kind->median_ns);
    vv_sheet_int(view->sheet, row, LONGEST, kind->max_ns);
    if (call->rank >= 0)
        vv_sheet_int(view->sheet, row, RANK, call->rank);
    put_steps(view, row, call->rank);
    VV_TRY(vv_sheet_text(view->sheet, row, PLACE, kind->is_host ? "host" : "device", error));
    return call->collective == VV_NONE ? VARVE_OK : put_stated(view, row, call->collective, error);
}

static void add_kind(struct kind *sum, const struct kind *kind)
{
    sum->last += kind->last - kind->first;
    sum->total_ns += kind->total_ns;
    sum->exposed_ns += kind->exposed_ns;
}

static enum varve_code put_rows(struct view *view, int64_t wanted, struct varve_error *error)
{
    size_t count = view->kind_count,
           top = wanted > 0 && (uint64_t)wanted < count ? (size_t)wanted : count;
    struct kind rest = { 0 }, total = { 0 };
    char name[60];
    size_t row;
    qsort(view->kinds, count, sizeof *view->kinds, by_total);
    for (size_t i = 0; i < count; i++) {
        add_kind(&total, &view->kinds[i]);
        if (i < top)
            VV_TRY(put_kind(view, &view->kinds[i], error));
        else
            add_kind(&rest, &view->kinds[i]);
    }
    snprintf(name, sizeof name, "%zu more: --top 0", count - top);
    if (top < count)
        VV_TRY(put_sums(view, VV_ROW_REMAINDER, name, &rest, &row, error));
    VV_TRY(put_sums(view, VV_ROW_TOTAL, "total", &total, &row, error));
    return vv_sheet_hide_unknown(view->sheet, IN_ELEMENTS, NAME, error);
}

static enum varve_code fill(struct view *view, const struct vv_question *question,
                            struct varve_error *error)
{
    char left_out[60];
    for (uint32_t d = 0; d < view->work->device_count; d++)
        VV_TRY(add_device(view, d, error));
    if (vv_has_communication(view->model) && (question->selection.device == NULL ||
                                              strcmp(question->selection.device, "all") == 0)) {
        VV_TRY(find_device_calls(view, error));
        VV_TRY(add_host(view, error));
        VV_TRY(expose_host(view, error));
    }
    VV_TRY(find_kinds(view, error));
    vv_scope_left_out_text(view->scope, left_out, sizeof left_out);
    if (view->count == 0)
        return vv_sheet_policy(view->sheet, error, "no collectives here%s", left_out);
    VV_TRY(put_rows(view, question->top, error));
    return vv_sheet_policy(view->sheet, error,
                           "%zu collective%s; exposed while the same device does not compute, on "
                           "the host while nothing else of the rank works%s%s",
                           view->count, view->count == 1 ? "" : "s", left_out,
                           vv_compat_text(question));
}

enum varve_code vv_analyse_collective_kinds(const struct vv_model *model,
                                            const struct vv_question *question,
                                            struct vv_scratch *scratch, struct vv_sheet *out,
                                            struct varve_error *error)
{
    struct vv_scope scope;
    struct vv_device_work work;
    struct view view = { .model = model, .scope = &scope, .work = &work,
                         .durations = { .scratch = scratch }, .sheet = out };
    vv_sheet_init(out, "collective_kinds", "COLLECTIVES", kind_columns, COLUMNS);
    VV_TRY(vv_scope_init(&scope, model, &question->selection, scratch, error));
    VV_TRY(vv_device_work_asked(&work, &scope, question, error));
    return fill(&view, question, error);
}
