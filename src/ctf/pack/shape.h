/* SPDX-License-Identifier: Apache-2.0 */
/* shape.h — where a record of a packed stream ends, and which of its words are numbers of data:
 * addresses, which come again and again (doc/format.md §10).
 *
 * These rules never change while the file's magic stays the same: readers must split as the writer
 * did. In the first layout (VARVEPK1) they say how long a record is. Classes that they do not know
 * are records without fields, which costs bytes but loses nothing. In the second (VARVEPK2) the
 * file says how long each record is. */
#ifndef VV_CTF_PACK_SHAPE_H
#define VV_CTF_PACK_SHAPE_H

#include <stdint.h>

#include "ctf/layout.h"

#define VV_NO_PLACE UINT64_MAX

struct vv_pack_shape {
    uint32_t id;
    uint64_t words;   /* number of words after the first, as far as known                        */
    uint64_t members; /* first layout: members of its list whose words are not counted yet       */
    uint64_t address; /* second: place of the next word that is an address, or VV_NO_PLACE       */
    uint64_t tensor;  /* second: place of the next tensor of its list                            */
};

/* ---- the first layout ---- */

/* For the classes with a list that VARVEPK1 knows: the words between the first word and the
 * list. */
static inline unsigned vv_pack_head_words(uint32_t id)
{
    return id == VV_EVENT_OP ? 5 : id == VV_EVENT_CALL ? 3 : 0;
}

static inline struct vv_pack_shape vv_pack_first_shape(uint32_t id)
{
    static const uint8_t builtin[VV_SITE_ID_FIRST] = {
        [VV_EVENT_STRING] = 1,    [VV_EVENT_CLOCK] = 4,      [VV_EVENT_THREAD] = 2,
        [VV_EVENT_PROCESS] = 1,   [VV_EVENT_LAYERS] = 1,     [VV_EVENT_BEGIN] = 1,
        [VV_EVENT_ALLOC] = 3,     [VV_EVENT_FREE] = 2,       [VV_EVENT_STEP_BEGIN] = 1,
        [VV_EVENT_COST] = 1,      [VV_EVENT_COLLECTOR] = 2,  [VV_EVENT_END_UNDER] = 1,
        [VV_EVENT_OP] = 5,        [VV_EVENT_CALL] = 3,
    };
    _Static_assert(sizeof(struct vv_op_payload) == 5 * 8 && sizeof(struct vv_call_payload) == 3 * 8,
                   "or the magic changes");
    uint64_t words = id < VV_SITE_ID_FIRST ? builtin[id] : id % VV_SITE_KINDS >= VV_KIND_COUNTER;
    return (struct vv_pack_shape){ id, words, 0, VV_NO_PLACE, VV_NO_PLACE };
}

/* Tells the shape that word number `at` after the first is `word`. */
static inline void vv_pack_first_see(struct vv_pack_shape *shape, uint64_t at, uint64_t word)
{
    unsigned head_words = vv_pack_head_words(shape->id);
    if (shape->id == VV_EVENT_STRING && at == 0) {
        shape->words += ((word >> 32) + 7) / 8;
    } else if (head_words != 0 && at + 1 == head_words) {
        shape->members = (uint32_t)word;
        shape->words += shape->members > 0;
    } else if (shape->members > 0 && at + 1 == shape->words) {
        shape->words += (word >> 32) + (--shape->members > 0);
    }
}

/* ---- the second layout ---- */

/* Of the classes with a list of tensors: the words before an identity in its tensor; else 0. The
 * high half of a tensor's first word is the number of words behind the identity. */
static inline unsigned vv_pack_identity_place(uint32_t id)
{
    return id == VV_EVENT_OPERATOR ? 2 : id == VV_EVENT_OUTPUTS ? 1 : 0;
}

static inline struct vv_pack_shape vv_pack_shape(uint32_t id, uint64_t words)
{
    struct vv_pack_shape shape = { id, words, 0, VV_NO_PLACE, VV_NO_PLACE };
    if (id == VV_EVENT_ALLOC || id == VV_EVENT_FREE)
        shape.address = 0;
    else if (id == VV_EVENT_IDENTITIES)
        shape.address = 1;
    else if (id == VV_EVENT_OPERATOR || id == VV_EVENT_OUTPUTS)
        shape.tensor = id == VV_EVENT_OPERATOR ? 5 : 1;
    return shape;
}

/* As vv_pack_first_see. */
static inline void vv_pack_see(struct vv_pack_shape *shape, uint64_t at, uint64_t word)
{
    unsigned before = vv_pack_identity_place(shape->id);
    if (at == shape->tensor) {
        shape->address = at + before;
        shape->tensor = at + before + 1 + (word >> 32);
    } else if (at == shape->address && shape->id == VV_EVENT_IDENTITIES) {
        shape->address++;
    }
}

#endif
