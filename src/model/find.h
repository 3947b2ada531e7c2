/* SPDX-License-Identifier: Apache-2.0 */
/* find.h — questions that many ask of a finished model: whose is a row, and where and when is it?
 * Thread-safe. */
#ifndef VV_MODEL_FIND_H
#define VV_MODEL_FIND_H

#include "model/model.h"
#include "varve/varve.h"

/* Rows [*out_first, *out_last) of the slices on a track. */
void vv_track_rows(const struct vv_model *model, uint32_t track, uint32_t *out_first,
                   uint32_t *out_last);
/* Does the track hold an operator of the program, or a step? A profiler's own spans may have a
 * separate track. */
bool vv_track_works(const struct vv_model *model, uint32_t track);
/* The first row that begins at or after begin_ns, in [first, last), which are rows of one track. */
uint32_t vv_slices_lower_bound(const struct vv_slices *slices, uint32_t first, uint32_t last,
                               int64_t begin_ns);
/* Rows of the slices that begin inside a step on the step's own track, without the step itself. */
void vv_step_rows(const struct vv_model *model, uint32_t step, uint32_t *out_first,
                  uint32_t *out_last);

/* The innermost slice of a track that is open at an instant, or VV_NONE. A slice is open at its
 * begin but no longer at its end. So if one slice ends when the next begins, this is the next one;
 * and a slice of no duration is never open. */
uint32_t vv_slice_at(const struct vv_model *model, uint32_t track, int64_t time_ns);
/* The innermost operator that is open at the instant; if there is none, what vv_slice_at gives. */
uint32_t vv_operator_at(const struct vv_model *model, uint32_t track, int64_t time_ns);
/* The slice that an arrow's end at an instant belongs to. This is the slice of vv_slice_at, with
 * two differences: a slice that begins at the instant counts even if it has no duration; and if no
 * slice is open, the one that ends at the instant counts. Reason: a program marks an arrow inside a
 * slice, and a coarse clock may give the mark and the slice's end the same time. */
uint32_t vv_slice_holding(const struct vv_model *model, uint32_t track, int64_t time_ns);

/* The row of a device, as the process of that id_family numbers it. Without one, the first row of
 * that number in the scope: all its processes see the same devices then. VV_NONE: there is none. */
uint32_t vv_device_row(const struct vv_model *model, uint32_t scope, uint32_t owner,
                       uint32_t device);

/* The name of a track for people: its own name, or "thread TID". If another thread has the same
 * name, the number stands with it: "python (4711)". `bytes` is at least 40. */
void vv_track_text(const struct vv_model *model, uint32_t track, char *text, size_t bytes);

/* Does a user who writes `wanted` mean this thread? A thread has a name, a number, and the text of
 * vv_track_text. */
bool vv_track_is_called(const struct vv_model *model, uint32_t track, const char *wanted);

/* Every slice is an operator unless it marks the program's own course (a step or a range of layer
 * STEP), or is what the profiler worked out ("Free", "Computing"). A program may have ranges of
 * layer METRIC. */
static inline bool vv_is_operator(const struct vv_model *model, uint32_t slice)
{
    uint16_t layer = model->slices.layer[slice];
    uint8_t flags = model->slices.flags[slice];
    return layer != VARVE_LAYER_STEP && (flags & (VV_SLICE_STEP | VV_SLICE_PHASE)) == 0 &&
           (layer != VARVE_LAYER_METRIC || (flags & VV_SLICE_OVERHEAD) == 0);
}

/* Is it an operator of the program, and not the profiler's own work? */
static inline bool vv_is_own_operator(const struct vv_model *model, uint32_t slice)
{
    return vv_is_operator(model, slice) &&
           (model->slices.flags[slice] & VV_SLICE_OVERHEAD) == 0;
}

/* Is the activity a kernel, copy or set that has a place in time? */
static inline bool vv_is_device_work(const struct vv_model *model, uint32_t activity)
{
    uint8_t kind = model->activities.kind[activity];
    return (kind == VV_ACTIVITY_KERNEL || kind == VV_ACTIVITY_COPY || kind == VV_ACTIVITY_SET) &&
           model->activities.slice[activity] != VV_NONE;
}

/* The slice that device work belongs to: that of the operator it was done for; if unknown, that of
 * the call that launched it; or VV_NONE. */
static inline uint32_t vv_device_owner(const struct vv_model *model, uint32_t activity)
{
    uint32_t caller = model->activities.caller[activity];
    return caller != VV_NONE ? caller : model->activities.launch[activity];
}

/* Did a device choose this work itself? TPUs and their like execute a program of operations, each
 * of which is an operator; what GPUs do without a call is a kernel whose call was not recorded. */
static inline bool vv_is_device_operation(const struct vv_model *model, uint32_t activity)
{
    uint32_t device = model->activities.device[activity];
    if (vv_device_owner(model, activity) != VV_NONE)
        return false;
    if (device == VV_NONE)
        device = model->tracks.device[model->slices.track[model->activities.slice[activity]]];
    return device != VV_NONE && device >> 16 == VARVE_DEVICE_KIND_OTHER;
}

/* The pid of the track's process; 0 if no process is known. */
static inline int64_t vv_pid_of(const struct vv_model *model, uint32_t track)
{
    uint32_t process = model->tracks.process[track];
    return process != VV_NONE ? model->processes.pid[process] : 0;
}

static inline const char *vv_text_of(const struct vv_model *model, uint32_t string)
{
    return vv_intern_text(&model->strings, string);
}

#endif
