/* SPDX-License-Identifier: Apache-2.0 */
#include "ctf/record_length.h"

#include <endian.h>

static size_t words_of_site(uint32_t kind)
{
    return kind >= VV_KIND_COUNTER ? 2 : 1;
}

/* The length with the list; it may go beyond the `count` words that are there. */
static size_t words_with_list(const uint64_t *words, size_t count, size_t head_words)
{
    size_t at = 1 + head_words;
    if (at > count)
        return 0;
    for (uint32_t members = (uint32_t)le64toh(words[at - 1]); members > 0; members--) {
        if (at >= count)
            return 0;
        at += 1 + (size_t)(le64toh(words[at]) >> 32);
    }
    return at;
}

size_t vv_record_length(const uint64_t *words, size_t count)
{
    static const unsigned char fixed[] = {
#define VV_ROW(number, id, name, words, fields) [VV_EVENT_##id] = (words),
        VV_EVENTS(VV_ROW)
#undef VV_ROW
    };
    uint32_t id = (uint32_t)(le64toh(words[0]) & VV_ID_MASK);
    unsigned head_words = vv_list_head_words(id);
    if (id >= VV_SITE_ID_FIRST)
        return words_of_site(id % VV_SITE_KINDS);
    if (head_words != 0)
        return words_with_list(words, count, head_words);
    if (id == VV_EVENT_STRING)
        return count < 2 ? 0 : 2 + ((size_t)(le64toh(words[1]) >> 32) + 7) / 8;
    return id < sizeof fixed ? fixed[id] : 0;
}

uint64_t vv_hidden_records(const uint64_t *words, size_t count)
{
    uint64_t records = 0;
    for (size_t at = 0; at < count; records++) {
        size_t length = words[at] != 0 ? vv_record_length(words + at, count - at) : 1;
        if (length == 0 || length > count - at)
            return records + 1;
        if (words[at] == 0) /* a record that was reserved but not begun */
            while (at + length < count && words[at + length] == 0)
                length++;
        at += length;
    }
    return records;
}
