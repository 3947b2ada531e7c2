/* SPDX-License-Identifier: Apache-2.0 */
#include "base/intern.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY 64u

static uint32_t hash_of(const struct vv_intern *intern, const char *text, size_t length)
{
    return (uint32_t)vv_hash_text(&intern->key, text, length);
}

struct wanted {
    const char *text;
    size_t length;
    uint32_t hash;
};

static bool is_text(const void *table, uint32_t id, const void *key)
{
    const struct vv_intern *intern = table;
    const struct wanted *wanted = key;
    return intern->hashes[id] == wanted->hash && intern->lengths[id] == wanted->length &&
           (wanted->length == 0 ||
            memcmp(intern->strings[id], wanted->text, wanted->length) == 0);
}

static uint64_t hash_of_id(const void *table, uint32_t id)
{
    return ((const struct vv_intern *)table)->hashes[id];
}

static uint32_t *slot_of(const struct vv_intern *intern, const char *text, size_t length,
                         uint32_t hash)
{
    const struct wanted wanted = { text, length, hash };
    return vv_slots_at(&intern->slots, hash, is_text, intern, &wanted);
}

/* The capacity changes only after every array has grown. If one of them cannot grow, some arrays
 * are larger than the capacity, which does no harm. */
static enum varve_code grow(struct vv_intern *intern, struct varve_error *error)
{
    uint32_t capacity = intern->capacity == 0 ? FIRST_CAPACITY : intern->capacity * 2;
    if (capacity > UINT32_MAX / 4)
        VV_FAIL(error, VARVE_LIMIT, "more than %u different strings", intern->capacity);
    const char **strings = realloc(intern->strings, capacity * sizeof *strings);
    if (strings == NULL)
        goto no_memory;
    intern->strings = strings;
    uint32_t *lengths = realloc(intern->lengths, capacity * sizeof *lengths);
    if (lengths == NULL)
        goto no_memory;
    intern->lengths = lengths;
    uint32_t *hashes = realloc(intern->hashes, capacity * sizeof *hashes);
    if (hashes == NULL)
        goto no_memory;
    intern->hashes = hashes;
    intern->capacity = capacity;
    return VARVE_OK;
no_memory:
    VV_FAIL(error, VARVE_NO_MEMORY, "no memory for %u strings", capacity);
}

enum varve_code vv_intern_init(struct vv_intern *intern, struct varve_error *error)
{
    *intern = (struct vv_intern){ .key = vv_hash_key };
    vv_arena_init(&intern->text);
    uint32_t empty;
    enum varve_code code = vv_intern_add(intern, "", 0, &empty, error);
    if (code != VARVE_OK)
        vv_intern_deinit(intern);
    return code;
}

void vv_intern_deinit(struct vv_intern *intern)
{
    if (intern == NULL)
        return;
    free(intern->strings);
    free(intern->lengths);
    vv_slots_deinit(&intern->slots);
    free(intern->hashes);
    vv_arena_deinit(&intern->text);
    *intern = (struct vv_intern){ 0 };
}

static void deinit_object(void *intern)
{
    vv_intern_deinit(intern);
}

enum varve_code vv_intern_in(struct vv_scratch *scratch, struct vv_intern **out_intern,
                             struct varve_error *error)
{
    VV_TRY(vv_scratch_object(scratch, out_intern, sizeof **out_intern, deinit_object, error));
    return vv_intern_init(*out_intern, error);
}

enum varve_code vv_intern_add(struct vv_intern *intern, const char *text, size_t length,
                              uint32_t *out_id, struct varve_error *error)
{
    if (length >= UINT32_MAX)
        VV_FAIL(error, VARVE_LIMIT, "a string of %zu bytes", length);
    uint32_t hash = hash_of(intern, text, length);
    if (intern->slots.count > 0) {
        uint32_t known = *slot_of(intern, text, length, hash);
        if (known != 0) {
            *out_id = known - 1;
            return VARVE_OK;
        }
    }
    if (intern->count == intern->capacity)
        VV_TRY(grow(intern, error));
    if (vv_slots_are_full(&intern->slots, intern->count))
        VV_TRY(vv_slots_grow(&intern->slots, intern->count, hash_of_id, intern, "strings", error));
    const char *copy = vv_arena_text(&intern->text, text, length);
    if (copy == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for a string of %zu bytes", length);
    uint32_t id = intern->count++;
    intern->strings[id] = copy;
    intern->lengths[id] = (uint32_t)length;
    intern->hashes[id] = hash;
    *slot_of(intern, copy, length, hash) = id + 1;
    *out_id = id;
    return VARVE_OK;
}

static enum varve_code point_into(struct vv_intern *intern, const char *text, uint64_t bytes,
                                  struct varve_error *error)
{
    uint64_t at = 0;
    for (uint32_t id = 0; id < intern->count; id++) {
        intern->strings[id] = text + at;
        at += (uint64_t)intern->lengths[id] + 1;
        if (at > bytes || text[at - 1] != '\0')
            VV_FAIL(error, VARVE_CORRUPT, "string %u does not fit the text of all strings", id);
    }
    if (at != bytes || intern->count == 0 || intern->lengths[0] != 0)
        VV_FAIL(error, VARVE_CORRUPT, "the strings are not as long as their text");
    return VARVE_OK;
}

enum varve_code vv_intern_adopt(struct vv_intern *intern, const struct vv_intern_texts *texts,
                                struct varve_error *error)
{
    uint64_t slot_count = VV_SLOTS_FIRST, count = texts->count;
    while (slot_count < (count + 1) * 2)
        slot_count *= 2;
    if (slot_count > UINT32_MAX)
        VV_FAIL(error, VARVE_LIMIT, "%u different strings", texts->count);
    vv_intern_deinit(intern);
    intern->key = texts->key;
    intern->capacity = (uint32_t)(slot_count / 2);
    intern->strings = malloc(intern->capacity * sizeof *intern->strings);
    intern->lengths = malloc(intern->capacity * sizeof *intern->lengths);
    intern->hashes = malloc(intern->capacity * sizeof *intern->hashes);
    intern->slots.items = calloc(slot_count, sizeof *intern->slots.items);
    if (intern->strings == NULL || intern->lengths == NULL || intern->hashes == NULL ||
        intern->slots.items == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for %u strings", texts->count);
    intern->slots.count = (uint32_t)slot_count;
    intern->count = texts->count;
    memcpy(intern->lengths, texts->lengths, count * sizeof *intern->lengths);
    memcpy(intern->hashes, texts->hashes, count * sizeof *intern->hashes);
    VV_TRY(point_into(intern, texts->text, texts->bytes, error));
    vv_slots_place(&intern->slots, intern->count, hash_of_id, intern);
    return VARVE_OK;
}

uint32_t vv_intern_find(const struct vv_intern *intern, const char *text, size_t length)
{
    return intern->slots.count == 0
               ? UINT32_MAX
               : *slot_of(intern, text, length, hash_of(intern, text, length)) - 1;
}

const char *vv_intern_text(const struct vv_intern *intern, uint32_t id)
{
    return id < intern->count ? intern->strings[id] : "";
}
