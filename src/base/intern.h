/* SPDX-License-Identifier: Apache-2.0 */
/* intern.h — gives strings small ids, and finds a string by its id. Thread-compatible.
 *
 * Id 0 is the empty string. Ids are dense: 0 .. count-1, in order of first appearance. */
#ifndef VV_BASE_INTERN_H
#define VV_BASE_INTERN_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/scratch.h"
#include "base/slots.h"

struct vv_intern {
    struct vv_arena text;
    const char **strings;  /* `count` of them, NUL-terminated                                   */
    uint32_t *lengths;
    uint32_t *hashes;      /* id -> hash                                                        */
    uint32_t count, capacity;
    struct vv_slots slots; /* hash table of the ids                                             */
    struct vv_hash_key key;
};

enum varve_code vv_intern_init(struct vv_intern *intern, struct varve_error *error);
void vv_intern_deinit(struct vv_intern *intern);
/* A new one that ends with the scratch. */
enum varve_code vv_intern_in(struct vv_scratch *scratch, struct vv_intern **out_intern,
                             struct varve_error *error);

/* The id of text[0..length), which is copied if new. NULL stands for the empty string. */
enum varve_code vv_intern_add(struct vv_intern *intern, const char *text, size_t length,
                              uint32_t *out_id, struct varve_error *error);
/* Strings that lie one after the other in text[0..bytes). Each ends with NUL, and the first is
 * "". */
struct vv_intern_texts {
    const char *text;
    uint64_t bytes;
    const uint32_t *lengths, *hashes; /* `count` of each                                        */
    uint32_t count;
    struct vv_hash_key key; /* the key that they were hashed with */
};

/* Fills a new intern with these strings. The text is borrowed until deinit; the rest is copied.
 * VARVE_CORRUPT: lengths and text contradict each other. */
enum varve_code vv_intern_adopt(struct vv_intern *intern, const struct vv_intern_texts *texts,
                                struct varve_error *error);
/* The id, or UINT32_MAX if the text was never added. */
uint32_t vv_intern_find(const struct vv_intern *intern, const char *text, size_t length);
/* The text of an id, borrowed until deinit; "" for an id out of range. */
const char *vv_intern_text(const struct vv_intern *intern, uint32_t id);

#endif
