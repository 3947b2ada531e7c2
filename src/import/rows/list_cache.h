/* SPDX-License-Identifier: Apache-2.0 */
/* list_cache.h — remembers what was made of lists of words, because a program calls its operators
 * with the same shapes again and again. There are two places for each hash; a new list replaces
 * an older one. Thread-compatible. */
#ifndef VV_IMPORT_ROWS_LIST_CACHE_H
#define VV_IMPORT_ROWS_LIST_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define VV_SEEN_WORDS_MAX 62u /* a longer list is not remembered                                  */

struct vv_seen_place {
    uint64_t words[VV_SEEN_WORDS_MAX];
    /* count 0: the place is empty */
    uint32_t count, text, scalars, first_tensor, tensor_count, output_count, first_arg;
    uint16_t arg_count;
    /* Of a varve.call: struct vv_last_call of import/varve/records. */
    uint32_t first_rows;
    uint64_t is_tensor, has_row;
};

struct vv_seen_words {
    struct vv_seen_place *places; /* NULL until needed                                           */
    struct vv_seen_place other;   /* for a list that is too long                                 */
};

void vv_seen_words_deinit(struct vv_seen_words *seen);

/* Finds the place for these words, at least one. If *out_known is false, the caller fills the
 * place, and then calls vv_seen_words_keep, which sets `count`. */
enum varve_code vv_seen_words_find(struct vv_seen_words *seen, const uint64_t *words, size_t count,
                                   struct vv_seen_place **out_place, bool *out_known,
                                   struct varve_error *error);
void vv_seen_words_keep(struct vv_seen_place *place, const uint64_t *words, size_t count);

#endif
