/* SPDX-License-Identifier: Apache-2.0 */
/* torch_record.h — every operator of PyTorch as a range of the thread that runs it. */
#ifndef VV_COLLECT_TORCH_RECORD_H
#define VV_COLLECT_TORCH_RECORD_H

#include <stdbool.h>

#include "collect/torch_layout.h"

struct vv_torch_wishes {
    bool inputs;  /* shapes and scalars; costs PyTorch the boxing of what it passes              */
    bool strides; /* of tensors too                                                              */
};

/* Registers the callbacks, for good: ends arrive after their removal, and from threads that are inside. Once a
 * process; nothing is recorded twice. `api` and `layout` are copied. */
void vv_torch_record_begin(const struct vv_torch_api *api, const struct vv_torch_layout *layout,
                           const struct vv_torch_wishes *wishes);

#endif
