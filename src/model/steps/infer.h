/* SPDX-License-Identifier: Apache-2.0 */
/* infer.h — takes steps from what a trace shows, for inputs in which none were recorded. Stages of
 * vv_model_finish. Thread-compatible. */
#ifndef VV_MODEL_STEPS_INFER_H
#define VV_MODEL_STEPS_INFER_H

#include "model/model.h"

/* Adds steps from ranges and anchors with known names, to inputs without steps. named.c */
enum varve_code vv_build_named_steps(struct vv_model *model, struct varve_error *error);

/* Adds steps from backward passes and waits for data, to processes of inputs that still have none.
 * anchored.c */
enum varve_code vv_build_anchored_steps(struct vv_model *model, struct varve_error *error);

/* Adds steps from repeating sequences to inputs that still have none. Activities must be linked
 * before. repeated.c */
enum varve_code vv_build_repeated_steps(struct vv_model *model, struct varve_error *error);

/* One bool a scope: does the scope hold a step? *out_count is at least one. NULL = no memory.
 * named.c */
bool *vv_scopes_with_steps(const struct vv_model *model, uint32_t *out_count);

/* The scope of the track's process; 0 if none is known. named.c */
uint32_t vv_scope_of_track(const struct vv_model *model, uint32_t track);

#endif
