/* SPDX-License-Identifier: Apache-2.0 */
#include "numbers/pair_ids.h"

#include "base/hash.h"

struct pair { uint32_t name, extra; };

static bool is_pair(const void *table, uint32_t group, const void *key)
{
    const struct vv_groups *groups = table;
    const struct pair *pair = key;
    return groups->names[group] == pair->name && groups->extras[group] == pair->extra;
}

static uint64_t hash_of(const void *table, uint32_t group)
{
    const struct vv_groups *groups = table;
    return vv_hash_pair(groups->names[group], groups->extras[group]);
}

static enum varve_code grow(struct vv_groups *groups, struct varve_error *error)
{
    if (groups->capacity > UINT32_MAX / 16)
        VV_FAIL(error, VARVE_LIMIT, "more than %u groups", groups->capacity);
    uint32_t capacity = groups->capacity > 0 ? groups->capacity * 2 : 64;
    size_t names = groups->capacity, extras = names;
    VV_TRY(VV_SCRATCH_RESERVE(groups->scratch, &groups->names, &names, capacity, error));
    VV_TRY(VV_SCRATCH_RESERVE(groups->scratch, &groups->extras, &extras, capacity, error));
    groups->slots.scratch = groups->scratch;
    groups->capacity = capacity;
    return VARVE_OK;
}

enum varve_code vv_groups_add(struct vv_groups *groups, uint32_t name, uint32_t extra,
                              uint32_t *out_group, struct varve_error *error)
{
    const struct pair pair = { name, extra };
    if (groups->count == groups->capacity)
        VV_TRY(grow(groups, error));
    if (vv_slots_are_full(&groups->slots, groups->count))
        VV_TRY(vv_slots_grow(&groups->slots, groups->count, hash_of, groups, "groups", error));
    uint32_t *slot = vv_slots_at(&groups->slots, vv_hash_pair(name, extra), is_pair, groups, &pair);
    if (*slot == 0) {
        groups->names[groups->count] = name;
        groups->extras[groups->count] = extra;
        *slot = ++groups->count;
    }
    *out_group = *slot - 1;
    return VARVE_OK;
}
