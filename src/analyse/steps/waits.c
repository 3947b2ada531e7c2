/* SPDX-License-Identifier: Apache-2.0 */
/* waits.c — table "waits": the time that waiting for the data loader costs, by step and in all
 * (doc/metrics.md §8.5).
 *
 * wait = |L without A|. L is the union of the times in which a thread of a process waits for its
 * next batch. In a process with steps only their threads wait: another one reads ahead. A is the
 * time in which a device of the process' rank works. Waiting while a device works costs nothing.
 * device_steps.h says how long steps last. The time between steps has a row of its own. Law: the
 * rows sum to the total. */
#include <inttypes.h>
#include <stdio.h>

#include "analyse/steps/workers.h"
#include "derive/devices/device_steps.h"
#include "derive/select/track_order.h"
#include "meaning/host_role.h"
#include "question/question.h"

enum {
    ROW, STEP, PROCESS, RANK, LOADER, HIDDEN, WAIT, DURATION, SHARE, WORKERS, POOLS, CPUS,
    RESTARTS, RESTART, COLUMNS
};

static const struct vv_sheet_column wait_columns[COLUMNS] = {
    { "row", "row", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "step", "step", VV_CELL_INT, VV_UNIT_NONE, false, false },
    { "process", "process", VV_CELL_INT, VV_UNIT_NONE, true, false },
    { "rank", "rank", VV_CELL_INT, VV_UNIT_NONE, true, false },
    { "data_loader_ns", "data loader", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "hidden_ns", "hidden", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "wait_ns", "wait", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "duration_ns", "step takes", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "wait_share", "wait", VV_CELL_REAL, VV_UNIT_RATIO, false, false },
    { "workers", "workers", VV_CELL_INT, VV_UNIT_COUNT, true, false },
    { "pool_threads", "threads of their pools", VV_CELL_INT, VV_UNIT_COUNT, true, false },
    { "cpus", "processors", VV_CELL_INT, VV_UNIT_COUNT, true, false },
    { "restarts", "steps with new workers", VV_CELL_INT, VV_UNIT_COUNT, true, false },
    { "restart_ns", "they take longer by", VV_CELL_INT, VV_UNIT_NS, true, false },
};

struct view {
    const struct vv_scope *scope;      /* the selected steps                                    */
    const struct vv_device_work *work; /* of all steps                                          */
    const struct vv_device_steps *steps;
    const bool *step_tracks;           /* row of a track -> it has steps                        */
    bool *has_steps;                   /* process -> one of its tracks has steps                */
    struct vv_host_roles roles;
    uint32_t *order;                   /* of processes                                          */
    bool *loads;                       /* process -> it has a data loader                       */
    uint32_t *first_track, *next_track; /* process -> its first track; track -> the next of its
                                           process; VV_NONE */
    uint32_t *host_of;                 /* process -> its row in steps.hosts, or VV_NONE         */
    struct vv_intervals loader, wait, inside; /* of the process at hand                         */
    struct vv_rank_busy busy;
    struct vv_workers workers;
    struct vv_sheet *sheet;
    int64_t total[COLUMNS];
};

/* Can the track wait for a batch? */
static bool can_wait(const struct view *view, uint32_t track)
{
    uint32_t process = view->scope->model->tracks.process[track];
    return view->scope->tracks[track] && process != VV_NONE &&
           (view->step_tracks[track] || !view->has_steps[process]);
}

/* Marks the processes in which a thread waited for a batch. Returns whether there is any. */
static bool find_processes(struct view *view)
{
    const struct vv_model *model = view->scope->model;
    bool is_any = false;
    for (uint32_t track = 0; track < model->tracks.table.count; track++)
        if (view->step_tracks[track] && model->tracks.process[track] != VV_NONE)
            view->has_steps[model->tracks.process[track]] = true;
    for (uint32_t track = 0; track < model->tracks.table.count; track++) {
        uint32_t first, last, process = model->tracks.process[track];
        if (!can_wait(view, track))
            continue;
        vv_track_rows(model, track, &first, &last);
        for (uint32_t slice = first; slice < last && !view->loads[process]; slice++)
            view->loads[process] = vv_host_role_of(&view->roles, slice) == VV_HOST_LOADER;
        is_any |= view->loads[process];
    }
    return is_any;
}

