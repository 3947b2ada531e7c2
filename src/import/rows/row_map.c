/* SPDX-License-Identifier: Apache-2.0 */
#include "import/rows/row_map.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

static uint64_t hash_of_key(const struct vv_row_key *key)
{
    uint64_t hash = vv_hash_key.start;
    for (size_t i = 0; i < sizeof key->words / sizeof key->words[0]; i++)
        hash = vv_hash_step(&vv_hash_key, hash, (uint64_t)key->words[i]);
    return hash;
}

static uint64_t hash_of(const void *table, uint32_t entry)
{
    const struct vv_row_map *map = table;
    return hash_of_key(&map->entries.items[entry].key);
}

static bool is_key(const void *table, uint32_t entry, const void *key)
{
    const struct vv_row_map *map = table;
    return memcmp(&map->entries.items[entry].key, key, sizeof(struct vv_row_key)) == 0;
}

void vv_row_map_deinit(struct vv_row_map *map)
{
    free(map->entries.items);
    vv_slots_deinit(&map->slots);
    *map = (struct vv_row_map){ 0 };
}

enum varve_code vv_row_map_at(struct vv_row_map *map, const struct vv_row_key *key,
                              uint32_t **out_row, bool *out_is_new, struct varve_error *error)
{
    VV_TRY(vv_array_reserve(&map->entries.items, &map->entries.capacity, map->entries.count + 1,
                            sizeof *map->entries.items, error));
    if (vv_slots_are_full(&map->slots, map->entries.count))
        VV_TRY(
            vv_slots_grow(&map->slots, (uint32_t)map->entries.count, hash_of, map, "rows", error));
    uint32_t *slot = vv_slots_at(&map->slots, hash_of_key(key), is_key, map, key);
    *out_is_new = *slot == 0;
    if (*slot == 0) {
        map->entries.items[map->entries.count] = (struct vv_row_entry){ *key, 0 };
        *slot = (uint32_t)++map->entries.count;
    }
    *out_row = &map->entries.items[*slot - 1].row;
    return VARVE_OK;
}

bool vv_row_map_find(const struct vv_row_map *map, const struct vv_row_key *key, uint32_t *out_row)
{
    uint32_t entry = vv_slots_find(&map->slots, hash_of_key(key), is_key, map, key);
    if (entry != VV_SLOTS_NONE)
        *out_row = map->entries.items[entry].row;
    return entry != VV_SLOTS_NONE;
}
