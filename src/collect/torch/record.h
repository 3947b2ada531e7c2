/* SPDX-License-Identifier: Apache-2.0 */
/* record.h — every operator of PyTorch as a range of the thread that runs it. */
#ifndef VV_COLLECT_TORCH_RECORD_H
#define VV_COLLECT_TORCH_RECORD_H

#include <stdbool.h>

#include "collect/torch/layout.h"

struct vv_torch_wishes {
    bool inputs;  /* shapes and scalars; costs PyTorch the boxing of what it passes              */
    bool strides; /* of tensors too                                                              */
};

/* Registers the callbacks. `api` and `layout` are copied. Not while they are registered. False: no memory, and
 * nothing is registered. */
VV_MUST_USE bool vv_torch_record_begin(const struct vv_torch_api *api, const struct vv_torch_layout *layout,
                                       const struct vv_torch_wishes *wishes);

/* Takes them back: guards that have begun still end through them, so the library must stay where it is. */
void vv_torch_record_end(void);

#endif
