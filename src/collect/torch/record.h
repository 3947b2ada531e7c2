/* SPDX-License-Identifier: Apache-2.0 */
/* record.h — records every operator of PyTorch as a range of the thread that runs it. */
#ifndef VV_COLLECT_TORCH_RECORD_H
#define VV_COLLECT_TORCH_RECORD_H

#include <stdbool.h>

#include "collect/torch/layout.h"

struct vv_torch_wishes {
    bool inputs;  /* shapes and scalars; PyTorch then boxes its arguments                        */
    bool strides; /* strides of tensors, too                                                     */
    bool data;    /* which data operators read and make; PyTorch then keeps their outputs        */
};

/* Registers the callbacks. Copies `api` and `layout`. Must not be called while callbacks are
 * registered. False: there is no memory, and nothing is registered. */
VV_MUST_USE bool vv_torch_record_begin(const struct vv_torch_api *api,
                                       const struct vv_torch_layout *layout,
                                       const struct vv_torch_wishes *wishes);

/* Removes the callbacks. Guards that have begun still end through them, so the library must stay
 * loaded. */
void vv_torch_record_end(void);

#endif
