/* SPDX-License-Identifier: Apache-2.0 */
/* steps.c — tables "steps" (one row for each step), "step_phases" (one row for each phase of a
 * step) and "step" (one row: number, sum and percentiles of the steps).
 *
 * Laws:
 *     the shown phases of a step + other_ns = its duration_ns;
 *     the rows of a step in step_phases, "other" included, sum to its duration_ns too;
 *     self_ns + the operators' own time inside the step = duration_ns. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/steps/causes.h"
#include "analyse/steps/longer.h"
#include "analyse/steps/one_step.h"
#include "analyse/steps/taken.h"
#include "derive/operators/own_time.h"
#include "derive/operators/phase_split.h"
#include "derive/operators/step_summary.h"
#include "meaning/phases.h"
#include "question/question.h"

/* ---- table "steps" ---- */

#define SHOWN_PHASES_MAX 8 /* step_phases has all phases                                         */

enum { STEP, THREAD, PROCESS, RANK, BEGIN, AT, DURATION, FIRST_PHASE };
/* after the phases */
enum { OTHER, SELF, OPERATOR_CALLS, MEDIAN, EXCESS, TAKEN, OWN_EXCESS, OWN, UNCOUNTED,
       WARM_UP, ORIGIN, PLACE, LONGER, LONGER_TIME, LONGER_CALLS, CAUSE, CAUSE_TIME,
       TAIL_COLUMNS };

