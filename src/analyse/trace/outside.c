/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/trace/outside.h"

#include <inttypes.h>
#include <stdio.h>

#include "derive/select/warm_up.h"
#include "meaning/host_role.h"
#include "model/find.h"
#include "numbers/intervals.h"
#include "sheet/number.h"

#define SHOWN_LEAST 200 /* a part is shown if it takes at least a 200th of the run                */

struct run_split {
    const struct vv_model *model;
    uint32_t track;
    struct vv_intervals parts[VV_RUN_PARTS], free, rest;
};

/* No order of input files decides between equal threads. */
static bool goes_before(const struct vv_model *model, const int64_t *sums_ns, uint32_t a,
                        uint32_t b)
{
    uint32_t first[2], last[2];
    vv_track_rows(model, a, &first[0], &last[0]);
    vv_track_rows(model, b, &first[1], &last[1]);
    if (sums_ns[a] != sums_ns[b] || first[0] == last[0] || first[1] == last[1])
        return sums_ns[a] > sums_ns[b];
    if (model->slices.begin_ns[first[0]] != model->slices.begin_ns[first[1]])
        return model->slices.begin_ns[first[0]] < model->slices.begin_ns[first[1]];
    if (last[0] - first[0] != last[1] - first[1])
        return last[0] - first[0] > last[1] - first[1];
    return model->tracks.tid[a] < model->tracks.tid[b];
}

/* The track with most time in steps; VV_NONE if there is no step. */
static enum varve_code main_track(const struct vv_model *model, struct vv_scratch *scratch,
                                  uint32_t *out_track, struct varve_error *error)
{
    int64_t *sums_ns;
    uint32_t best = VV_NONE;
    VV_TRY(VV_SCRATCH_ZEROS(scratch, &sums_ns, model->tracks.table.count, error));
    for (uint32_t s = 0; s < model->steps.table.count; s++)
        sums_ns[model->steps.track[s]] += model->steps.duration_ns[s];
    for (uint32_t t = 0; t < model->tracks.table.count; t++)
        if (sums_ns[t] > 0 && (best == VV_NONE || goes_before(model, sums_ns, t, best)))
            best = t;
    *out_track = best;
    return VARVE_OK;
}

static enum varve_code add_steps(struct run_split *split, struct vv_scratch *scratch,
                                 struct varve_error *error)
{
    const struct vv_steps *steps = &split->model->steps;
    bool *is_warm_up;
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &is_warm_up, steps->table.count, error));
    VV_TRY(vv_find_warm_up(split->model, scratch, is_warm_up, error));
    for (uint32_t s = 0; s < steps->table.count; s++)
        if (steps->track[s] == split->track)
            VV_TRY(vv_intervals_add(&split->parts[is_warm_up[s] ? VV_RUN_WARM_UP : VV_RUN_STEPS],
                                    steps->begin_ns[s], steps->begin_ns[s] + steps->duration_ns[s],
                                    error));
    return VARVE_OK;
}

static enum varve_code add_slices(struct run_split *split, struct varve_error *error)
{
    static const enum vv_run_part part_of_role[VV_HOST_COUNT] = {
        [VV_HOST_NONE] = VV_RUN_REST,         [VV_HOST_OP] = VV_RUN_OPERATORS,
        [VV_HOST_PYTHON] = VV_RUN_REST,       [VV_HOST_GC] = VV_RUN_OPERATORS,
        [VV_HOST_COMPILE] = VV_RUN_COMPILE,   [VV_HOST_LOADER] = VV_RUN_DATA,
        [VV_HOST_COMM] = VV_RUN_OPERATORS,    [VV_HOST_CALL] = VV_RUN_OPERATORS,
        [VV_HOST_ALLOCATION] = VV_RUN_OPERATORS, [VV_HOST_SYNC] = VV_RUN_OPERATORS,
    };
    const struct vv_slices *slices = &split->model->slices;
    struct vv_host_roles roles;
    uint32_t row, last;
    VV_TRY(vv_host_roles_init(&roles, split->model, error));
    for (vv_track_rows(split->model, split->track, &row, &last); row < last; row++) {
        enum vv_run_part part = part_of_role[vv_host_role_of(&roles, row)];
        if (part != VV_RUN_REST)
            VV_TRY(vv_intervals_add(&split->parts[part], slices->begin_ns[row],
                                    slices->begin_ns[row] + slices->duration_ns[row], error));
    }
    return VARVE_OK;
}

