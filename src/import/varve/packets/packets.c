/* SPDX-License-Identifier: Apache-2.0 */
#include "import/varve/packets/packets.h"

#include <endian.h>
#include <stdlib.h>

#include "base/array.h"
#include "ctf/layout.h"
#include "ctf/record_length.h"
#include "import/input/input_file.h"

#define HEADER_BYTES sizeof(struct vv_packet_header)

struct walk {
    struct vv_packets *packets;
    struct vv_input input;
    uint32_t part;
    uint64_t next_sequence;
    bool cut_before; /* an earlier file was cut, which explains the next gap                     */
    uint64_t hidden; /* hidden records in the packets so far                                     */
    bool removed;    /* a flight recorder has removed parts before this one                     */
};

static enum varve_code check_header(const struct walk *walk, uint64_t offset,
                                    const struct vv_packet_header *header,
                                    struct varve_error *error)
{
    const uint64_t content = header->content_bits, packet = header->packet_bits;
    const struct {
        bool wrong;
        size_t field;
        const char *what;
    } checks[] = {
        { header->magic != VV_CTF_MAGIC, offsetof(struct vv_packet_header, magic),
          "no packet begins here" },
        { header->stream_class != 0, offsetof(struct vv_packet_header, stream_class),
          "the packet's stream_id is not 0" },
        { header->stream_instance != walk->packets->instance,
          offsetof(struct vv_packet_header, stream_instance),
          "the packet belongs to another stream" },
        { content % 64 != 0 || content < HEADER_BYTES * 8 || content > packet,
          offsetof(struct vv_packet_header, content_bits),
          "the packet's content_size makes no sense" },
        { packet % 64 != 0, offsetof(struct vv_packet_header, packet_bits),
          "the packet's packet_size makes no sense" },
        { header->begin_ticks >> 63 != 0, offsetof(struct vv_packet_header, begin_ticks),
          "the packet's timestamp_begin is centuries away from now" },
        { header->sequence < walk->next_sequence, offsetof(struct vv_packet_header, sequence),
          "the packet's packet_seq_num was there before" },
    };
    for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++)
        if (checks[i].wrong)
            return vv_fail_at(error, VARVE_CORRUPT, offset + checks[i].field, "'%s': %s",
                              walk->input.path, checks[i].what);
    return VARVE_OK;
}

/* A flight recorder has removed the packets before this one. Records lost in those do not count as
 * lost here. If the writer does not say how many these were, all that the packet counts are
 * taken. */
static void begin_later(struct walk *walk, const struct vv_packet_header *header)
{
    uint64_t before = header->spare != 0 ? header->spare - 1 : header->discarded;
    walk->next_sequence = header->sequence;
    walk->packets->lacks_begin = true;
    walk->packets->lost_before = before < header->discarded ? before : header->discarded;
}

static void to_host_order(struct vv_packet_header *header)
{
    header->magic = le32toh(header->magic);
    header->stream_class = le32toh(header->stream_class);
    uint64_t *fields = &header->stream_instance;
    for (size_t i = 0; i < (HEADER_BYTES - 8) / 8; i++)
        fields[i] = le64toh(fields[i]);
}

/* A record that was never finished hides the records after it: they are lost too. */
static enum varve_code count_hidden(struct walk *walk, uint64_t offset,
                                    const struct vv_packet_header *header,
                                    struct varve_error *error)
{
    size_t hidden_bytes = (size_t)vv_hidden_bytes(header), bytes;
    if (hidden_bytes == 0)
        return VARVE_OK;
    uint64_t *words = malloc(hidden_bytes);
    if (words == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory to read a packet of '%s'", walk->input.path);
    enum varve_code code = vv_input_read(&walk->input, offset + header->content_bits / 8, words,
                                         hidden_bytes, &bytes, error);
    if (code == VARVE_OK)
        walk->hidden += vv_hidden_records(words, bytes / 8);
    free(words);
    return code;
}

static enum varve_code add_packet(struct walk *walk, uint64_t offset,
                                  const struct vv_packet_header *header, bool *out_cut,
                                  struct varve_error *error)
{
    struct vv_packets *packets = walk->packets;
    uint64_t left = walk->input.size_bytes - offset, content = header->content_bits / 8;
    bool cut = header->packet_bits / 8 > left, gap = header->sequence > walk->next_sequence;
    if (gap && !walk->cut_before)
        packets->cut_files++;
    if (packets->count == 0)
        packets->tid = header->tid;
    VV_TRY(count_hidden(walk, offset, header, error));
    VV_TRY(vv_array_reserve(&packets->items, &packets->capacity, packets->count + 1,
                            sizeof *packets->items, error));
    packets->items[packets->count++] = (struct vv_packet){
        .offset = offset,
        .content_bytes = cut && left < content ? left & ~UINT64_C(7) : content,
        .begin_ticks = header->begin_ticks,
        .discarded = header->discarded + walk->hidden,
        .part = walk->part,
        .cut = cut,
        .after_gap = gap,
    };
    walk->next_sequence = header->sequence + 1;
    walk->cut_before = false;
    *out_cut = cut;
    return VARVE_OK;
}

/* Reads the packets of one file. Its size is that at the time of opening; the writer never changes
 * it (§4). */
static enum varve_code walk_part(struct walk *walk, struct varve_error *error)
{
    uint64_t offset = 0;
    bool cut = walk->input.size_bytes == 0;
    while (offset < walk->input.size_bytes && !cut) {
        struct vv_packet_header header;
        size_t bytes;
        VV_TRY(vv_input_read(&walk->input, offset, &header, HEADER_BYTES, &bytes, error));
        if (bytes < HEADER_BYTES) {
            cut = true;
            break;
        }
        to_host_order(&header);
        VV_TRY(check_header(walk, offset, &header, error));
        if (walk->removed && walk->packets->count == 0 && header.sequence > 0)
            begin_later(walk, &header);
        VV_TRY(add_packet(walk, offset, &header, &cut, error));
        offset += header.packet_bits / 8;
    }
    if (cut) {
        walk->packets->cut_files++;
        walk->cut_before = true;
    }
    return VARVE_OK;
}

/* The oldest parts are removed first: if this part is gone, so are all before it. */
static void forget_parts(struct walk *walk)
{
    walk->packets->count = 0;
    walk->hidden = 0;
    walk->packets->cut_files = 0;
    walk->packets->lacks_begin = true;
    walk->next_sequence = 0;
    walk->cut_before = false;
    walk->removed = true;
}

enum varve_code vv_packets_read(struct vv_packets *packets, struct varve_error *error)
{
    struct walk walk = { .packets = packets, .input = { .descriptor = -1 } };
    enum varve_code code = VARVE_OK;
    walk.removed = packets->keeps_last && packets->first_part > 0;
    for (; walk.part < packets->path_count && code == VARVE_OK; walk.part++) {
        code = vv_input_open(packets->paths[walk.part], &walk.input, error);
        if (code == VARVE_NOT_FOUND && packets->keeps_last) {
            forget_parts(&walk);
            code = VARVE_OK;
            continue;
        }
        if (code == VARVE_OK)
            code = vv_input_place(&walk.input, walk_part(&walk, error), error);
        vv_input_close(&walk.input);
    }
    return code;
}

void vv_packets_deinit(struct vv_packets *packets)
{
    if (packets == NULL)
        return;
    free(packets->items);
    packets->items = NULL;
    packets->count = packets->capacity = 0;
}
