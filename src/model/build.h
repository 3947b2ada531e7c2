/* SPDX-License-Identifier: Apache-2.0 */
/* build.h — the stages of vv_model_finish, which calls them in this order. Thread-compatible. */
#ifndef VV_MODEL_BUILD_H
#define VV_MODEL_BUILD_H

#include "model/model.h"

/* Sorts the slices by (track, begin, longer first, order); no work if they are sorted. build.c */
enum varve_code vv_build_order(struct vv_model *model, struct varve_error *error);

/* Adds steps from ranges and anchors, by name, to inputs that hold none. infer_steps.c */
enum varve_code vv_build_named_steps(struct vv_model *model, struct varve_error *error);

/* Parent, depth, self time, phase and the overlap flag of sorted slices. nest.c */
enum varve_code vv_build_nest(struct vv_model *model, struct varve_error *error);

/* What leads quickly from a slice to those around it, if run.levels are many; also for a model that somebody kept. outward.c */
enum varve_code vv_build_outward(struct vv_model *model, struct varve_error *error);

/* Adds steps from repeating sequences to inputs that still hold none; wants activities linked. infer_repeats.c */
enum varve_code vv_build_repeated_steps(struct vv_model *model, struct varve_error *error);

/* Which scopes hold a step: as many as there are scopes, at least one; NULL without memory. infer_steps.c */
bool *vv_scopes_with_steps(const struct vv_model *model, uint32_t *out_count);

/* Of the track's process; 0 where none is known. infer_steps.c */
uint32_t vv_scope_of_track(const struct vv_model *model, uint32_t track);

/* Sorts the steps by time, finds their slices, and each slice's step. link_steps.c */
enum varve_code vv_build_steps(struct vv_model *model, struct varve_error *error);

/* The slices that flows lead from and to. link_flows.c */
enum varve_code vv_build_flows(struct vv_model *model, struct varve_error *error);

/* Slice, launch and caller of activities, slices of collectives; counts what has no launch. link_activities.c */
enum varve_code vv_build_activities(struct vv_model *model, struct varve_error *error);

#endif
