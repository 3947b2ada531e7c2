/* SPDX-License-Identifier: Apache-2.0 */
#include "import/rows/key_map.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"

#define FIRST_SMALL 256u
#define FIRST_SLOTS 64u

void vv_key_map_deinit(struct vv_key_map *map)
{
    free(map->small);
    free(map->slots);
    *map = (struct vv_key_map){ 0 };
}

void vv_key_map_clear(struct vv_key_map *map)
{
    if (map->small_capacity > 0)
        memset(map->small, 0xff, map->small_capacity * sizeof *map->small);
    for (size_t i = 0; i < map->slot_count; i++)
        map->slots[i].value = VV_KEY_NONE;
    map->used_count = map->small_used = 0;
}

/* The slot of the id, or the free one where it belongs. */
static struct vv_key_slot *slot_of(const struct vv_key_map *map, uint64_t id)
{
    size_t mask = map->slot_count - 1;
    size_t at = (size_t)vv_hash_step(&vv_hash_key, vv_hash_key.start, id) & mask;
    while (map->slots[at].value != VV_KEY_NONE && map->slots[at].id != id)
        at = (at + 1) & mask;
    return &map->slots[at];
}

uint32_t vv_key_map_find(const struct vv_key_map *map, uint64_t id)
{
    return map->slot_count == 0 ? VV_KEY_NONE : slot_of(map, id)->value;
}

static enum varve_code grow_slots(struct vv_key_map *map, struct varve_error *error)
{
    struct vv_key_map grown = *map;
    grown.slot_count = map->slot_count == 0 ? FIRST_SLOTS : map->slot_count * 2;
    grown.slots = malloc(grown.slot_count * sizeof *grown.slots);
    if (grown.slots == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for %zu ids", grown.slot_count);
    for (size_t i = 0; i < grown.slot_count; i++)
        grown.slots[i].value = VV_KEY_NONE;
    for (size_t i = 0; i < map->slot_count; i++)
        if (map->slots[i].value != VV_KEY_NONE)
            *slot_of(&grown, map->slots[i].id) = map->slots[i];
    free(map->slots);
    *map = grown;
    return VARVE_OK;
}

enum varve_code vv_key_map_put(struct vv_key_map *map, uint64_t id, uint32_t value,
                              struct varve_error *error)
{
    /* Memory and clearing cost as much as there are ids: the array stays a quarter full. */
    if (id >= map->small_capacity && id < FIRST_SMALL + 4 * map->small_used) {
        size_t former = map->small_capacity;
        VV_TRY(vv_array_reserve(&map->small, &map->small_capacity, (size_t)id + 1,
                                sizeof *map->small, error));
        for (size_t i = former; i < map->small_capacity; i++)
            map->small[i] = vv_key_map_find(map, i);
    }
    if (id < map->small_capacity) {
        map->small_used += map->small[id] == VV_KEY_NONE;
        map->small[id] = value;
        return VARVE_OK;
    }
    if (map->used_count * 2 >= map->slot_count)
        VV_TRY(grow_slots(map, error));
    struct vv_key_slot *slot = slot_of(map, id);
    map->used_count += slot->value == VV_KEY_NONE;
    *slot = (struct vv_key_slot){ id, value };
    return VARVE_OK;
}
