/* SPDX-License-Identifier: Apache-2.0 */
/* find.h — what everybody asks of a finished model: whose, where, at which instant. Thread-safe. */
#ifndef VV_MODEL_FIND_H
#define VV_MODEL_FIND_H

#include "model/model.h"
#include "varve/varve.h"

/* Rows [*out_first, *out_last) of the slices on a track. */
void vv_track_rows(const struct vv_model *model, uint32_t track, uint32_t *out_first,
                   uint32_t *out_last);
/* Does it hold an operator or a step? A profiler's own spans may have a track to themselves. */
bool vv_track_works(const struct vv_model *model, uint32_t track);
/* The first row in [first, last), rows of one track, that begins at or after begin_ns. */
uint32_t vv_first_from(const struct vv_slices *slices, uint32_t first, uint32_t last, int64_t begin_ns);
/* Rows of the slices that begin inside a step on the step's own track, the step itself left out. */
void vv_step_rows(const struct vv_model *model, uint32_t step, uint32_t *out_first,
                  uint32_t *out_last);

/* The innermost slice of a track that is open at an instant, or VV_NONE. Its begin is in it and its end is not, so of two
 * that meet at an instant it is the later, and what takes no time is never open. */
uint32_t vv_slice_at(const struct vv_model *model, uint32_t track, int64_t time_ns);
/* The innermost operator that is open then, else vv_slice_at. */
uint32_t vv_operator_at(const struct vv_model *model, uint32_t track, int64_t time_ns);
/* The slice that an arrow's end at an instant belongs to. As vv_slice_at, but what begins then holds it even if it takes no
 * time, and where nothing is open what ends then does: a program marks an arrow inside a slice, and a coarse clock may
 * give the mark and the slice's end one reading. */
uint32_t vv_slice_holding(const struct vv_model *model, uint32_t track, int64_t time_ns);

/* The name of a track for people: its own, else "thread TID". */
void vv_track_text(const struct vv_model *model, uint32_t track, char *text, size_t bytes);

/* Every slice is an operator unless it marks the program's own course: a step or a range of layer STEP. */
static inline bool vv_is_operator(const struct vv_model *model, uint32_t slice)
{
    return model->slices.layer[slice] != VARVE_LAYER_STEP &&
           (model->slices.flags[slice] & (VV_SLICE_STEP | VV_SLICE_PHASE)) == 0;
}

/* Is the activity a kernel, copy or set that has a place in time? */
static inline bool vv_is_device_work(const struct vv_model *model, uint32_t activity)
{
    uint8_t kind = model->activities.kind[activity];
    return (kind == VV_ACTIVITY_KERNEL || kind == VV_ACTIVITY_COPY || kind == VV_ACTIVITY_SET) &&
           model->activities.slice[activity] != VV_NONE;
}

/* Whose work it is: the slice of the operator that it was done for, else of the call that launched it; VV_NONE. */
static inline uint32_t vv_device_owner(const struct vv_model *model, uint32_t activity)
{
    uint32_t caller = model->activities.caller[activity];
    return caller != VV_NONE ? caller : model->activities.launch[activity];
}

/* Of the track's process; 0 where no process is known. */
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
