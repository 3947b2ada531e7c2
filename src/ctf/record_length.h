/* SPDX-License-Identifier: Apache-2.0 */
/* record_length.h — finds the length of a record (doc/format.md §6), so that readers can skip it.
 * Thread-safe. */
#ifndef VV_CTF_RECORD_LENGTH_H
#define VV_CTF_RECORD_LENGTH_H

#include <stddef.h>
#include <stdint.h>

#include "ctf/layout.h"

/* For classes that end in a list: the number of words between the first word and the list; 0 for
 * other classes. The low half of the last of these words is the number of members. */
static inline unsigned vv_list_head_words(uint32_t id)
{
    switch (id) {
    case VV_EVENT_OP: case VV_EVENT_OPERATOR: return sizeof(struct vv_op_payload) / 8;
    case VV_EVENT_CALL: return sizeof(struct vv_call_payload) / 8;
    case VV_EVENT_IDENTITIES: case VV_EVENT_OUTPUTS: return 1;
    case VV_EVENT_ARGS: case VV_EVENT_TEXTS: return sizeof(struct vv_args_payload) / 8;
    case VV_EVENT_COLLECTIVE: return sizeof(struct vv_collective_payload) / 8;
    case VV_EVENT_PAST_NOTE: return sizeof(struct vv_past_note_payload) / 8;
    case VV_EVENT_NODE_TENSORS: return sizeof(struct vv_node_tensors_payload) / 8;
    default: return 0;
    }
}

/* For classes that end in a text: the number of words between the first word and the text; 0 for
 * other classes. The high half of the first of these words is the text's length in bytes. */
static inline unsigned vv_text_head_words(uint32_t id)
{
    switch (id) {
    case VV_EVENT_STRING: return 1;
    case VV_EVENT_NODE: return sizeof(struct vv_node_payload) / 8;
    case VV_EVENT_NODE_TEXT: return sizeof(struct vv_node_text_payload) / 8;
    default: return 0;
    }
}

/* The length in words of the record at words[0]; 0 = not known. `count` words are there. */
size_t vv_record_length(const uint64_t *words, size_t count);

/* doc/format.md §4: the `count` words from content_size on were reserved but never published.
 * Returns the number of records that these are, as far as their lengths are known. */
uint64_t vv_hidden_records(const uint64_t *words, size_t count);

/* The bytes from content_size to the end of what was reserved, as the header says; 0: nothing is
 * hidden. The header is in the byte order of this machine. */
static inline uint64_t vv_hidden_bytes(const struct vv_packet_header *header)
{
    uint64_t end = header->reserved_bits, content = header->content_bits;
    return end > content && end % 64 == 0 && end <= VV_PACKET_BYTES * 8 &&
                   end <= header->packet_bits
               ? (end - content) / 8
               : 0;
}

#endif
