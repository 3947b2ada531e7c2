/* SPDX-License-Identifier: Apache-2.0 */
/* median_step.h — the one step that stands for all chosen steps: `critical` shows its path, and
 * `diff` compares its calls. */
#ifndef VV_DERIVE_SELECT_MEDIAN_STEP_H
#define VV_DERIVE_SELECT_MEDIAN_STEP_H

#include "derive/select/scope.h"

/* The chosen step of median duration. With an even number of steps, the shorter of the two in the
 * middle. Of steps with equal durations, the one that began first. VV_NONE: no step is chosen. */
enum varve_code vv_median_step(const struct vv_scope *scope, uint32_t *out_step,
                               struct varve_error *error);

#endif
