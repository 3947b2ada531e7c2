/* SPDX-License-Identifier: Apache-2.0 */
/* xspace.h — what the parts of the reader of TensorFlow's and JAX's XSpace (.xplane.pb) share.
 * doc/formats.md says what is read, and where it goes.
 *
 *     xspace.c             the file: planes, the environment, errors and hosts
 *     xspace/plane.c       one plane: its metadata, its process, its lines
 *     xspace/line.c        one line: its events, in pieces
 *     xspace/parallel.c    decodes pieces of many lines, in several threads
 *     xspace/append.c      appends the decoded rows to the model
 *     xspace/event.c       one event: a slice, a memory event, a counter …
 *     xspace/slice.c       further parts of a slice: an operator, device work, a step
 *     xspace/stat.c        one statistic: a typed value, an argument or a fact
 *     xspace/shape.c       converts "f32[8,128]{1,0}" to tensors
 *     xspace/flow.c        joins the two ends of flows, after the last plane
 *     xspace/words.c       the meaning of names of planes, lines, events and statistics
 *     xspace/json.c        converts protobuf JSON to the message
 *
 * A plane stores its lines before the metadata that names their events. So a first pass finds each
 * part's offset, and a second pass reads the metadata first.
 *
 * Events are decoded into tables of a chunk, which are then appended to those of the model. So
 * threads share nothing, and the model is the same for any number of threads. The model's columns
 * are written in long runs, and only where a chunk filled them. */
#ifndef VV_IMPORT_XSPACE_XSPACE_H
#define VV_IMPORT_XSPACE_XSPACE_H

#include "base/array.h"
#include "import/input/format.h"
#include "import/input/window.h"
#include "import/rows/key_map.h"
#include "import/xspace/fields.h"
#include "model/columns.h"

/* ---- the meaning of names: xspace/words.c ---- */

enum vv_xspace_plane_kind {
    VV_XSPACE_HOST,        /* threads of the profiled process                                   */
    VV_XSPACE_DEVICE,
    VV_XSPACE_ENVIRONMENT, /* when profiling began                                              */
    VV_XSPACE_OTHER        /* a process of its own                                              */
};

struct vv_xspace_plane_word {
    const char *prefix;
    bool is_whole;         /* the name must equal the prefix                                    */
    uint8_t kind;          /* enum vv_xspace_plane_kind                                         */
    uint8_t device_kind;   /* VARVE_DEVICE_KIND_                                                */
    uint8_t activity;      /* enum vv_activity_kind of its events, if the line has none         */
};

/* Says how the events of a line are read. */
struct vv_xspace_line_word {
    const char *prefix;
    uint16_t layer;
    uint8_t activity;      /* enum vv_activity_kind                                             */
    bool is_steps;         /* its events are steps                                              */
};

/* Statistics that fill a column, or say what kind an event is. */
enum vv_xspace_role {
    VV_XSPACE_ARGUMENT, /* no role: the statistic is an argument                                */
    VV_XSPACE_CORRELATION, VV_XSPACE_CONTEXT, VV_XSPACE_FLOPS, VV_XSPACE_BYTES_ACCESSED,
    VV_XSPACE_CATEGORY, VV_XSPACE_SHAPE, VV_XSPACE_SOURCE, VV_XSPACE_HLO_OP,
    VV_XSPACE_STEP, VV_XSPACE_GROUP, VV_XSPACE_ROOT,
    VV_XSPACE_FLOW, VV_XSPACE_PRODUCER_TYPE, VV_XSPACE_PRODUCER, VV_XSPACE_CONSUMER_TYPE,
    VV_XSPACE_CONSUMER,
    VV_XSPACE_COPY_DETAILS, VV_XSPACE_SET_DETAILS,
    VV_XSPACE_ADDRESS, VV_XSPACE_ALLOCATION_BYTES, VV_XSPACE_ALLOCATED_BYTES,
    VV_XSPACE_RESERVED_BYTES, VV_XSPACE_FRAGMENTATION, VV_XSPACE_ALLOCATOR,
    VV_XSPACE_DEVICE_ORDINAL,
    VV_XSPACE_START_TIME,
    VV_XSPACE_ROLE_COUNT
};

