/* SPDX-License-Identifier: Apache-2.0 */
/* mfu.c — table "mfu": the share of their devices' peak that the steps use. doc/metrics.md §17.
 *
 * Model FLOP are the FLOP that a step needs. Hardware FLOP also include recomputed FLOP: those of
 * the operators of phase "recompute" (meaning/phases.h). Let W be the FLOP of each type and P the
 * peak of that type. Then the utilisation is sum(W / P) / (the step's time x devices). A step lasts
 * until its device work ends (device_steps.h): a host that only launches ends it long before. Where
 * most of the time is of work without a formula, there is no utilisation: the FLOP known are not
 * those of the steps. */
#include <inttypes.h>
#include <stdio.h>

#include "derive/devices/device_steps.h"
#include "derive/operators/step_summary.h"
#include "derive/operators/work.h"
#include "meaning/phases.h"
#include "numbers/pair_ids.h"
#include "question/question.h"
#include "sheet/number.h"

#define UNKNOWN_SHARE_MAX 0.5 /* of the time, without a formula                                  */

enum {
    STEP, PROCESS, DURATION, HOST_DURATION, DEVICES, MODEL_FLOP, AGAIN_FLOP, RATE, MFU, HFU, ROW,
    COLUMNS
};

static const struct vv_sheet_column mfu_columns[COLUMNS] = {
    { "step", "step", VV_CELL_INT, VV_UNIT_NONE, false, false },
    { "process", "process", VV_CELL_INT, VV_UNIT_NONE, true, false },
    { "duration_ns", "duration", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "host_duration_ns", "on the host", VV_CELL_INT, VV_UNIT_NS, true, false },
    { "devices", "devices", VV_CELL_INT, VV_UNIT_COUNT, false, false },
    { "model_flop", "model", VV_CELL_REAL, VV_UNIT_FLOP, false, false },
    { "recomputed_flop", "recomputed", VV_CELL_REAL, VV_UNIT_FLOP, false, VV_TEXT_IF_ROOM },
    { "model_flop_per_s", "rate", VV_CELL_REAL, VV_UNIT_FLOP_PER_S, false, false },
    { "mfu", "MFU", VV_CELL_REAL, VV_UNIT_RATIO, false, false },
    { "hfu", "HFU", VV_CELL_REAL, VV_UNIT_RATIO, false, false },
    { "row", "row", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
};

struct tally {
    double model_flop, again_flop;   /* FLOP that the step needs; recomputed FLOP */
    double model_s, again_s;         /* seconds that the FLOP take at the peak of their type      */
    double device_ns;                /* the step's time on each of its devices, summed */
    int64_t duration_ns, host_duration_ns, devices;
    int64_t work_ns;                 /* time of the operators: of their device work, if any */
    uint64_t operators;
    bool is_peak_unknown;
};

struct view {
    struct vv_op_work ops;
    struct vv_whole_steps whole;
    struct tally sum;          /* of the steps with a row                                        */
    double unknown_share;      /* of the time, of work without a formula                         */
    bool is_above;             /* a row states more than the peak                                */
    struct vv_groups places;   /* (step, device): the devices that a step uses                    */
    struct tally *tallies;     /* by step                                                        */
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
    tally->operators++;
    double seconds = op->peak_flop > 0 ? op->cost.flop / op->peak_flop : 0;
    tally->work_ns += op->time_ns;
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

static enum varve_code put_row(struct view *view, struct vv_sheet *sheet, enum vv_row_kind kind,
                               const struct tally *tally, size_t *out_row,
                               struct varve_error *error)
{
    size_t row;
    double hardware_s = tally->model_s + tally->again_s;
    VV_TRY(vv_sheet_row(sheet, kind, &row, error));
    vv_sheet_int(sheet, row, DURATION, tally->duration_ns);
    vv_sheet_int(sheet, row, HOST_DURATION, tally->host_duration_ns);
    vv_sheet_int(sheet, row, DEVICES, tally->devices);
    vv_sheet_real(sheet, row, MODEL_FLOP, tally->model_flop);
    vv_sheet_real(sheet, row, AGAIN_FLOP, tally->again_flop);
    bool is_known = view->unknown_share <= UNKNOWN_SHARE_MAX;
    if (is_known && tally->duration_ns > 0)
        vv_sheet_real(sheet, row, RATE, tally->model_flop / (double)tally->duration_ns * 1e9);
    if (is_known && !tally->is_peak_unknown && tally->device_ns > 0) {
        vv_sheet_real(sheet, row, MFU, tally->model_s * 1e9 / tally->device_ns);
        vv_sheet_real(sheet, row, HFU, hardware_s * 1e9 / tally->device_ns);
        view->is_above |= hardware_s * 1e9 > tally->device_ns;
    }
    *out_row = row;
    return vv_sheet_text(sheet, row, ROW, kind == VV_ROW_TOTAL ? "total" : "step", error);
}

static void add_tally(struct tally *sum, const struct tally *tally)
{
    sum->model_flop += tally->model_flop;
    sum->again_flop += tally->again_flop;
    sum->model_s += tally->model_s;
    sum->again_s += tally->again_s;
    sum->operators += tally->operators;
    sum->duration_ns += tally->duration_ns;
    sum->host_duration_ns += tally->host_duration_ns;
    sum->work_ns += tally->work_ns;
    sum->device_ns += tally->device_ns;
    sum->is_peak_unknown |= tally->is_peak_unknown;
    sum->devices = tally->devices > sum->devices ? tally->devices : sum->devices;
}

static enum varve_code put_steps(struct view *view, struct vv_sheet *sheet,
                                 struct varve_error *error)
{
    const struct vv_model *model = view->ops.scope.model;
    size_t row;
    for (size_t i = 0; i < view->whole.steps.step_count; i++) {
        const struct vv_device_step *step = &view->whole.steps.steps[i];
        struct tally *tally = &view->tallies[step->step];
        if (!view->ops.scope.steps[step->step] || step->is_cut)
            continue;
        tally->duration_ns = step->end_ns - step->begin_ns;
        tally->host_duration_ns = model->steps.duration_ns[step->step];
        tally->device_ns = (double)tally->duration_ns * (double)tally->devices;
        VV_TRY(put_row(view, sheet, VV_ROW_PLAIN, tally, &row, error));
        vv_sheet_int(sheet, row, STEP, model->steps.index[step->step]);
        vv_sheet_int(sheet, row, PROCESS, vv_pid_of(model, model->steps.track[step->step]));
        add_tally(&view->sum, tally);
    }
    return sheet->row_count > 0 ? put_row(view, sheet, VV_ROW_TOTAL, &view->sum, &row, error)
                                : VARVE_OK;
}

/* Says why more than the peak is stated. */
static void above_text(const struct view *view, char *text, size_t bytes)
{
    const struct vv_costed_op *fastest = NULL;
    const struct vv_model *model = view->ops.scope.model;
    double most_ns = 0;
    for (size_t i = 0; i < view->ops.count; i++) {
        const struct vv_costed_op *op = &view->ops.items[i];
        if (model->slices.step[op->slice] == VV_NONE || op->peak_flop <= 0)
            continue;
        double gained_ns = op->cost.flop / op->peak_flop * 1e9 - (double)op->time_ns;
        if (gained_ns > most_ns) {
            fastest = op;
            most_ns = gained_ns;
        }
    }
    char work[VV_NUMBER_BYTES], steps[VV_NUMBER_BYTES];
    vv_number_duration(view->sum.work_ns, work, sizeof work);
    vv_number_duration(view->sum.duration_ns, steps, sizeof steps);
    if (fastest != NULL)
        snprintf(text, bytes,
                 "; above 100 %%: %.80s is faster than this peak of its type (32-bit products may "
                 "run as TF32; the device may be another)",
                 vv_text_of(model, model->slices.name[fastest->slice]));
    else
        snprintf(text, bytes,
                 "; above 100 %%: these operators take %s of their devices, the steps %s", work,
                 steps);
}

static enum varve_code state_policy(const struct view *view, struct vv_sheet *sheet,
                                    struct varve_error *error)
{
    char peaks[200], left_out[60], rest[100] = "", above[240] = "", cut[160];
    vv_scope_left_out_text(&view->ops.scope, left_out, sizeof left_out);
    if (view->ops.scope.step_count == 0)
        return vv_step_policy(&view->ops.scope, sheet, error);
    if (view->places.count == 0)
        return vv_sheet_policy(
            sheet, error,
            "no operator in these steps says its FLOP or has a formula and recorded shapes");
    vv_op_work_peaks_text(&view->ops, peaks, sizeof peaks);
    vv_device_steps_cut_text(&view->whole.steps, &view->ops.scope, cut, sizeof cut);
    if (view->is_above)
        above_text(view, above, sizeof above);
    if (view->unknown_share >= 0.01)
        snprintf(rest, sizeof rest, "; %.0f %% of the time is of work without a formula%s",
                 view->unknown_share * 100,
                 view->unknown_share > UNKNOWN_SHARE_MAX ? ": too much to tell the utilisation"
                                                         : ", which counts as none");
    return vv_sheet_policy(sheet, error,
                           "FLOP of %" PRIu64 " operators of table roofline, each step until its "
                           "device work ends%s; %s%s%s%s",
                           view->sum.operators, rest, peaks, above, cut, left_out);
}

enum varve_code vv_analyse_mfu(const struct vv_model *model, const struct vv_question *question,
                               struct vv_scratch *scratch, struct vv_sheet *out,
                               struct varve_error *error)
{
    struct view view = { .places = { .scratch = scratch } };
    vv_sheet_init(out, "mfu", "FLOP UTILISATION", mfu_columns, COLUMNS);
    VV_TRY(vv_op_work_init(&view.ops, model, question, scratch, error));
    VV_TRY(vv_whole_steps_init(&view.whole, model, &question->selection, scratch, error));
    VV_TRY(VV_SCRATCH_ZEROS(scratch, &view.tallies, model->steps.table.count, error));
    VV_TRY(vv_op_phases_found(model, &view.phases, error));
    view.unknown_share = (double)vv_op_work_rest_ns(&view.ops) /
                         (double)(view.ops.whole_ns > 0 ? view.ops.whole_ns : 1);
    for (size_t i = 0; i < view.ops.count; i++)
        VV_TRY(add_op(&view, &view.ops.items[i], error));
    if (view.places.count > 0)
        VV_TRY(put_steps(&view, out, error));
    return state_policy(&view, out, error);
}
