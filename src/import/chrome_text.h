/* SPDX-License-Identifier: Apache-2.0 */
/* chrome_text.h — strings of a trace as ids of the model. Thread-compatible.
 *
 * Traces say the same few strings again and again, some of them long (kernels' names, call stacks). So each
 * is first looked for among recent ones, by a hash of four pieces of eight bytes and then by comparing it; only what
 * is new there is hashed whole, checked and kept. */
#ifndef VV_IMPORT_CHROME_TEXT_H
#define VV_IMPORT_CHROME_TEXT_H

#include "import/chrome_json.h"
#include "model/model.h"

#define VV_CHROME_TEXT_BYTES_MAX (UINT32_C(64) << 20)

struct vv_recent_text {
    const char *text; /* the model's; NULL = free                                               */
    uint64_t hash;
    uint32_t length, id;
    uint32_t meaning; /* whatever the finder keeps with it                                      */
};

struct vv_recent_texts {
    struct vv_recent_text *slots;
    uint32_t mask; /* slots - 1                                                                 */
};

struct vv_chrome_text {
    struct vv_model *model;
    const struct vv_chrome_window *window;
    struct vv_recent_texts words;  /* values                                                    */
    struct vv_recent_texts nested; /* arrays and objects as written; meaning: id of the compact text */
    struct vv_intern written;      /* those texts                                               */
    char *scratch;
    size_t scratch_capacity;
};

enum varve_code vv_chrome_text_init(struct vv_chrome_text *text, struct vv_model *model,
                                    const struct vv_chrome_window *window, struct varve_error *error);
void vv_chrome_text_deinit(struct vv_chrome_text *text);

/* The id of a string value, escapes resolved, what is no UTF-8 repaired and counted in health. */
enum varve_code vv_chrome_text_id(struct vv_chrome_text *text, const struct vv_chrome_value *value,
                                  uint32_t *out_id, struct varve_error *error);
/* The id of an array's or object's text without blanks. */
enum varve_code vv_chrome_nested_id(struct vv_chrome_text *text, const struct vv_chrome_value *value,
                                    uint32_t *out_id, struct varve_error *error);
/* The string itself, NUL-terminated, borrowed until the next call. */
enum varve_code vv_chrome_text_plain(struct vv_chrome_text *text, const struct vv_chrome_value *value,
                                     const char **out_text, size_t *out_length,
                                     struct varve_error *error);

/* ---- recent texts ---- */

enum varve_code vv_recent_texts_init(struct vv_recent_texts *recent, uint32_t slots,
                                     struct varve_error *error);
void vv_recent_texts_deinit(struct vv_recent_texts *recent);

/* Of at most four pieces of the text; up to 64 bytes behind it are read. */
VV_CHROME_INLINE uint64_t vv_recent_hash(const char *text, uint32_t length)
{
    uint64_t first, last, middle = 0, third = 0;
    memcpy(&first, text, sizeof first);
    if (length >= 8) {
        memcpy(&last, text + length - 8, sizeof last);
        if (length > 16) {
            memcpy(&middle, text + length / 2, sizeof middle);
            memcpy(&third, text + length / 4, sizeof third);
        }
    } else {
        first = htole64(le64toh(first) & ((UINT64_C(1) << length * 8) - 1));
        last = 0;
    }
    uint64_t hash = (first ^ length) * 0x9e3779b97f4a7c15u;
    hash = (hash ^ hash >> 29 ^ last) * 0xbf58476d1ce4e5b9u;
    hash = (hash ^ hash >> 32 ^ middle ^ (third << 13 | third >> 51)) * 0x94d049bb133111ebu;
    return hash ^ hash >> 31;
}

#define VV_RECENT_WAYS 4u

/* The slot that holds the text, or the one that is its to take: among a few neighbours. */
VV_CHROME_INLINE struct vv_recent_text *vv_recent_find(const struct vv_recent_texts *recent,
                                                       const char *text, uint32_t length,
                                                       uint64_t hash, bool *out_found)
{
    struct vv_recent_text *slot = NULL;
    *out_found = false;
    for (uint32_t way = 0; way < VV_RECENT_WAYS; way++) {
        slot = &recent->slots[(hash + way) & recent->mask];
        if (slot->hash == hash && slot->length == length && slot->text != NULL &&
            memcmp(slot->text, text, length) == 0) {
            *out_found = true;
            return slot;
        }
        if (slot->text == NULL)
            return slot;
    }
    return &recent->slots[(hash + (hash >> 62)) & recent->mask];
}

#endif