/* Says when a statistic with a role is no argument: never, always, for allocations, or for device
 * work. */
enum vv_xspace_use { VV_XSPACE_KEEP, VV_XSPACE_TAKE, VV_XSPACE_TAKE_OF_MEMORY,
                     VV_XSPACE_TAKE_OF_WORK };

struct vv_xspace_stat_word {
    const char *name;
    uint8_t role;          /* enum vv_xspace_role                                               */
    uint8_t use;           /* enum vv_xspace_use                                                */
    bool is_text;          /* its value is a text; otherwise a number                           */
};

enum vv_xspace_event_class {
    VV_XSPACE_PLAIN, VV_XSPACE_ALLOCATION, VV_XSPACE_DEALLOCATION, VV_XSPACE_COPY, VV_XSPACE_SET
};

const struct vv_xspace_plane_word *vv_xspace_plane_word(const char *name);
const struct vv_xspace_line_word *vv_xspace_line_word(const char *name);
/* Returns 0, which is VV_XSPACE_ARGUMENT, if the name has no role. */
uint32_t vv_xspace_stat_index(const char *name);
extern const struct vv_xspace_stat_word vv_xspace_stat_words[];
enum vv_xspace_event_class vv_xspace_event_class(const char *name);
uint16_t vv_xspace_host_layer(const char *name, bool has_display_name);
/* "all_reduce"; NULL if it is no collective. */
const char *vv_xspace_collective(const char *name, const char *category);
/* "tf_executor": the name of a flow's context type. */
const char *vv_xspace_context_type(uint64_t type);
/* The first number behind "KEY:" in "kind:H2D size:512"; 0 = there is none. */
uint64_t vv_xspace_details_bytes(const char *details);

/* ---- values ---- */

/* Numbers are int64_t, texts are ids in model->strings, and a share is the bits of a double. */
struct vv_xspace_values {
    uint32_t set;          /* a bit for each role that has an item                              */
    int64_t items[VV_XSPACE_ROLE_COUNT];
};

static inline bool vv_xspace_has(const struct vv_xspace_values *values, enum vv_xspace_role role)
{
    return (values->set >> role & 1) != 0;
}

/* The roles that fill columns of an operator. */
#define VV_XSPACE_OP_ROLES                                                                         \
    (UINT32_C(1) << VV_XSPACE_SHAPE | UINT32_C(1) << VV_XSPACE_FLOPS |                             \
     UINT32_C(1) << VV_XSPACE_BYTES_ACCESSED)

struct vv_xspace_shape {
    uint32_t text;         /* string, as in ops.shapes                                          */
    uint32_t first_tensor, tensor_count;
};

struct vv_xspace_stat_kind {
    uint32_t name;         /* string                                                            */
    uint8_t role, use;     /* as in the word                                                    */
    bool is_text;
};

/* What all events of one entry of metadata have in common. */
struct vv_xspace_event_kind {
    uint32_t name;         /* string                                                            */
    uint32_t first_arg;    /* rows in args; events without arguments of their own share them    */
    uint16_t arg_count;
    uint16_t host_layer;
    uint8_t event_class;   /* enum vv_xspace_event_class                                        */
    bool is_number;        /* its name is a number: that of a step                              */
    bool is_plain;         /* an event without statistics becomes a slice and nothing else */
    uint32_t collective;   /* string; 0 = no collective                                         */
    uint32_t source;       /* row in sources, from values; 0 = none                             */
    uint32_t op;           /* row in ops; events that add nothing share it; or VV_NONE          */
    struct vv_xspace_values values; /* last, because few events need it                         */
    struct vv_xspace_shape shape;   /* from values; text 0 = none                               */
    const char *text;      /* text of `name`                                                    */
    int64_t number;
};

/* ---- state ---- */

