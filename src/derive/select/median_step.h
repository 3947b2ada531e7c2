/* SPDX-License-Identifier: Apache-2.0 */
/* median_step.h — the one step that stands for all chosen ones: whose path `critical` shows, whose calls `diff` compares. */
#ifndef VV_DERIVE_SELECT_MEDIAN_STEP_H
#define VV_DERIVE_SELECT_MEDIAN_STEP_H

#include "derive/select/scope.h"

/* The chosen step whose duration is the median's; of an even number, of the two in the middle the shorter one's. Of several
 * that took as long the one that began first. VV_NONE where no step is chosen. */
enum varve_code vv_median_step(const struct vv_scope *scope, uint32_t *out_step, struct varve_error *error);

#endif
