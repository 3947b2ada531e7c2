/* SPDX-License-Identifier: Apache-2.0 */
/* text_hash.h — FNV-1a, and where to cut a name that is too long. */
#ifndef VV_RECORD_TEXT_HASH_H
#define VV_RECORD_TEXT_HASH_H

#include <stdint.h>

static inline uint32_t vv_text_hash(const char *text, uint32_t length, uint32_t seed)
{
    uint32_t hash = 2166136261u ^ seed;
    for (uint32_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * 16777619u;
    return hash;
}

/* Length of `text`, at most `limit`, never inside a UTF-8 character. */
static inline uint32_t vv_text_cut(const char *text, uint32_t limit)
{
    uint32_t length = 0;
    while (length < limit && text[length] != '\0')
        length++;
    if (text[length] == '\0')
        return length;
    while (length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80)
        length--;
    return length;
}

#endif
