/* SPDX-License-Identifier: Apache-2.0 */
#include "record/stream/stream.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/system/clock.h"
#include "base/system/os.h"
#include "ctf/record_length.h"
#include "record/stream/flight_recorder.h"
#include "record/stream/prepared_part.h"

#define FIRST_PART_BYTES (UINT64_C(4) << 20)
#define LARGEST_PART_BYTES (UINT64_C(1) << 30)
#define ADDRESS_SHARE 64u                        /* a part takes at most 1/64 of RLIMIT_AS */
#define SMALLEST_MAP_BYTES (UINT64_C(1) << 20)
#define LARGEST_WINDOW_BYTES (UINT64_C(128) << 10) /* backing it makes a writer wait some 20 us */

#define LEFT_MAX (sizeof ((struct vv_writer *)NULL)->left / sizeof(struct vv_packet_header *))

static inline void store_u64(uint64_t *to, uint64_t value)
{
    __atomic_store_n(to, value, __ATOMIC_RELEASE);
}

/* Builds an empty packet at `at` that reaches to the end of the part. */
static struct vv_packet_header *build_packet(struct vv_stream *stream, uint64_t at)
{
    struct vv_packet_header *packet = (struct vv_packet_header *)(stream->part.map + at);
    packet->stream_class = 0;
    packet->stream_instance = stream->instance;
    packet->reserved_bits = 0;
    packet->spare = stream->discarded + 1;
    packet->content_bits = sizeof *packet * 8;
    packet->packet_bits = (stream->part.bytes - at) * 8;
    packet->begin_ticks = vv_clock_ticks();
    packet->sequence = stream->sequence++;
    packet->discarded = stream->discarded;
    packet->tid = stream->tid;
    packet->magic = VV_CTF_MAGIC;
    return packet;
}

/* Points the writer at a packet that was built before. The compiler must not move these stores
 * before the stores that built it. */
static void make_current(struct vv_writer *writer, struct vv_packet_header *packet)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    writer->packet = packet;
    writer->cursor = (uint8_t *)packet + sizeof *packet;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    writer->limit = (uint8_t *)packet + VV_PACKET_BYTES;
}

/* Extends the backed range by a window. A thread's first packet is always granted. */
static int back_more(struct vv_stream *stream, const char *name)
{
    int failure = vv_part_back(&stream->part, &stream->folder, name, stream->window_bytes,
                               stream->sequence == 0);
    if (failure == 0 && stream->window_bytes < LARGEST_WINDOW_BYTES)
        stream->window_bytes *= 2;
    return failure;
}

/* The size that a part should have. The process's own stream, instance 0, is not in the flight
 * recorder's list. */
static uint64_t wanted_size(uint64_t instance, uint32_t number)
{
    uint64_t bytes = number < 3 ? FIRST_PART_BYTES << 3 * number : LARGEST_PART_BYTES;
    uint64_t kept = vv_ring_part_bytes();
    return instance != 0 && bytes > kept ? kept : bytes;
}

/* Reduces a size to the limits of the process: a part is not larger than a file may be, and takes
 * only a small share of the address space. */
static uint64_t allowed_size(uint64_t bytes)
{
    uint64_t file_bytes = vv_os_file_limit(), map_bytes = vv_os_address_limit() / ADDRESS_SHARE;
    if (map_bytes < SMALLEST_MAP_BYTES)
        map_bytes = SMALLEST_MAP_BYTES;
    uint64_t allowed = file_bytes < map_bytes ? file_bytes : map_bytes;
    return bytes > allowed ? allowed - allowed % VV_PACKET_BYTES : bytes;
}

static void set_number(struct vv_stream *stream, uint32_t number)
{
    stream->number = number;
    snprintf(stream->name + stream->base_length, 16, ".%u", number);
}

/* Makes a part whose first packet is backed. `hidden` becomes the name that the part has until that
 * packet is built. */
