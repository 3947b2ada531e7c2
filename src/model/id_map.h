/* SPDX-License-Identifier: Apache-2.0 */
/* id_map.h — rows by the ids that producers gave them, within their scopes. Thread-compatible.
 *
 * Ids mostly count up: then the map is an array from the least to the largest, and rows that follow each other lie
 * beside each other. Else it is a hash table. */
#ifndef VV_MODEL_ID_MAP_H
#define VV_MODEL_ID_MAP_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct vv_id_slot {
    uint64_t id;
    uint32_t scope, row; /* row VV_NONE = free                                                  */
};

struct vv_id_map {
    uint64_t least_id, span; /* of the array: ids least_id … least_id + span - 1 of each scope   */
    uint32_t *rows;
    uint32_t scope_count;
    struct vv_id_slot *slots;
    uint64_t slot_mask;
};

/* What will be put into a map. */
struct vv_id_range {
    uint64_t least_id, largest_id, count;
    uint32_t scope_count;    /* scopes are 0 … scope_count - 1                                  */
};

static inline void vv_id_range_add(struct vv_id_range *range, uint32_t scope, uint64_t id)
{
    range->least_id = range->count == 0 || id < range->least_id ? id : range->least_id;
    range->largest_id = id > range->largest_id ? id : range->largest_id;
    range->scope_count = scope >= range->scope_count ? scope + 1 : range->scope_count;
    range->count++;
}

enum varve_code vv_id_map_init(struct vv_id_map *map, const struct vv_id_range *range,
                               struct varve_error *error);
void vv_id_map_deinit(struct vv_id_map *map);

/* Where the row of an id within the range is kept: VV_NONE at first. */
uint32_t *vv_id_map_put(struct vv_id_map *map, uint32_t scope, uint64_t id);
/* VV_NONE: no such id. */
uint32_t vv_id_map_find(const struct vv_id_map *map, uint32_t scope, uint64_t id);

/* Fetches what putting or finding the id will look at: a while before, where many ids lie about in a large map. */
void vv_id_map_prefetch(const struct vv_id_map *map, uint32_t scope, uint64_t id);

#endif
