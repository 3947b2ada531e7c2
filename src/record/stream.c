/* SPDX-License-Identifier: Apache-2.0 */
#include "record/stream.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/os.h"
#include "ctf/record_length.h"
#include "record/ring.h"
#include "record/spare.h"

#define FIRST_PART_BYTES (UINT64_C(4) << 20)
#define LARGEST_PART_BYTES (UINT64_C(1) << 30)
#define LARGEST_WINDOW_BYTES (UINT64_C(128) << 10) /* a writer waits some 20 us for it */

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

/* Points the writer at a packet built before. The compiler must not move these stores before those. */
static void make_current(struct vv_writer *writer, struct vv_packet_header *packet)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    writer->packet = packet;
    writer->cursor = (uint8_t *)packet + sizeof *packet;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    writer->limit = (uint8_t *)packet + VV_PACKET_BYTES;
}

/* Extends the backed range by a window. A thread's first packet is always granted. */
static int back_more(struct vv_stream *stream, const char *path)
{
    int failure = vv_part_back(&stream->part, path, stream->window_bytes, stream->sequence == 0);
    if (failure == 0 && stream->window_bytes < LARGEST_WINDOW_BYTES)
        stream->window_bytes *= 2;
    return failure;
}

/* The process's own stream, instance 0, is not part of the ring. */
static uint64_t part_size(uint64_t instance, uint32_t number)
{
    uint64_t bytes = number < 3 ? FIRST_PART_BYTES << 3 * number : LARGEST_PART_BYTES;
    uint64_t allowed = vv_os_file_limit(), kept = vv_ring_part_bytes();
    if (instance != 0 && bytes > kept)
        bytes = kept;
    if (bytes > allowed)
        bytes = allowed - allowed % VV_PACKET_BYTES;
    return bytes;
}

static void set_number(struct vv_stream *stream, uint32_t number)
{
    stream->number = number;
    snprintf(stream->path + stream->base_length, 16, ".%u", number);
}

/* A part with its first packet backed, and the name that it has until that packet is built. */
static int make_part(struct vv_stream *stream, char *hidden, size_t capacity)
{
    uint64_t bytes = part_size(stream->instance, stream->number);
    if (bytes < VV_PACKET_BYTES)
        return EFBIG;
    if (stream->number == 0 && vv_spare_take(bytes, &stream->part, hidden, capacity))
        return 0;
    snprintf(hidden, capacity, "%.*s/.%s", (int)stream->folder_length, stream->path,
             stream->path + stream->folder_length + 1);
    int failure = vv_part_make(hidden, bytes, &stream->part);
    if (failure == 0)
        failure = back_more(stream, hidden);
    return failure;
}

/* Makes the file of this number with one empty packet, and then gives it its name. */
static int open_part(struct vv_stream *stream, struct vv_packet_header **out_packet)
{
    static char hidden[VV_STREAM_PATH_BYTES + 1]; /* under the lock: stacks may be small */
    int failure = make_part(stream, hidden, sizeof hidden);
    if (failure == 0) {
        *out_packet = build_packet(stream, 0);
        failure = vv_part_name(&stream->part, hidden, stream->path);
        if (failure == 0)
            return 0;
        stream->sequence--;
    }
    if (stream->part.map != NULL) {
        vv_part_return(stream->part.backed_bytes);
        vv_part_leave(&stream->part);
        vv_os_remove(hidden);
    }
    return failure;
}

static void forget_writer(struct vv_writer *writer)
{
    writer->limit = NULL; /* first: handlers find no room */
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    writer->cursor = NULL;
    writer->packet = NULL;
}