/* Lists the tracks that can wait and the steps of each process. */
static enum varve_code list_by_process(struct view *view, struct varve_error *error)
{
    const struct vv_model *model = view->scope->model;
    size_t processes = model->processes.table.count + 1;
    VV_TRY(VV_SCRATCH_ARRAY(view->scope->scratch, &view->first_track, processes, error));
    VV_TRY(VV_SCRATCH_ARRAY(view->scope->scratch, &view->host_of, processes, error));
    VV_TRY(VV_SCRATCH_ARRAY(view->scope->scratch, &view->next_track, model->tracks.table.count,
                            error));
    for (size_t p = 0; p < processes; p++)
        view->first_track[p] = view->host_of[p] = VV_NONE;
    for (uint32_t track = (uint32_t)model->tracks.table.count; track-- > 0;) {
        uint32_t process = model->tracks.process[track];
        if (!can_wait(view, track))
            continue;
        view->next_track[track] = view->first_track[process];
        view->first_track[process] = track;
    }
    for (uint32_t h = 0; h < view->steps->host_count; h++)
        if (view->steps->hosts[h].process != VV_NONE)
            view->host_of[view->steps->hosts[h].process] = h;
    return VARVE_OK;
}

static enum varve_code read_process(struct view *view, uint32_t process, struct varve_error *error)
{
    const struct vv_model *model = view->scope->model;
    view->loader.count = 0;
    for (uint32_t track = view->first_track[process]; track != VV_NONE;
         track = view->next_track[track]) {
        uint32_t first, last;
        vv_track_rows(model, track, &first, &last);
        for (uint32_t slice = first; slice < last; slice++)
            if (vv_host_role_of(&view->roles, slice) == VV_HOST_LOADER)
                VV_TRY(vv_intervals_add(&view->loader, model->slices.begin_ns[slice],
                                        model->slices.begin_ns[slice] +
                                            model->slices.duration_ns[slice],
                                        error));
    }
    vv_intervals_unite(&view->loader);
    VV_TRY(vv_busy_of_process(view->work, process, &view->busy, error));
    return vv_intervals_subtract(&view->loader, &view->busy.time, &view->wait, error);
}

static void put_workers(const struct view *view, size_t row)
{
    const struct vv_workers *workers = &view->workers;
    vv_sheet_int(view->sheet, row, WORKERS, workers->at_once);
    vv_sheet_int(view->sheet, row, POOLS, workers->pool_threads);
    if (view->scope->model->run.cpus > 0)
        vv_sheet_int(view->sheet, row, CPUS, view->scope->model->run.cpus);
    vv_sheet_int(view->sheet, row, RESTARTS, (int64_t)workers->restarts);
    vv_sheet_int(view->sheet, row, RESTART, vv_workers_restart_ns(workers));
}

/* If `step` is NULL, the row is "outside" or "total". */
static enum varve_code put_row(struct view *view, const char *name,
                               const struct vv_device_step *step, const int64_t *values,
                               struct varve_error *error)
{
    const struct vv_model *model = view->scope->model;
    bool is_total = values == view->total;
    size_t row;
    VV_TRY(vv_sheet_row(view->sheet,
                        is_total       ? VV_ROW_TOTAL
                        : step != NULL ? VV_ROW_PLAIN
                                       : VV_ROW_REMAINDER,
                        &row, error));
    VV_TRY(vv_sheet_text(view->sheet, row, ROW, name, error));
    for (size_t c = LOADER; c <= WAIT; c++)
        vv_sheet_int(view->sheet, row, c, values[c]);
    if (is_total) {
        put_workers(view, row);
    } else {
        vv_sheet_int(view->sheet, row, PROCESS, values[PROCESS]);
        if (values[RANK] >= 0)
            vv_sheet_int(view->sheet, row, RANK, values[RANK]);
    }
    if (step == NULL)
        return VARVE_OK;
    vv_sheet_int(view->sheet, row, STEP, model->steps.index[step->step]);
    vv_sheet_int(view->sheet, row, DURATION, values[DURATION]);
    if (values[DURATION] > 0)
        vv_sheet_real(view->sheet, row, SHARE, (double)values[WAIT] / (double)values[DURATION]);
    return VARVE_OK;
}

