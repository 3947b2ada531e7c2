/* SPDX-License-Identifier: Apache-2.0 */
/* row_map.h — maps a producer's key of a process, thread, stream, string … to a row or an id of the
 * model. For importers. Thread-compatible. */
#ifndef VV_IMPORT_ROWS_ROW_MAP_H
#define VV_IMPORT_ROWS_ROW_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "base/slots.h"

struct vv_row_key { int64_t words[4]; }; /* the last word is the kind of thing                  */

struct vv_row_map {
    VV_ARRAY_OF(struct vv_row_entry { struct vv_row_key key; uint32_t row; }) entries;
    struct vv_slots slots;
};

void vv_row_map_deinit(struct vv_row_map *map); /* idempotent */
/* Finds the place for the key's row, or makes it; in that case *out_is_new is set, and the caller
 * fills the place. The pointer is valid until the next call. */
enum varve_code vv_row_map_at(struct vv_row_map *map, const struct vv_row_key *key,
                              uint32_t **out_row, bool *out_is_new, struct varve_error *error);
/* False if the key is not in the map. */
bool vv_row_map_find(const struct vv_row_map *map, const struct vv_row_key *key, uint32_t *out_row);

#endif
