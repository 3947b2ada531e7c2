/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/nccl/groups.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

#define GROUPS_MAX 512u

static struct vv_nccl_group groups[GROUPS_MAX];

/* A name alone may be that of several communicators. */
void vv_nccl_group_name(struct vv_nccl_group *group, const char *name, uint64_t hash, int rank)
{
    if (hash == 0 || __atomic_load_n(&group->is_named, __ATOMIC_ACQUIRE))
        return;
    bool has_name = name != NULL && name[0] != '\0';
    snprintf(group->text, sizeof group->text, "%.60s%s%016" PRIx64, has_name ? name : "",
             has_name ? " " : "", hash);
    group->rank = rank;
    __atomic_store_n(&group->is_named, true, __ATOMIC_RELEASE);
}

struct vv_nccl_group *vv_nccl_group_add(const char *name, uint64_t hash, int rank, int size)
{
    for (size_t i = 0; i < GROUPS_MAX; i++) {
        struct vv_nccl_group *group = &groups[i];
        if (__atomic_exchange_n(&group->is_taken, true, __ATOMIC_ACQUIRE))
            continue;
        __atomic_store_n(&group->is_named, false, __ATOMIC_RELAXED);
        group->text[0] = '\0';
        group->rank = -1;
        group->size = size;
        vv_nccl_group_name(group, name, hash, rank);
        return group;
    }
    return NULL;
}

void vv_nccl_group_remove(struct vv_nccl_group *group)
{
    __atomic_store_n(&group->is_taken, false, __ATOMIC_RELEASE);
}