/* One end of a flow: the begin of a slice. */
struct vv_xspace_end {
    uint64_t id;
    uint32_t slice;        /* row                                                               */
    uint8_t type;          /* type of the context                                               */
    bool is_flow;          /* from statistic `flow`, not from producer and consumer             */
    bool is_out, is_in;
};

/* The tables that receive rows: the model's own, or a chunk's. */
struct vv_xspace_sink {
    struct vv_xspace *space;
    struct vv_model *rows;
    VV_ARRAY_OF(struct vv_xspace_end) ends;
    char *text;                  /* scratch                                                     */
    size_t text_capacity;
    size_t bytes_max;            /* most bytes to keep of a statistic that is bytes             */
};

struct vv_xspace_span {
    uint64_t begin, end;   /* offsets in the file; `end` may be after the end of the file       */
};

/* The number of rows of each table, so that the rows of a line can be removed again. */
struct vv_xspace_row_counts {
    uint64_t rows[VV_TABLE_COUNT];
    size_t ends;
    struct vv_health health;
    uint64_t events;             /* of the process, and its begin and end                       */
    int64_t begin_ns, end_ns;
};

struct vv_xspace_chunk;

/* Chunks that are decoded at once. Their segments point into planes, which live until all are
 * decoded. */
struct vv_xspace_wave {
    struct vv_xspace_chunk *chunks; /* chunk_count of them; NULL before the first event         */
    size_t chunk_count, used_count;
    struct vv_model **tables;    /* batch_count of them: tables for the chunks that are decoded at
                                    once */
    size_t batch_count;
    VV_ARRAY_OF(struct vv_xspace_plane *) planes;
    bool has_failed;             /* a chunk failed: the error names its plane already           */
};

struct vv_xspace {
    const struct vv_import_job *job;
    struct vv_model *model;
    struct vv_window window;
    struct vv_xspace_sink sink;  /* fills the model's own tables                                */
    struct vv_xspace_wave wave;
    int64_t base_ns;             /* when profiling began; 0 = not known                         */
    uint32_t first_process;      /* row of this file's first process                            */
    uint32_t host_process;       /* row; VV_NONE = none yet                                     */
    uint32_t other_count;        /* number of processes that are neither host nor device        */
    struct vv_key_map host_lines; /* line id -> track, of host_process                           */
    struct vv_key_map words;      /* string -> index of vv_xspace_stat_word                      */
    struct vv_key_map shapes, sources; /* string -> item of shape_items; row in sources */
    struct vv_xspace_shape *shape_items;
    size_t shape_count, shape_capacity;
    struct vv_xspace_row_counts line_rows; /* row counts before the first row of the line that was
                                              begun last */
    bool is_cut;
};

struct vv_xspace_plane {
    struct vv_xspace *space;
    int64_t id;
    uint32_t name;               /* string                                                      */
    const struct vv_xspace_plane_word *word;
    uint32_t process;            /* row                                                         */
    uint32_t device;             /* VV_NONE = the plane is no device                            */
    struct vv_key_map own_lines;  /* line id -> track, if the process has this plane only        */
    struct vv_key_map stat_ids, event_ids;
    struct vv_xspace_stat_kind *stat_kinds;
    size_t stat_kind_count, stat_kind_capacity;
    struct vv_xspace_event_kind *event_kinds;
    size_t event_kind_count, event_kind_capacity;
    struct vv_xspace_span *lines, *stats, *event_metadata, *stat_metadata;
    size_t line_count, stat_count, event_metadata_count, stat_metadata_count;
    size_t line_capacity, stat_capacity, event_metadata_capacity, stat_metadata_capacity;
};

/* The fields of a line except its events. */
struct vv_xspace_line_head {
    int64_t id, timestamp_ns, duration_ps, display_id;
    uint32_t name, display_name; /* strings                                                     */
    uint64_t ignored;
};

