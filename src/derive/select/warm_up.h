/* SPDX-License-Identifier: Apache-2.0 */
/* warm_up.h — the first steps of a thread that are slower than what follows: compilation, caches, allocation.
 *
 * They are its leading steps that each take longer than the median of the thread's later half of steps by more than
 * 3 x 1.4826 x its median absolute deviation, and by more than a tenth. Half of the steps at most, and none where the
 * later half has fewer than three, or where the steps are times of a repeat; of so few up to an anchor the first, if it is the
 * longest. */
#ifndef VV_DERIVE_SELECT_WARM_UP_H
#define VV_DERIVE_SELECT_WARM_UP_H

#include "model/model.h"

/* Sets out_is_warm_up[step] for every step of the model. */
enum varve_code vv_find_warm_up(const struct vv_model *model, bool *out_is_warm_up, struct varve_error *error);

#endif
