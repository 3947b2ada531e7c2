/* SPDX-License-Identifier: Apache-2.0 */
/* stream.h — one stream of packets, memory-mapped: the file is the buffer (doc/format.md §4).
 *
 * A stream belongs to one thread; the process's own stream to whoever holds vv_record_lock. All
 * functions run on the owner, never in the hot path. They allocate nothing, keep no descriptor, and
 * may fail only into "no room", which the caller counts.
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

/* The open packet as the hot path sees it. cursor == limit == NULL: none. */
struct vv_writer {
    uint8_t *cursor;                 /* next free byte; moved by compare-and-swap (record/hot_path.h)      */
    uint8_t *limit;                  /* end of the packet                                        */
    struct vv_packet_header *packet; /* the packet that holds cursor                             */
    uint32_t behind;                 /* not 0: signal handlers left records, or packets, that the
                                        writer they interrupted has to publish (record/hot_path.h)         */
    struct vv_packet_header *left[4]; /* those packets: they stay mapped until then; NULL = none  */
};

struct vv_stream {
    struct vv_own_folder folder;
    char name[VV_STREAM_NAME_BYTES]; /* of the current part: "BASE.PART"                         */
    uint32_t base_length;            /* of "BASE"                                                */
    uint32_t number;                 /* of the current part                                      */
    struct vv_part part;             /* map NULL = the stream is closed                          */
    struct vv_part former;           /* should an interrupted record end there                   */
    uint64_t window_bytes;           /* how much to back next                                    */
    uint64_t instance, tid;
    uint64_t sequence;               /* of the next packet                                       */
    uint64_t discarded;              /* records lost so far                                      */
    uint64_t retry_ticks;            /* after a failure: not before this                         */
    uint64_t packet_at;              /* where in the part the open packet begins                 */
    uint32_t generation;             /* vv_ring_generation                                       */
    bool ended;                      /* with its session: vv_stream_end                          */
    bool harmed;                     /* somebody cut the file; set by record/sigbus.c's handler           */
};

struct vv_stream_identity {
    const struct vv_own_folder *folder;
    const char *base;   /* "thread.7"                                                          */
    uint64_t instance, tid;
};

/* Makes part 0 and its first packet. `writer` is all zeros before its first stream; what handlers left in it
 * outlives a stream. On failure the stream is closed and `writer` empty. Returns 0 or an errno number. */
VV_MUST_USE int vv_stream_open(struct vv_stream *stream, struct vv_writer *writer,
                               const struct vv_stream_identity *identity);

/* Leaves the full packet and opens the next one, in this part or a new one. False: no room now. */
VV_MUST_USE bool vv_stream_advance(struct vv_stream *stream, struct vv_writer *writer);

/* Counts `records` as lost, in the file. Safe in a signal handler of the owner. */
void vv_stream_discard(struct vv_stream *stream, struct vv_writer *writer, uint64_t records);

/* Gives back what was backed ahead and unmaps, save where an interrupted record will yet be stored: then
 * vv_stream_unmap is to come when the writer awaits none. The writer becomes empty. Of a stream that has ended
 * nothing is stored into the file, unless a record is unfinished there. */
void vv_stream_close(struct vv_stream *stream, struct vv_writer *writer);
void vv_stream_unmap(struct vv_stream *stream);

/* By another thread than the owner, which may be inside a record: its session ends. Gives back what is backed behind
 * the open packet; the owner opens none any more. */
void vv_stream_end(struct vv_stream *stream);

/* The interrupted writer is back: publishes all of `packet` if a handler left it before it was. Any other packet
 * that was left may not be mapped any more, and is not touched. */
void vv_stream_publish_left(struct vv_writer *writer, struct vv_packet_header *packet);
/* Is there a packet that was left so? */
bool vv_stream_awaits(const struct vv_writer *writer);

/* The owner never returns into a record that was interrupted (it was cancelled, or ends inside a handler): moves
 * what was recorded since over its place, and publishes it up to a second such record, should handlers have jumped. */
void vv_stream_settle(struct vv_writer *writer);
/* What handlers left unfinished is given up: it stays hidden. */
void vv_writer_await_none(struct vv_writer *writer);

/* Makes a first part for a thread to come, if there are too few (record/stream/prepared_part.h). */
void vv_stream_prepare(const struct vv_own_folder *folder);

/* Unmaps, touching no file: for a forked child. `is_own`: the calling thread's; in its place there is memory then,
 * should fork have been called by a signal handler. */
void vv_stream_abandon(struct vv_stream *stream, bool is_own);
/* The writer has no packet any more; what handlers left in it stays. */
void vv_writer_forget(struct vv_writer *writer);

#endif
