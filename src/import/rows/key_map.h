/* SPDX-License-Identifier: Apache-2.0 */
/* key_map.h — maps a producer's 64-bit ids to numbers. Most producers count from 0 or 1: such ids
 * index an array, and all others are hashed. Thread-compatible. */
#ifndef VV_IMPORT_ROWS_KEY_MAP_H
#define VV_IMPORT_ROWS_KEY_MAP_H

#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "base/slots.h"

#define VV_KEY_NONE UINT32_MAX

struct vv_key_map { /* a zeroed struct is empty                                                  */
    uint32_t *small;
    size_t small_capacity, small_used;
    VV_ARRAY_OF(struct vv_key_entry { uint64_t id; uint32_t value; }) large;
    struct vv_slots slots; /* hash table of `large`                                             */
};

void vv_key_map_deinit(struct vv_key_map *map); /* idempotent */
void vv_key_map_clear(struct vv_key_map *map);  /* empties the map, but keeps its memory */

/* Sets the value of an id, and replaces a former one. `value` must not be VV_KEY_NONE. */
enum varve_code vv_key_map_put(struct vv_key_map *map, uint64_t id, uint32_t value,
                              struct varve_error *error);
uint32_t vv_key_map_find(const struct vv_key_map *map, uint64_t id);

static inline uint32_t vv_key_map_get(const struct vv_key_map *map, uint64_t id)
{
    return id < map->small_capacity ? map->small[id] : vv_key_map_find(map, id);
}

#endif
