/* SPDX-License-Identifier: Apache-2.0 */
/* build.h — the stages of vv_model_finish. Thread-compatible. */
#ifndef VV_MODEL_BUILD_H
#define VV_MODEL_BUILD_H

#include "model/model.h"

/* Sorts the slices by (track, begin, longer first, order); no work if they are sorted. build.c */
enum varve_code vv_build_order(struct vv_model *model, struct varve_error *error);

/* Adds steps from ranges and anchors with known names, to inputs without steps. infer_steps.c */
enum varve_code vv_build_named_steps(struct vv_model *model, struct varve_error *error);

/* Finds parent, depth, self time, phase and the overlap flag of sorted slices. nest.c */
enum varve_code vv_build_nest(struct vv_model *model, struct varve_error *error);

/* Makes the tables that lead quickly from a slice to those around it, if run.levels is large. Also
 * called for a model that comes from the cache. outward.c */
enum varve_code vv_build_outward(struct vv_model *model, struct varve_error *error);

/* Adds steps from backward passes and waits for data, to processes of inputs that still have none.
 * infer_anchors.c */
enum varve_code vv_build_anchored_steps(struct vv_model *model, struct varve_error *error);

/* Adds steps from repeating sequences to inputs that still have none. Activities must be linked
 * before. infer_repeats.c */
enum varve_code vv_build_repeated_steps(struct vv_model *model, struct varve_error *error);

/* One bool a scope: does the scope hold a step? *out_count is at least one. NULL = no memory.
 * infer_steps.c */
bool *vv_scopes_with_steps(const struct vv_model *model, uint32_t *out_count);

/* The scope of the track's process; 0 if none is known. infer_steps.c */
uint32_t vv_scope_of_track(const struct vv_model *model, uint32_t track);

/* Marks the threads that share their name with a thread of another number. name_threads.c */
enum varve_code vv_build_thread_names(struct vv_model *model, struct varve_error *error);

/* Sorts the steps by time, finds the slice of each step, and the step of each slice.
 * link_steps.c */
enum varve_code vv_build_steps(struct vv_model *model, struct varve_error *error);

/* Finds the slices that flows lead from and to. link_flows.c */
enum varve_code vv_build_flows(struct vv_model *model, struct varve_error *error);

/* Finds slice, launch and caller of activities, and the slices of collectives. Counts device work
 * without a launch. link_activities.c */
enum varve_code vv_build_activities(struct vv_model *model, struct varve_error *error);

#endif
