/* SPDX-License-Identifier: Apache-2.0 */
/* text.h — strings of a trace as ids of the model. Thread-compatible.
 *
 * Traces say the same few strings again and again, some of them long (kernels' names, call stacks). So each
 * is first looked for among recent ones, by a hash of at most four pieces of eight bytes and then by comparing it; only
 * what is new there is hashed whole, checked and kept. */
#ifndef VV_IMPORT_CHROME_TEXT_H
#define VV_IMPORT_CHROME_TEXT_H

#include "import/chrome/json.h"
#include "model/model.h"

#define VV_CHROME_TEXT_BYTES_MAX (UINT32_C(64) << 20)

struct vv_recent_text {
    uint64_t first, last; /* its first and last eight bytes; zeros where it is shorter          */
    const char *text; /* the model's; NULL = free                                               */
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

/* The id of a string value, escapes resolved, what is no UTF-8 repaired. */
enum varve_code vv_chrome_text_id(struct vv_chrome_text *text, const struct vv_chrome_value *value,
                                  uint32_t *out_id, struct varve_error *error);
/* The id of an array's or object's text without blanks. */
enum varve_code vv_chrome_nested_id(struct vv_chrome_text *text, const struct vv_chrome_value *value,
                                    uint32_t *out_id, struct varve_error *error);
/* Copies an array's or object's text without the blanks that stand outside of strings; `out` needs room for `length`.
 * The end of what it wrote, or NULL: the brackets do not match. */
char *vv_chrome_compact(const char *at, size_t length, char *out);
/* The string itself, NUL-terminated, borrowed until the next call. */
enum varve_code vv_chrome_text_plain(struct vv_chrome_text *text, const struct vv_chrome_value *value,
                                     const char **out_text, size_t *out_length,
                                     struct varve_error *error);

/* ---- recent texts ---- */

enum varve_code vv_recent_texts_init(struct vv_recent_texts *recent, uint32_t slots,
                                     struct varve_error *error);
void vv_recent_texts_deinit(struct vv_recent_texts *recent);

/* What is looked for. */
struct vv_recent_probe {
    uint64_t first, last;
    const char *text;
    uint32_t length, slot;
};

/* Up to 64 bytes behind the text are read. */
VV_CHROME_INLINE struct vv_recent_probe vv_recent_probe(const char *text, uint32_t length)
{
    struct vv_recent_probe probe = { 0, 0, text, length, 0 };
    uint64_t inner = 0, piece;
    memcpy(&probe.first, text, sizeof probe.first);
    if (length >= 8) {
        memcpy(&probe.last, text + length - 8, sizeof probe.last);
        if (length > 16) {
            memcpy(&inner, text + length / 2, sizeof inner);
            memcpy(&piece, text + length / 4, sizeof piece);
            inner = inner * 0x94d049bb133111ebu + piece;
        }
    } else {
        probe.first = htole64(le64toh(probe.first) & ((UINT64_C(1) << length * 8) - 1));
    }
    uint64_t hash = probe.first * 0x9e3779b97f4a7c15u ^
                    ((probe.last ^ inner) + length) * 0xbf58476d1ce4e5b9u;
    probe.slot = (uint32_t)(hash >> 32 ^ hash >> 47);
    return probe;
}

#define VV_RECENT_WAYS 4u

/* The slot that holds the text, or the one that is its to take: among a few neighbours. */
VV_CHROME_INLINE struct vv_recent_text *vv_recent_find(const struct vv_recent_texts *recent,
                                                       const struct vv_recent_probe *probe,
                                                       bool *out_found)
{
    struct vv_recent_text *slot = NULL;
    *out_found = false;
    for (uint32_t way = 0; way < VV_RECENT_WAYS; way++) {
        slot = &recent->slots[(probe->slot + way) & recent->mask];
        if (slot->text == NULL)
            return slot;
        if (slot->first == probe->first && slot->last == probe->last &&
            slot->length == probe->length &&
            (probe->length <= 16 || memcmp(slot->text, probe->text, probe->length) == 0)) {
            *out_found = true;
            return slot;
        }
    }
    return &recent->slots[(probe->slot + (probe->slot >> 30)) & recent->mask];
}

static inline void vv_recent_take(struct vv_recent_text *slot, const struct vv_recent_probe *probe,
                                  const char *kept, uint32_t id, uint32_t meaning)
{
    *slot = (struct vv_recent_text){ probe->first, probe->last, kept, probe->length, id, meaning };
}

#endif
