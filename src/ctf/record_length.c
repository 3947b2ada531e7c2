/* SPDX-License-Identifier: Apache-2.0 */
#include "ctf/record_length.h"

#include "ctf/layout.h"

static size_t words_of_site(uint32_t kind)
{
    return kind >= VV_KIND_COUNTER ? 2 : 1;
}

/* Words of an operator's record: its payload, then a word and its dims for each input. */
static size_t words_of_operator(const uint64_t *words, size_t count)
{
    size_t at = 1 + sizeof(struct vv_op_payload) / 8;
    if (at > count || words[at - 1] > VV_OP_INPUTS_MAX)
        return 0;
    for (uint64_t inputs = words[at - 1]; inputs > 0; inputs--) {
        if (at >= count)
            return 0;
        at += 1 + (size_t)(words[at] >> 32);
    }
    return at;
}

size_t vv_record_length(const uint64_t *words, size_t count)
{
    static const unsigned char fixed[] = {
        [VV_EVENT_END] = 1,     [VV_EVENT_CLOCK] = 5,      [VV_EVENT_THREAD] = 3,
        [VV_EVENT_PROCESS] = 2, [VV_EVENT_LAYERS] = 2,     [VV_EVENT_BEGIN] = 2,
        [VV_EVENT_STEP_BEGIN] = 2, [VV_EVENT_STEP_END] = 1, [VV_EVENT_ALLOC] = 4,
        [VV_EVENT_FREE] = 3,    [VV_EVENT_COST] = 2,
    };
    _Static_assert(VV_EVENT_BUILTIN_COUNT == 14, "a new class needs its length here");
    uint32_t id = (uint32_t)(words[0] & VV_ID_MASK);
    if (id >= VV_SITE_ID_FIRST)
        return words_of_site(id % VV_SITE_KINDS);
    if (id == VV_EVENT_OP)
        return words_of_operator(words, count);
    if (id == VV_EVENT_STRING)
        return count < 2 ? 0 : 2 + (size_t)(words[1] >> 32) / 8;
    return id < sizeof fixed ? fixed[id] : 0;
}