static int make_part(struct vv_stream *stream, char *hidden, size_t capacity)
{
    uint64_t bytes = wanted_size(stream->instance, stream->number);
    if (stream->number == 0 && vv_prepared_part_take(bytes, &stream->part, hidden, capacity))
        return 0;
    bytes = allowed_size(bytes);
    if (bytes < VV_PACKET_BYTES)
        return EFBIG;
    snprintf(hidden, capacity, ".%s", stream->name);
    int failure = vv_part_make(&stream->folder, hidden, bytes, &stream->part);
    if (failure == 0)
        failure = back_more(stream, hidden);
    return failure;
}

/* Makes the file of this number with one empty packet, and then gives it its name. */
static int open_part(struct vv_stream *stream, struct vv_packet_header **out_packet)
{
    char hidden[VV_STREAM_NAME_BYTES + 1];
    int failure = make_part(stream, hidden, sizeof hidden);
    if (failure == 0) {
        *out_packet = build_packet(stream, 0);
        failure = vv_part_name(&stream->part, &stream->folder, hidden, stream->name);
        if (failure == 0)
            return 0;
        stream->sequence--;
    }
    if (stream->part.map != NULL) {
        vv_part_return(stream->part.backed_bytes);
        vv_part_leave(&stream->part);
        vv_own_remove(&stream->folder, hidden);
    }
    return failure;
}

void vv_writer_forget(struct vv_writer *writer)
{
    writer->limit = NULL; /* first, so that handlers find no room */
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    writer->cursor = NULL;
    writer->packet = NULL;
}

int vv_stream_open(struct vv_stream *stream, struct vv_writer *writer,
                   const struct vv_stream_identity *identity)
{
    memset(stream, 0, sizeof *stream);
    vv_writer_forget(writer);
    int length = snprintf(stream->name, sizeof stream->name, "%s", identity->base);
    if (length < 0 || (size_t)length + 16 > sizeof stream->name)
        return ENAMETOOLONG;
    vv_own_folder_copy(&stream->folder, identity->folder);
    stream->base_length = (uint32_t)length;
    stream->instance = identity->instance;
    stream->tid = identity->tid;
    stream->window_bytes = VV_PACKET_BYTES;
    stream->generation = vv_ring_generation();
    set_number(stream, 0);
    struct vv_packet_header *packet;
    int failure = open_part(stream, &packet);
    if (failure == 0)
        make_current(writer, packet);
    return failure;
}

void vv_stream_prepare(const struct vv_own_folder *folder)
{
    vv_prepared_part_fill(folder, allowed_size(wanted_size(1, 0)));
}

static uint64_t cursor_bits(const struct vv_writer *writer)
{
    return (uint64_t)(writer->cursor - (uint8_t *)writer->packet) * 8;
}

bool vv_stream_awaits(const struct vv_writer *writer)
{
    bool awaits = false;
    for (unsigned i = 0; i < LEFT_MAX; i++)
        awaits |= writer->left[i] != NULL;
    return awaits;
}

/* Leaves the packet: no new record begins there. If this runs in a signal handler that came between
 * the reservation of a record there and its publication, that record is still unfinished: the
 * packet joins those that the interrupted writer publishes. */
static void leave_packet(struct vv_writer *writer)
{
    struct vv_packet_header *packet = writer->packet;
    store_u64(&packet->reserved_bits, cursor_bits(writer));
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    bool interrupted = packet->content_bits != packet->reserved_bits;
    for (unsigned i = 0; i < LEFT_MAX && interrupted; i++)
        if (writer->left[i] == NULL) {
            writer->left[i] = packet;
            writer->behind = 1;
            interrupted = false;
        }
}

void vv_stream_publish_left(struct vv_writer *writer, struct vv_packet_header *packet)
{
    for (unsigned i = 0; i < LEFT_MAX; i++)
        if (writer->left[i] == packet) {
            store_u64(&packet->content_bits, packet->reserved_bits);
            writer->left[i] = NULL;
        }
}

