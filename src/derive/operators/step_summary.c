/* SPDX-License-Identifier: Apache-2.0 */
#include "derive/operators/step_summary.h"

#include <inttypes.h>
#include <stdio.h>

#include "numbers/samples.h"
#include "sheet/number.h"

enum varve_code vv_step_summary(const struct vv_scope *scope, struct vv_step_summary *out_summary,
                                struct varve_error *error)
{
    const struct vv_steps *steps = &scope->model->steps;
    struct vv_step_summary summary = { .count = scope->step_count,
                                       .total_ns = scope->step_time_ns };
    struct vv_samples durations = { .scratch = scope->scratch };
    for (uint64_t s = 0; s < steps->table.count; s++) {
        if (!scope->steps[s])
            continue;
        if (durations.count == 0 || steps->duration_ns[s] > summary.max_ns) {
            summary.max_ns = steps->duration_ns[s];
            summary.longest_step = steps->index[s];
        }
        VV_TRY(vv_samples_add(&durations, 0, steps->duration_ns[s], error));
    }
    VV_TRY(vv_samples_sort(&durations, 1, error));
    if (summary.count > 0) {
        summary.min_ns = vv_samples_percentile(&durations, 0, 0);
        summary.p10_ns = vv_samples_percentile(&durations, 0, 10);
        summary.median_ns = vv_samples_percentile(&durations, 0, 50);
        summary.p90_ns = vv_samples_percentile(&durations, 0, 90);
    }
    *out_summary = summary;
    return VARVE_OK;
}

/* The origin of the first chosen step. Steps of one trace mostly have the same origin. */
static void origin_text(const struct vv_scope *scope, char *text, size_t bytes)
{
    static const char *const words[] = {
        [VV_STEP_RECORDED] = "",
        [VV_STEP_RANGE] = ", the ranges called ",
        [VV_STEP_ANCHOR] = ", each up to the end of ",
        [VV_STEP_REPEAT] = ", the times of what repeats itself as no steps are marked",
    };
    const struct vv_steps *steps = &scope->model->steps;
    uint64_t s = 0;
    while (s + 1 < steps->table.count && !scope->steps[s])
        s++;
    snprintf(text, bytes, "%s%.100s", words[steps->origin[s]],
             vv_text_of(scope->model, steps->name[s]));
}

/* Writes "; 3 more threads have steps: --thread 4711", which names the one with most, or "". */
static void others_text(const struct vv_scope *scope, char *text, size_t bytes)
{
    const struct vv_tracks *tracks = &scope->model->tracks;
    uint32_t count = 0, most = VV_NONE;
    text[0] = '\0';
    for (uint32_t t = 0; t < tracks->table.count; t++) {
        if (tracks->steps_left[t] == 0 || scope->by_thread || !scope->tracks[t])
            continue;
        count++;
        most = most == VV_NONE || tracks->steps_left[t] > tracks->steps_left[most] ? t : most;
    }
    if (count > 0)
        snprintf(text, bytes, "; %u more thread%s steps: --thread %" PRId64, count,
                 count == 1 ? " has" : "s have", tracks->tid[most]);
}

enum varve_code vv_step_policy(const struct vv_scope *scope, struct vv_sheet *sheet,
                               struct varve_error *error)
{
    struct vv_step_summary summary;
    if (scope->model->steps.table.count == 0)
        return vv_sheet_policy(sheet, error,
                               "no steps recorded: mark them with varve_step_begin, in Python "
                               "varve.step; --step-by NAME takes ranges for them");
    if (scope->step_count == 0)
        return vv_sheet_policy(sheet, error, "no steps on this thread");
    VV_TRY(vv_step_summary(scope, &summary, error));

    char threads[200], origin[200], others[80], left_out[60], total[VV_NUMBER_BYTES],
        median[VV_NUMBER_BYTES], p10[VV_NUMBER_BYTES], p90[VV_NUMBER_BYTES], max[VV_NUMBER_BYTES];
    vv_scope_threads_text(scope, true, threads, sizeof threads);
    origin_text(scope, origin, sizeof origin);
    others_text(scope, others, sizeof others);
    vv_scope_left_out_text(scope, left_out, sizeof left_out);
    vv_number_duration(summary.total_ns, total, sizeof total);
    vv_number_duration(summary.median_ns, median, sizeof median);
    vv_number_duration(summary.p10_ns, p10, sizeof p10);
    vv_number_duration(summary.p90_ns, p90, sizeof p90);
    vv_number_duration(summary.max_ns, max, sizeof max);
    if (summary.count == 1)
        return vv_sheet_policy(sheet, error, "1 step on %s%s, %s%s%s", threads, origin, total,
                               others, left_out);
    return vv_sheet_policy(
        sheet, error,
        "%" PRIu64 " steps on %s%s, %s; median %s, p10 %s, p90 %s, longest %s (step %" PRId64
        ")%s%s",
        summary.count, threads, origin, total, median, p10, p90, max, summary.longest_step,
        others, left_out);
}
