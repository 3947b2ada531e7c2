/* SPDX-License-Identifier: Apache-2.0 */
/* list_cache.h — what was made of lists of words, remembered: a program calls its operators with the same shapes again
 * and again. One place for each hash, the last comer stays. Thread-compatible. */
#ifndef VV_IMPORT_ROWS_LIST_CACHE_H
#define VV_IMPORT_ROWS_LIST_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define VV_SEEN_WORDS_MAX 62u /* of more, everything is made anew                                 */

struct vv_seen_place {
    uint64_t words[VV_SEEN_WORDS_MAX];
    uint32_t count, text, scalars, first_tensor, tensor_count, first_arg; /* count 0: nobody has come */
    uint16_t arg_count;
};

struct vv_seen_words {
    struct vv_seen_place *places; /* NULL until one is needed                                    */
    struct vv_seen_place other;   /* of a list that is too long                                  */
};

void vv_seen_words_deinit(struct vv_seen_words *seen);

/* The place of these words, at least one. *out_known false: the caller is to fill it, and then to set `count`
 * with vv_seen_words_keep. */
enum varve_code vv_seen_words_find(struct vv_seen_words *seen, const uint64_t *words, size_t count,
                                   struct vv_seen_place **out_place, bool *out_known, struct varve_error *error);
void vv_seen_words_keep(struct vv_seen_place *place, const uint64_t *words, size_t count);

#endif
