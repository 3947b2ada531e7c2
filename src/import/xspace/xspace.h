/* SPDX-License-Identifier: Apache-2.0 */
/* xspace.h — the parts of the reader of TensorFlow's and JAX's XSpace (.xplane.pb), among themselves. What is read and
 * where it goes: doc/formats.md.
 *
 *     xspace.c          the file: planes, the environment, errors and hosts
 *     xspace/plane.c    one plane: its metadata, its process, its lines
 *     xspace/line.c     one line: its events, in pieces
 *     xspace/parallel.c     pieces of many lines, decoded by several threads
 *     xspace/append.c   what they found, put into the model
 *     xspace/event.c    one event: a slice, a memory event, a counter …
 *     xspace/slice.c    what a slice has besides: an operator, device work, a step
 *     xspace/stat.c     one statistic: a typed value, an argument or a fact
 *     xspace/shape.c    "f32[8,128]{1,0}" to tensors
 *     xspace/flow.c     the two ends of flows joined, after the last plane
 *     xspace/words.c    what names of planes, lines, events and statistics mean
 *     xspace/json.c     the same message as protobuf JSON
 *
 * Within a plane lines precede the metadata that gives their events names, so a plane is passed over once for where its
 * parts lie, and these are then read in the order they are needed in.
 *
 * Events are decoded into tables of a chunk's own, which are then appended to the model's. So threads share nothing, the
 * model is the same however many there are, and its columns are written in long runs, and only where somebody filled them. */
#ifndef VV_IMPORT_XSPACE_XSPACE_H
#define VV_IMPORT_XSPACE_XSPACE_H

#include "base/array.h"
#include "import/input/format.h"
#include "import/input/window.h"
#include "import/rows/key_map.h"
#include "model/columns.h"

/* ---- what names mean: xspace/words.c ---- */

enum vv_xspace_plane_kind {
    VV_XSPACE_HOST,        /* threads of the process that was profiled                          */
    VV_XSPACE_DEVICE,
    VV_XSPACE_ENVIRONMENT, /* when profiling began                                              */
    VV_XSPACE_OTHER        /* rows of its own                                                   */
};

struct vv_xspace_plane_word {
    const char *prefix;
    bool is_whole;         /* the name is the prefix and nothing more                           */
    uint8_t kind;          /* enum vv_xspace_plane_kind                                         */
    uint8_t device_kind;   /* VARVE_DEVICE_KIND_                                                */
    uint8_t activity;      /* of what a device does, where its line does not say                */
};

/* How the events of a line are read. */
struct vv_xspace_line_word {
    const char *prefix;
    uint16_t layer;
    uint8_t activity;      /* enum vv_activity_kind                                             */
    bool is_steps;         /* its events are steps                                              */
};

/* Statistics that fill a column, or say what kind of event it is. */
enum vv_xspace_role {
    VV_XSPACE_ARGUMENT, /* none: it is an argument                                              */
    VV_XSPACE_CORRELATION, VV_XSPACE_CONTEXT, VV_XSPACE_FLOPS, VV_XSPACE_BYTES_ACCESSED,
    VV_XSPACE_CATEGORY, VV_XSPACE_SHAPE, VV_XSPACE_SOURCE, VV_XSPACE_HLO_OP,
    VV_XSPACE_STEP, VV_XSPACE_GROUP, VV_XSPACE_ROOT,
    VV_XSPACE_FLOW, VV_XSPACE_PRODUCER_TYPE, VV_XSPACE_PRODUCER, VV_XSPACE_CONSUMER_TYPE,
    VV_XSPACE_CONSUMER,
    VV_XSPACE_COPY_DETAILS, VV_XSPACE_SET_DETAILS,
    VV_XSPACE_ADDRESS, VV_XSPACE_ALLOCATION_BYTES, VV_XSPACE_ALLOCATED_BYTES,
    VV_XSPACE_RESERVED_BYTES, VV_XSPACE_FRAGMENTATION, VV_XSPACE_ALLOCATOR, VV_XSPACE_DEVICE_ORDINAL,
    VV_XSPACE_START_TIME,
    VV_XSPACE_ROLE_COUNT
};