/* Neighbouring whole events of one line. */
struct vv_xspace_segment {
    const struct vv_xspace_plane *plane;
    const struct vv_xspace_line_word *word;
    const unsigned char *data;
    size_t length;
    uint64_t offset;             /* in the file                                                 */
    int64_t base_ns;             /* time to which the events' offsets are added                 */
    int64_t line_id;
    uint32_t track;
    uint32_t order;              /* number of its first event among the line's events           */
    uint32_t event_count;
    bool is_counters;
    bool is_first;               /* the first segment of its line                               */
    /* found by decoding */
    int64_t begin_ns, end_ns;    /* of all its events; begin > end: no event has a place in time */
    struct vv_xspace_row_counts before; /* for the first segment: row counts of the chunk before
                                           it */
};

/* A text that is looked up only when its row is appended. So the rows of tensors and sources do not
 * depend on which thread comes first. */
struct vv_xspace_late {
    uint32_t row;          /* of the chunk: in ops or slices                                    */
    uint32_t text;         /* string                                                            */
    bool is_source;
};

/* Segments, and the rows that their events become. */
struct vv_xspace_chunk {
    struct vv_xspace_sink sink;
    VV_ARRAY_OF(struct vv_xspace_segment) segments;
    VV_ARRAY_OF(struct vv_xspace_late) late;
    struct vv_key_map are_shapes;  /* string -> 1 if it is a shape, otherwise 0                  */
    VV_ARRAY_OF(uint32_t) texts;   /* id of the chunk's own text -> id in the model              */
    unsigned char *bytes;
    size_t byte_count, byte_capacity;
    uint32_t event_count;
    const struct vv_xspace_plane *unknown_plane; /* the plane of the events without metadata    */
    struct vv_key_map unknown_ids;
    VV_ARRAY_OF(struct vv_xspace_event_kind) unknown_kinds;
    uint32_t base[VV_TABLE_COUNT]; /* first row in the model of this chunk's rows               */
    struct varve_error error;
    enum varve_code code;
    size_t failed_segment;
};

/* In the rows of a chunk, texts that the model does not have yet have this plus their id in the
 * chunk. */
#define VV_XSPACE_OWN_TEXTS UINT32_C(0x80000000)
/* In a chunk's first_arg and op, rows from here on are the chunk's own. Others are the model's. */
#define VV_XSPACE_OWN_ROWS UINT32_C(0xc0000000)

/* Where a statistic goes, apart from its role. */
enum vv_xspace_target { VV_XSPACE_TO_ARGS, VV_XSPACE_TO_FACTS, VV_XSPACE_TO_COUNTERS };

struct vv_xspace_keeping {
    struct vv_xspace_sink *sink;
    struct vv_xspace_values *values; /* by role; NULL = not wanted                              */
    enum vv_xspace_target target;
    bool is_memory, is_work;         /* of an allocation; of device work                        */
    uint32_t process;                /* of the facts                                            */
    const char *prefix;              /* prefix of the facts' names; or NULL                     */
    uint32_t counter, track;         /* of counter values: name, row                            */
    int64_t time_ns;
};

/* ---- functions ---- */

/* Reads the plane at [begin, end) of the file. xspace/plane.c */
enum varve_code vv_xspace_plane_read(struct vv_xspace *space, struct vv_xspace_span span,
                                     struct varve_error *error);
/* Reads only the start time, if this is the plane of the environment. */
enum varve_code vv_xspace_plane_peek(struct vv_xspace *space, struct vv_xspace_span span,
                                     struct varve_error *error);

enum varve_code vv_xspace_line_read(struct vv_xspace_plane *plane, struct vv_xspace_span span,
                                    uint32_t number, struct varve_error *error);

/* Makes a plane that lives until its events have been decoded with those of others.
 * xspace/parallel.c */
enum varve_code vv_xspace_plane_create(struct vv_xspace *space, struct vv_xspace_plane **out_plane,
                                       struct varve_error *error);
/* Releases the plane's content. The plane itself belongs to the caller. */
void vv_xspace_plane_deinit(struct vv_xspace_plane *plane);
/* Adds events to be decoded with others. The segment's bytes are copied, unless the window keeps
 * them. */
enum varve_code vv_xspace_wave_add(struct vv_xspace *space, const struct vv_xspace_segment *segment,
                                   struct varve_error *error);
