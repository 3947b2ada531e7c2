/* SPDX-License-Identifier: Apache-2.0 */
/* packet.c — one packet. Its fields may have any order, and the service appends the sequence's id
 * at the end. So all fields are found first. Then they are read, each after the fields that it
 * needs. */
#include <stdlib.h>

#include "base/array.h"
#include "decompress/decompress.h"
#include "import/perfetto/perfetto.h"

#define PACKED_DEPTH_MAX 2u

enum part {
    PART_SNAPSHOT, PART_EVENT, PART_INTERNED, PART_PROCESS, PART_THREAD, PART_COMPRESSED,
    PART_DEFAULTS,
    PART_TRACK, PART_ZSTD, PART_COUNT
};

static const uint8_t part_fields[PART_COUNT] = {
    [PART_SNAPSHOT] = VV_TRACEPACKET_CLOCK_SNAPSHOT,
    [PART_EVENT] = VV_TRACEPACKET_TRACK_EVENT,
    [PART_INTERNED] = VV_TRACEPACKET_INTERNED_DATA,
    [PART_PROCESS] = VV_TRACEPACKET_PROCESS_DESCRIPTOR,
    [PART_THREAD] = VV_TRACEPACKET_THREAD_DESCRIPTOR,
    [PART_COMPRESSED] = VV_TRACEPACKET_COMPRESSED_PACKETS,
    [PART_DEFAULTS] = VV_TRACEPACKET_TRACE_PACKET_DEFAULTS,
    [PART_TRACK] = VV_TRACEPACKET_TRACK_DESCRIPTOR,
    [PART_ZSTD] = VV_TRACEPACKET_ZSTD_COMPRESSED_PACKETS,
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
    case VV_TRACEPACKET_TIMESTAMP:
        packet->has_timestamp = true;
        packet->timestamp = message->value;
        return true;
    case VV_TRACEPACKET_TIMESTAMP_CLOCK_ID:
        packet->has_clock = true;
        packet->clock_id = message->value;
        return true;
    case VV_TRACEPACKET_TRUSTED_PACKET_SEQUENCE_ID:
        packet->sequence_id = (uint32_t)message->value;
        return true;
    case VV_TRACEPACKET_SEQUENCE_FLAGS:
        packet->flags = message->value;
        return true;
    case VV_TRACEPACKET_INCREMENTAL_STATE_CLEARED:
        packet->is_cleared = message->value != 0;
        return true;
    case VV_TRACEPACKET_PREVIOUS_PACKET_DROPPED:
        packet->is_after_loss = message->value != 0;
        return true;
    case VV_TRACEPACKET_FIRST_PACKET_ON_SEQUENCE:
        packet->is_first = message->value != 0;
        return true;
    case VV_TRACEPACKET_TRUSTED_UID:
    case VV_TRACEPACKET_TRUSTED_PID:
    case VV_TRACEPACKET_MACHINE_ID:
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
                                     struct vv_perfetto_sequence **out_sequence,
                                     struct varve_error *error)
{
    uint32_t item = vv_key_map_get(&reader->sequence_ids, id);
    if (item == VV_KEY_NONE) {
        VV_TRY(vv_array_reserve(&reader->sequences, &reader->sequence_capacity,
                                reader->sequence_count + 1, sizeof *reader->sequences, error));
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

/* Reads an entry. The file and line of a source become a row of the model; any other entry becomes
 * a string. */
static enum varve_code read_entry(struct vv_perfetto *reader, struct vv_protobuf message,
                                  bool is_source, uint64_t *out_iid, uint32_t *out_value,
                                  struct varve_error *error)
{
    struct vv_model *model = reader->model;
    uint32_t text = 0, line = 0;
    *out_iid = 0;
    while (vv_protobuf_next(&message)) {
        if (message.number == VV_SOURCELOCATION_IID)
            *out_iid = message.value;
        else if (message.number == VV_SOURCELOCATION_FILE_NAME)
            VV_TRY(vv_perfetto_text(reader, &message, &text, error));
        else if (message.number == VV_SOURCELOCATION_LINE_NUMBER)
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

static enum varve_code read_interned(struct vv_perfetto *reader,
                                     struct vv_perfetto_sequence *sequence,
                                     struct vv_protobuf *message, struct varve_error *error)
{
    static const int8_t kinds[] = {
        [VV_INTERNEDDATA_EVENT_CATEGORIES] = VV_PERFETTO_CATEGORIES,
        [VV_INTERNEDDATA_EVENT_NAMES] = VV_PERFETTO_EVENT_NAMES,
        [VV_INTERNEDDATA_DEBUG_ANNOTATION_NAMES] = VV_PERFETTO_ANNOTATION_NAMES,
        [VV_INTERNEDDATA_SOURCE_LOCATIONS] = VV_PERFETTO_SOURCES,
    };
    while (vv_protobuf_next(message)) {
        struct vv_protobuf entry;
        uint64_t iid;
        uint32_t value;
        bool is_known = (message->number >= VV_INTERNEDDATA_EVENT_CATEGORIES &&
                         message->number <= VV_INTERNEDDATA_SOURCE_LOCATIONS) ||
                        message->number == VV_INTERNEDDATA_DEBUG_ANNOTATION_STRING_VALUES;
        if (!is_known || message->wire != VV_WIRE_BYTES)
            continue;
        int kind = message->number == VV_INTERNEDDATA_DEBUG_ANNOTATION_STRING_VALUES
                       ? VV_PERFETTO_STRING_VALUES
                       : kinds[message->number];
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
        VV_TRY(vv_array_reserve(&list->items, &list->capacity, list->count + 1, sizeof *list->items,
                                error));
        list->items[list->count++] = uuid;
    }
    return vv_protobuf_end(message, error);
}

static enum varve_code read_defaults(struct vv_perfetto_sequence *sequence,
                                     struct vv_protobuf *message, struct varve_error *error)
{
    while (vv_protobuf_next(message)) {
        struct vv_protobuf event;
        if (message->number == VV_TRACEPACKETDEFAULTS_TIMESTAMP_CLOCK_ID) {
            sequence->has_default_clock = true;
            sequence->default_clock = message->value;
        }
        if (message->number != VV_TRACEPACKETDEFAULTS_TRACK_EVENT_DEFAULTS ||
            message->wire != VV_WIRE_BYTES)
            continue;
        sequence->extra_integers.count = sequence->extra_reals.count = 0;
        vv_protobuf_enter(message, &event);
        while (vv_protobuf_next(&event)) {
            if (event.number == VV_TRACKEVENTDEFAULTS_TRACK_UUID) {
                sequence->has_default_track = true;
                sequence->default_track = event.value;
            } else if (event.number == VV_TRACKEVENTDEFAULTS_EXTRA_COUNTER_TRACK_UUIDS) {
                VV_TRY(read_uuids(&event, &sequence->extra_integers, error));
            } else if (event.number == VV_TRACKEVENTDEFAULTS_EXTRA_DOUBLE_COUNTER_TRACK_UUIDS) {
                VV_TRY(read_uuids(&event, &sequence->extra_reals, error));
            }
        }
        VV_TRY(vv_protobuf_end(&event, error));
    }
    return vv_protobuf_end(message, error);
}

/* ---- packets inside a packet ---- */

static enum varve_code read_packets(struct vv_perfetto *reader, struct vv_protobuf *packets,
                                    struct varve_error *error)
{
    while (vv_protobuf_next(packets)) {
        struct vv_protobuf packet;
        if (packets->number != VV_TRACE_PACKET || packets->wire != VV_WIRE_BYTES) {
            reader->model->health.ignored++;
            continue;
        }
        vv_protobuf_enter(packets, &packet);
        VV_TRY(vv_perfetto_packet_read(reader, &packet, error));
    }
    return vv_protobuf_end(packets, error);
}

/* An offset in the decompressed packets is no offset in the file. The message gives both. */
static enum varve_code fail_inside(const struct vv_protobuf *packed, enum varve_code code,
                                   struct varve_error *error)
{
    if (error == NULL || error->offset == VARVE_ERROR_NO_OFFSET)
        return code;
    error->offset = packed->start_offset;
    vv_error_add(error, " of the decompressed packets at byte %llu",
                 (unsigned long long)packed->start_offset);
    return code;
}

static enum varve_code read_packed(struct vv_perfetto *reader, const struct vv_protobuf *packed,
                                   bool is_zstd, struct varve_error *error)
{
    vv_decompressed plain = { 0 };
    if (reader->depth >= PACKED_DEPTH_MAX)
        return vv_fail_at(error, VARVE_LIMIT, packed->start_offset,
                          "compressed packets in compressed packets");
    enum varve_code code = (is_zstd ? vv_decompress_zstd : vv_decompress_zlib)(
        packed->start, (uint64_t)(packed->limit - packed->start), &plain);
    if (code == VARVE_NO_MEMORY)
        (void)vv_fail(error, code, "no memory to decompress a packet");
    else if (code != VARVE_OK)
        (void)vv_fail_at(error, code, packed->start_offset, "a compressed packet is damaged");
    if (code == VARVE_OK) {
        struct vv_protobuf packets;
        vv_protobuf_init(&packets, plain.items, plain.count, 0);
        reader->depth++;
        code = read_packets(reader, &packets, error);
        reader->depth--;
        if (code != VARVE_OK)
            (void)fail_inside(packed, code, error);
    }
    free(plain.items);
    return code;
}

/* ---- the packet ---- */

/* The time of a packet. If the packet has no time, or no snapshot connects its clock with the
 * trace's clock, it has the time of the packet before it in its sequence. */
static int64_t find_time(struct vv_perfetto *reader, struct vv_perfetto_sequence *sequence,
                         const struct packet *packet)
{
    uint64_t clock = packet->has_clock           ? packet->clock_id
                     : sequence->has_default_clock ? sequence->default_clock
                                                   : 0;
    uint64_t key =
        clock == 0 ? reader->clocks.trace_clock : vv_perfetto_clock_key(clock, packet->sequence_id);
    int64_t time_ns;
    if (packet->has_timestamp &&
        vv_perfetto_time(&reader->clocks, key, packet->timestamp, &time_ns))
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
        VV_TRY(vv_perfetto_snapshot_read(reader, &packet->parts[PART_SNAPSHOT], packet->sequence_id,
                                         error));
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
        reader->passed[packet->passed < VV_PERFETTO_OTHERS ? packet->passed
                                                           : VV_PERFETTO_OTHERS]++;
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
