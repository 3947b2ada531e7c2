/* SPDX-License-Identifier: Apache-2.0 */
#include "import/rows/list_cache.h"

#include <stdlib.h>
#include <string.h>

#define PLACES 1024u /* a power of two */

void vv_seen_words_deinit(struct vv_seen_words *seen)
{
    free(seen->places);
    seen->places = NULL;
}

static size_t place_of(const uint64_t *words, size_t count)
{
    uint64_t hash = count;
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ words[i]) * UINT64_C(0x9E3779B97F4A7C15);
    return (size_t)(hash >> 32) % PLACES;
}

static bool has(const struct vv_seen_place *place, const uint64_t *words, size_t count)
{
    return place->count == count && memcmp(place->words, words, count * sizeof *words) == 0;
}

enum varve_code vv_seen_words_find(struct vv_seen_words *seen, const uint64_t *words, size_t count,
                                   struct vv_seen_place **out_place, bool *out_known,
                                   struct varve_error *error)
{
    *out_place = &seen->other;
    *out_known = false;
    if (count > VV_SEEN_WORDS_MAX)
        return VARVE_OK;
    if (seen->places == NULL)
        seen->places = calloc(PLACES, sizeof *seen->places);
    if (seen->places == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for the shapes of operators");
    size_t at = place_of(words, count);
    struct vv_seen_place *place = &seen->places[at], *other = &seen->places[at ^ 1];
    *out_place = has(place, words, count) ? place : other;
    *out_known = has(*out_place, words, count);
    if (*out_known)
        return VARVE_OK;
    *out_place = other->count == 0 ? other : place;
    (*out_place)->count = 0;
    return VARVE_OK;
}

void vv_seen_words_keep(struct vv_seen_place *place, const uint64_t *words, size_t count)
{
    if (count > VV_SEEN_WORDS_MAX)
        return;
    memcpy(place->words, words, count * sizeof *words);
    place->count = (uint32_t)count;
}