/* Decodes the added events, and appends them to the model. */
enum varve_code vv_xspace_wave_flush(struct vv_xspace *space, struct varve_error *error);
void vv_xspace_wave_deinit(struct vv_xspace *space);
/* xspace/append.c */
enum varve_code vv_xspace_chunks_append(struct vv_xspace *space, struct vv_xspace_chunk *chunks,
                                        size_t count, struct varve_error *error);
void vv_xspace_rows_count(const struct vv_xspace_sink *sink,
                          struct vv_xspace_row_counts *out_counts);
/* Removes all rows that the events of the line begun last have added. These are the model's last
 * rows. */
void vv_xspace_line_take_back(struct vv_xspace *space, uint32_t process);

/* Decodes all events of a segment. xspace/event.c */
enum varve_code vv_xspace_segment_read(struct vv_xspace_chunk *chunk,
                                       struct vv_xspace_segment *segment,
                                       struct varve_error *error);

/* The id of a text in model->strings. A text that only this chunk has gets an id from
 * VV_XSPACE_OWN_TEXTS on, until the chunk is appended. xspace/stat.c */
enum varve_code vv_xspace_text(struct vv_xspace_sink *sink, const char *text, size_t length,
                               uint32_t *out_id, struct varve_error *error);
const char *vv_xspace_text_of(const struct vv_xspace_sink *sink, uint32_t id);
/* Reads statistics. `stats` has only fields 4, with valid lengths, and is at `offset` of the input.
 * The bytes after it may be read up to `readable`. */
enum varve_code vv_xspace_stats_keep(const struct vv_xspace_plane *plane, struct vv_bytes stats,
                                     const unsigned char *readable, uint64_t offset,
                                     const struct vv_xspace_keeping *keeping,
                                     struct varve_error *error);
/* Reads the statistic in the bytes field of `message` that was just read. */
enum varve_code vv_xspace_stat_keep(const struct vv_xspace_plane *plane,
                                    const struct vv_protobuf *message,
                                    const struct vv_xspace_keeping *keeping,
                                    struct varve_error *error);
enum varve_code vv_xspace_fact(struct vv_xspace_sink *sink, uint32_t process, const char *key,
                               uint64_t value, enum vv_arg_kind kind, struct varve_error *error);
/* Adds a number as a fact with the name "PREFIX: KEY". */
enum varve_code vv_xspace_named_fact(const struct vv_xspace_keeping *keeping, const char *key,
                                     int64_t value, struct varve_error *error);
enum varve_code vv_xspace_text_fact(struct vv_xspace_sink *sink, uint32_t process, const char *key,
                                    const struct vv_protobuf *message, struct varve_error *error);

/* *out_shape is NULL if the text is no shape. It is borrowed until the next call. xspace/shape.c */
enum varve_code vv_xspace_shape(struct vv_xspace *space, uint32_t text,
                                const struct vv_xspace_shape **out_shape,
                                struct varve_error *error);
/* Says whether the text is a shape. Adds nothing to the model. */
enum varve_code vv_xspace_is_shape(struct vv_xspace_chunk *chunk, uint32_t text, bool *out_is_shape,
                                   struct varve_error *error);
/* The row of "FILE:LINE" in sources; 0 if the text does not have this form. */
enum varve_code vv_xspace_source(struct vv_xspace *space, uint32_t text, uint32_t *out_row,
                                 struct varve_error *error);

/* xspace/flow.c */
enum varve_code vv_xspace_flows_join(struct vv_xspace *space, struct varve_error *error);

/* Converts the JSON text of `source` to the message that it stands for. *out_is_cut: the text ends
 * too early. xspace/json.c */
enum varve_code vv_xspace_json_convert(struct vv_source *source, struct vv_window *out_window,
                                       bool *out_is_cut, struct varve_error *error);

/* Adds a row of arguments. The caller must write all three cells. */
static inline enum varve_code vv_xspace_arg_add(struct vv_model *rows, uint64_t *out_row,
                                                struct varve_error *error)
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
