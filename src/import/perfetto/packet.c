/* SPDX-License-Identifier: Apache-2.0 */
/* packet.c — one packet. Its fields may stand in any order, and the service appends the sequence's id at the
 * end: so they are found first, and then read in the order that they need each other in. */
#include <stdlib.h>

#include "base/array.h"
#include "import/input/unpack.h"
#include "import/perfetto/perfetto.h"

#define PACKED_DEPTH_MAX 2u

enum field {
    TRUSTED_UID = 3, CLOCK_SNAPSHOT = 6, TIMESTAMP = 8, SEQUENCE_ID = 10, TRACK_EVENT = 11,
    INTERNED_DATA = 12, SEQUENCE_FLAGS = 13, CLEARED = 41, DROPPED = 42, PROCESS = 43, THREAD = 44,
    COMPRESSED = 50, TIMESTAMP_CLOCK = 58, DEFAULTS = 59, TRACK_DESCRIPTOR = 60, TRUSTED_PID = 79,
    FIRST_PACKET = 87, MACHINE_ID = 98, ZSTD_COMPRESSED = 133
};

enum part {
    PART_SNAPSHOT, PART_EVENT, PART_INTERNED, PART_PROCESS, PART_THREAD, PART_COMPRESSED, PART_DEFAULTS,
    PART_TRACK, PART_ZSTD, PART_COUNT
};

static const uint8_t part_fields[PART_COUNT] = {
    CLOCK_SNAPSHOT, TRACK_EVENT, INTERNED_DATA, PROCESS, THREAD, COMPRESSED, DEFAULTS, TRACK_DESCRIPTOR,
    ZSTD_COMPRESSED
};

enum { FLAG_CLEARED = 1, FLAG_NEEDS_STATE = 2 };

struct packet {
    uint64_t timestamp, clock_id, flags;
    uint32_t sequence_id;
    bool has_timestamp, has_clock, is_cleared, is_after_loss, is_first;
    struct vv_protobuf parts[PART_COUNT];
    bool has[PART_COUNT];
    uint32_t passed;                               /* a field that is not read; 0 = none        */
};

/* ---- fields ---- */

static bool read_number(const struct vv_protobuf *message, struct packet *packet)
{
    switch (message->number) {
    case TIMESTAMP:
        packet->has_timestamp = true;
        packet->timestamp = message->value;
        return true;
    case TIMESTAMP_CLOCK:
        packet->has_clock = true;
        packet->clock_id = message->value;
        return true;
    case SEQUENCE_ID:
        packet->sequence_id = (uint32_t)message->value;
        return true;
    case SEQUENCE_FLAGS:
        packet->flags = message->value;
        return true;
    case CLEARED:
        packet->is_cleared = message->value != 0;
        return true;
    case DROPPED:
        packet->is_after_loss = message->value != 0;
        return true;
    case FIRST_PACKET:
        packet->is_first = message->value != 0;
        return true;
    case TRUSTED_UID:
    case TRUSTED_PID:
    case MACHINE_ID:
        return true;
    default:
        return false;
    }
}

static enum part part_of(uint32_t number)
{
    int part = 0;
    while (part < PART_COUNT && part_fields[part] != number)
        part++;
    return (enum part)part;
}

static enum varve_code find_parts(struct vv_protobuf *message, struct packet *packet,
                                  struct varve_error *error)
{
    while (vv_protobuf_next(message)) {
        if (read_number(message, packet))
            continue;
        enum part part = part_of(message->number);
        if (part == PART_COUNT) {
            packet->passed = message->number;
            continue;
        }
        VV_TRY(vv_protobuf_expect(message, VV_WIRE_BYTES, "a packet's part", error));
        vv_protobuf_enter(message, &packet->parts[part]);
        packet->has[part] = true;
    }
    return vv_protobuf_end(message, error);
}

/* ---- the sequence's state ---- */

static enum varve_code find_sequence(struct vv_perfetto *reader, uint32_t id,
                                     struct vv_perfetto_sequence **out_sequence, struct varve_error *error)
{
    uint32_t item = vv_key_map_get(&reader->sequence_ids, id);
    if (item == VV_KEY_NONE) {
        VV_TRY(vv_array_reserve(&reader->sequences, &reader->sequence_capacity, reader->sequence_count + 1,
                                sizeof *reader->sequences, error));
        item = (uint32_t)reader->sequence_count++;
        reader->sequences[item] = (struct vv_perfetto_sequence){ .is_broken = false };
        VV_TRY(vv_key_map_put(&reader->sequence_ids, id, item, error));
    }
    *out_sequence = &reader->sequences[item];
    return VARVE_OK;
}

