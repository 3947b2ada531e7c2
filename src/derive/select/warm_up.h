/* SPDX-License-Identifier: Apache-2.0 */
/* warm_up.h — the first steps of a thread, if they are slower than the later ones because of
 * compilation, caches or allocation.
 *
 * They are the leading steps that each take longer than the median of the later half of the
 * thread's steps. The difference is more than 3 x 1.4826 x the median absolute deviation of this
 * half, and more than a tenth. At most half of the steps are warm-up. There is no warm-up if the
 * later half has fewer than three steps. One exception: with fewer steps, the first step of origin
 * `anchor` is warm-up if it is the longest. */
#ifndef VV_DERIVE_SELECT_WARM_UP_H
#define VV_DERIVE_SELECT_WARM_UP_H

#include "model/model.h"

/* Sets out_is_warm_up[step] for every step of the model. */
enum varve_code vv_find_warm_up(const struct vv_model *model, struct vv_scratch *scratch,
                                bool *out_is_warm_up, struct varve_error *error);

#endif
