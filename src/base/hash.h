/* SPDX-License-Identifier: Apache-2.0 */
/* hash.h — hashes keys that come from a file. Thread-safe.
 *
 * The author of a file must not be able to choose keys that all fall into one slot: the time would
 * grow with the square of their number. So each process draws its own key, and no result may depend
 * on the position of a row in a table. A secret start value alone would not be enough: with a plain
 * product, some differences between keys collide whatever the start is. Here the factor is secret,
 * and both halves of the product count. */
#ifndef VV_BASE_HASH_H
#define VV_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct vv_hash_key { uint64_t start, factor; };
/* Drawn at random before main. */
extern struct vv_hash_key vv_hash_key;

__extension__ typedef unsigned __int128 vv_hash_product;

static inline uint64_t vv_hash_step(const struct vv_hash_key *key, uint64_t hash, uint64_t word)
{
    vv_hash_product product = (vv_hash_product)(hash ^ word) * key->factor;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Hashes two words. For other numbers of words, call vv_hash_step for each. */
static inline uint64_t vv_hash_pair(uint64_t first, uint64_t second)
{
    return vv_hash_step(&vv_hash_key, vv_hash_step(&vv_hash_key, vv_hash_key.start, first), second);
}

static inline uint64_t vv_hash_text(const struct vv_hash_key *key, const char *text, size_t length)
{
    uint64_t hash = key->start ^ length, word = 0;
    for (; length >= sizeof word; text += sizeof word, length -= sizeof word) {
        memcpy(&word, text, sizeof word);
        hash = vv_hash_step(key, hash, word);
    }
    word = 0;
    if (length > 0)
        memcpy(&word, text, length);
    return vv_hash_step(key, vv_hash_step(key, hash, word), key->start);
}

#endif