static const struct vv_sheet_column head_columns[FIRST_PHASE] = {
    { "step", "step", VV_CELL_INT, VV_UNIT_NONE, false, false },
    { "thread", "thread", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    { "process", "process", VV_CELL_INT, VV_UNIT_NONE, true, false },
    { "rank", "rank", VV_CELL_INT, VV_UNIT_NONE, true, false },
    { "begin_ns", "begin", VV_CELL_INT, VV_UNIT_TIME, true, false },
    { "at_ns", "at", VV_CELL_INT, VV_UNIT_NS, false, VV_TEXT_IF_MUCH_ROOM },
    { "duration_ns", "took", VV_CELL_INT, VV_UNIT_NS, false, false },
};

static const struct vv_sheet_column tail_columns[TAIL_COLUMNS] = {
    { "other_ns", "other", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "self_ns", "outside operators", VV_CELL_INT, VV_UNIT_NS, false, VV_TEXT_IF_MUCH_ROOM },
    { "operator_calls", "operators", VV_CELL_INT, VV_UNIT_COUNT, false, VV_TEXT_IF_MUCH_ROOM },
    { "median_ns", "median of all", VV_CELL_INT, VV_UNIT_NS, true, false },
    { "excess_ns", "beyond the median", VV_CELL_INT, VV_UNIT_NS, true, false },
    { "taken_ns", "taken by others", VV_CELL_INT, VV_UNIT_NS, true, false },
    { "own_excess_ns", "its own beyond", VV_CELL_INT, VV_UNIT_NS, true, false },
    { "own_ns", "its own", VV_CELL_INT, VV_UNIT_NS, true, false },
    { "uncounted_ns", "whose is not known", VV_CELL_INT, VV_UNIT_NS, true, false },
    { "warm_up", "warm-up", VV_CELL_INT, VV_UNIT_NONE, true, false },
    { "origin", "origin", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    { "place", "place", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    { "longer", "took longer", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    { "longer_ns", "by", VV_CELL_INT, VV_UNIT_NS, true, false },
    { "longer_calls", "in calls more", VV_CELL_INT, VV_UNIT_COUNT, true, false },
    { "cause", "cause", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    { "cause_ns", "by that", VV_CELL_INT, VV_UNIT_NS, true, false },
};

static const char *const origins[] = {
    [VV_STEP_RECORDED] = "recorded", [VV_STEP_RANGE] = "range", [VV_STEP_ANCHOR] = "anchor",
    [VV_STEP_REPEAT] = "repeat",
};

struct steps_view {
    const struct vv_scope *scope; /* warm-up steps included                                     */
    const struct vv_scope *counted; /* steps that other tables count                            */
    struct vv_phase_split split;
    struct vv_longer longer;
    struct vv_causes causes;
    struct vv_taken taken;
    struct vv_sheet *sheet;
    int64_t median_ns;   /* median duration of the steps that other tables count               */
    uint32_t shown_phases;
    uint32_t *column_of; /* phase -> its column, or VV_NONE                                    */
    uint32_t *stack;     /* for vv_own_time                                                    */
    int64_t *own_ns;
    int64_t *first_ns;   /* of each track: where its first step begins                         */
};

static bool has_warm_up(const struct vv_scope *scope)
{
    for (uint64_t s = 0; s < scope->model->steps.table.count; s++)
        if (scope->steps[s] && scope->warm_up[s])
            return true;
    return false;
}

static enum varve_code make_columns(struct steps_view *view, struct varve_error *error)
{
    struct vv_arena *arena = &view->sheet->arena;
    const struct vv_phase_split *split = &view->split;
    uint32_t shown =
        split->phases.count < SHOWN_PHASES_MAX ? split->phases.count : SHOWN_PHASES_MAX;
    size_t count = FIRST_PHASE + shown + TAIL_COLUMNS;
    struct vv_sheet_column *columns = vv_arena_alloc(arena, count * sizeof *columns);
    view->column_of = vv_arena_alloc(arena, (split->phases.count + 1) * sizeof *view->column_of);
    if (columns == NULL || view->column_of == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for the columns of the steps");
    memset(view->column_of, 0xff, (split->phases.count + 1) * sizeof *view->column_of);
    memcpy(columns, head_columns, sizeof head_columns);
    for (uint32_t i = 0; i < shown; i++) {
        const char *phase = vv_phase_text(view->scope->model, split->phases.names[split->order[i]]);
        char name[1100];
        int length = snprintf(name, sizeof name, "in_%s_ns", phase);
        const char *title = vv_arena_text(arena, phase, strlen(phase));
        const char *copy = vv_arena_text(arena, name, strnlen(name, (size_t)length));
        if (title == NULL || copy == NULL)
            VV_FAIL(error, VARVE_NO_MEMORY, "no memory for the columns of the steps");
        columns[FIRST_PHASE + i] = (struct vv_sheet_column){ copy,       title, VV_CELL_INT,
                                                             VV_UNIT_NS, false, VV_TEXT_IF_ROOM };
        view->column_of[split->order[i]] = FIRST_PHASE + i;
    }
    memcpy(columns + FIRST_PHASE + shown, tail_columns, sizeof tail_columns);
    columns[THREAD].hidden = vv_scope_step_tracks(view->scope) < 2;
    columns[count - TAIL_COLUMNS + WARM_UP].hidden = !has_warm_up(view->scope);
    view->shown_phases = shown;
    view->sheet->columns = columns;
    view->sheet->column_count = count;
    return VARVE_OK;
}

/* Fills the cells that name a step in both tables: its number, thread and process. */
static enum varve_code name_step(const struct vv_model *model, struct vv_sheet *sheet, size_t row,
                                 uint32_t step, struct varve_error *error)
{
    uint32_t track = model->steps.track[step];
    char thread[120];
    vv_track_text(model, track, thread, sizeof thread);
    vv_sheet_int(sheet, row, STEP, model->steps.index[step]);
    vv_sheet_int(sheet, row, PROCESS, vv_pid_of(model, track));
    return vv_sheet_text(sheet, row, THREAD, thread, error);
}

static enum varve_code put_operators(struct steps_view *view, size_t row, uint32_t step,
                                     struct varve_error *error)
{
    const struct vv_model *model = view->scope->model;
    size_t tail = FIRST_PHASE + view->shown_phases;
    int64_t duration_ns = model->steps.duration_ns[step], self_ns = duration_ns, calls = 0;
    uint32_t first, last;
    vv_step_rows(model, step, &first, &last);
    vv_own_time(&model->slices, first, last, model->steps.begin_ns[step] + duration_ns, view->stack,
                view->own_ns);
    for (uint32_t slice = first; slice < last; slice++) {
        if (vv_is_operator(model, slice) && vv_scope_holds(view->scope, slice)) {
            calls++;
            self_ns -= view->own_ns[slice];
            VV_TRY(vv_longer_add(&view->longer, slice, view->own_ns[slice], error));
        }
    }
    vv_sheet_int(view->sheet, row, tail + SELF, self_ns);
    vv_sheet_int(view->sheet, row, tail + OPERATOR_CALLS, calls);
    VV_TRY(vv_causes_add(&view->causes, step, view->own_ns, view->counted->steps[step], error));
    return vv_longer_end_step(&view->longer, row, error);
}

/* Of each track, where its first step begins. */
static enum varve_code find_first(const struct vv_scope *scope, int64_t **out_first_ns,
                                  struct varve_error *error)
{
    const struct vv_steps *steps = &scope->model->steps;
    uint32_t tracks = (uint32_t)scope->model->tracks.table.count;
    VV_TRY(VV_SCRATCH_ARRAY(scope->scratch, out_first_ns, tracks, error));
    for (uint32_t track = 0; track < tracks; track++)
        (*out_first_ns)[track] = INT64_MAX;
    for (uint32_t step = 0; step < steps->table.count; step++)
        if (steps->begin_ns[step] < (*out_first_ns)[steps->track[step]])
            (*out_first_ns)[steps->track[step]] = steps->begin_ns[step];
    return VARVE_OK;
}

/* What took longer in each step than in the others, and why the step did. */
static enum varve_code put_longer(struct steps_view *view, struct varve_error *error)
{
    const struct vv_model *model = view->scope->model;
    size_t tail = FIRST_PHASE + view->shown_phases;
    VV_TRY(vv_causes_end(&view->causes, error));
    for (size_t row = 0; row < view->sheet->row_count; row++) {
        struct vv_longer_most longer = { .slice = VV_NONE };
        const struct vv_cell *excess = vv_sheet_cell(view->sheet, row, tail + EXCESS);
        int64_t cause_ns;
        size_t found = vv_longer_of(&view->longer, row, 1, &longer);
        const char *cause = vv_cause_of(&view->causes, row, &longer, &cause_ns);
        if (found > 0) {
            vv_sheet_int(view->sheet, row, tail + LONGER_TIME, longer.by_ns);
            vv_sheet_int(view->sheet, row, tail + LONGER_CALLS, longer.more_calls);
            VV_TRY(vv_sheet_text(view->sheet, row, tail + LONGER,
                                 vv_text_of(model, model->slices.name[longer.slice]), error));
        }
        if (cause == NULL || !excess->present || excess->integer <= 0)
            continue;
        vv_sheet_int(view->sheet, row, tail + CAUSE_TIME, cause_ns);
        VV_TRY(vv_sheet_text(view->sheet, row, tail + CAUSE, cause, error));
    }
    return VARVE_OK;
}

/* How much longer than the median the step took, and who made it so. */
static void put_excess(const struct steps_view *view, size_t row, uint32_t step)
{
    const struct vv_model *model = view->scope->model;
    size_t tail = FIRST_PHASE + view->shown_phases;
    int64_t duration_ns = model->steps.duration_ns[step], excess_ns = duration_ns - view->median_ns,
            taken_ns = vv_taken_ns(&view->taken, step, excess_ns);
    bool could_count = model->run.cpus > 0; /* our own recording */
    vv_sheet_int(view->sheet, row, tail + MEDIAN, view->median_ns);
    vv_sheet_int(view->sheet, row, tail + EXCESS, excess_ns);
    if (taken_ns >= 0)
        vv_sheet_int(view->sheet, row, tail + TAKEN, taken_ns);
    else if (excess_ns > 0 && could_count)
        vv_sheet_int(view->sheet, row, tail + UNCOUNTED, excess_ns);
    vv_sheet_int(view->sheet, row, tail + OWN_EXCESS, excess_ns - (taken_ns > 0 ? taken_ns : 0));
    vv_sheet_int(view->sheet, row, tail + OWN, duration_ns - (taken_ns > 0 ? taken_ns : 0));
}

static enum varve_code put_steps(struct steps_view *view, struct varve_error *error)
{
    const struct vv_model *model = view->scope->model;
    const struct vv_phase_split *split = &view->split;
    struct vv_sheet *sheet = view->sheet;
    size_t entry = 0, tail = FIRST_PHASE + view->shown_phases;
    for (uint32_t step = 0; step < model->steps.table.count; step++) {
        if (!view->scope->steps[step])
            continue;
        size_t row;
        int64_t other_ns = model->steps.duration_ns[step];
        VV_TRY(vv_sheet_row(sheet, VV_ROW_PLAIN, &row, error));
        VV_TRY(name_step(model, sheet, row, step, error));
        int64_t rank = vv_scope_rank(view->scope, model->steps.track[step]);
        if (rank >= 0)
            vv_sheet_int(sheet, row, RANK, rank);
        vv_sheet_int(sheet, row, BEGIN, model->steps.begin_ns[step]);
        vv_sheet_int(sheet, row, AT, model->steps.begin_ns[step] - model->run.begin_ns);
        vv_sheet_int(sheet, row, DURATION, model->steps.duration_ns[step]);
        for (; entry < split->count && split->entries[entry].step == step; entry++) {
            uint32_t column = view->column_of[split->entries[entry].phase];
            if (column == VV_NONE)
                continue;
            vv_sheet_int(sheet, row, column, split->entries[entry].duration_ns);
            other_ns -= split->entries[entry].duration_ns;
        }
        vv_sheet_int(sheet, row, tail + OTHER, other_ns);
        if (!view->scope->warm_up[step])
            put_excess(view, row, step);
        vv_sheet_int(sheet, row, tail + WARM_UP, view->scope->warm_up[step]);
        VV_TRY(vv_sheet_text(sheet, row, tail + ORIGIN, origins[model->steps.origin[step]], error));
        if (model->steps.begin_ns[step] == view->first_ns[model->steps.track[step]])
            VV_TRY(vv_sheet_text(sheet, row, tail + PLACE, "first", error));
        VV_TRY(put_operators(view, row, step, error));
    }
    return put_longer(view, error);
}

enum varve_code vv_analyse_steps(const struct vv_model *model, const struct vv_question *question,
                                 struct vv_scratch *scratch, struct vv_sheet *out,
                                 struct varve_error *error)
{
    struct vv_selection with_warm_up = question->selection;
    struct vv_scope scope, counted;
    struct vv_step_summary summary;
    size_t rows = (size_t)model->slices.table.count;
    struct steps_view view = { .scope = &scope, .counted = &counted, .sheet = out };
    with_warm_up.warm_up = true;
    vv_sheet_init(out, "steps", "STEPS", head_columns, FIRST_PHASE);
    VV_TRY(vv_scope_init(&scope, model, &with_warm_up, scratch, error));
    VV_TRY(vv_scope_init(&counted, model, &question->selection, scratch, error));
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &view.stack, rows, error));
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &view.own_ns, rows, error));
    VV_TRY(vv_step_summary(&counted, &summary, error));
    view.median_ns = summary.median_ns;
    VV_TRY(vv_phase_split(&scope, &view.split, error));
    VV_TRY(vv_longer_init(&view.longer, model, scratch, error));
    VV_TRY(vv_causes_init(&view.causes, model, scratch, error));
    VV_TRY(vv_taken_init(&view.taken, &counted, error));
    VV_TRY(find_first(&scope, &view.first_ns, error));
    VV_TRY(make_columns(&view, error));
    VV_TRY(put_steps(&view, error));
    VV_TRY(vv_step_policy(&counted, out, error));
    return vv_one_step_say(&counted, &question->selection, out, error);
}

/* ---- table "step_phases": for scripts; people see its times in table "steps" ---- */

enum { PHASE_NAME = PROCESS + 1, PHASE_DURATION, PHASE_ROW, PHASE_COLUMNS };

static const struct vv_sheet_column step_phase_columns[PHASE_COLUMNS] = {
    { "step", "step", VV_CELL_INT, VV_UNIT_NONE, true, false },
    { "thread", "thread", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    { "process", "process", VV_CELL_INT, VV_UNIT_NONE, true, false },
    { "phase", "phase", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    { "duration_ns", "duration", VV_CELL_INT, VV_UNIT_NS, true, false },
    { "row", "row", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
};

static enum varve_code put_phase(const struct vv_model *model, struct vv_sheet *sheet,
                                 const struct vv_phase_entry *entry, struct varve_error *error)
{
    bool is_other = entry->phase == VV_NONE;
    size_t row;
    VV_TRY(vv_sheet_row(sheet, VV_ROW_PLAIN, &row, error));
    VV_TRY(name_step(model, sheet, row, entry->step, error));
    vv_sheet_int(sheet, row, PHASE_DURATION, entry->duration_ns);
    VV_TRY(vv_sheet_text(sheet, row, PHASE_ROW, is_other ? "other" : "phase", error));
    return vv_sheet_text(sheet, row, PHASE_NAME,
                         is_other ? "other" : vv_phase_text(model, entry->phase), error);
}

static enum varve_code put_step_phases(const struct vv_scope *scope,
                                       const struct vv_phase_split *split, struct vv_sheet *sheet,
                                       struct varve_error *error)
{
    size_t next = 0;
    for (uint32_t step = 0; step < scope->model->steps.table.count; step++) {
        if (!scope->steps[step])
            continue;
        for (; next < split->count && split->entries[next].step == step; next++) {
            struct vv_phase_entry entry = split->entries[next];
            entry.phase = split->phases.names[entry.phase];
            VV_TRY(put_phase(scope->model, sheet, &entry, error));
        }
        struct vv_phase_entry other = { step, VV_NONE, split->other_ns[step] };
        VV_TRY(put_phase(scope->model, sheet, &other, error));
    }
    return VARVE_OK;
}

enum varve_code vv_analyse_step_phases(const struct vv_model *model,
                                       const struct vv_question *question,
                                       struct vv_scratch *scratch, struct vv_sheet *out,
                                       struct varve_error *error)
{
    struct vv_scope scope;
    struct vv_phase_split split;
    vv_sheet_init(out, "step_phases", "PHASES OF STEPS", step_phase_columns, PHASE_COLUMNS);
    VV_TRY(vv_scope_init(&scope, model, &question->selection, scratch, error));
    VV_TRY(vv_phase_split(&scope, &split, error));
    VV_TRY(put_step_phases(&scope, &split, out, error));
    return vv_step_policy(&scope, out, error);
}

/* ---- table "step": for scripts; people read it as a sentence ---- */

static const struct vv_sheet_column summary_columns[] = {
    { "steps", "steps", VV_CELL_INT, VV_UNIT_COUNT, true, false },
    { "total_ns", "total", VV_CELL_INT, VV_UNIT_NS, true, false },
    { "median_ns", "median", VV_CELL_INT, VV_UNIT_NS, true, false },
    { "p10_ns", "p10", VV_CELL_INT, VV_UNIT_NS, true, false },
    { "p90_ns", "p90", VV_CELL_INT, VV_UNIT_NS, true, false },
    { "min_ns", "min", VV_CELL_INT, VV_UNIT_NS, true, false },
    { "max_ns", "max", VV_CELL_INT, VV_UNIT_NS, true, false },
    { "longest_step", "longest step", VV_CELL_INT, VV_UNIT_NONE, true, false },
};

enum varve_code vv_analyse_step(const struct vv_model *model, const struct vv_question *question,
                                struct vv_scratch *scratch, struct vv_sheet *out,
                                struct varve_error *error)
{
    struct vv_scope scope;
    struct vv_step_summary summary;
    size_t row, columns = sizeof summary_columns / sizeof *summary_columns;
    vv_sheet_init(out, "step", "STEP TIME", summary_columns, columns);
    out->is_record = true;
    VV_TRY(vv_scope_init(&scope, model, &question->selection, scratch, error));
    VV_TRY(vv_step_summary(&scope, &summary, error));
    VV_TRY(vv_sheet_row(out, VV_ROW_PLAIN, &row, error));
    const int64_t values[] = { (int64_t)summary.count, summary.total_ns, summary.median_ns,
                               summary.p10_ns, summary.p90_ns, summary.min_ns, summary.max_ns,
                               summary.longest_step };
    /* Without steps the count and the sum are 0, and the other cells are empty. */
    for (size_t c = 0; c < (summary.count > 0 ? columns : 2); c++)
        vv_sheet_int(out, row, c, values[c]);
    return vv_step_policy(&scope, out, error);
}
