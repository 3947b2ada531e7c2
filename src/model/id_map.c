/* SPDX-License-Identifier: Apache-2.0 */
#include "model/id_map.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/large_pages.h"
#include "model/model.h"

#define NEIGHBOURS 8u /* ids next to each other are mostly asked for together: side by side */
/* An array may have up to 8 places for each row; a hash table would need about as much memory. */
#define SPARE_ROWS 8u

enum varve_code vv_id_map_init(struct vv_id_map *map, const struct vv_id_range *range,
                               struct varve_error *error)
{
    *map = (struct vv_id_map){ 0 };
    if (range->count == 0)
        return VARVE_OK;
    uint64_t span = range->largest_id - range->least_id, places = range->count * SPARE_ROWS + 1024;
    if (span < places / range->scope_count) {
        map->least_id = range->least_id;
        map->span = span + 1;
        map->scope_count = range->scope_count;
        size_t bytes = map->span * range->scope_count * sizeof *map->rows;
        map->rows = vv_large_pages_alloc(bytes);
        if (map->rows != NULL)
            memset(map->rows, 0xff, bytes);
    } else {
        uint64_t slots = 64;
        while (slots < range->count * 2)
            slots *= 2;
        map->slot_mask = slots - 1;
        map->slots = vv_large_pages_alloc(slots * sizeof *map->slots);
        if (map->slots != NULL)
            memset(map->slots, 0xff, slots * sizeof *map->slots);
    }
    if (map->rows == NULL && map->slots == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory to link %llu rows",
                (unsigned long long)range->count);
    return VARVE_OK;
}

void vv_id_map_deinit(struct vv_id_map *map)
{
    free(map->rows);
    free(map->slots);
    *map = (struct vv_id_map){ 0 };
}

static void deinit_object(void *map)
{
    vv_id_map_deinit(map);
}

enum varve_code vv_id_map_in(struct vv_scratch *scratch, struct vv_id_map **out_map,
                             const struct vv_id_range *range, struct varve_error *error)
{
    VV_TRY(vv_scratch_object(scratch, out_map, sizeof **out_map, deinit_object, error));
    return vv_id_map_init(*out_map, range, error);
}

static uint64_t first_slot(const struct vv_id_map *map, uint32_t scope, uint64_t id)
{
    return (vv_hash_pair(scope, id / NEIGHBOURS) * NEIGHBOURS | id % NEIGHBOURS) & map->slot_mask;
}

void vv_id_map_prefetch(const struct vv_id_map *map, uint32_t scope, uint64_t id)
{
    if (map->slots != NULL)
        __builtin_prefetch(&map->slots[first_slot(map, scope, id)]);
}

static struct vv_id_slot *slot_of(const struct vv_id_map *map, uint32_t scope, uint64_t id)
{
    uint64_t slot = first_slot(map, scope, id);
    while (map->slots[slot].row != VV_NONE &&
           !(map->slots[slot].id == id && map->slots[slot].scope == scope))
        slot = (slot + 1) & map->slot_mask;
    return &map->slots[slot];
}

uint32_t *vv_id_map_put(struct vv_id_map *map, uint32_t scope, uint64_t id)
{
    if (map->rows != NULL)
        return &map->rows[scope * map->span + (id - map->least_id)];
    struct vv_id_slot *slot = slot_of(map, scope, id);
    slot->id = id;
    slot->scope = scope;
    return &slot->row;
}

uint32_t vv_id_map_find(const struct vv_id_map *map, uint32_t scope, uint64_t id)
{
    if (map->slots != NULL)
        return slot_of(map, scope, id)->row;
    if (map->rows == NULL || id < map->least_id || id - map->least_id >= map->span ||
        scope >= map->scope_count)
        return VV_NONE;
    return map->rows[scope * map->span + (id - map->least_id)];
}