static void clear_state(struct vv_perfetto_sequence *sequence)
{
    for (int kind = 0; kind < VV_PERFETTO_INTERNED_COUNT; kind++)
        vv_key_map_clear(&sequence->interned[kind]);
    vv_key_map_clear(&sequence->counters);
    sequence->counter_count = 0;
    sequence->extra_integers.count = sequence->extra_reals.count = 0;
    sequence->has_default_clock = sequence->has_default_track = sequence->is_broken = false;
}

/* A source's file and line become a row of the model, any other entry a string. */
static enum varve_code read_entry(struct vv_perfetto *reader, struct vv_protobuf message, bool is_source,
                                  uint64_t *out_iid, uint32_t *out_value, struct varve_error *error)
{
    struct vv_model *model = reader->model;
    uint32_t text = 0, line = 0;
    *out_iid = 0;
    while (vv_protobuf_next(&message)) {
        if (message.number == 1)
            *out_iid = message.value;
        else if (message.number == 2)
            VV_TRY(vv_perfetto_text(reader, &message, &text, error));
        else if (message.number == 4)
            line = (uint32_t)message.value;
    }
    VV_TRY(vv_protobuf_end(&message, error));
    *out_value = text;
    if (!is_source)
        return VARVE_OK;
    VV_TRY(vv_model_add_source(model, out_value, error));
    model->sources.file[*out_value] = text;
    model->sources.line[*out_value] = line;
    return VARVE_OK;
}

static enum varve_code read_interned(struct vv_perfetto *reader, struct vv_perfetto_sequence *sequence,
                                     struct vv_protobuf *message, struct varve_error *error)
{
    static const int8_t kinds[] = { [1] = VV_PERFETTO_CATEGORIES, [2] = VV_PERFETTO_EVENT_NAMES,
                                    [3] = VV_PERFETTO_ANNOTATION_NAMES, [4] = VV_PERFETTO_SOURCES };
    while (vv_protobuf_next(message)) {
        struct vv_protobuf entry;
        uint64_t iid;
        uint32_t value;
        bool is_known = (message->number >= 1 && message->number <= 4) || message->number == 29;
        if (!is_known || message->wire != VV_WIRE_BYTES)
            continue;
        int kind = message->number == 29 ? VV_PERFETTO_STRING_VALUES : kinds[message->number];
        vv_protobuf_enter(message, &entry);
        VV_TRY(read_entry(reader, entry, kind == VV_PERFETTO_SOURCES, &iid, &value, error));
        VV_TRY(vv_key_map_put(&sequence->interned[kind], iid, value, error));
    }
    return vv_protobuf_end(message, error);
}

static enum varve_code read_uuids(struct vv_protobuf *message, struct vv_perfetto_uuids *list,
                                  struct varve_error *error)
{
    const unsigned char *at = NULL;
    uint64_t uuid;
    while (vv_protobuf_repeated(message, &at, &uuid)) {
        VV_TRY(vv_array_reserve(&list->items, &list->capacity, list->count + 1, sizeof *list->items, error));
        list->items[list->count++] = uuid;
    }
    return vv_protobuf_end(message, error);
}

static enum varve_code read_defaults(struct vv_perfetto_sequence *sequence, struct vv_protobuf *message,
                                     struct varve_error *error)
{
    while (vv_protobuf_next(message)) {
        struct vv_protobuf event;
        if (message->number == TIMESTAMP_CLOCK) {
            sequence->has_default_clock = true;
            sequence->default_clock = message->value;
        }
        if (message->number != TRACK_EVENT || message->wire != VV_WIRE_BYTES)
            continue;
        sequence->extra_integers.count = sequence->extra_reals.count = 0;
        vv_protobuf_enter(message, &event);
        while (vv_protobuf_next(&event)) {
            if (event.number == 11) {
                sequence->has_default_track = true;
                sequence->default_track = event.value;
            } else if (event.number == 31) {
                VV_TRY(read_uuids(&event, &sequence->extra_integers, error));
            } else if (event.number == 45) {
                VV_TRY(read_uuids(&event, &sequence->extra_reals, error));
            }
        }
        VV_TRY(vv_protobuf_end(&event, error));
    }
    return vv_protobuf_end(message, error);
}

/* ---- packets in a packet ---- */

static enum varve_code read_packets(struct vv_perfetto *reader, struct vv_protobuf *packets,
                                    struct varve_error *error)
{
    while (vv_protobuf_next(packets)) {
        struct vv_protobuf packet;
        if (packets->number != 1 || packets->wire != VV_WIRE_BYTES) {
            reader->model->health.ignored++;
            continue;
        }
        vv_protobuf_enter(packets, &packet);
        VV_TRY(vv_perfetto_packet_read(reader, &packet, error));
    }
    return vv_protobuf_end(packets, error);
}

