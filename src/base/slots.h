/* SPDX-License-Identifier: Apache-2.0 */
/* slots.h — a hash table over the rows of an array that the caller keeps: open addressing.
 * Thread-compatible.
 *
 * The caller passes two functions: one compares a row with a key, one hashes a row (base/hash.h).
 * At least half of the slots are free, so searches are short. For ids that are close together, use
 * model/id_map.h. */
#ifndef VV_BASE_SLOTS_H
#define VV_BASE_SLOTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/scratch.h"

struct vv_slots { /* a zeroed struct, but for the scratch, is empty                              */
    struct vv_scratch *scratch; /* whose memory it is; NULL: its own, until vv_slots_deinit      */
    uint32_t *items; /* row + 1; 0 = free                                                        */
    uint32_t count;  /* number of slots: 0, or a power of two                                    */
};

#define VV_SLOTS_FIRST 64u
#define VV_SLOTS_NONE UINT32_MAX

typedef bool vv_slots_same(const void *table, uint32_t row, const void *key);
typedef uint64_t vv_slots_hash(const void *table, uint32_t row);

/* Makes room for one row more than `rows`, and puts these rows into the new slots. `what` names the
 * rows for the message "no memory for 64 WHAT". */
enum varve_code vv_slots_grow(struct vv_slots *slots, uint32_t rows, vv_slots_hash *hash_of,
                              const void *table, const char *what, struct varve_error *error);
/* Puts rows 0 … rows - 1 of a new table into free slots. */
void vv_slots_place(struct vv_slots *slots, uint32_t rows, vv_slots_hash *hash_of,
                    const void *table);
void vv_slots_deinit(struct vv_slots *slots); /* idempotent */

static inline bool vv_slots_are_full(const struct vv_slots *slots, uint64_t rows)
{
    return (rows + 1) * 2 > slots->count;
}

/* The slot of the row that equals the key, or the free slot where row + 1 belongs. There must be
 * slots. */
__attribute__((always_inline)) static inline uint32_t *
vv_slots_at(const struct vv_slots *slots, uint64_t hash, vv_slots_same *is_same, const void *table,
            const void *key)
{
    uint32_t mask = slots->count - 1;
    for (uint32_t at = (uint32_t)hash & mask;; at = (at + 1) & mask)
        if (slots->items[at] == 0 || is_same(table, slots->items[at] - 1, key))
            return &slots->items[at];
}

/* The row that equals the key, or VV_SLOTS_NONE. */
__attribute__((always_inline)) static inline uint32_t
vv_slots_find(const struct vv_slots *slots, uint64_t hash, vv_slots_same *is_same,
              const void *table, const void *key)
{
    return slots->count == 0 ? VV_SLOTS_NONE : *vv_slots_at(slots, hash, is_same, table, key) - 1;
}

#endif
