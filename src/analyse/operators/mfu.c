/* SPDX-License-Identifier: Apache-2.0 */
/* mfu.c — table "mfu": the share of their devices' peak that the steps use. doc/metrics.md §17.
 *
 * Model FLOP are the FLOP that a step needs. Hardware FLOP also include recomputed FLOP: those of
 * the operators of phase "recompute" (meaning/phases.h). Let W be the FLOP of each type and P the
 * peak of that type. Then the utilisation is sum(W / P) / (the step's time x devices). */
#include <stdio.h>

#include "derive/operators/step_summary.h"
#include "derive/operators/work.h"
#include "meaning/phases.h"
#include "numbers/pair_ids.h"
#include "question/question.h"

enum { STEP, PROCESS, DURATION, DEVICES, MODEL_FLOP, AGAIN_FLOP, RATE, MFU, HFU, ROW, COLUMNS };

static const struct vv_sheet_column mfu_columns[COLUMNS] = {
    { "step", "step", VV_CELL_INT, VV_UNIT_NONE, false, false },
    { "process", "process", VV_CELL_INT, VV_UNIT_NONE, true, false },
    { "duration_ns", "duration", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "devices", "devices", VV_CELL_INT, VV_UNIT_COUNT, false, false },
    { "model_flop", "model", VV_CELL_REAL, VV_UNIT_FLOP, false, false },
    { "recomputed_flop", "recomputed", VV_CELL_REAL, VV_UNIT_FLOP, false, VV_TEXT_IF_ROOM },
    { "model_flop_per_s", "", VV_CELL_REAL, VV_UNIT_FLOP_PER_S, false, false },
    { "mfu", "MFU", VV_CELL_REAL, VV_UNIT_RATIO, false, false },
    { "hfu", "HFU", VV_CELL_REAL, VV_UNIT_RATIO, false, false },
    { "row", "row", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
};

struct tally {
    double model_flop, again_flop;   /* FLOP that the step needs; recomputed FLOP */
    double model_s, again_s;         /* seconds that the FLOP take at the peak of their type      */
    double device_ns;                /* the step's time on each of its devices, summed */
    int64_t duration_ns, devices;
    bool is_peak_unknown;
};

struct view {
    struct vv_op_work ops;
    struct vv_groups places;   /* (step, device): the devices that a step uses                    */
    struct tally *tallies;     /* by step                                                        */
    size_t counted;            /* operators                                                      */
    struct vv_op_phases phases; /* says which operators recompute                                */
};

static enum varve_code add_op(struct view *view, const struct vv_costed_op *op,
                              struct varve_error *error)
{
    uint32_t step = view->ops.scope.model->slices.step[op->slice], known = view->places.count,
             place;
    /* beside devices, FLOP of the host do not count: the peak is the devices' */
    bool is_beside = op->device == VV_ON_HOST && view->ops.work.count > 0;
    if (step == VV_NONE || !view->ops.scope.steps[step] || op->cost.flop <= 0 || is_beside)
        return VARVE_OK;
    struct tally *tally = &view->tallies[step];
    VV_TRY(vv_groups_add(&view->places, step, op->device, &place, error));
    tally->devices += place == known;
    view->counted++;
    double seconds = op->peak_flop > 0 ? op->cost.flop / op->peak_flop : 0;
    tally->is_peak_unknown |= op->peak_flop <= 0;
    if (view->phases.of_slice[op->slice] == VV_PHASE_RECOMPUTE) {
        tally->again_flop += op->cost.flop;
        tally->again_s += seconds;
    } else {
        tally->model_flop += op->cost.flop;
        tally->model_s += seconds;
    }
    return VARVE_OK;
}

static enum varve_code put_row(struct vv_sheet *sheet, enum vv_row_kind kind,
                               const struct tally *tally, size_t *out_row,
                               struct varve_error *error)
{
    size_t row;
    VV_TRY(vv_sheet_row(sheet, kind, &row, error));
    vv_sheet_int(sheet, row, DURATION, tally->duration_ns);
    vv_sheet_int(sheet, row, DEVICES, tally->devices);
    vv_sheet_real(sheet, row, MODEL_FLOP, tally->model_flop);
    vv_sheet_real(sheet, row, AGAIN_FLOP, tally->again_flop);
    if (tally->duration_ns > 0)
        vv_sheet_real(sheet, row, RATE, tally->model_flop / (double)tally->duration_ns * 1e9);
    if (!tally->is_peak_unknown && tally->device_ns > 0) {
        vv_sheet_real(sheet, row, MFU, tally->model_s * 1e9 / tally->device_ns);
        vv_sheet_real(sheet, row, HFU, (tally->model_s + tally->again_s) * 1e9 / tally->device_ns);
    }
    *out_row = row;
    return vv_sheet_text(sheet, row, ROW, kind == VV_ROW_TOTAL ? "total" : "step", error);
}

static enum varve_code put_steps(struct view *view, struct vv_sheet *sheet,
                                 struct varve_error *error)
{
    const struct vv_steps *steps = &view->ops.scope.model->steps;
    struct tally sum = { 0 };
    size_t row, devices_most = 0;
    for (uint32_t s = 0; s < steps->table.count; s++) {
        struct tally *tally = &view->tallies[s];
        if (!view->ops.scope.steps[s])
            continue;
        tally->duration_ns = steps->duration_ns[s];
        tally->device_ns = (double)tally->duration_ns * (double)tally->devices;
        VV_TRY(put_row(sheet, VV_ROW_PLAIN, tally, &row, error));
        vv_sheet_int(sheet, row, STEP, steps->index[s]);
        vv_sheet_int(sheet, row, PROCESS, vv_pid_of(view->ops.scope.model, steps->track[s]));
        sum.model_flop += tally->model_flop;
        sum.again_flop += tally->again_flop;
        sum.model_s += tally->model_s;
        sum.again_s += tally->again_s;
        sum.duration_ns += tally->duration_ns;
        sum.device_ns += tally->device_ns;
        sum.is_peak_unknown |= tally->is_peak_unknown;
        devices_most =
            (size_t)tally->devices > devices_most ? (size_t)tally->devices : devices_most;
    }
    sum.devices = (int64_t)devices_most;
    return sheet->row_count > 0 ? put_row(sheet, VV_ROW_TOTAL, &sum, &row, error) : VARVE_OK;
}

static enum varve_code state_policy(const struct view *view, struct vv_sheet *sheet,
                                    struct varve_error *error)
{
    char peaks[200], left_out[60], rest[80] = "";
    vv_scope_left_out_text(&view->ops.scope, left_out, sizeof left_out);
    if (view->ops.scope.step_count == 0)
        return vv_step_policy(&view->ops.scope, sheet, error);
    if (view->places.count == 0)
        return vv_sheet_policy(
            sheet, error,
            "no operator in these steps says its FLOP or has a formula and recorded shapes");
    vv_op_work_peaks_text(&view->ops, peaks, sizeof peaks);
    double rest_share = (double)vv_op_work_rest_ns(&view->ops) /
                        (double)(view->ops.whole_ns > 0 ? view->ops.whole_ns : 1);
    if (rest_share >= 0.01)
        snprintf(rest, sizeof rest,
                 "; %.0f %% of the time is of work without a formula, which counts as none",
                 rest_share * 100);
    return vv_sheet_policy(sheet, error,
                           "FLOP of %zu operators of table roofline, by the host's steps%s; %s%s",
                           view->counted, rest, peaks, left_out);
}

enum varve_code vv_analyse_mfu(const struct vv_model *model, const struct vv_question *question,
                               struct vv_scratch *scratch, struct vv_sheet *out,
                               struct varve_error *error)
{
    struct view view = { .places = { .scratch = scratch } };
    vv_sheet_init(out, "mfu", "FLOP UTILISATION", mfu_columns, COLUMNS);
    VV_TRY(vv_op_work_init(&view.ops, model, question, scratch, error));
    VV_TRY(VV_SCRATCH_ZEROS(scratch, &view.tallies, model->steps.table.count, error));
    VV_TRY(vv_op_phases_found(model, scratch, &view.phases, error));
    for (size_t i = 0; i < view.ops.count; i++)
        VV_TRY(add_op(&view, &view.ops.items[i], error));
    if (view.places.count > 0)
        VV_TRY(put_steps(&view, out, error));
    return state_policy(&view, out, error);
}
