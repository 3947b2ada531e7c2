/* SPDX-License-Identifier: Apache-2.0 */
/* outward.h — from a slice to those around it, quickly even with many levels.
 *
 * A slice ends no later than those around it. In a model with more than VV_LEVELS_FEW levels,
 * vv_build_outward stores two things for each slice: the operator around it, and a jump to a slice
 * further out, so that a search for an end takes O(log levels) steps. In other models the search
 * goes level by level. Thread-safe on a finished model. */
#ifndef VV_MODEL_OUTWARD_H
#define VV_MODEL_OUTWARD_H

#include "model/model.h"
#include "varve/varve.h"

#define VV_LEVELS_FEW 256

struct vv_outward {
    uint32_t *jumps;     /* a slice further out; an outermost slice's jump is to itself           */
    uint32_t *operators; /* the slice itself or the innermost around it of layer OP; or VV_NONE   */
    uint32_t *workers;   /* the same for layers OP and COMM                                       */
};

/* The innermost slice, from `slice` outwards, that ends at `end_ns` or later; or VV_NONE. */
static inline uint32_t vv_outward_ending(const struct vv_model *model, uint32_t slice,
                                         int64_t end_ns)
{
    const struct vv_slices *slices = &model->slices;
    const uint32_t *jumps = model->outward != NULL ? model->outward->jumps : NULL;
    while (slice != VV_NONE && slices->begin_ns[slice] + slices->duration_ns[slice] < end_ns) {
        uint32_t jump = jumps != NULL ? jumps[slice] : slice;
        bool is_far = slices->begin_ns[jump] + slices->duration_ns[jump] >= end_ns;
        slice = jump == slice || is_far ? slices->parent[slice] : jump;
    }
    return slice;
}

/* The innermost slice, from `slice` outwards, that is still open at the instant; or VV_NONE. */
static inline uint32_t vv_outward_open(const struct vv_model *model, uint32_t slice,
                                       int64_t time_ns)
{
    return time_ns < INT64_MAX ? vv_outward_ending(model, slice, time_ns + 1) : VV_NONE;
}

/* The innermost slice that holds the instant, from `slice` outwards; `slice` is the last that has
 * begun. A slice holds the instant if it begins then or is open then; if no slice is, the one that
 * ends then holds it. */
static inline uint32_t vv_outward_holding(const struct vv_model *model, uint32_t slice,
                                          int64_t time_ns)
{
    if (slice == VV_NONE || model->slices.begin_ns[slice] == time_ns)
        return slice;
    uint32_t last = vv_outward_ending(model, slice, time_ns),
             open = vv_outward_open(model, last, time_ns);
    return open != VV_NONE ? open : last;
}

/* The innermost slice of the layers, from `slice` outwards; the layers are OP, or OP and COMM.
 * VV_NONE if there is none. */
static inline uint32_t vv_outward_operator(const struct vv_model *model, uint32_t slice,
                                           unsigned layers)
{
    if (slice == VV_NONE)
        return VV_NONE;
    if (model->outward != NULL)
        return (layers & VARVE_LAYER_COMM) != 0 ? model->outward->workers[slice]
                                                : model->outward->operators[slice];
    while (slice != VV_NONE && (model->slices.layer[slice] & layers) == 0)
        slice = model->slices.parent[slice];
    return slice;
}

/* Makes model->outward if run.levels is large: a stage of vv_model_finish. Also called for a model
 * that comes from the cache. */
enum varve_code vv_build_outward(struct vv_model *model, struct varve_error *error);
void vv_outward_destroy(struct vv_outward *outward); /* NULL-safe */

#endif