/* When a statistic with a role is not an argument as well. */
enum vv_xspace_use { VV_XSPACE_KEEP, VV_XSPACE_TAKE, VV_XSPACE_TAKE_OF_MEMORY, VV_XSPACE_TAKE_OF_WORK };

struct vv_xspace_stat_word {
    const char *name;
    uint8_t role;          /* enum vv_xspace_role                                               */
    uint8_t use;           /* enum vv_xspace_use                                                */
    bool is_text;          /* its value is a text; else a number                                */
};

enum vv_xspace_event_class {
    VV_XSPACE_PLAIN, VV_XSPACE_ALLOCATION, VV_XSPACE_DEALLOCATION, VV_XSPACE_COPY, VV_XSPACE_SET
};

const struct vv_xspace_plane_word *vv_xspace_plane_word(const char *name);
const struct vv_xspace_line_word *vv_xspace_line_word(const char *name);
/* 0, the word of VV_XSPACE_ARGUMENT, for a name that has no role. */
uint32_t vv_xspace_stat_index(const char *name);
extern const struct vv_xspace_stat_word vv_xspace_stat_words[];
enum vv_xspace_event_class vv_xspace_event_class(const char *name);
uint16_t vv_xspace_host_layer(const char *name, bool has_display_name);
/* "all_reduce", or NULL. */
const char *vv_xspace_collective(const char *name, const char *category);
/* "tf_executor": what makes a flow of this type. */
const char *vv_xspace_context_type(uint64_t type);
/* The first number behind "KEY:" in "kind:H2D size:512"; 0 = there is none. */
uint64_t vv_xspace_details_bytes(const char *details);

/* ---- values ---- */

/* Numbers are int64_t, texts ids in model->strings, a share the bits of a double. */
struct vv_xspace_values {
    uint32_t set;          /* a bit for each role that has an item                              */
    int64_t items[VV_XSPACE_ROLE_COUNT];
};

static inline bool vv_xspace_has(const struct vv_xspace_values *values, enum vv_xspace_role role)
{
    return (values->set >> role & 1) != 0;
}

/* What becomes columns of an operator. */
#define VV_XSPACE_OP_ROLES                                                                          \
    (UINT32_C(1) << VV_XSPACE_SHAPE | UINT32_C(1) << VV_XSPACE_FLOPS | UINT32_C(1) << VV_XSPACE_BYTES_ACCESSED)

struct vv_xspace_shape {
    uint32_t text;         /* string, as in ops.shapes                                          */
    uint32_t first_tensor, tensor_count;
};

struct vv_xspace_stat_kind {
    uint32_t name;         /* string                                                            */
    uint8_t role, use;     /* as in the word                                                    */
    bool is_text;
};

/* What all events of one metadata entry have in common. */
struct vv_xspace_event_kind {
    uint32_t name;         /* string                                                            */
    uint32_t first_arg;    /* rows in args: shared by events that have no others                */
    uint16_t arg_count;
    uint16_t host_layer;
    uint8_t event_class;   /* enum vv_xspace_event_class                                        */
    bool is_number;        /* its name is one: of a step                                        */
    bool is_plain;         /* of an event without statistics a slice is made, and nothing besides */
    uint32_t collective;   /* string; 0 = it is none                                            */
    uint32_t source;       /* row in sources, of values; 0 = none                               */
    uint32_t op;           /* row in ops: shared by events that say no more; VV_NONE            */
    struct vv_xspace_values values; /* behind what every event needs                            */
    struct vv_xspace_shape shape;   /* of values; text 0 = none                                 */
    const char *text;      /* the name                                                          */
    int64_t number;
};

/* ---- state ---- */

/* One end of a flow: where a slice begins. */
struct vv_xspace_end {
    uint64_t id;
    uint32_t slice;        /* row                                                               */
    uint8_t type;          /* of context                                                        */
    bool is_flow;          /* statistic `flow`, not producer and consumer                       */
    bool is_out, is_in;
};