static bool advance_in_part(struct vv_stream *stream, struct vv_writer *writer, uint64_t at)
{
    if (at + VV_PACKET_BYTES > stream->part.backed_bytes && back_more(stream, stream->name) != 0)
        return false;
    struct vv_packet_header *former = writer->packet;
    struct vv_packet_header *packet = build_packet(stream, at);
    stream->packet_at = at;
    leave_packet(writer);
    /* Until this store the former packet spans the new one; after it both are whole. */
    store_u64(&former->packet_bits, VV_PACKET_BYTES * 8);
    make_current(writer, packet);
    vv_part_forget(&stream->part, at);
    return true;
}

static bool advance_to_new_part(struct vv_stream *stream, struct vv_writer *writer)
{
    struct vv_part left = stream->part;
    struct vv_packet_header *packet;
    stream->part = (struct vv_part){ 0 };
    set_number(stream, stream->number + 1);
    if (open_part(stream, &packet) != 0) {
        set_number(stream, stream->number - 1);
        stream->part = left;
        return false;
    }
    stream->packet_at = 0;
    leave_packet(writer);
    make_current(writer, packet);
    if (!vv_stream_awaits(writer))
        vv_part_leave(&stream->former);
    stream->former = left;
    if (left.copy == NULL)
        vv_os_forget(left.map, left.bytes);
    if (stream->instance != 0)
        vv_ring_leave(stream->generation, stream->instance, stream->number - 1, left.backed_bytes);
    return true;
}

/* Opens the next packet in the current part or in a new one. If somebody has cut the part, the
 * stream leaves it at once, and the record that was being stored there is lost. */
static bool advance(struct vv_stream *stream, struct vv_writer *writer)
{
    /* A part that was cut may have grown again, when the recorder backed its next window. Even then
     * the part's packets are gone. */
    bool harmed = writer->packet->magic != VV_CTF_MAGIC || stream->harmed;
    stream->harmed = false;
    uint64_t next = (uint64_t)((uint8_t *)writer->packet - stream->part.map) + VV_PACKET_BYTES;
    bool room = !harmed && next + VV_PACKET_BYTES <= stream->part.bytes
                    ? advance_in_part(stream, writer, next)
                    : advance_to_new_part(stream, writer);
    if (harmed && room)
        vv_stream_discard(stream, writer, 1);
    else if (harmed)
        stream->harmed = true;
    return room;
}

bool vv_stream_advance(struct vv_stream *stream, struct vv_writer *writer)
{
    if (stream->retry_ticks != 0) {
        if (vv_clock_ticks() < stream->retry_ticks)
            return false;
        stream->retry_ticks = 0;
    }
    bool room = advance(stream, writer);
    if (room && stream->harmed) /* the file was cut while the packet was built */
        room = advance(stream, writer);
    if (room)
        vv_stream_discard(stream, writer, 0); /* stores what handlers counted meanwhile */
    else
        stream->retry_ticks = vv_clock_in_a_second(); /* the disk may be full */
    return room;
}

/* A handler may count lost records between any two of these steps. The loop ends when the newest
 * sum is stored. */
static void store_discarded(struct vv_stream *stream, struct vv_writer *writer)
{
    uint64_t sum;
    do {
        sum = __atomic_load_n(&stream->discarded, __ATOMIC_RELAXED);
        store_u64(&writer->packet->discarded, sum);
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
    } while (__atomic_load_n(&stream->discarded, __ATOMIC_RELAXED) != sum);
}

void vv_stream_discard(struct vv_stream *stream, struct vv_writer *writer, uint64_t records)
{
    __atomic_fetch_add(&stream->discarded, records, __ATOMIC_RELAXED);
    if (writer->packet != NULL)
        store_discarded(stream, writer);
}

static bool is_position(uint64_t bits)
{
    return bits >= sizeof(struct vv_packet_header) * 8 && bits <= VV_PACKET_BYTES * 8 &&
           bits % 64 == 0;
}

/* Returns the number of words in whole records at the begin: up to the next record that was left
 * unfinished (handlers that jump leave several) or that has no length. */
static size_t whole_words(const uint64_t *words, size_t count)
{
    size_t at = 0;
    while (at < count && words[at] != 0) {
        size_t length = vv_record_length(words + at, count - at);
        if (length == 0 || length > count - at)
            break;
        at += length;
    }
    return at;
}

