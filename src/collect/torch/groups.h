/* SPDX-License-Identifier: Apache-2.0 */
/* groups.h — the process groups of torch.distributed, and which of them a collective was called with. Thread-safe. */
#ifndef VV_COLLECT_TORCH_GROUPS_H
#define VV_COLLECT_TORCH_GROUPS_H

#include "collect/torch/layout.h"

struct vv_torch_group {
    void *self;      /* c10d::ProcessGroup; atomic                                                 */
    char name[64];   /* as all its ranks call it; "" = none yet. Longer ones are cut               */
    int32_t rank;    /* which of its ranks this process is; -1 = not known                        */
    int32_t size;    /* how many it has; 0 = not known                                            */
};

/* NULL: the value is no process group, or one that was made before this library could see it. */
const struct vv_torch_group *vv_torch_group_of(const struct vv_torch_value *value);

#endif
