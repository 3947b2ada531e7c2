/* SPDX-License-Identifier: Apache-2.0 */
/* id_map.h — finds rows by the ids that producers gave them, within a scope. Thread-compatible.
 *
 * Ids mostly count up. Then the map is an array from the least id to the largest, and neighbouring
 * ids lie side by side. Otherwise the map is a hash table. */
#ifndef VV_MODEL_ID_MAP_H
#define VV_MODEL_ID_MAP_H

#include <stddef.h>
#include <stdint.h>

#include "base/scratch.h"

struct vv_id_slot {
    uint64_t id;
    uint32_t scope, row; /* row VV_NONE: the place is free                                      */
};

struct vv_id_map {
    uint64_t least_id, span; /* the array holds ids least_id … least_id + span - 1 of each scope */
    uint32_t *rows;
    uint32_t scope_count;
    struct vv_id_slot *slots;
    uint64_t slot_mask;
};

/* The ids that will be put into a map: call vv_id_range_add for each, then vv_id_map_init. */
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
/* One that ends with the scratch. */
enum varve_code vv_id_map_in(struct vv_scratch *scratch, struct vv_id_map **out_map,
                             const struct vv_id_range *range, struct varve_error *error);

/* The place for the row of an id, which must be within the range. It holds VV_NONE at first. */
uint32_t *vv_id_map_put(struct vv_id_map *map, uint32_t scope, uint64_t id);
/* The row of an id, or VV_NONE. */
uint32_t vv_id_map_find(const struct vv_id_map *map, uint32_t scope, uint64_t id);

/* Prefetches the memory that putting or finding the id will need. Call it some time before, where a
 * large map is asked for ids in no order. */
void vv_id_map_prefetch(const struct vv_id_map *map, uint32_t scope, uint64_t id);

#endif