/* Offsets inside count from the packed bytes' place in the file. */
static enum varve_code read_packed(struct vv_perfetto *reader, const struct vv_protobuf *packed, bool is_zstd,
                                   struct varve_error *error)
{
    vv_unpacked unpacked = { 0 };
    if (reader->depth >= PACKED_DEPTH_MAX)
        return vv_fail_at(error, VARVE_LIMIT, packed->start_offset,
                          "compressed packets in compressed packets");
    enum varve_code code = (is_zstd ? vv_unpack_zstd : vv_unpack_zlib)(
        packed->start, (uint64_t)(packed->limit - packed->start), &unpacked);
    if (code == VARVE_NO_MEMORY)
        (void)vv_fail(error, code, "no memory to decompress a packet");
    else if (code != VARVE_OK)
        (void)vv_fail_at(error, code, packed->start_offset, "a compressed packet is damaged");
    if (code == VARVE_OK) {
        struct vv_protobuf packets;
        vv_protobuf_init(&packets, unpacked.items, unpacked.count, packed->start_offset);
        reader->depth++;
        code = read_packets(reader, &packets, error);
        reader->depth--;
    }
    free(unpacked.items);
    return code;
}

/* ---- the packet ---- */

/* A packet without a time, or whose clock nothing connects to the trace's, has that of the one before it. */
static int64_t find_time(struct vv_perfetto *reader, struct vv_perfetto_sequence *sequence,
                         const struct packet *packet)
{
    uint64_t clock = packet->has_clock           ? packet->clock_id
                     : sequence->has_default_clock ? sequence->default_clock
                                                   : 0;
    uint64_t key = clock == 0 ? reader->clocks.trace_clock : vv_perfetto_clock_key(clock, packet->sequence_id);
    int64_t time_ns;
    if (packet->has_timestamp && vv_perfetto_time(&reader->clocks, key, packet->timestamp, &time_ns))
        sequence->last_ns = time_ns;
    else
        reader->model->health.unplaced += packet->has[PART_EVENT];
    return sequence->last_ns;
}

static enum varve_code read_state(struct vv_perfetto *reader, struct vv_perfetto_sequence *sequence,
                                  struct packet *packet, struct varve_error *error)
{
    if (packet->is_after_loss && !packet->is_first)
        sequence->is_broken = true;
    if (packet->is_cleared || (packet->flags & FLAG_CLEARED) != 0)
        clear_state(sequence);
    if (packet->has[PART_DEFAULTS])
        VV_TRY(read_defaults(sequence, &packet->parts[PART_DEFAULTS], error));
    if (packet->has[PART_INTERNED])
        VV_TRY(read_interned(reader, sequence, &packet->parts[PART_INTERNED], error));
    if (packet->has[PART_SNAPSHOT])
        VV_TRY(vv_perfetto_snapshot_read(reader, &packet->parts[PART_SNAPSHOT], packet->sequence_id, error));
    if (packet->has[PART_TRACK])
        VV_TRY(vv_perfetto_track_read(reader, &packet->parts[PART_TRACK], error));
    if (packet->has[PART_PROCESS])
        VV_TRY(vv_perfetto_process_read(reader, &packet->parts[PART_PROCESS], error));
    if (packet->has[PART_THREAD])
        VV_TRY(vv_perfetto_thread_read(reader, sequence, &packet->parts[PART_THREAD], error));
    return VARVE_OK;
}

static enum varve_code read_packet(struct vv_perfetto *reader, struct packet *packet,
                                   struct varve_error *error)
{
    struct vv_perfetto_sequence *sequence;
    VV_TRY(find_sequence(reader, packet->sequence_id, &sequence, error));
    VV_TRY(read_state(reader, sequence, packet, error));
    if (packet->passed != 0) {
        reader->passed[packet->passed < 255 ? packet->passed : 255]++;
        reader->model->health.ignored++;
    }
    if (packet->has[PART_COMPRESSED])
        VV_TRY(read_packed(reader, &packet->parts[PART_COMPRESSED], false, error));
    if (packet->has[PART_ZSTD])
        VV_TRY(read_packed(reader, &packet->parts[PART_ZSTD], true, error));
    if (packet->has[PART_COMPRESSED] || packet->has[PART_ZSTD])
        return VARVE_OK;
    int64_t time_ns = find_time(reader, sequence, packet);
    if (!packet->has[PART_EVENT])
        return VARVE_OK;
    if (sequence->is_broken && (packet->flags & FLAG_NEEDS_STATE) != 0) {
        reader->model->health.ignored++;
        return VARVE_OK;
    }
    return vv_perfetto_event_read(reader, sequence, &packet->parts[PART_EVENT], time_ns, error);
}

enum varve_code vv_perfetto_packet_read(struct vv_perfetto *reader, struct vv_protobuf *message,
                                        struct varve_error *error)
{
    struct packet packet = { 0 };
    VV_TRY(find_parts(message, &packet, error));
    return read_packet(reader, &packet, error);
}
