/* SPDX-License-Identifier: Apache-2.0 */
/* perfetto.h — what the parts of the reader of Perfetto's protobuf traces share. doc/formats.md
 * says what is read.
 *
 *     perfetto.c          the file: a list of packets; the probe
 *     perfetto/packet.c   one packet: the state of its sequence, then its content
 *     perfetto/clock.c    the clocks of a trace, connected by snapshots
 *     perfetto/event.c    one track event
 *     perfetto/legacy.c   events that Chrome wrote before there were tracks
 *     perfetto/args.c     converts debug annotations to arguments
 *     perfetto/track.c    converts descriptors of tracks to processes and tracks of the model
 *     perfetto/join.c     joins begins with ends, and flows, when all packets are read
 *
 * Interned names and defaults hold from one packet of a sequence to the next, so packets are read
 * in the order of the file. Descriptors may come after the events that need them, so events are
 * placed last, in order of time. */
#ifndef VV_IMPORT_PERFETTO_PERFETTO_H
#define VV_IMPORT_PERFETTO_PERFETTO_H

#include "base/text/protobuf.h"
#include "import/input/format.h"
#include "import/input/window.h"
#include "import/perfetto/fields.h"
#include "import/rows/key_map.h"

/* ---- clocks ---- */

enum { VV_PERFETTO_REALTIME = 1, VV_PERFETTO_MONOTONIC = 3, VV_PERFETTO_BOOTTIME = 6 };

struct vv_perfetto_reading {
    uint32_t snapshot;      /* number of the snapshot                                           */
    int64_t time_ns;
};

struct vv_perfetto_clock {
    uint64_t key;
    struct vv_perfetto_reading *readings; /* in order of snapshots                              */
    size_t count, capacity;
    uint64_t multiplier_ns;
    int64_t last_ns;        /* base of the next packet's timestamp, if is_incremental           */
    bool is_incremental;
};

struct vv_perfetto_clocks {
    struct vv_key_map ids;   /* key -> index in the list of clocks                               */
    struct vv_perfetto_clock *items;
    size_t count, capacity;
    uint32_t snapshot_count;
    uint64_t trace_clock;   /* key of the clock that all times are converted to                 */
};

/* ---- sequences ---- */

enum vv_perfetto_interned {
    VV_PERFETTO_CATEGORIES, VV_PERFETTO_EVENT_NAMES, VV_PERFETTO_ANNOTATION_NAMES,
    VV_PERFETTO_STRING_VALUES, VV_PERFETTO_SOURCES, VV_PERFETTO_INTERNED_COUNT
};

struct vv_perfetto_uuids {
    uint64_t *items;
    size_t count, capacity;
};

struct vv_perfetto_sequence {
    struct vv_key_map interned[VV_PERFETTO_INTERNED_COUNT]; /* iid -> string, or for sources ->
                                                               row */
    struct vv_key_map counters;       /* uuid -> index in counter_values                         */
    double *counter_values;          /* of counters whose values are differences                */
    size_t counter_count, counter_capacity;
    struct vv_perfetto_uuids extra_integers, extra_reals; /* tracks of values that come with other
                                                             events */
    uint64_t default_clock, default_track;
    bool has_default_clock, has_default_track;
    bool is_broken;                  /* packets are missing since the state was last cleared    */
    bool has_thread;                 /* a packet of its own described the thread, as Chrome wrote
                                        it */
    int64_t pid, tid, reference_us;
    int64_t last_ns;                 /* time of its last packet with a timestamp                */
};

/* ---- tracks ---- */

struct vv_perfetto_track {
    uint64_t uuid, parent;
    uint32_t name, thread_name, process_name; /* strings                                        */
    int64_t pid, tid;
    bool has_parent, has_process, has_thread, has_counter, is_incremental, is_async;
    int64_t multiplier;
    int32_t sort_index;
    uint32_t row;                    /* row in the model, after the last packet; VV_NONE        */
};

/* ---- events ---- */

enum vv_perfetto_event_kind {
    VV_PERFETTO_BEGIN, VV_PERFETTO_END, VV_PERFETTO_COMPLETE, VV_PERFETTO_INSTANT, VV_PERFETTO_VALUE
};

struct vv_perfetto_event {
    int64_t time_ns, duration_ns;
    double value;                    /* value of a counter                                      */
    uint32_t track;                  /* index in tracks                                         */
    uint32_t name, category;         /* strings                                                 */
    uint32_t first_arg;
    uint16_t arg_count;
    uint8_t kind;                    /* enum vv_perfetto_event_kind                             */
    bool is_extra;                   /* a counter's value that came with another event          */
    uint32_t source;                 /* row in sources; 0 = none                                */
};

enum vv_perfetto_flow_space { VV_PERFETTO_FLOW, VV_PERFETTO_BIND, VV_PERFETTO_LEGACY_FLOW };

struct vv_perfetto_flow_end {
    uint64_t id;
    int64_t time_ns;
    uint32_t track, name;            /* index in tracks; string                                 */
    uint8_t space;                   /* enum vv_perfetto_flow_space: equal ids mean one flow only
                                        within a space */
    bool is_last;
};