int vv_stream_open(struct vv_stream *stream, struct vv_writer *writer,
                   const struct vv_stream_identity *identity)
{
    memset(stream, 0, sizeof *stream);
    forget_writer(writer);
    int length = snprintf(stream->path, sizeof stream->path, "%s/%s", identity->folder,
                          identity->base);
    if (length < 0 || (size_t)length + 16 > sizeof stream->path)
        return ENAMETOOLONG;
    stream->base_length = (uint32_t)length;
    stream->folder_length = (uint32_t)strlen(identity->folder);
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

void vv_stream_prepare(const char *folder)
{
    vv_spare_fill(folder, part_size(1, 0));
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

/* Nobody new writes into it. Are we in a signal handler that came between the reservation of a record there and
 * its publication, then that record is still to come. */
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
    if (at + VV_PACKET_BYTES > stream->part.backed_bytes && back_more(stream, stream->path) != 0)
        return false;
    struct vv_packet_header *former = writer->packet;
    struct vv_packet_header *packet = build_packet(stream, at);
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

/* In the current part or a new one; a part that somebody has cut is left at once, and what was being stored
 * into it then is lost. */
static bool advance(struct vv_stream *stream, struct vv_writer *writer)
{
    /* A part that was cut may have grown again, by our own window: its packets are gone all the same. */
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
    if (room && stream->harmed) /* cut while the packet was built */
        room = advance(stream, writer);
    if (room)
        vv_stream_discard(stream, writer, 0); /* what handlers counted while the packet was built */
    else
        stream->retry_ticks = vv_clock_in_a_second(); /* disk full … */
    return room;
}

/* A handler may count between any two of these steps; the loop ends with the newest sum stored. */
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

/* Moves the records of [content, end) over the unfinished one at their begin. Returns the new end, in bits. */
static uint64_t close_gap(struct vv_packet_header *packet, uint64_t end_bits)
{
    uint64_t begin_bits = packet->content_bits;
    uint64_t *words = (uint64_t *)(void *)((uint8_t *)packet + begin_bits / 8);
    size_t count = (size_t)(end_bits - begin_bits) / 64, gap = 0;
    if (count == 0)
        return end_bits;
    /* A first word is stored before its fields. The length of one with a list may not be there yet: all stays
     * hidden. */
    if (vv_list_head_words((uint32_t)(words[0] & VV_ID_MASK)) != 0)
        return begin_bits;
    if (words[0] != 0)
        gap = vv_record_length(words, count);
    while (gap < count && words[gap] == 0)
        gap++;
    memmove(words, words + gap, (count - gap) * sizeof *words);
    memset(words + count - gap, 0, gap * sizeof *words);
    store_u64(&packet->content_bits, end_bits - gap * 64);
    return end_bits - gap * 64;
}

void vv_stream_settle(struct vv_writer *writer)
{
    writer->behind = 0;
    for (unsigned i = 0; i < LEFT_MAX; i++)
        if (writer->left[i] != NULL) {
            struct vv_packet_header *packet = writer->left[i];
            store_u64(&packet->reserved_bits, close_gap(packet, packet->reserved_bits));
            writer->left[i] = NULL;
        }
    if (writer->packet != NULL)
        writer->cursor = (uint8_t *)writer->packet + close_gap(writer->packet, cursor_bits(writer)) / 8;
}

void vv_stream_close(struct vv_stream *stream, struct vv_writer *writer)
{
    if (stream->part.map != NULL && writer->packet != NULL && !stream->harmed) {
        leave_packet(writer);
        uint64_t end = (uint64_t)(writer->cursor - stream->part.map);
        uint64_t bytes = vv_part_shrink(&stream->part, stream->path, end);
        if (stream->instance != 0)
            vv_ring_leave(stream->generation, stream->instance, stream->number, bytes);
    }
    forget_writer(writer);
    if (!vv_stream_awaits(writer)) {
        vv_part_leave(&stream->part);
        vv_part_leave(&stream->former);
    }
    stream->part = stream->former = (struct vv_part){ 0 };
}

void vv_stream_abandon(struct vv_stream *stream, struct vv_writer *writer)
{
    if (writer != NULL)
        forget_writer(writer);
    vv_part_abandon(&stream->part, writer != NULL);
    vv_part_abandon(&stream->former, writer != NULL);
}
