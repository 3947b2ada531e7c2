/* SPDX-License-Identifier: Apache-2.0 */
#include "record/stream.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/os.h"

#define FIRST_PART_BYTES (UINT64_C(4) << 20)
#define LARGEST_PART_BYTES (UINT64_C(1) << 30)
#define LARGEST_WINDOW_BYTES (UINT64_C(128) << 10) /* a writer waits some 20 us for it */
#define FORGET_STEP_BYTES (UINT64_C(8) << 20)
/* After a failure (disk full …) the file system is asked again about once a second. */
#define RETRY_TICKS (UINT64_C(1) << VV_CLOCK_SECOND_BITS)

/* Under the recorder's lock. */
static uint64_t bytes_max = UINT64_MAX, bytes_taken;

void vv_stream_limit(uint64_t max_bytes)
{
    bytes_max = max_bytes != 0 ? max_bytes : UINT64_MAX;
    bytes_taken = 0;
}

static inline void store_u64(uint64_t *to, uint64_t value)
{
    __atomic_store_n(to, value, __ATOMIC_RELEASE);
}

/* Builds an empty packet at `at` that reaches to the end of the part. */
static struct vv_packet_header *build_packet(struct vv_stream *stream, uint64_t at)
{
    struct vv_packet_header *packet = (struct vv_packet_header *)(stream->map + at);
    packet->stream_class = 0;
    packet->stream_instance = stream->instance;
    packet->reserved_bits = 0;
    packet->spare = 0;
    packet->content_bits = sizeof *packet * 8;
    packet->packet_bits = (stream->part_bytes - at) * 8;
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

/* Extends the backed range by a window, by less on a nearly full disk, to hold at least one more packet. */
static int back_more(struct vv_stream *stream, const char *path)
{
    uint64_t window = stream->window_bytes;
    if (window > stream->part_bytes - stream->backed_bytes)
        window = stream->part_bytes - stream->backed_bytes;
    /* A thread's first packet is always granted: its loss is counted there. */
    uint64_t left = bytes_taken < bytes_max ? bytes_max - bytes_taken : 0;
    if (window > left && stream->sequence > 0)
        window = left;
    for (;; window /= 2) {
        if (window < VV_PACKET_BYTES)
            return ENOSPC;
        window -= window % VV_PACKET_BYTES;
        int failure = vv_os_back(path, stream->map, stream->backed_bytes, window);
        if (failure == 0)
            break;
        if (failure != ENOSPC && failure != EDQUOT)
            return failure;
    }
    stream->backed_bytes += window;
    bytes_taken += window;
    if (stream->window_bytes < LARGEST_WINDOW_BYTES)
        stream->window_bytes *= 2;
    return 0;
}

static uint64_t part_size(uint32_t part)
{
    uint64_t bytes = part < 3 ? FIRST_PART_BYTES << 3 * part : LARGEST_PART_BYTES;
    uint64_t allowed = vv_os_file_limit();
    if (bytes > allowed)
        bytes = allowed - allowed % VV_PACKET_BYTES;
    return bytes;
}

static void set_part(struct vv_stream *stream, uint32_t part)
{
    stream->part = part;
    snprintf(stream->path + stream->path_length, 16, ".%u", part);
    snprintf(stream->hidden + stream->hidden_length, 16, ".%u", part);
}

/* Makes the file of stream->part with one empty packet, and then gives it its name. */
static int open_part(struct vv_stream *stream, struct vv_packet_header **out_packet)
{
    uint64_t bytes = part_size(stream->part);
    if (bytes < VV_PACKET_BYTES)
        return EFBIG;
    int failure = vv_os_create_mapped(stream->hidden, bytes, &stream->map);
    if (failure != 0)
        return failure;
    stream->part_bytes = bytes;
    stream->backed_bytes = 0;
    stream->forgotten_bytes = 0;
    failure = back_more(stream, stream->hidden);
    if (failure == 0) {
        *out_packet = build_packet(stream, 0);
        failure = vv_os_replace(stream->hidden, stream->path);
        if (failure == 0)
            return 0;
        stream->sequence--;
    }
    vv_os_unmap(stream->map, bytes);
    stream->map = NULL;
    vv_os_remove(stream->hidden);
    return failure;
}

int vv_stream_open(struct vv_stream *stream, struct vv_writer *writer,
                   const struct vv_stream_identity *identity)
{
    memset(stream, 0, sizeof *stream);
    memset(writer, 0, sizeof *writer);
    int length = snprintf(stream->path, sizeof stream->path, "%s/%s", identity->folder,
                          identity->base);
    int hidden = snprintf(stream->hidden, sizeof stream->hidden, "%s/.%s", identity->folder,
                          identity->base);
    if (length < 0 || hidden < 0 || (size_t)hidden + 16 > sizeof stream->hidden)
        return ENAMETOOLONG;
    stream->path_length = (uint32_t)length;
    stream->hidden_length = (uint32_t)hidden;
    stream->instance = identity->instance;
    stream->tid = identity->tid;
    stream->window_bytes = VV_PACKET_BYTES;
    set_part(stream, 0);
    struct vv_packet_header *packet;
    int failure = open_part(stream, &packet);
    if (failure == 0)
        make_current(writer, packet);
    return failure;
}

/* Once the packet is left nobody new writes into it; a record interrupted in the middle ends there. */
static void leave_packet(struct vv_writer *writer)
{
    uint64_t end = (uint64_t)(writer->cursor - (uint8_t *)writer->packet);
    writer->packet->reserved_bits = end * 8;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

static bool advance_in_part(struct vv_stream *stream, struct vv_writer *writer, uint64_t at)
{
    if (at + VV_PACKET_BYTES > stream->backed_bytes && back_more(stream, stream->path) != 0)
        return false;
    struct vv_packet_header *former = writer->packet;
    struct vv_packet_header *packet = build_packet(stream, at);
    leave_packet(writer);
    /* Until this store the former packet spans the new one; after it both are whole. */
    store_u64(&former->packet_bits, VV_PACKET_BYTES * 8);
    make_current(writer, packet);
    if (at - stream->forgotten_bytes >= 2 * FORGET_STEP_BYTES) {
        vv_os_forget(stream->map + stream->forgotten_bytes, FORGET_STEP_BYTES);
        stream->forgotten_bytes += FORGET_STEP_BYTES;
    }
    return true;
}

static bool advance_to_new_part(struct vv_stream *stream, struct vv_writer *writer)
{
    uint8_t *map = stream->map;
    const uint64_t part_bytes = stream->part_bytes, backed_bytes = stream->backed_bytes;
    const uint64_t forgotten_bytes = stream->forgotten_bytes;
    struct vv_packet_header *packet;
    set_part(stream, stream->part + 1);
    if (open_part(stream, &packet) != 0) {
        set_part(stream, stream->part - 1);
        stream->map = map;
        stream->part_bytes = part_bytes;
        stream->backed_bytes = backed_bytes;
        stream->forgotten_bytes = forgotten_bytes;
        return false;
    }
    leave_packet(writer);
    make_current(writer, packet);
    if (stream->former_map != NULL)
        vv_os_unmap(stream->former_map, stream->former_bytes);
    stream->former_map = map;
    stream->former_bytes = part_bytes;
    vv_os_forget(map, part_bytes);
    return true;
}

bool vv_stream_advance(struct vv_stream *stream, struct vv_writer *writer)
{
    if (stream->retry_ticks != 0) {
        if (vv_clock_ticks() < stream->retry_ticks)
            return false;
        stream->retry_ticks = 0;
    }
    uint64_t next = (uint64_t)((uint8_t *)writer->packet - stream->map) + VV_PACKET_BYTES;
    bool room = next + VV_PACKET_BYTES <= stream->part_bytes
                    ? advance_in_part(stream, writer, next)
                    : advance_to_new_part(stream, writer);
    if (room)
        vv_stream_discard(stream, writer, 0); /* what handlers counted while the packet was built */
    else
        stream->retry_ticks = vv_clock_ticks() + RETRY_TICKS;
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

void vv_stream_close(struct vv_stream *stream, struct vv_writer *writer)
{
    if (stream->map != NULL && writer->packet != NULL) {
        uint64_t end = (uint64_t)((uint8_t *)writer->packet - stream->map) +
                       writer->packet->content_bits / 8;
        end = (end + 4095) & ~UINT64_C(4095);
        if (end < stream->backed_bytes &&
            vv_os_punch(stream->path, end, stream->backed_bytes - end) == 0)
            bytes_taken -= stream->backed_bytes - end;
    }
    vv_stream_abandon(stream, writer);
}

void vv_stream_abandon(struct vv_stream *stream, struct vv_writer *writer)
{
    writer->limit = NULL;
    writer->cursor = NULL;
    writer->packet = NULL;
    if (stream->map != NULL)
        vv_os_unmap(stream->map, stream->part_bytes);
    if (stream->former_map != NULL)
        vv_os_unmap(stream->former_map, stream->former_bytes);
    stream->map = NULL;
    stream->former_map = NULL;
}
