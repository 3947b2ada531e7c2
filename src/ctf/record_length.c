/* SPDX-License-Identifier: Apache-2.0 */
#include "ctf/record_length.h"

#include <endian.h>

static size_t words_of_site(uint32_t kind)
{
    return kind >= VV_KIND_COUNTER ? 2 : 1;
}

/* The words of a member of the list, by its first word. */
static size_t words_of_member(uint32_t id, uint64_t word)
{
    switch (id) {
    case VV_EVENT_ARGS:
        return 1 + vv_value_words(word);
    case VV_EVENT_TEXTS:
        return 1 + ((size_t)(word >> 32) + 7) / 8;
    case VV_EVENT_COLLECTIVE: case VV_EVENT_IDENTITIES:
        return 1;
    case VV_EVENT_OUTPUTS:
        return sizeof(struct vv_output_tensor) / 8 + (size_t)(word >> 32);
    case VV_EVENT_OPERATOR:
        return sizeof(struct vv_operator_tensor) / 8 + (size_t)(word >> 32);
    case VV_EVENT_NODE_TENSORS:
        return sizeof(struct vv_node_tensor) / 8 + (size_t)(word >> 32);
    case VV_EVENT_PAST_NOTE:
        return 1 + (size_t)(word >> 56);
    default:
        return 1 + (size_t)(word >> 32);
    }
}

/* The length with the list; it may go beyond the `count` words that are there. */
static size_t words_with_list(const uint64_t *words, size_t count, uint32_t id)
{
    size_t at = 1 + vv_list_head_words(id);
    if (at > count)
        return 0;
    for (uint32_t members = (uint32_t)le64toh(words[at - 1]); members > 0; members--) {
        if (at >= count)
            return 0;
        at += words_of_member(id, le64toh(words[at]));
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
    if (id >= VV_SITE_ID_FIRST)
        return words_of_site(id % VV_SITE_KINDS);
    if (vv_list_head_words(id) != 0)
        return words_with_list(words, count, id);
    if (id == VV_EVENT_COUNTS)
        return count < 2 ? 0 : 2 + (size_t)(le64toh(words[1]) >> 32);
    if (vv_text_head_words(id) != 0)
        return count < 2 ? 0
                         : 1 + vv_text_head_words(id) +
                               ((size_t)(le64toh(words[1]) >> 32) + 7) / 8;
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