/* Where what is read goes: the tables of the model itself, or a chunk's own. */
struct vv_xspace_sink {
    struct vv_xspace *space;
    struct vv_model *rows;
    VV_ARRAY_OF(struct vv_xspace_end) ends;
    char *text;                  /* scratch                                                     */
    size_t text_capacity;
    size_t bytes_max;            /* that are kept of the statistic at hand, if it is bytes      */
};

struct vv_xspace_span {
    uint64_t begin, end;   /* in the file; the end may lie behind the file's                    */
};

/* How many rows each table had: to take back what a line added. */
struct vv_xspace_row_counts {
    uint64_t rows[VV_TABLE_COUNT];
    size_t ends;
    struct vv_health health;
    uint64_t events;             /* of the process, and how far they reach                      */
    int64_t begin_ns, end_ns;
};

struct vv_xspace_chunk;

/* Chunks that are decoded at once. Their segments point into planes, which stay until then. */
struct vv_xspace_wave {
    struct vv_xspace_chunk *chunks; /* chunk_count of them; NULL before the first event         */
    size_t chunk_count, used_count;
    struct vv_model **tables;    /* batch_count of them: of the chunks that are decoded at a time */
    size_t batch_count;
    VV_ARRAY_OF(struct vv_xspace_plane *) planes;
    bool has_failed;             /* in a chunk: the error names the plane already               */
};

struct vv_xspace {
    const struct vv_import_job *job;
    struct vv_model *model;
    struct vv_window window;
    struct vv_xspace_sink sink;  /* of the model's own tables                                   */
    struct vv_xspace_wave wave;
    int64_t base_ns;             /* when profiling began; 0 = not said                          */
    uint32_t first_process;      /* row: of this file                                           */
    uint32_t host_process;       /* row; VV_NONE = none yet                                     */
    uint32_t other_count;        /* processes that are neither host nor device                  */
    struct vv_key_map host_lines; /* line id -> track, of host_process                           */
    struct vv_key_map words;      /* string -> index of vv_xspace_stat_word                      */
    struct vv_key_map shapes, sources; /* string -> item of shape_items; row in sources */
    struct vv_xspace_shape *shape_items;
    size_t shape_count, shape_capacity;
    struct vv_xspace_row_counts line_rows; /* where the line that was begun last put its first  */
    bool is_cut;
};

struct vv_xspace_plane {
    struct vv_xspace *space;
    int64_t id;
    uint32_t name;               /* string                                                      */
    const struct vv_xspace_plane_word *word;
    uint32_t process;            /* row                                                         */
    uint32_t device;             /* VV_NONE = it is none                                        */
    struct vv_key_map own_lines;  /* line id -> track, where the process is the plane's alone    */
    struct vv_key_map stat_ids, event_ids;
    struct vv_xspace_stat_kind *stat_kinds;
    size_t stat_kind_count, stat_kind_capacity;
    struct vv_xspace_event_kind *event_kinds;
    size_t event_kind_count, event_kind_capacity;
    struct vv_xspace_span *lines, *stats, *event_metadata, *stat_metadata;
    size_t line_count, stat_count, event_metadata_count, stat_metadata_count;
    size_t line_capacity, stat_capacity, event_metadata_capacity, stat_metadata_capacity;
};

/* The fields of a line that are no events. */
struct vv_xspace_line_head {
    int64_t id, timestamp_ns, duration_ps, display_id;
    uint32_t name, display_name; /* strings                                                     */
    uint64_t ignored;
};

/* Events of one line that follow each other, whole. */
struct vv_xspace_segment {
    const struct vv_xspace_plane *plane;
    const struct vv_xspace_line_word *word;
    const unsigned char *data;
    size_t length;
    uint64_t offset;             /* in the file                                                 */
    int64_t base_ns;             /* of the events                                               */
    int64_t line_id;
    uint32_t track;
    uint32_t order;              /* of the first among the line's events                        */
    uint32_t event_count;
    bool is_counters;
    bool is_first;               /* of its line                                                 */
    /* found by decoding */
    int64_t begin_ns, end_ns;    /* of all of them; no event has been placed: begin > end       */
    struct vv_xspace_row_counts before; /* where it is the first: of the chunk                  */
};

