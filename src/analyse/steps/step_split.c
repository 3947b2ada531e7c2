/* SPDX-License-Identifier: Apache-2.0 */
/* step_split.c — table "step_split": which device or thread each instant of a step belongs to
 * (doc/metrics.md §9).
 *
 * device_steps.h says how long steps last. Every instant belongs to the first of the slots below
 * that is busy then, on any device or thread of the step's process. Only a thread that has steps
 * waits for data: a loader on another one reads ahead, and is an operator. An instant in which no
 * slot is busy is "other". Law: the slots and other_ns of a row sum to its duration_ns. Each finer
 * column is part of one slot: sync and allocation of runtime, compiling and garbage collection of
 * cpu_op, Python of other. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/binary_search.h"
#include "derive/devices/device_steps.h"
#include "derive/select/running_collectives.h"
#include "derive/select/recording_cost.h"
#include "meaning/host_role.h"
#include "model/find.h"
#include "question/question.h"
#include "sheet/number.h"

/* The parts of a step: the slots in order of priority, then "other", then the finer parts. */
enum part {
    KERNEL, MEMCPY, MEMSET, COMMUNICATION, RUNTIME, LOADER, CPU_OP, OTHER, SYNC, ALLOCATION,
    COMPILE, GC, PYTHON,
    PARTS
};

enum {
    ROW, STEP, PROCESS, RANK, BEGIN, DURATION, FIRST_PART, KERNEL_SHARE = FIRST_PART + PARTS,
    HOST_DURATION, LAUNCHED, TAIL, TRACING, PYTHON_OWN, UNTRACED, TAIL_IN,
    COLUMNS
};

