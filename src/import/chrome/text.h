/* SPDX-License-Identifier: Apache-2.0 */
/* text.h — turns the strings of a trace into ids of the model. Thread-compatible.
 *
 * Traces repeat the same few strings, and some of them are long (names of kernels, call stacks). So
 * a string is first looked up among recent ones, by a hash of at most four pieces of eight bytes,
 * and is then compared. Only a string that is not found there is hashed as a whole, checked and
 * kept. */
#ifndef VV_IMPORT_CHROME_TEXT_H
#define VV_IMPORT_CHROME_TEXT_H

#include "import/chrome/json.h"
#include "model/model.h"

#define VV_CHROME_TEXT_BYTES_MAX (UINT32_C(64) << 20)

struct vv_recent_text {
    uint64_t first, last; /* its first and last eight bytes; zeros if it is shorter             */
    const char *text; /* in the model; NULL = free slot                                         */
    uint32_t length, id;
    uint32_t meaning; /* any number that the user of the slot keeps here                        */
};

struct vv_recent_texts {
    struct vv_recent_text *slots;
    uint32_t mask; /* number of slots - 1                                                       */
};

struct vv_chrome_text {
    struct vv_model *model;
    const struct vv_chrome_window *window;
    struct vv_recent_texts words;  /* values                                                    */
    /* Arrays and objects as written; meaning: the id of the compact text. */
    struct vv_recent_texts nested;
    struct vv_intern written;      /* these texts                                               */
    char *scratch;
    size_t scratch_capacity;
};

enum varve_code vv_chrome_text_init(struct vv_chrome_text *text, struct vv_model *model,
                                    const struct vv_chrome_window *window,
                                    struct varve_error *error);
void vv_chrome_text_deinit(struct vv_chrome_text *text);

/* The id of a string value. Escapes are resolved, and invalid UTF-8 is repaired. */
enum varve_code vv_chrome_text_id(struct vv_chrome_text *text, const struct vv_chrome_value *value,
                                  uint32_t *out_id, struct varve_error *error);
/* The id of the text of an array or object, without blanks. */
enum varve_code vv_chrome_nested_id(struct vv_chrome_text *text,
                                    const struct vv_chrome_value *value, uint32_t *out_id,
                                    struct varve_error *error);
/* Copies the text of an array or object without the blanks outside of strings. `out` needs room for
 * `length` bytes. Returns the end of the copy; NULL if the brackets do not match. */
char *vv_chrome_compact(const char *at, size_t length, char *out);

/* ---- recent texts ---- */

enum varve_code vv_recent_texts_init(struct vv_recent_texts *recent, uint32_t slots,
                                     struct varve_error *error);
void vv_recent_texts_deinit(struct vv_recent_texts *recent);

/* The first and last eight bytes of a text, with zeros after its end. `last` is 0 if it is shorter.
 * With the length they are all of a text of VV_RECENT_SHORT_BYTES or less. May read up to 8 bytes
 * beyond the text. */
struct vv_recent_ends { uint64_t first, last; };
#define VV_RECENT_SHORT_BYTES 16u

VV_CHROME_INLINE struct vv_recent_ends vv_recent_ends(const char *text, uint32_t length)
{
    struct vv_recent_ends ends = { 0, 0 };
    memcpy(&ends.first, text, sizeof ends.first);
    if (length >= 8)
        memcpy(&ends.last, text + length - 8, sizeof ends.last);
    else
        ends.first = htole64(le64toh(ends.first) & ((UINT64_C(1) << length * 8) - 1));
    return ends;
}

/* Is it the short text that was kept in `former`? Nothing is kept in zeros. */
VV_CHROME_INLINE bool vv_recent_is(const struct vv_recent_text *former, const char *text,
                                   uint32_t length)
{
    if (former->length != length || former->text == NULL || length > VV_RECENT_SHORT_BYTES)
        return false;
    struct vv_recent_ends ends = vv_recent_ends(text, length);
    return former->first == ends.first && former->last == ends.last;
}

/* The key of a lookup. */
struct vv_recent_probe {
    uint64_t first, last;
    const char *text;
    uint32_t length, slot;
};

/* May read up to 64 bytes beyond the text. */
VV_CHROME_INLINE struct vv_recent_probe vv_recent_probe(const char *text, uint32_t length)
{
    struct vv_recent_ends ends = vv_recent_ends(text, length);
    struct vv_recent_probe probe = { ends.first, ends.last, text, length, 0 };
    uint64_t inner = 0, piece;
    if (length > VV_RECENT_SHORT_BYTES) {
        memcpy(&inner, text + length / 2, sizeof inner);
        memcpy(&piece, text + length / 4, sizeof piece);
        inner = inner * 0x94d049bb133111ebu + piece;
    }
    uint64_t hash = probe.first * 0x9e3779b97f4a7c15u ^
                    ((probe.last ^ inner) + length) * 0xbf58476d1ce4e5b9u;
    probe.slot = (uint32_t)(hash >> 32 ^ hash >> 47);
    return probe;
}

#define VV_RECENT_WAYS 4u

/* Finds the slot that holds the text, or the one that it should take, among a few neighbours. */
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
            (probe->length <= VV_RECENT_SHORT_BYTES ||
             memcmp(slot->text, probe->text, probe->length) == 0)) {
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
