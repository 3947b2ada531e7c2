/* SPDX-License-Identifier: Apache-2.0 */
#include "import/rows/row_map.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

#define FIRST_SLOTS 64u

static uint64_t hash_of(const struct vv_row_key *key)
{
    uint64_t hash = vv_hash_key.start;
    for (size_t i = 0; i < sizeof key->words / sizeof key->words[0]; i++)
        hash = vv_hash_step(&vv_hash_key, hash, (uint64_t)key->words[i]);
    return hash;
}

/* The entry of the key, or the free one where it belongs. */
static struct vv_row_entry *entry_of(const struct vv_row_map *map, const struct vv_row_key *key)
{
    uint64_t mask = map->slot_count - 1, slot = hash_of(key) & mask;
    while (map->entries[slot].is_used && memcmp(&map->entries[slot].key, key, sizeof *key) != 0)
        slot = (slot + 1) & mask;
    return &map->entries[slot];
}

static enum varve_code grow(struct vv_row_map *map, struct varve_error *error)
{
    struct vv_row_map grown = { .count = map->count };
    grown.slot_count = map->slot_count == 0 ? FIRST_SLOTS : map->slot_count * 2;
    grown.entries = calloc(grown.slot_count, sizeof *grown.entries);
    if (grown.entries == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for %llu rows", (unsigned long long)map->count);
    for (uint64_t slot = 0; slot < map->slot_count; slot++)
        if (map->entries[slot].is_used)
            *entry_of(&grown, &map->entries[slot].key) = map->entries[slot];
    free(map->entries);
    *map = grown;
    return VARVE_OK;
}

void vv_row_map_deinit(struct vv_row_map *map)
{
    free(map->entries);
    *map = (struct vv_row_map){ 0 };
}

enum varve_code vv_row_map_at(struct vv_row_map *map, const struct vv_row_key *key, uint32_t **out_row,
                              bool *out_is_new, struct varve_error *error)
{
    if ((map->count + 1) * 2 > map->slot_count)
        VV_TRY(grow(map, error));
    struct vv_row_entry *entry = entry_of(map, key);
    *out_is_new = !entry->is_used;
    if (!entry->is_used) {
        *entry = (struct vv_row_entry){ *key, 0, true };
        map->count++;
    }
    *out_row = &entry->row;
    return VARVE_OK;
}

bool vv_row_map_find(const struct vv_row_map *map, const struct vv_row_key *key, uint32_t *out_row)
{
    if (map->slot_count == 0)
        return false;
    const struct vv_row_entry *entry = entry_of(map, key);
    if (entry->is_used)
        *out_row = entry->row;
    return entry->is_used;
}