/* Moves the records of [content, end) over the unfinished one at their begin, and publishes those
 * before the next unfinished one. Returns the new end, in bits. The header is in shared memory, so
 * others may have stored anything there. A content_bits that is no place before the end was not
 * stored by the writer: then everything up to the end is published as whole. */
static uint64_t close_gap(struct vv_packet_header *packet, uint64_t end_bits)
{
    uint64_t begin_bits = __atomic_load_n(&packet->content_bits, __ATOMIC_RELAXED);
    if (!is_position(begin_bits) || begin_bits > end_bits) {
        store_u64(&packet->content_bits, end_bits);
        return end_bits;
    }
    uint64_t *words = (uint64_t *)(void *)((uint8_t *)packet + begin_bits / 8);
    size_t count = (size_t)(end_bits - begin_bits) / 64, gap = 0;
    if (count == 0)
        return end_bits;
    /* A record's first word is stored before its fields. A record with a list may not have its
     * length yet; then all stays hidden. */
    if (vv_list_head_words((uint32_t)(words[0] & VV_ID_MASK)) != 0)
        return begin_bits;
    if (words[0] != 0)
        gap = vv_record_length(words, count);
    if (gap > count)
        gap = count;
    while (gap < count && words[gap] == 0)
        gap++;
    count -= gap;
    memmove(words, words + gap, count * sizeof *words);
    memset(words + count, 0, gap * sizeof *words);
    store_u64(&packet->content_bits, begin_bits + whole_words(words, count) * 64);
    return begin_bits + count * 64;
}

void vv_stream_settle(struct vv_writer *writer)
{
    writer->behind = 0;
    for (unsigned i = 0; i < LEFT_MAX; i++)
        if (writer->left[i] != NULL) {
            struct vv_packet_header *packet = writer->left[i];
            uint64_t end_bits = __atomic_load_n(&packet->reserved_bits, __ATOMIC_RELAXED);
            if (is_position(end_bits))
                store_u64(&packet->reserved_bits, close_gap(packet, end_bits));
            writer->left[i] = NULL;
        }
    if (writer->packet != NULL)
        writer->cursor =
            (uint8_t *)writer->packet + close_gap(writer->packet, cursor_bits(writer)) / 8;
}

void vv_writer_await_none(struct vv_writer *writer)
{
    memset(writer->left, 0, sizeof writer->left);
    writer->behind = 0;
}

void vv_stream_unmap(struct vv_stream *stream)
{
    vv_part_leave(&stream->part);
    vv_part_leave(&stream->former);
}

/* Gives back what is backed behind `end_bytes`. While the session goes on, this counts for its
 * budget and in the flight recorder's list. */
static void shrink(struct vv_stream *stream, uint64_t end_bytes)
{
    uint64_t backed = stream->part.backed_bytes, bytes = vv_part_shrink(&stream->part, end_bytes);
    if (stream->ended)
        return;
    vv_part_return(backed - bytes);
    if (stream->instance != 0)
        vv_ring_leave(stream->generation, stream->instance, stream->number, bytes);
}

void vv_stream_close(struct vv_stream *stream, struct vv_writer *writer)
{
    if (stream->part.map != NULL && writer->packet != NULL && !stream->harmed) {
        bool is_whole = writer->packet->content_bits == cursor_bits(writer);
        if (!stream->harmed && !(stream->ended && is_whole)) /* the read may have set `harmed` */
            leave_packet(writer);
        shrink(stream, (uint64_t)(writer->cursor - stream->part.map));
    }
    vv_writer_forget(writer);
    if (!vv_stream_awaits(writer))
        vv_stream_unmap(stream);
}

void vv_stream_end(struct vv_stream *stream)
{
    stream->ended = true;
    if (stream->part.map != NULL && !stream->harmed)
        shrink(stream, stream->packet_at + VV_PACKET_BYTES);
}

void vv_stream_abandon(struct vv_stream *stream, bool is_own)
{
    vv_part_abandon(&stream->part, is_own);
    vv_part_abandon(&stream->former, is_own);
}
