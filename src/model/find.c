/* SPDX-License-Identifier: Apache-2.0 */
#include "model/find.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/binary_search.h"
#include "model/outward.h"

/* ---- rows ---- */

uint32_t vv_slices_lower_bound(const struct vv_slices *slices, uint32_t first, uint32_t last,
                               int64_t begin_ns)
{
    return VV_FIRST_NOT(i, first, last, slices->begin_ns[i] < begin_ns);
}

static uint32_t first_of_track(const struct vv_slices *slices, uint32_t track)
{
    return VV_FIRST_NOT(i, 0, slices->table.count, slices->track[i] < track);
}

void vv_track_rows(const struct vv_model *model, uint32_t track, uint32_t *out_first,
                   uint32_t *out_last)
{
    *out_first = first_of_track(&model->slices, track);
    *out_last = first_of_track(&model->slices, track + 1);
}

bool vv_track_works(const struct vv_model *model, uint32_t track)
{
    uint32_t first, last;
    vv_track_rows(model, track, &first, &last);
    for (uint32_t row = first; row < last; row++)
        if (vv_is_own_operator(model, row) || (model->slices.flags[row] & VV_SLICE_STEP) != 0)
            return true;
    return false;
}

void vv_step_rows(const struct vv_model *model, uint32_t step, uint32_t *out_first,
                  uint32_t *out_last)
{
    const struct vv_steps *steps = &model->steps;
    int64_t begin_ns = steps->begin_ns[step], end_ns = begin_ns + steps->duration_ns[step];
    uint32_t first, last;
    vv_track_rows(model, steps->track[step], &first, &last);
    *out_last = vv_slices_lower_bound(&model->slices, first, last, end_ns);
    /* A range around the step may begin at the same instant; its row comes before the step's. */
    *out_first = steps->slice[step] != VV_NONE
                     ? steps->slice[step] + 1
                     : vv_slices_lower_bound(&model->slices, first, last, begin_ns);
    if (*out_last < *out_first)
        *out_last = *out_first;
}

static uint32_t last_begun(const struct vv_model *model, uint32_t track, int64_t time_ns)
{
    const struct vv_slices *slices = &model->slices;
    uint32_t first, last;
    if (track == VV_NONE)
        return VV_NONE;
    vv_track_rows(model, track, &first, &last);
    uint32_t after = VV_FIRST_NOT(i, first, last, slices->begin_ns[i] <= time_ns);
    return after > first ? after - 1 : VV_NONE;
}

uint32_t vv_slice_at(const struct vv_model *model, uint32_t track, int64_t time_ns)
{
    return vv_outward_open(model, last_begun(model, track, time_ns), time_ns);
}

uint32_t vv_slice_holding(const struct vv_model *model, uint32_t track, int64_t time_ns)
{
    return vv_outward_holding(model, last_begun(model, track, time_ns), time_ns);
}

uint32_t vv_operator_at(const struct vv_model *model, uint32_t track, int64_t time_ns)
{
    uint32_t inner = vv_slice_at(model, track, time_ns),
             slice = vv_outward_operator(model, inner, VARVE_LAYER_OP);
    return slice != VV_NONE ? slice : inner;
}

/* ---- names ---- */

void vv_track_text(const struct vv_model *model, uint32_t track, char *text, size_t bytes)
{
    const char *name = vv_text_of(model, model->tracks.name[track]);
    char number[32];
    snprintf(number, sizeof number, " (%" PRId64 ")", model->tracks.tid[track]);
    if (model->tracks.shares_name[track]) /* a long name is cut, and not the number */
        snprintf(text, bytes, "%.*s%s", (int)(bytes - strlen(number) - 1), name, number);
    else if (model->tracks.name[track] != 0)
        snprintf(text, bytes, "%s", name);
    else if (model->tracks.tid[track] < 0) /* a text stands for the number, and says nothing */
        snprintf(text, bytes, "unnamed thread");
    else
        snprintf(text, bytes, "thread %" PRId64, model->tracks.tid[track]);
}

bool vv_track_is_called(const struct vv_model *model, uint32_t track, const char *wanted)
{
    char tid[24], full[120];
    snprintf(tid, sizeof tid, "%" PRId64, model->tracks.tid[track]);
    vv_track_text(model, track, full, sizeof full);
    return strcmp(wanted, tid) == 0 || strcmp(wanted, full) == 0 ||
           strcmp(wanted, vv_text_of(model, model->tracks.name[track])) == 0;
}

uint32_t vv_device_row(const struct vv_model *model, uint32_t scope, uint32_t owner,
                       uint32_t device)
{
    const struct vv_devices *devices = &model->devices;
    uint32_t like = VV_NONE;
    for (uint32_t row = 0; row < devices->table.count; row++) {
        if (devices->device[row] != device || devices->scope[row] != scope)
            continue;
        if (devices->owner[row] == owner)
            return row;
        like = like == VV_NONE ? row : like;
    }
    return like;
}
