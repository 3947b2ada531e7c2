/* SPDX-License-Identifier: Apache-2.0 */
/* diff.c — table "diff": whether a step became faster or slower, by how much, and whether that is
 * more than noise. Also the list of the tables of a diff. */
#include "analyse/diff/diff.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "analyse/diff/interval.h"
#include "analyse/diff/samples.h"
#include "numbers/samples.h"
#include "sheet/number.h"

enum {
    BASE, NEW, BASE_STEPS, NEW_STEPS, BASE_MEAN, NEW_MEAN, BASE_MEDIAN, NEW_MEDIAN, CHANGE,
    CHANGE_SHARE, LOW, HIGH,
    LOW_SHARE, HIGH_SHARE, VERDICT, COLUMNS
};

static const struct vv_sheet_column diff_columns[COLUMNS] = {
    { "base", "base", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "new", "new", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "base_steps", "base steps", VV_CELL_INT, VV_UNIT_COUNT, false, false },
    { "new_steps", "new steps", VV_CELL_INT, VV_UNIT_COUNT, false, false },
    { "base_mean_ns", "base mean", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "new_mean_ns", "new mean", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "base_median_ns", "base median", VV_CELL_INT, VV_UNIT_NS, true, false },
    { "new_median_ns", "new median", VV_CELL_INT, VV_UNIT_NS, true, false },
    { "change_ns", "change", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "change_share", "relative change", VV_CELL_REAL, VV_UNIT_RATIO, false, false },
    { "low_ns", "95 % from", VV_CELL_INT, VV_UNIT_NS, true, false },
    { "high_ns", "95 % to", VV_CELL_INT, VV_UNIT_NS, true, false },
    { "low_share", "95 % from", VV_CELL_REAL, VV_UNIT_RATIO, false, false },
    { "high_share", "95 % to", VV_CELL_REAL, VV_UNIT_RATIO, false, false },
    { "verdict", "verdict", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
};

static enum varve_code put_medians(const struct vv_diff_samples *samples, struct vv_sheet *sheet,
                                   size_t row, struct varve_error *error)
{
    struct vv_samples durations = { .scratch = samples->scratch };
    for (uint32_t i = 0; i < VV_SIDES; i++)
        for (size_t s = 0; s < samples->sides[i].step_count; s++)
            VV_TRY(vv_samples_add(&durations, i, samples->sides[i].step_ns[s], error));
    VV_TRY(vv_samples_sort(&durations, VV_SIDES, error));
    vv_sheet_int(sheet, row, BASE_MEDIAN, vv_samples_percentile(&durations, VV_BASE, 50));
    vv_sheet_int(sheet, row, NEW_MEDIAN, vv_samples_percentile(&durations, VV_NEW, 50));
    return VARVE_OK;
}

static int64_t rounded_mean(const struct vv_diff_side *side)
{
    double sum = 0;
    for (size_t s = 0; s < side->step_count; s++)
        sum += (double)side->step_ns[s];
    return llround(sum / (double)side->step_count);
}

static const char *verdict_of(const struct vv_difference *difference)
{
    if (!difference->has_interval)
        return "one step alone: no telling what is noise";
    if (difference->is_noise)
        return "no change: within the noise";
    return difference->mean < 0 ? "faster, beyond the noise" : "slower, beyond the noise";
}

static enum varve_code put_row(const struct vv_diff_samples *samples, const struct vv_side *sides,
                               struct vv_sheet *sheet, struct varve_error *error)
{
    const struct vv_diff_side *base = &samples->sides[VV_BASE], *other = &samples->sides[VV_NEW];
    struct vv_difference difference =
        vv_difference((struct vv_sample_set){ base->step_ns, base->step_count },
                      (struct vv_sample_set){ other->step_ns, other->step_count });
    int64_t base_ns = rounded_mean(base), new_ns = rounded_mean(other);
    size_t row;
    VV_TRY(vv_sheet_row(sheet, VV_ROW_PLAIN, &row, error));
    VV_TRY(vv_sheet_text(sheet, row, BASE, sides[VV_BASE].label, error));
    VV_TRY(vv_sheet_text(sheet, row, NEW, sides[VV_NEW].label, error));
    VV_TRY(vv_sheet_text(sheet, row, VERDICT, verdict_of(&difference), error));
    if (base->by_step) {
        vv_sheet_int(sheet, row, BASE_STEPS, (int64_t)base->step_count);
        vv_sheet_int(sheet, row, NEW_STEPS, (int64_t)other->step_count);
    }
    vv_sheet_int(sheet, row, BASE_MEAN, base_ns);
    vv_sheet_int(sheet, row, NEW_MEAN, new_ns);
    vv_sheet_int(sheet, row, CHANGE, new_ns - base_ns);
    if (base_ns > 0)
        vv_sheet_real(sheet, row, CHANGE_SHARE, (double)(new_ns - base_ns) / (double)base_ns);
    if (difference.has_interval) {
        vv_sheet_int(sheet, row, LOW, llround(difference.low));
        vv_sheet_int(sheet, row, HIGH, llround(difference.high));
    }
    if (difference.has_interval && base_ns > 0) {
        vv_sheet_real(sheet, row, LOW_SHARE, difference.low / (double)base_ns);
        vv_sheet_real(sheet, row, HIGH_SHARE, difference.high / (double)base_ns);
    }
    return put_medians(samples, sheet, row, error);
}

enum varve_code vv_diff(vv_diff_fn *table, const struct vv_side sides[VV_SIDES],
                        const struct vv_question *question, struct vv_sheet *out,
                        struct varve_error *error)
{
    struct vv_scratch scratch = { 0 };
    *out = (struct vv_sheet){ 0 };
    return vv_analyse_end(table(sides, question, &scratch, out, error), &scratch, out, error);
}

static enum varve_code diff_step(const struct vv_side sides[VV_SIDES],
                                 const struct vv_question *question, struct vv_scratch *scratch,
                                 struct vv_sheet *out, struct varve_error *error)
{
    (void)question;
    struct vv_diff_samples samples;
    vv_sheet_init(out, "diff", "STEP", diff_columns, COLUMNS);
    out->is_record = true;
    VV_TRY(vv_diff_samples_init(&samples, sides, scratch, error));
    if (!samples.sides[VV_BASE].by_step)
        VV_TRY(vv_diff_add_operators(&samples, false, error)); /* sets step_ns of the whole */
    VV_TRY(put_row(&samples, sides, out, error));
    return vv_sheet_policy(
        out, error,
        samples.sides[VV_BASE].by_step
            ? "means over the steps of each side; of the change, 95 %% lies between"
            : "not both sides have steps: the work of all threads, as one step");
}

const struct vv_diff_entry vv_diff_tables[] = {
    { "diff", "the steps' mean, its change, and whether that is more than noise", diff_step,
      false },
    { "diff_operators", "which operators the change comes from: rows add up to it",
      vv_diff_operators, false },
    { "diff_kernels", "the same of device work", vv_diff_kernels, false },
    { "diff_tree", "which calling paths the change comes from: rows add up to it", vv_diff_tree,
      false },
    { "offload", "what would run on which of two devices, from a profile on each", vv_diff_offload,
      true },
    { NULL, NULL, NULL, false },
};

bool vv_diff_is_worse(const struct vv_sheet *diff, double ratio)
{
    const struct vv_cell *change = vv_sheet_cell(diff, 0, CHANGE_SHARE),
                         *low = vv_sheet_cell(diff, 0, LOW_SHARE);
    return change->present && change->real > ratio && (!low->present || low->real > 0);
}