static enum varve_code put_part(struct view *view, const struct vv_device_step *step,
                                int64_t *values, struct varve_error *error)
{
    values[HIDDEN] = values[LOADER] - values[WAIT];
    for (size_t c = LOADER; c <= WAIT; c++)
        view->total[c] += values[c];
    return put_row(view, step != NULL ? "step" : "outside", step, values, error);
}

static enum varve_code put_steps(struct view *view, const struct vv_step_host *host,
                                 const int64_t *process, struct varve_error *error)
{
    view->inside.count = 0;
    for (size_t i = host->first_step; i < host->last_step; i++) {
        const struct vv_device_step *step = &view->steps->steps[i];
        int64_t values[COLUMNS] = { [PROCESS] = process[PROCESS], [RANK] = process[RANK] };
        values[LOADER] = vv_intervals_length_within(&view->loader, step->begin_ns, step->end_ns);
        values[WAIT] = vv_intervals_length_within(&view->wait, step->begin_ns, step->end_ns);
        values[DURATION] = step->end_ns - step->begin_ns;
        VV_TRY(vv_intervals_add(&view->inside, step->begin_ns, step->end_ns, error));
        if (!view->scope->steps[step->step])
            continue;
        vv_workers_add_step(&view->workers, step->begin_ns, step->end_ns);
        VV_TRY(put_part(view, step, values, error));
    }
    vv_intervals_unite(&view->inside);
    return VARVE_OK;
}

static enum varve_code put_process(struct view *view, uint32_t process, struct varve_error *error)
{
    int64_t rest[COLUMNS] = { [PROCESS] = view->scope->model->processes.pid[process],
                              [RANK] = view->scope->ranks[process] };
    VV_TRY(read_process(view, process, error));
    view->inside.count = 0;
    if (view->host_of[process] != VV_NONE)
        VV_TRY(put_steps(view, &view->steps->hosts[view->host_of[process]], rest, error));
    rest[LOADER] = vv_intervals_length_without(&view->loader, &view->inside);
    rest[WAIT] = vv_intervals_length_without(&view->wait, &view->inside);
    return view->scope->every_step && rest[LOADER] > 0 ? put_part(view, NULL, rest, error)
                                                       : VARVE_OK;
}

static enum varve_code put_all(struct view *view, struct varve_error *error)
{
    uint64_t processes = view->scope->model->processes.table.count;
    VV_TRY(vv_host_roles_init(&view->roles, view->scope->model, error));
    VV_TRY(VV_SCRATCH_ZEROS(view->scope->scratch, &view->loads, processes, error));
    VV_TRY(VV_SCRATCH_ZEROS(view->scope->scratch, &view->has_steps, processes, error));
    if (!find_processes(view))
        return vv_sheet_policy(view->sheet, error,
                               "no data loader recorded, under none of the names that are known");
    VV_TRY(list_by_process(view, error));
    VV_TRY(vv_workers_init(&view->workers, view->scope, view->has_steps, view->loads, error));
    VV_TRY(vv_process_order(view->scope->model, view->scope->scratch, &view->order, error));
    for (uint64_t i = 0; i < processes; i++)
        if (view->loads[view->order[i]])
            VV_TRY(put_process(view, view->order[i], error));
    VV_TRY(put_row(view, "total", NULL, view->total, error));
    return vv_sheet_policy(view->sheet, error,
                           "waiting for the next batch, and how much of it devices hid by working; "
                           "each step until its device work ends");
}

enum varve_code vv_analyse_waits(const struct vv_model *model, const struct vv_question *question,
                                 struct vv_scratch *scratch, struct vv_sheet *out,
                                 struct varve_error *error)
{
    struct vv_scope scope;
    struct vv_whole_steps whole;
    struct view view = { .scope = &scope, .work = &whole.work, .steps = &whole.steps, .sheet = out,
                         .loader = { .scratch = scratch }, .wait = { .scratch = scratch },
                         .inside = { .scratch = scratch } };
    vv_sheet_init(out, "waits", "WAITING FOR DATA", wait_columns, COLUMNS);
    VV_TRY(vv_scope_init(&scope, model, &question->selection, scratch, error));
    VV_TRY(vv_whole_steps_init(&whole, model, &question->selection, scratch, error));
    view.step_tracks = whole.scope.step_tracks;
    return put_all(&view, error);
}