static const struct vv_sheet_column split_columns[COLUMNS] = {
    { "row", "row", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "step", "step", VV_CELL_INT, VV_UNIT_NONE, false, false },
    { "process", "process", VV_CELL_INT, VV_UNIT_NONE, true, false },
    { "rank", "rank", VV_CELL_INT, VV_UNIT_NONE, true, false },
    { "begin_ns", "begin", VV_CELL_INT, VV_UNIT_TIME, true, false },
    { "duration_ns", "took", VV_CELL_INT, VV_UNIT_NS, false, false },
    [FIRST_PART + KERNEL] = { "kernel_ns", "kernel", VV_CELL_INT, VV_UNIT_NS, false, false },
    [FIRST_PART + MEMCPY] = { "memcpy_ns", "memcpy", VV_CELL_INT, VV_UNIT_NS, false,
                              VV_TEXT_IF_ROOM },
    [FIRST_PART + MEMSET] = { "memset_ns", "memset", VV_CELL_INT, VV_UNIT_NS, false,
                              VV_TEXT_IF_ROOM },
    [FIRST_PART + COMMUNICATION] = { "communication_ns", "comm", VV_CELL_INT, VV_UNIT_NS, false,
                                     false },
    [FIRST_PART + RUNTIME] = { "runtime_ns", "runtime", VV_CELL_INT, VV_UNIT_NS, false, false },
    [FIRST_PART + LOADER] = { "data_loader_ns", "loader", VV_CELL_INT, VV_UNIT_NS, false, false },
    [FIRST_PART + CPU_OP] = { "cpu_op_ns", "CPU op", VV_CELL_INT, VV_UNIT_NS, false, false },
    [FIRST_PART + OTHER] = { "other_ns", "other", VV_CELL_INT, VV_UNIT_NS, false, VV_TEXT_IF_ROOM },
    [FIRST_PART + SYNC] = { "sync_ns", "of runtime: sync", VV_CELL_INT, VV_UNIT_NS, true, false },
    [FIRST_PART + ALLOCATION] = { "allocation_ns", "of runtime: allocation", VV_CELL_INT,
                                  VV_UNIT_NS, true, false },
    [FIRST_PART + COMPILE] = { "compile_ns", "of CPU op: compile", VV_CELL_INT, VV_UNIT_NS, true,
                               false },
    [FIRST_PART + GC] = { "garbage_collection_ns", "of CPU op: GC", VV_CELL_INT, VV_UNIT_NS, true,
                          false },
    [FIRST_PART + PYTHON] = { "python_ns", "of other: Python", VV_CELL_INT, VV_UNIT_NS, true,
                              false },
    [KERNEL_SHARE] = { "kernel_share", "kernel", VV_CELL_REAL, VV_UNIT_RATIO, false,
                       VV_TEXT_IF_ROOM },
    [HOST_DURATION] = { "host_duration_ns", "on the host", VV_CELL_INT, VV_UNIT_NS, true, false },
    [LAUNCHED] = { "launched", "launched", VV_CELL_INT, VV_UNIT_COUNT, true, false },
    [TAIL] = { "tail_ns", "behind its work", VV_CELL_INT, VV_UNIT_NS, true, false },
    [TRACING] = { "tracing_ns", "of Python: recording", VV_CELL_INT, VV_UNIT_NS, true, false },
    [PYTHON_OWN] = { "python_own_ns", "of Python: its own", VV_CELL_INT, VV_UNIT_NS, true, false },
    [UNTRACED] = { "untraced_ns", "without that", VV_CELL_INT, VV_UNIT_NS, true, false },
    [TAIL_IN] = { "tail_in", "mostly in", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
};

struct view {
    const struct vv_scope *scope;      /* the selected steps                                    */
    const struct vv_device_work *work; /* of all steps                                          */
    const struct vv_device_steps *steps;
    const bool *step_tracks;           /* row of a track -> it has steps                        */
    struct vv_host_roles roles;
    struct vv_sheet *sheet;
    struct vv_intervals busy[PARTS];   /* when each part is busy in the process at hand; then the
                                          time that it took */
    struct vv_intervals *running;      /* process -> when its collectives run in the background */
    struct vv_intervals free, taken, rest;
    int64_t *tail_ns;                  /* string -> time of such ranges behind the steps' work; NULL
                                          until there is some */
    int64_t sums[COLUMNS];
    int64_t rows;
};

/* ---- when each part is busy ---- */

static const enum part part_of_class[VV_CLASS_COUNT] = {
    [VV_CLASS_COMPUTE] = KERNEL, [VV_CLASS_COMM] = COMMUNICATION, [VV_CLASS_COPY] = MEMCPY,
    [VV_CLASS_SET] = MEMSET,
};

/* While a finer part is busy, its slot is busy too. */
static const struct { enum part slot, finer; } parts_of_role[VV_HOST_COUNT] = {
    [VV_HOST_NONE] = { OTHER, OTHER },
    [VV_HOST_OP] = { CPU_OP, CPU_OP },
    [VV_HOST_PYTHON] = { PYTHON, PYTHON },
    [VV_HOST_GC] = { CPU_OP, GC },
    [VV_HOST_COMPILE] = { CPU_OP, COMPILE },
    [VV_HOST_LOADER] = { LOADER, LOADER },
    [VV_HOST_COMM] = { COMMUNICATION, COMMUNICATION },
    [VV_HOST_CALL] = { RUNTIME, RUNTIME },
    [VV_HOST_ALLOCATION] = { RUNTIME, ALLOCATION },
    [VV_HOST_SYNC] = { RUNTIME, SYNC },
};

/* The slot of each finer part. Of the finer parts of one slot the first takes its time first. */
static const enum part slot_of_finer[PARTS] = {
    [SYNC] = RUNTIME, [ALLOCATION] = RUNTIME, [COMPILE] = CPU_OP, [GC] = CPU_OP, [PYTHON] = OTHER,
};

static enum varve_code add_track(struct view *view, uint32_t track, struct varve_error *error)
{
    const struct vv_slices *slices = &view->scope->model->slices;
    uint32_t first, last;
    vv_track_rows(view->scope->model, track, &first, &last);
    for (uint32_t slice = first; slice < last; slice++) {
        enum vv_host_role role = vv_host_role_of(&view->roles, slice);
        role = role == VV_HOST_LOADER && !view->step_tracks[track] ? VV_HOST_OP : role;
        enum part slot = parts_of_role[role].slot, finer = parts_of_role[role].finer;
        int64_t begin_ns = slices->begin_ns[slice], end_ns = begin_ns + slices->duration_ns[slice];
        if (slot == OTHER)
            continue;
        VV_TRY(vv_intervals_add(&view->busy[slot], begin_ns, end_ns, error));
        if (finer != slot)
            VV_TRY(vv_intervals_add(&view->busy[finer], begin_ns, end_ns, error));
    }
    return VARVE_OK;
}

static enum varve_code add_process(struct view *view, const struct vv_step_host *host,
                                   struct varve_error *error)
{
    const struct vv_model *model = view->scope->model;
    for (size_t part = 0; part < PARTS; part++)
        view->busy[part].count = 0;
    for (size_t i = host->first_work; i < host->last_work; i++) {
        const struct vv_work_item *item = &view->work->items[view->steps->work[i]];
        VV_TRY(vv_intervals_add(&view->busy[part_of_class[item->class]], item->begin_ns,
                                item->end_ns, error));
    }
    for (uint32_t t = 0; t < model->tracks.table.count; t++)
        if (view->scope->tracks[t] && model->tracks.process[t] == host->process)
            VV_TRY(add_track(view, t, error));
    for (size_t part = 0; part < PARTS; part++)
        vv_intervals_unite(&view->busy[part]);
    return VARVE_OK;
}

/* ---- which part takes each instant ---- */

static void exchange(struct vv_intervals *a, struct vv_intervals *b)
{
    struct vv_intervals former = *a;
    *a = *b;
    *b = former;
}

/* Moves the time of *from in which the part is busy to busy[part]. *from keeps the rest. */
static enum varve_code take(struct view *view, enum part part, struct vv_intervals *from,
                            struct varve_error *error)
{
    VV_TRY(vv_intervals_divide(from, &view->busy[part], &view->taken, &view->rest, error));
    exchange(from, &view->rest);
    exchange(&view->busy[part], &view->taken);
    return VARVE_OK;
}

/* Collectives in the background are communication where nothing else goes on. */
static enum varve_code take_running(struct view *view, const struct vv_step_host *host,
                                    struct varve_error *error)
{
    struct vv_intervals *communication = &view->busy[COMMUNICATION];
    if (host->process >= view->scope->model->processes.table.count)
        return VARVE_OK;
    VV_TRY(vv_intervals_divide(&view->free, &view->running[host->process], &view->taken,
                               &view->rest, error));
    exchange(&view->free, &view->rest);
    for (size_t i = 0; i < view->taken.count; i++)
        VV_TRY(vv_intervals_add(communication, view->taken.items[i].begin_ns,
                                view->taken.items[i].end_ns, error));
    vv_intervals_unite(communication);
    return VARVE_OK;
}

static enum varve_code take_turns(struct view *view, const struct vv_step_host *host,
                                  struct varve_error *error)
{
    view->free.count = 0;
    for (size_t i = host->first_step; i < host->last_step; i++)
        if (!view->steps->steps[i].is_cut)
            VV_TRY(vv_intervals_add(&view->free, view->steps->steps[i].begin_ns,
                                    view->steps->steps[i].end_ns, error));
    vv_intervals_unite(&view->free);
    for (enum part part = KERNEL; part < OTHER; part++)
        VV_TRY(take(view, part, &view->free, error));
    VV_TRY(take_running(view, host, error));
    for (size_t i = 0; i < view->free.count; i++)
        VV_TRY(vv_intervals_add(&view->busy[OTHER], view->free.items[i].begin_ns,
                                view->free.items[i].end_ns, error));
    for (enum part part = SYNC; part < PARTS; part++) {
        const struct vv_intervals *slot = &view->busy[slot_of_finer[part]];
        view->free.count = 0;
        for (size_t i = 0; i < slot->count; i++)
            VV_TRY(vv_intervals_add(&view->free, slot->items[i].begin_ns, slot->items[i].end_ns,
                                    error));
        for (enum part before = SYNC; before < part; before++)
            if (slot_of_finer[before] == slot_of_finer[part])
                VV_TRY(take(view, before, &view->free, error));
        VV_TRY(take(view, part, &view->free, error));
    }
    return VARVE_OK;
}

/* ---- rows ---- */

static enum varve_code put_values(struct vv_sheet *sheet, enum vv_row_kind kind, const char *name,
                                  const int64_t *values, struct varve_error *error)
{
    size_t row;
    VV_TRY(vv_sheet_row(sheet, kind, &row, error));
    for (size_t c = DURATION; c < COLUMNS; c++)
        if (c != KERNEL_SHARE && c != TAIL_IN && !(c == TRACING && values[c] == 0))
            vv_sheet_int(sheet, row, c, values[c]);
    if (kind == VV_ROW_PLAIN) {
        vv_sheet_int(sheet, row, STEP, values[STEP]);
        vv_sheet_int(sheet, row, PROCESS, values[PROCESS]);
        vv_sheet_int(sheet, row, BEGIN, values[BEGIN]);
        if (values[RANK] >= 0)
            vv_sheet_int(sheet, row, RANK, values[RANK]);
    }
    if (values[DURATION] > 0)
        vv_sheet_real(sheet, row, KERNEL_SHARE,
                      (double)values[FIRST_PART + KERNEL] / (double)values[DURATION]);
    return vv_sheet_text(sheet, row, ROW, name, error);
}

/* Adds what the step's thread did from the end of the step's device work on: outermost ranges. */
static enum varve_code add_tail(struct view *view, const struct vv_device_step *step,
                                struct varve_error *error)
{
    const struct vv_model *model = view->scope->model;
    const struct vv_slices *slices = &model->slices;
    uint32_t first, last;
    int64_t until_ns = INT64_MIN;
    if (step->launched == 0 || step->end_ns == step->last_ns)
        return VARVE_OK;
    if (view->tail_ns == NULL)
        VV_TRY(VV_SCRATCH_ZEROS(view->scope->scratch, &view->tail_ns, model->strings.count, error));
    vv_track_rows(model, model->steps.track[step->step], &first, &last);
    uint32_t slice = VV_FIRST_NOT(i, first, last,
                                  slices->begin_ns[i] < model->steps.begin_ns[step->step]);
    for (; slice < last && slices->begin_ns[slice] < step->end_ns; slice++) {
        int64_t begin_ns = slices->begin_ns[slice], end_ns = begin_ns + slices->duration_ns[slice];
        if (begin_ns < until_ns || vv_host_role_of(&view->roles, slice) == VV_HOST_NONE)
            continue;
        until_ns = end_ns;
        begin_ns = begin_ns > step->last_ns ? begin_ns : step->last_ns;
        end_ns = end_ns < step->end_ns ? end_ns : step->end_ns;
        if (end_ns > begin_ns)
            view->tail_ns[slices->name[slice]] += end_ns - begin_ns;
    }
    return VARVE_OK;
}

/* In what most of that time passed, in the last row. */
static enum varve_code name_tail(struct view *view, struct varve_error *error)
{
    const struct vv_model *model = view->scope->model;
    uint32_t longest = 0;
    for (uint32_t id = 0; view->tail_ns != NULL && id < model->strings.count; id++)
        if (view->tail_ns[id] > view->tail_ns[longest] ||
            (view->tail_ns[id] == view->tail_ns[longest] && view->tail_ns[id] > 0 &&
             strcmp(vv_text_of(model, id), vv_text_of(model, longest)) < 0))
            longest = id;
    if (view->tail_ns == NULL || view->tail_ns[longest] == 0)
        return VARVE_OK;
    return vv_sheet_text(view->sheet, view->sheet->row_count - 1, TAIL_IN,
                         vv_text_of(model, longest), error);
}

/* Of the time in Python, what recording its calls took. */
static int64_t tracing_ns(struct view *view, uint32_t step, int64_t python_ns)
{
    const struct vv_model *model = view->scope->model;
    uint32_t first, last, process = model->tracks.process[model->steps.track[step]];
    struct vv_traced_calls calls = { 0 };
    struct vv_tracing_cost cost;
    if (python_ns == 0 || process == VV_NONE || !vv_tracing_cost_of(model, process, &cost))
        return 0;
    vv_step_rows(model, step, &first, &last);
    for (uint32_t slice = first; slice < last; slice++)
        if (vv_host_role_of(&view->roles, slice) == VV_HOST_PYTHON)
            vv_traced_calls_add(&calls, model, slice);
    int64_t cost_ns = vv_tracing_cost_ns(&cost, &calls);
    return cost_ns < python_ns ? cost_ns : python_ns;
}

static enum varve_code put_step(struct view *view, const struct vv_step_host *host,
                                const struct vv_device_step *step, struct varve_error *error)
{
    const struct vv_model *model = view->scope->model;
    int64_t values[COLUMNS] = {
        [STEP] = model->steps.index[step->step],
        [PROCESS] = vv_pid_of(model, model->steps.track[step->step]),
        [RANK] = host->rank,
        [BEGIN] = step->begin_ns,
        [DURATION] = step->end_ns - step->begin_ns,
        [HOST_DURATION] = model->steps.duration_ns[step->step],
        [LAUNCHED] = (int64_t)step->launched,
        [TAIL] = step->launched > 0 ? step->end_ns - step->last_ns : 0,
    };
    for (enum part part = KERNEL; part < PARTS; part++)
        values[FIRST_PART + part] =
            vv_intervals_length_within(&view->busy[part], step->begin_ns, step->end_ns);
    values[TRACING] = tracing_ns(view, step->step, values[FIRST_PART + PYTHON]);
    values[PYTHON_OWN] = values[FIRST_PART + PYTHON] - values[TRACING];
    values[UNTRACED] = values[DURATION] - values[TRACING];
    for (size_t c = DURATION; c < COLUMNS; c++)
        view->sums[c] += values[c];
    view->rows++;
    VV_TRY(add_tail(view, step, error));
    return put_values(view->sheet, VV_ROW_PLAIN, "step", values, error);
}

/* Means are rounded down. other_ns keeps the rest, so the row still adds up. */
static enum varve_code put_sums(struct view *view, struct varve_error *error)
{
    int64_t means[COLUMNS];
    if (view->rows == 0)
        return VARVE_OK;
    for (size_t c = 0; c < COLUMNS; c++)
        means[c] = view->sums[c] / view->rows;
    means[FIRST_PART + OTHER] = means[DURATION];
    for (enum part part = KERNEL; part < OTHER; part++)
        means[FIRST_PART + OTHER] -= means[FIRST_PART + part];
    VV_TRY(put_values(view->sheet, VV_ROW_TOTAL, "average", means, error));
    VV_TRY(put_values(view->sheet, VV_ROW_TOTAL, "total", view->sums, error));
    return name_tail(view, error);
}

static enum varve_code put_steps(struct view *view, struct varve_error *error)
{
    const struct vv_device_steps *steps = view->steps;
    for (size_t h = 0; h < steps->host_count; h++) {
        const struct vv_step_host *host = &steps->hosts[h];
        VV_TRY(add_process(view, host, error));
        VV_TRY(take_turns(view, host, error));
        for (size_t i = host->first_step; i < host->last_step; i++)
            if (view->scope->steps[steps->steps[i].step] && !steps->steps[i].is_cut)
                VV_TRY(put_step(view, host, &steps->steps[i], error));
    }
    return put_sums(view, error);
}

static enum varve_code state_policy(const struct view *view, struct varve_error *error)
{
    char cut[160], average[VV_NUMBER_BYTES];
    vv_device_steps_cut_text(view->steps, view->scope, cut, sizeof cut);
    if (view->rows == 0)
        return vv_sheet_policy(view->sheet, error, "no steps to split%s%s", cut,
                               view->scope->model->steps.table.count == 0 ? ": none recorded" : "");
    vv_number_duration(view->sums[DURATION] / view->rows, average, sizeof average);
    return vv_sheet_policy(view->sheet, error,
                           "%" PRId64 " step%s, %s on average, each until its device work ends; an "
                           "instant belongs to the first column that is busy%s",
                           view->rows, view->rows == 1 ? "" : "s", average, cut);
}

enum varve_code vv_analyse_step_split(const struct vv_model *model,
                                      const struct vv_question *question,
                                      struct vv_scratch *scratch, struct vv_sheet *out,
                                      struct varve_error *error)
{
    struct vv_scope scope;
    struct vv_whole_steps whole;
    struct view view = { .scope = &scope, .work = &whole.work, .steps = &whole.steps, .sheet = out,
                         .free = { .scratch = scratch }, .taken = { .scratch = scratch },
                         .rest = { .scratch = scratch } };
    for (size_t part = 0; part < PARTS; part++)
        view.busy[part].scratch = scratch;
    vv_sheet_init(out, "step_split", "STEP SPLIT", split_columns, COLUMNS);
    VV_TRY(vv_scope_init(&scope, model, &question->selection, scratch, error));
    VV_TRY(vv_whole_steps_init(&whole, model, &question->selection, scratch, error));
    view.step_tracks = whole.scope.step_tracks;
    VV_TRY(vv_host_roles_init(&view.roles, model, error));
    VV_TRY(vv_running_collectives(&scope, scratch, &view.running, error));
    VV_TRY(put_steps(&view, error));
    return state_policy(&view, error);
}
