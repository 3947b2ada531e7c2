/* SPDX-License-Identifier: Apache-2.0 */
#include "numbers/pair_ids.h"

#include <stdlib.h>

#include "base/hash.h"

/* The slot that holds the key, or the free one where it belongs. */
static uint32_t *slot_of(const struct vv_groups *groups, uint32_t name, uint32_t extra)
{
    uint32_t mask = groups->slot_count - 1;
    for (uint32_t i = (uint32_t)vv_hash_pair(name, extra) & mask;; i = (i + 1) & mask) {
        uint32_t group = groups->slots[i];
        if (group == 0 || (groups->names[group - 1] == name && groups->extras[group - 1] == extra))
            return &groups->slots[i];
    }
}

static enum varve_code grow(struct vv_groups *groups, struct varve_error *error)
{
    if (groups->capacity > UINT32_MAX / 16)
        VV_FAIL(error, VARVE_LIMIT, "more than %u groups", groups->capacity);
    uint32_t capacity = groups->capacity > 0 ? groups->capacity * 2 : 64;
    uint32_t *names = reallocarray(groups->names, capacity, sizeof *names);
    if (names != NULL)
        groups->names = names;
    uint32_t *extras = reallocarray(groups->extras, capacity, sizeof *extras);
    if (extras != NULL)
        groups->extras = extras;
    uint32_t *slots = calloc((size_t)capacity * 4, sizeof *slots);
    if (names == NULL || extras == NULL || slots == NULL) {
        free(slots);
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for %u groups", capacity);
    }
    free(groups->slots);
    groups->slots = slots;
    groups->slot_count = capacity * 4;
    groups->capacity = capacity;
    for (uint32_t g = 0; g < groups->count; g++)
        *slot_of(groups, names[g], extras[g]) = g + 1;
    return VARVE_OK;
}

enum varve_code vv_groups_add(struct vv_groups *groups, uint32_t name, uint32_t extra,
                              uint32_t *out_group, struct varve_error *error)
{
    if (groups->count == groups->capacity)
        VV_TRY(grow(groups, error));
    uint32_t *slot = slot_of(groups, name, extra);
    if (*slot == 0) {
        groups->names[groups->count] = name;
        groups->extras[groups->count] = extra;
        *slot = ++groups->count;
    }
    *out_group = *slot - 1;
    return VARVE_OK;
}

void vv_groups_deinit(struct vv_groups *groups)
{
    free(groups->names);
    free(groups->extras);
    free(groups->slots);
    *groups = (struct vv_groups){ 0 };
}
