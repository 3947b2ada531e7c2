/* SPDX-License-Identifier: Apache-2.0 */
/* record_length.h — how long a record is (doc/format.md §6), for those who pass over records without reading them.
 * Thread-safe. */
#ifndef VV_CTF_RECORD_LENGTH_H
#define VV_CTF_RECORD_LENGTH_H

#include <stddef.h>
#include <stdint.h>

#include "ctf/layout.h"

/* Records that end in a list: so many words between the first one and the list, of which the last's low half is how
 * many members it has; a member is a word whose high half is how many words follow it. 0: the class has none. */
static inline unsigned vv_list_head_words(uint32_t id)
{
    return id == VV_EVENT_OP     ? sizeof(struct vv_op_payload) / 8
           : id == VV_EVENT_CALL ? sizeof(struct vv_call_payload) / 8
                                 : 0;
}

/* In words, of the record at words[0], of which `count` words are there; 0: not known. */
size_t vv_record_length(const uint64_t *words, size_t count);

#endif