/* What an event's own text stands for is looked up when its row is appended, so that the rows of tensors and sources do not
 * depend on which thread comes first. */
struct vv_xspace_late {
    uint32_t row;          /* in ops or slices, of the chunk                                    */
    uint32_t text;         /* string                                                            */
    bool is_source;
};

/* Some segments, and what is found in them. */
struct vv_xspace_chunk {
    struct vv_xspace_sink sink;
    VV_ARRAY_OF(struct vv_xspace_segment) segments;
    VV_ARRAY_OF(struct vv_xspace_late) late;
    struct vv_key_map are_shapes;  /* string -> 1 if it is one, else 0                           */
    VV_ARRAY_OF(uint32_t) texts;   /* of the model, for each of the chunk's own                  */
    unsigned char *bytes;
    size_t byte_count, byte_capacity;
    uint32_t event_count;
    const struct vv_xspace_plane *unknown_plane; /* whose events without metadata these are     */
    struct vv_key_map unknown_ids;
    VV_ARRAY_OF(struct vv_xspace_event_kind) unknown_kinds;
    uint32_t base[VV_TABLE_COUNT]; /* the model's rows that come of the chunk's begin here      */
    struct varve_error error;
    enum varve_code code;
    size_t failed_segment;
};

/* Texts that the model does not have yet, in the strings of a chunk's rows: their ids there, and this. */
#define VV_XSPACE_OWN_TEXTS UINT32_C(0x80000000)
/* In a chunk's first_arg and op: rows from here on are the chunk's own, others the model's. */
#define VV_XSPACE_OWN_ROWS UINT32_C(0xc0000000)

/* Where a statistic goes, besides its role. */
enum vv_xspace_target { VV_XSPACE_TO_ARGS, VV_XSPACE_TO_FACTS, VV_XSPACE_TO_COUNTERS };

struct vv_xspace_keeping {
    struct vv_xspace_sink *sink;
    struct vv_xspace_values *values; /* roles; NULL = not wanted                                */
    enum vv_xspace_target target;
    bool is_memory, is_work;         /* of an allocation; of a device                           */
    uint32_t process;                /* of facts                                                */
    const char *prefix;              /* of the names of facts; NULL                             */
    uint32_t counter, track;         /* of counters: name, row                                  */
    int64_t time_ns;
};

/* ---- functions ---- */

/* Reads all planes of the window and adds them to the model. xspace.c */
enum varve_code vv_xspace_read(const struct vv_import_job *job, struct vv_window *window,
                               struct varve_error *error);

/* The plane at [begin, end) of the file. xspace/plane.c */
enum varve_code vv_xspace_plane_read(struct vv_xspace *space, struct vv_xspace_span span,
                                     struct varve_error *error);
/* Its start time alone, if it is the environment's plane. */
enum varve_code vv_xspace_plane_peek(struct vv_xspace *space, struct vv_xspace_span span,
                                     struct varve_error *error);

enum varve_code vv_xspace_line_read(struct vv_xspace_plane *plane, struct vv_xspace_span span,
                                    uint32_t number, struct varve_error *error);

/* A plane whose events will be decoded with those of others: it stays until none of them is left. xspace/parallel.c */
enum varve_code vv_xspace_plane_create(struct vv_xspace *space, struct vv_xspace_plane **out_plane,
                                       struct varve_error *error);
/* What it holds; the plane itself is the caller's. */
void vv_xspace_plane_deinit(struct vv_xspace_plane *plane);
/* Events to be decoded with others: the segment's bytes are copied unless the window keeps them. */
enum varve_code vv_xspace_wave_add(struct vv_xspace *space, const struct vv_xspace_segment *segment,
                                   struct varve_error *error);
