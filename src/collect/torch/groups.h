/* SPDX-License-Identifier: Apache-2.0 */
/* groups.h — knows the process groups of torch.distributed, and finds the group of a collective.
 * Thread-safe. */
#ifndef VV_COLLECT_TORCH_GROUPS_H
#define VV_COLLECT_TORCH_GROUPS_H

#include "collect/torch/layout.h"

struct vv_torch_group {
    void *self;      /* c10d::ProcessGroup; atomic */
    char name[64];   /* the same in all ranks; "" = none yet; cut if longer */
    int32_t rank;    /* rank of this process in it; -1 = not known                                */
    int32_t size;    /* number of its ranks; 0 = not known                                        */
};

/* Returns the value's group. NULL: the value is no process group, or the group was made before this
 * library could see it. */
const struct vv_torch_group *vv_torch_group_of(const struct vv_torch_value *value);

#endif
