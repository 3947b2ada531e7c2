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

/* doc/format.md §4: so many words from content_size on were reserved and never published. Returns how many records
 * that were, as far as their lengths are known. */
uint64_t vv_hidden_records(const uint64_t *words, size_t count);

/* The header's distance from content_size to the end of what was reserved, in bytes; 0: nothing is hidden. In the
 * byte order of this machine. */
static inline uint64_t vv_hidden_bytes(const struct vv_packet_header *header)
{
    uint64_t end = header->reserved_bits, content = header->content_bits;
    return end > content && end % 64 == 0 && end <= VV_PACKET_BYTES * 8 && end <= header->packet_bits
               ? (end - content) / 8
               : 0;
}

#endif