/* Decodes what has been added, and puts it into the model. */
enum varve_code vv_xspace_wave_flush(struct vv_xspace *space, struct varve_error *error);
void vv_xspace_wave_deinit(struct vv_xspace *space);
/* xspace/append.c */
enum varve_code vv_xspace_chunks_append(struct vv_xspace *space, struct vv_xspace_chunk *chunks, size_t count,
                                        struct varve_error *error);
void vv_xspace_rows_count(const struct vv_xspace_sink *sink, struct vv_xspace_row_counts *out_counts);
/* All that the events of the line begun last have added: the model's last rows. */
void vv_xspace_line_take_back(struct vv_xspace *space, uint32_t process);

/* Decodes all events of a segment. xspace/event.c */
enum varve_code vv_xspace_segment_read(struct vv_xspace_chunk *chunk, struct vv_xspace_segment *segment,
                                       struct varve_error *error);

/* The id of a text: in model->strings, or, of a chunk that is the first to have it, VV_XSPACE_OWN_TEXTS and more until the
 * chunk is appended. xspace/stat.c */
enum varve_code vv_xspace_text(struct vv_xspace_sink *sink, const char *text, size_t length, uint32_t *out_id,
                               struct varve_error *error);
const char *vv_xspace_text_of(const struct vv_xspace_sink *sink, uint32_t id);
/* `stats` are fields 4 and nothing else, whose lengths fit: at `offset` of the input. Behind them, up to `readable`, there
 * are other bytes. */
enum varve_code vv_xspace_stats_keep(const struct vv_xspace_plane *plane, struct vv_bytes stats,
                                     const unsigned char *readable, uint64_t offset,
                                     const struct vv_xspace_keeping *keeping, struct varve_error *error);
/* The statistic that the bytes field just read of `message` holds. */
enum varve_code vv_xspace_stat_keep(const struct vv_xspace_plane *plane, const struct vv_protobuf *message,
                                    const struct vv_xspace_keeping *keeping,
                                    struct varve_error *error);
enum varve_code vv_xspace_fact(struct vv_xspace_sink *sink, uint32_t process, const char *key,
                               uint64_t value, enum vv_arg_kind kind, struct varve_error *error);
/* A number under the name "PREFIX: KEY". */
enum varve_code vv_xspace_named_fact(const struct vv_xspace_keeping *keeping, const char *key, int64_t value,
                                     struct varve_error *error);
enum varve_code vv_xspace_text_fact(struct vv_xspace_sink *sink, uint32_t process, const char *key,
                                    const struct vv_protobuf *message, struct varve_error *error);

/* *out_shape is NULL where the text is no shape. Borrowed until the next call. xspace/shape.c */
enum varve_code vv_xspace_shape(struct vv_xspace *space, uint32_t text,
                                const struct vv_xspace_shape **out_shape, struct varve_error *error);
/* Whether it is one; nothing is added to the model. */
enum varve_code vv_xspace_is_shape(struct vv_xspace_chunk *chunk, uint32_t text, bool *out_is_shape,
                                   struct varve_error *error);
/* The row of "FILE:LINE" in sources; 0 where the text is not of that form. */
enum varve_code vv_xspace_source(struct vv_xspace *space, uint32_t text, uint32_t *out_row,
                                 struct varve_error *error);

/* xspace/flow.c */
enum varve_code vv_xspace_flows_join(struct vv_xspace *space, struct varve_error *error);

/* The message that the JSON text of `source` stands for; *out_is_cut if the text ends too early. xspace/json.c */
enum varve_code vv_xspace_json_convert(struct vv_source *source, struct vv_window *out_window,
                                       bool *out_is_cut, struct varve_error *error);

/* A row of arguments whose cells the caller writes, all three. */
static inline enum varve_code vv_xspace_arg_add(struct vv_model *rows, uint64_t *out_row, struct varve_error *error)
{
    struct vv_table *table = &rows->args.table;
    if (table->count == table->capacity)
        VV_TRY(vv_model_reserve(rows, VV_TABLE_ARGS, 1, error));
    *out_row = table->count++;
    if (table->used < table->count)
        table->used = table->count;
    return VARVE_OK;
}

#endif
