/* SPDX-License-Identifier: Apache-2.0 */
/* groups.h — communicators of this process. Thread-safe. */
#ifndef VV_COLLECT_NCCL_GROUPS_H
#define VV_COLLECT_NCCL_GROUPS_H

#include <stdbool.h>
#include <stdint.h>

struct vv_nccl_group {
    bool is_taken;    /* atomic                                                                  */
    bool is_named;    /* atomic: the text is whole                                               */
    int32_t rank, size; /* -1, 0: NCCL does not say                                              */
    char text[80];    /* the same on all ranks: "tensor_parallel 5f21b8ac93d07e44"               */
};

/* NULL: there are too many communicators. `hash` 0: not known yet. */
struct vv_nccl_group *vv_nccl_group_add(const char *name, uint64_t hash, int rank, int size);
/* Names a group that NCCL names in its events alone. */
void vv_nccl_group_name(struct vv_nccl_group *group, const char *name, uint64_t hash, int rank);
void vv_nccl_group_remove(struct vv_nccl_group *group);

#endif
