/* SPDX-License-Identifier: Apache-2.0 */
#include "import/rows/key_map.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

#define FIRST_SMALL 256u

void vv_key_map_deinit(struct vv_key_map *map)
{
    free(map->small);
    free(map->large.items);
    vv_slots_deinit(&map->slots);
    *map = (struct vv_key_map){ 0 };
}

void vv_key_map_clear(struct vv_key_map *map)
{
    if (map->small_capacity > 0)
        memset(map->small, 0xff, map->small_capacity * sizeof *map->small);
    if (map->slots.count > 0)
        memset(map->slots.items, 0, map->slots.count * sizeof *map->slots.items);
    map->large.count = map->small_used = 0;
}

static uint64_t hash_of_id(uint64_t id)
{
    return vv_hash_step(&vv_hash_key, vv_hash_key.start, id);
}

static uint64_t hash_of(const void *table, uint32_t entry)
{
    const struct vv_key_map *map = table;
    return hash_of_id(map->large.items[entry].id);
}

static bool is_id(const void *table, uint32_t entry, const void *id)
{
    const struct vv_key_map *map = table;
    return map->large.items[entry].id == *(const uint64_t *)id;
}

uint32_t vv_key_map_find(const struct vv_key_map *map, uint64_t id)
{
    uint32_t entry = vv_slots_find(&map->slots, hash_of_id(id), is_id, map, &id);
    return entry == VV_SLOTS_NONE ? VV_KEY_NONE : map->large.items[entry].value;
}

static enum varve_code put_large(struct vv_key_map *map, uint64_t id, uint32_t value,
                                 struct varve_error *error)
{
    VV_TRY(vv_array_reserve(&map->large.items, &map->large.capacity, map->large.count + 1,
                            sizeof *map->large.items, error));
    if (vv_slots_are_full(&map->slots, map->large.count))
        VV_TRY(vv_slots_grow(&map->slots, (uint32_t)map->large.count, hash_of, map, "ids", error));
    uint32_t *slot = vv_slots_at(&map->slots, hash_of_id(id), is_id, map, &id);
    if (*slot == 0)
        *slot = (uint32_t)++map->large.count;
    map->large.items[*slot - 1] = (struct vv_key_entry){ id, value };
    return VARVE_OK;
}

enum varve_code vv_key_map_put(struct vv_key_map *map, uint64_t id, uint32_t value,
                              struct varve_error *error)
{
    /* Memory and clearing then cost in proportion to the ids: the array stays at least a quarter
     * full. */
    if (id >= map->small_capacity && id < FIRST_SMALL + 4 * map->small_used) {
        size_t former = map->small_capacity;
        VV_TRY(vv_array_reserve(&map->small, &map->small_capacity, (size_t)id + 1,
                                sizeof *map->small, error));
        for (size_t i = former; i < map->small_capacity; i++)
            map->small[i] = vv_key_map_find(map, i);
    }
    if (id >= map->small_capacity)
        return put_large(map, id, value, error);
    map->small_used += map->small[id] == VV_KEY_NONE;
    map->small[id] = value;
    return VARVE_OK;
}
