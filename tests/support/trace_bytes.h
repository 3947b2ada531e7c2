/* SPDX-License-Identifier: Apache-2.0 */
/* trace_bytes.h — traces made byte by byte from doc/format.md, for the tests of src/import.
 *
 * The clock runs at 1 GHz from EPOCH_NS, so time_ns = EPOCH_NS + ticks. */
#ifndef TESTS_UNIT_IMPORT_TRACE_BYTES_H
#define TESTS_UNIT_IMPORT_TRACE_BYTES_H

#include <stddef.h>
#include <stdint.h>

#include "import/importer.h"

#define EPOCH_NS INT64_C(1763700000000000000)
#define PROCESS "100"

/* Event classes of `trace_metadata`. */
enum { CONV = 64, CONV_NEXT = 65, LOSS = 75, COPY_BEGIN = 84, COPY_END = 85, SEND = 94,
       SEND_IN = 95,
       FORWARD = 96, HERE = 106, FUTURE = 40, ODD = 41 };
extern const char trace_metadata[];

struct stream_bytes {
    uint64_t words[40000];
    size_t count, packet; /* packet: the first word of the open one                             */
};

struct trace {
    char path[64];
};

/* Makes the trace's folder with one process folder and its metadata; "" = none. */
void trace_make(struct trace *trace, const char *metadata);
/* `name` is below the trace's folder, as in "100/thread.1.0". */
void trace_write(const struct trace *trace, const char *name, const void *data, size_t bytes);
void trace_remove(struct trace *trace);
enum varve_code trace_import(const struct trace *trace, struct vv_model **out_model,
                             struct varve_error *error);

void stream_packet(struct stream_bytes *stream, uint64_t instance, uint64_t begin_ticks,
                   uint64_t sequence, uint64_t discarded);
/* Leaves the packet: it measures `packet_bytes`, or ends with its records for 0. */
void stream_leave(struct stream_bytes *stream, size_t packet_bytes);
void stream_record(struct stream_bytes *stream, uint32_t id, uint64_t ticks,
                   const uint64_t *payload, size_t payload_words);
void stream_string(struct stream_bytes *stream, uint64_t ticks, uint32_t id, const char *text);
#define RECORD(stream, id, ticks, ...)                                        \
    stream_record((stream), (id), (ticks), (const uint64_t[]){ __VA_ARGS__ }, \
                  sizeof((const uint64_t[]){ __VA_ARGS__ }) / 8)
#define BARE(stream, id, ticks) stream_record((stream), (id), (ticks), NULL, 0)

/* process.0 with no more than its header, and one thread's stream; imports and takes the folder
 * away. */
enum varve_code import_thread(struct stream_bytes *thread, struct vv_model **out_model,
                              struct varve_error *error);

/* Empties the stream and begins a thread's first packet, at tick 1000. */
void begin_thread(struct stream_bytes *thread);
/* As import_thread, where it must succeed without a word. */
struct vv_model *import_whole(struct stream_bytes *thread);

/* The row of the slice of that name; fails the test if there is none. */
uint32_t slice_named(const struct vv_model *model, const char *name);

#endif
