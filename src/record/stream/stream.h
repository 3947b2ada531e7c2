/* SPDX-License-Identifier: Apache-2.0 */
/* stream.h — one stream of packets, memory-mapped: the file is the buffer (doc/format.md §4).
 *
 * A stream belongs to one thread. The process's own stream belongs to the thread that holds
 * vv_recorder_lock. Except vv_stream_end, all functions run on the owner, never in the hot path.
 * The functions allocate nothing and keep no descriptor. A function fails only because there is no
 * room; the caller counts that.
 *
 * Invariants, at every instant, so that a kill at any instruction leaves a whole file:
 *   - a file appears under its name (rename) only when its first packet is whole;
 *   - its size never changes afterwards; the last packet reaches to its end;
 *   - no byte is stored where the file has no block yet (no SIGBUS on a full disk):
 *         limit <= map + backed_bytes. */
#ifndef VV_RECORD_STREAM_STREAM_H
#define VV_RECORD_STREAM_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "ctf/layout.h"
#include "record/stream/part.h"

#define VV_STREAM_NAME_BYTES 48

/* The open packet as the hot path sees it. If cursor and limit are NULL, no packet is open. */
struct vv_writer {
    uint8_t *cursor;                 /* next free byte; compare-and-swap moves it */
    uint8_t *limit;                  /* end of the packet                                        */
    struct vv_packet_header *packet; /* the packet that holds cursor                             */
    /* Not 0: signal handlers left records or packets, and the writer that they interrupted has to
     * publish them (record/hot_path.h). */
    uint32_t behind;
    struct vv_packet_header *left[4]; /* packets left so, still mapped; NULL = none */
};

struct vv_stream {
    struct vv_own_folder folder;
    char name[VV_STREAM_NAME_BYTES]; /* name of the current part: "BASE.PART"                    */
    uint32_t base_length;            /* length of "BASE"                                         */
    uint32_t number;                 /* number of the current part                               */
    struct vv_part part;             /* if map is NULL, the stream is closed                     */
    struct vv_part former;           /* part before, where an interrupted record may end         */
    uint64_t window_bytes;           /* bytes to back next time                                  */
    uint64_t instance, tid;
    uint64_t sequence;               /* sequence of the next packet                              */
    uint64_t discarded;              /* records lost so far                                      */
    uint64_t retry_ticks;            /* after a failure: the time of the next try                */
    uint64_t packet_at;              /* offset of the open packet in the part                    */
    uint32_t generation;             /* vv_ring_generation at vv_stream_open                     */
    bool ended;                      /* its session has ended: vv_stream_end                     */
    bool harmed;                     /* somebody cut the file; set by record/sigbus.c's handler */
};

struct vv_stream_identity {
    const struct vv_own_folder *folder;
    const char *base;   /* "thread.7"                                                          */
    uint64_t instance, tid;
};

/* Makes part 0 and its first packet. Before its first stream `writer` is all zeros. Packets that
 * handlers left in `writer` stay there from one stream to the next. On failure the stream is closed
 * and `writer` has no packet. Returns 0 or an errno number. */
VV_MUST_USE int vv_stream_open(struct vv_stream *stream, struct vv_writer *writer,
                               const struct vv_stream_identity *identity);

/* Leaves the full packet and opens the next one, in this part or in a new one. False: there is no
 * room now. */
VV_MUST_USE bool vv_stream_advance(struct vv_stream *stream, struct vv_writer *writer);

/* Counts `records` as lost, in the file. The owner may call it in a signal handler. */
void vv_stream_discard(struct vv_stream *stream, struct vv_writer *writer, uint64_t records);

/* Gives back the blocks that were backed in advance, and unmaps the file. The file stays mapped if
 * an interrupted record will still be stored there: then the caller calls vv_stream_unmap when
 * `writer` awaits no record. Afterwards `writer` has no packet. Into the file of a stream that has
 * ended nothing is stored, unless a record is unfinished there. */
void vv_stream_close(struct vv_stream *stream, struct vv_writer *writer);
void vv_stream_unmap(struct vv_stream *stream);

/* Ends a stream with its session, from another thread. The owner may be inside a record. Gives back
 * what is backed behind the open packet; the owner opens no further packet. */
void vv_stream_end(struct vv_stream *stream);

/* The interrupted writer goes on: publishes all of `packet` if a handler left `packet` before that
 * writer had published. Touches no other packet that was left: it may not be mapped any more. */
void vv_stream_publish_left(struct vv_writer *writer, struct vv_packet_header *packet);
/* Is there a packet that was left before its records were published? */
bool vv_stream_awaits(const struct vv_writer *writer);

/* Settles records that were interrupted and that the owner will never finish: it was cancelled, or
 * ends inside a handler. Moves the records made since over the place of the unfinished one, and
 * publishes them. If handlers have jumped and there is a second unfinished record, the rest from
 * there stays hidden. */
void vv_stream_settle(struct vv_writer *writer);
/* Gives up the records that handlers left unfinished: they stay hidden. */
void vv_writer_await_none(struct vv_writer *writer);

/* Makes a first part for a future thread, if there are too few (record/stream/prepared_part.h). */
void vv_stream_prepare(const struct vv_own_folder *folder);

/* Unmaps without touching a file, in a forked child. `is_own`: the stream is the calling thread's,
 * and memory takes the place of the file, because a signal handler may have called fork inside a
 * record. */
void vv_stream_abandon(struct vv_stream *stream, bool is_own);
/* Takes the open packet away from the writer. Packets that handlers left in the writer stay
 * there. */
void vv_writer_forget(struct vv_writer *writer);

#endif
