/* SPDX-License-Identifier: Apache-2.0 */
/* build.h — the stages of vv_model_finish. Thread-compatible. */
#ifndef VV_MODEL_BUILD_BUILD_H
#define VV_MODEL_BUILD_BUILD_H

#include "model/model.h"

/* Sorts the slices by (track, begin, longer first, order); no work if they are sorted. build.c */
enum varve_code vv_build_order(struct vv_model *model, struct varve_error *error);

/* Finds parent, depth, self time, phase and the overlap flag of sorted slices. nest.c */
enum varve_code vv_build_nest(struct vv_model *model, struct varve_error *error);

/* Marks the threads that share their name with a thread of another number. thread_names.c */
enum varve_code vv_build_thread_names(struct vv_model *model, struct varve_error *error);

/* Sorts the steps by time, finds the slice of each step, and the step of each slice.
 * steps.c */
enum varve_code vv_build_steps(struct vv_model *model, struct varve_error *error);

/* Finds the slices that flows lead from and to. flows.c */
enum varve_code vv_build_flows(struct vv_model *model, struct varve_error *error);

/* Finds slice, launch and caller of activities, and the slices of collectives. Counts device work
 * without a launch. activities.c */
enum varve_code vv_build_activities(struct vv_model *model, struct varve_error *error);

#endif