/* Each part takes its time from what is still free. */
static enum varve_code take_turns(struct run_split *split, int64_t *out_ns,
                                  struct varve_error *error)
{
    for (enum vv_run_part part = VV_RUN_STEPS; part < VV_RUN_REST; part++) {
        vv_intervals_unite(&split->parts[part]);
        VV_TRY(vv_intervals_subtract(&split->free, &split->parts[part], &split->rest, error));
        out_ns[part] = vv_intervals_length(&split->free) - vv_intervals_length(&split->rest);
        struct vv_intervals former = split->free;
        split->free = split->rest;
        split->rest = former;
    }
    out_ns[VV_RUN_REST] = vv_intervals_length(&split->free);
    return VARVE_OK;
}

enum varve_code vv_run_parts(const struct vv_model *model, struct vv_scratch *scratch,
                             bool *out_has_steps, int64_t out_ns[VV_RUN_PARTS],
                             struct varve_error *error)
{
    struct run_split split = { .model = model, .free = { .scratch = scratch },
                               .rest = { .scratch = scratch } };
    for (size_t part = 0; part < VV_RUN_PARTS; part++)
        split.parts[part].scratch = scratch;
    VV_TRY(main_track(model, scratch, &split.track, error));
    *out_has_steps = split.track != VV_NONE;
    if (!*out_has_steps)
        return VARVE_OK;
    uint32_t first, last;
    vv_track_rows(model, split.track, &first, &last);
    int64_t first_ns = first < last ? model->slices.begin_ns[first] : model->run.begin_ns;
    VV_TRY(vv_intervals_add(&split.free, model->run.begin_ns, model->run.end_ns, error));
    VV_TRY(vv_intervals_add(&split.parts[VV_RUN_START], model->run.begin_ns, first_ns, error));
    VV_TRY(add_steps(&split, scratch, error));
    VV_TRY(add_slices(&split, error));
    return take_turns(&split, out_ns, error);
}

void vv_run_parts_text(const int64_t parts_ns[VV_RUN_PARTS], char *text, size_t bytes)
{
    static const char *const words[VV_RUN_PARTS] = {
        [VV_RUN_STEPS] = "",
        [VV_RUN_WARM_UP] = "warm-up",
        [VV_RUN_START] = "before the first operator (start, imports)",
        [VV_RUN_COMPILE] = "compilers",
        [VV_RUN_DATA] = "waits for data",
        [VV_RUN_OPERATORS] = "other operators, such as an evaluation's",
        [VV_RUN_REST] = "no operator (Python, saving)",
    };
    char time[VV_NUMBER_BYTES], all[VV_NUMBER_BYTES];
    int64_t total_ns = 0;
    for (size_t part = 0; part < VV_RUN_PARTS; part++)
        total_ns += parts_ns[part];
    vv_number_duration(parts_ns[VV_RUN_STEPS], time, sizeof time);
    vv_number_duration(total_ns, all, sizeof all);
    size_t length = (size_t)snprintf(text, bytes, "%s of %s in steps", time, all);
    for (size_t part = VV_RUN_STEPS + 1, shown = 0; part < VV_RUN_PARTS && length < bytes; part++) {
        if (parts_ns[part] < total_ns / SHOWN_LEAST || parts_ns[part] == 0)
            continue;
        vv_number_duration(parts_ns[part], time, sizeof time);
        length += (size_t)snprintf(text + length, bytes - length, "%s%s %s",
                                   shown++ == 0 ? "; else " : ", ", words[part], time);
    }
}