/* ---- the reader ---- */

#define VV_PERFETTO_OTHERS 255u /* in `passed`: counts fields from this number on together      */

struct vv_perfetto {
    const struct vv_import_job *job;
    struct vv_model *model;
    struct vv_perfetto_clocks clocks;
    struct vv_key_map sequence_ids;
    struct vv_perfetto_sequence *sequences;
    size_t sequence_count, sequence_capacity;
    struct vv_key_map track_ids;      /* uuid -> index in tracks                                 */
    struct vv_perfetto_track *tracks;
    size_t track_count, track_capacity;
    struct vv_perfetto_event *events;
    size_t event_count, event_capacity;
    struct vv_perfetto_flow_end *flow_ends;
    size_t flow_end_count, flow_end_capacity;
    uint64_t passed[VV_PERFETTO_OTHERS + 1]; /* field -> number of packets that were not read
                                                because of it */
    char *text;                      /* scratch                                                 */
    size_t text_capacity;
    unsigned depth;                  /* depth of packets inside packets                         */
};

/* perfetto/packet.c */
enum varve_code vv_perfetto_packet_read(struct vv_perfetto *reader, struct vv_protobuf *packet,
                                        struct varve_error *error);

/* The key of a clock. A clock with an id from 64 to 127 belongs to its sequence.
 * perfetto/clock.c */
uint64_t vv_perfetto_clock_key(uint64_t clock_id, uint32_t sequence_id);
enum varve_code vv_perfetto_snapshot_read(struct vv_perfetto *reader, struct vv_protobuf *snapshot,
                                          uint32_t sequence_id, struct varve_error *error);
/* The timestamp of a packet in the trace's clock. False: no snapshot connects the clocks. */
VV_MUST_USE bool vv_perfetto_time(struct vv_perfetto_clocks *clocks, uint64_t key,
                                  uint64_t timestamp, int64_t *out_ns);
/* The difference to add to the trace's clock for the time since 1970; 0 if no snapshot states
 * it. */
int64_t vv_perfetto_epoch_offset(struct vv_perfetto_clocks *clocks);
void vv_perfetto_clocks_deinit(struct vv_perfetto_clocks *clocks);

/* Reads one track event. Its packet has time_ns. perfetto/event.c */
enum varve_code vv_perfetto_event_read(struct vv_perfetto *reader,
                                       struct vv_perfetto_sequence *sequence,
                                       struct vv_protobuf *message, int64_t time_ns,
                                       struct varve_error *error);

/* Changes the event to what its LegacyEvent, `message`, says. *out_is_read is false if the phase is
 * not read. perfetto/legacy.c */
enum varve_code vv_perfetto_legacy(struct vv_perfetto *reader,
                                   struct vv_perfetto_sequence *sequence,
                                   struct vv_protobuf message, struct vv_perfetto_event *event,
                                   bool *out_is_read, struct varve_error *error);

/* Appends an annotation to args. `message` has just read the bytes field that holds it.
 * perfetto/args.c */
enum varve_code vv_perfetto_annotation(struct vv_perfetto *reader,
                                       const struct vv_perfetto_sequence *sequence,
                                       const struct vv_protobuf *message,
                                       struct varve_error *error);
enum varve_code vv_perfetto_arg(struct vv_perfetto *reader, const char *key, uint64_t value,
                                enum vv_arg_kind kind, struct varve_error *error);
/* The string of a field's bytes. Bytes that are not UTF-8 are replaced. */
enum varve_code vv_perfetto_text(struct vv_perfetto *reader, const struct vv_protobuf *field,
                                 uint32_t *out_text, struct varve_error *error);

/* The index of a track, which is added if it is new. perfetto/track.c */
enum varve_code vv_perfetto_track(struct vv_perfetto *reader, uint64_t uuid, uint32_t *out_item,
                                  struct varve_error *error);
enum varve_code vv_perfetto_thread_track(struct vv_perfetto *reader, int64_t pid, int64_t tid,
                                         uint32_t *out_item, struct varve_error *error);
enum varve_code vv_perfetto_track_read(struct vv_perfetto *reader, struct vv_protobuf *descriptor,
                                       struct varve_error *error);
/* Reads a descriptor of a process or thread that has a packet of its own. */
enum varve_code vv_perfetto_thread_read(struct vv_perfetto *reader,
                                        struct vv_perfetto_sequence *sequence,
                                        struct vv_protobuf *thread, struct varve_error *error);
enum varve_code vv_perfetto_process_read(struct vv_perfetto *reader, struct vv_protobuf *process,
                                         struct varve_error *error);
/* Gives a row of the model to each track that events or flows are on. */
enum varve_code vv_perfetto_tracks_place(struct vv_perfetto *reader, struct varve_error *error);

/* Keeps the flow's end at this event until all packets are read. perfetto/join.c */
enum varve_code vv_perfetto_flow_end(struct vv_perfetto *reader,
                                     const struct vv_perfetto_event *event, uint64_t id,
                                     enum vv_perfetto_flow_space space, bool is_last,
                                     struct varve_error *error);
enum varve_code vv_perfetto_join(struct vv_perfetto *reader, struct varve_error *error);

#endif
