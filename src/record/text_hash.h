/* SPDX-License-Identifier: Apache-2.0 */
/* text_hash.h — the hash of a text, eight bytes at a time; and the place to cut a name that is too
 * long. */
#ifndef VV_RECORD_TEXT_HASH_H
#define VV_RECORD_TEXT_HASH_H

#include <stdint.h>
#include <string.h>

static inline uint64_t vv_text_mix(uint64_t hash, const char *eight_bytes)
{
    uint64_t word;
    memcpy(&word, eight_bytes, sizeof word);
    hash = (hash ^ word) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ hash >> 32;
}

static inline uint32_t vv_text_hash(const char *text, uint32_t length, uint32_t seed)
{
    uint64_t hash = ((uint64_t)seed << 32 | length) + UINT64_C(0x9E3779B97F4A7C15);
    char rest[8] = { 0 };
    uint32_t at = 0;
    for (; at + 8 <= length; at += 8)
        hash = vv_text_mix(hash, text + at);
    if (length >= 8) /* the last eight bytes; some were read before */
        return (uint32_t)vv_text_mix(hash, text + length - 8);
    for (; at < length; at++)
        rest[at] = text[at];
    return (uint32_t)vv_text_mix(hash, rest);
}

/* Returns the length of `text`, at most `limit`. Never cuts inside a UTF-8 character. */
static inline uint32_t vv_text_cut(const char *text, uint32_t limit)
{
    uint32_t length = (uint32_t)strnlen(text, limit);
    if (text[length] == '\0')
        return length;
    while (length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80)
        length--;
    return length;
}

#endif
