/* SPDX-License-Identifier: Apache-2.0 */
/* phases.c — table "phases": the chosen steps by phase, largest first, then the time in no phase.
 *
 * total_ns of the rows, "other" included, sums to total_ns of the row "total" = the steps' time. */
#include "derive/operators/phase_split.h"
#include "derive/operators/step_summary.h"
#include "meaning/phases.h"
#include "numbers/samples.h"
#include "question/question.h"

enum { PHASE, TOTAL, MEDIAN, STEPS, ROW, SHARE, COLUMNS };

static const struct vv_sheet_column phase_columns[COLUMNS] = {
    { "phase", "phase", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "total_ns", "total", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "median_ns", "median", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "steps", "steps", VV_CELL_INT, VV_UNIT_COUNT, false, false },
    { "row", "row", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    { "share", "share", VV_CELL_REAL, VV_UNIT_RATIO, false, VV_TEXT_BAR },
};

struct row {
    enum vv_row_kind kind;
    const char *kind_text, *phase;
    int64_t total_ns;
    uint32_t group; /* index in the samples                                                    */
};

static enum varve_code put_row(struct vv_sheet *sheet, const struct row *row, int64_t all_ns,
                               const struct vv_samples *samples, struct varve_error *error)
{
    size_t index;
    VV_TRY(vv_sheet_row(sheet, row->kind, &index, error));
    VV_TRY(vv_sheet_text(sheet, index, PHASE, row->phase, error));
    VV_TRY(vv_sheet_text(sheet, index, ROW, row->kind_text, error));
    vv_sheet_int(sheet, index, TOTAL, row->total_ns);
    vv_sheet_int(sheet, index, MEDIAN, vv_samples_percentile(samples, row->group, 50));
    vv_sheet_int(sheet, index, STEPS, (int64_t)vv_samples_size(samples, row->group));
    if (all_ns > 0)
        vv_sheet_real(sheet, index, SHARE, (double)row->total_ns / (double)all_ns);
    return VARVE_OK;
}

/* The groups are each phase, then "other", then the whole step. */
static enum varve_code collect(const struct vv_scope *scope, const struct vv_phase_split *split,
                               struct vv_samples *samples, struct varve_error *error)
{
    const struct vv_steps *steps = &scope->model->steps;
    uint32_t phases = split->phases.count;
    for (size_t i = 0; i < split->count; i++)
        VV_TRY(
            vv_samples_add(samples, split->entries[i].phase, split->entries[i].duration_ns, error));
    for (uint64_t s = 0; s < steps->table.count; s++) {
        if (!scope->steps[s])
            continue;
        VV_TRY(vv_samples_add(samples, phases, split->other_ns[s], error));
        VV_TRY(vv_samples_add(samples, phases + 1, steps->duration_ns[s], error));
    }
    return vv_samples_sort(samples, phases + 2, error);
}

static enum varve_code fill(const struct vv_scope *scope, const struct vv_phase_split *split,
                            const struct vv_samples *samples, struct vv_sheet *sheet,
                            struct varve_error *error)
{
    uint32_t phases = split->phases.count;
    int64_t all_ns = scope->step_time_ns, other_ns = all_ns;
    for (uint32_t i = 0; i < phases; i++) {
        uint32_t phase = split->order[i];
        struct row row = { VV_ROW_PLAIN, "phase",
                           vv_phase_text(scope->model, split->phases.names[phase]),
                           split->totals_ns[phase], phase };
        other_ns -= row.total_ns;
        VV_TRY(put_row(sheet, &row, all_ns, samples, error));
    }
    struct row other = { VV_ROW_REMAINDER, "other", "other", other_ns, phases };
    struct row total = { VV_ROW_TOTAL, "total", "total", all_ns, phases + 1 };
    VV_TRY(put_row(sheet, &other, all_ns, samples, error));
    return put_row(sheet, &total, all_ns, samples, error);
}

enum varve_code vv_analyse_phases(const struct vv_model *model, const struct vv_question *question,
                                  struct vv_scratch *scratch, struct vv_sheet *out,
                                  struct varve_error *error)
{
    struct vv_scope scope;
    struct vv_phase_split split;
    struct vv_samples samples = { .scratch = scratch };
    vv_sheet_init(out, "phases", "STEP", phase_columns, COLUMNS);
    VV_TRY(vv_scope_init(&scope, model, &question->selection, scratch, error));
    VV_TRY(vv_phase_split(&scope, &split, error));
    if (scope.step_count > 0) {
        VV_TRY(collect(&scope, &split, &samples, error));
        VV_TRY(fill(&scope, &split, &samples, out, error));
    }
    VV_TRY(vv_step_policy(&scope, out, error));
    if (!split.is_found)
        return VARVE_OK;
    return vv_sheet_policy(out, error, "%s; phases found from what operators say", out->policy);
}
