/* SPDX-License-Identifier: Apache-2.0 */
/* reader.h — one input in Chrome's trace format being read, or one part of it. doc/formats.md.
 *
 * The order of the stages:
 *     chrome/document.c   the top level: where the events are, and everything else                 facts
 *     chrome/event.c      one event as it is written
 *     chrome/events_to_rows.c      what kind of event it is                                 rows, or one of the lists here
 *     chrome/slice.c, kineto.c   what its arguments mean
 *     chrome/parts.c      parts read by several threads become one                                 (chrome/merge.c)
 *     chrome/close.c      what needs all events: pairs, flows, names, layers, the base of time
 * Before the last stage, times are as the file has them, without its base. Thread-compatible. */
#ifndef VV_IMPORT_CHROME_READER_H
#define VV_IMPORT_CHROME_READER_H

#include "base/array.h"
#include "import/chrome/event.h"
#include "import/chrome/kineto_shapes.h"
#include "import/chrome/places.h"
#include "import/chrome/text.h"
#include "import/input/format.h"
#include "import/rows/vocabulary.h"
#include "model/columns.h"

#define VV_CHROME_LIST(type) struct { type *items; size_t count, capacity; }

/* One end of a slice that is told in two events, or a slice without an end. */
struct vv_chrome_half {
    int64_t time_ns;
    uint32_t group;     /* pairs lie within one: the track's row, or a row of asyncs            */
    uint32_t track;     /* where it was written                                                 */
    uint32_t slice;     /* of a begin; VV_NONE: it is an end                                    */
    uint32_t name;      /* of an end: 0 = it ends whatever is open                              */
    uint32_t first_arg; /* of an end                                                            */
    uint32_t ordinal;
    uint16_t arg_count;
};

/* What the halves of asynchronous ranges share. */
struct vv_chrome_async {
    struct vv_chrome_ident pid; /* kind NONE: the id is the same for all processes              */
    uint64_t id;
    uint32_t category, scope;
    uint32_t name;              /* of ranges in the old form, which it is part of; else 0       */
    uint32_t track;             /* found last                                                   */
};

struct vv_chrome_async_mark {
    uint32_t mark, async, process; /* rows                                                      */
};

/* The "id" of an event, or its "id2", with what it counts within. */
struct vv_chrome_id {
    uint64_t number;    /* of a text that is no number: its hash                                */
    uint32_t scope;     /* string                                                               */
    bool is_local;      /* to its process                                                       */
    bool is_there;
};

enum vv_chrome_flow_kind { VV_FLOW_OUT, VV_FLOW_STEP, VV_FLOW_IN };

struct vv_chrome_flow_end {
    int64_t time_ns;
    uint64_t id;
    uint32_t family;    /* (category, name, scope, process) that the id counts within: a row of families */
    uint32_t track;
    uint32_t ordinal;
    uint8_t kind;       /* enum vv_chrome_flow_kind                                             */
    uint8_t to_next;    /* it ends in the next slice, not in the one around it                  */
};

struct vv_chrome_family {
    uint32_t category, name, scope, process; /* process: of ids that are local to one; VV_NONE  */
};

enum vv_chrome_title_kind {
    VV_TITLE_PROCESS_NAME, VV_TITLE_PROCESS_LABELS, VV_TITLE_PROCESS_SORT,
    VV_TITLE_THREAD_NAME, VV_TITLE_THREAD_SORT, VV_TITLE_OTHER,
    VV_TITLE_EVENT /* one for each metadata event, whatever it says: to count them             */
};

/* A metadata event: they may stand before or after what they name. */
struct vv_chrome_title {
    struct vv_chrome_ident pid, tid;
    uint64_t value;     /* as in args                                                           */
    uint32_t key;       /* string: the event's name, of VV_TITLE_OTHER                          */
    uint8_t kind;       /* enum vv_chrome_title_kind                                            */
    uint8_t value_kind; /* enum vv_arg_kind                                                     */
};

struct vv_chrome_frame {
    uint32_t id, parent, name; /* strings; parent 0 = outermost                                 */
};

/* The event at hand, as far as every kind of event needs it. */
struct vv_chrome_now {
    struct vv_chrome_place place;
    const struct vv_dialect_class *class;
    int64_t time_ns;
    uint32_t name, category, ordinal;
    char phase;
};

struct vv_chrome_reader {
    const struct vv_import_job *job;
    struct vv_model *model;         /* the job's, or of a part its own                          */
    struct vv_chrome_window window;
    struct vv_chrome_cursor cursor;
    struct vv_chrome_event event;
    struct vv_chrome_text text;
    struct vv_chrome_places places;
    struct vv_recent_texts keys;    /* of arguments; meaning: enum vv_dialect_role              */
    struct vv_recent_texts categories; /* meaning: row in known_classes                         */
    const struct vv_dialect_class *known_classes[256];
    uint32_t known_class_count;
    struct vv_kineto_shapes shapes;
    struct vv_chrome_now now;
    uint32_t ordinal;               /* of the next event                                        */
    uint64_t first_rows[VV_TABLE_COUNT]; /* rows of others stand before                         */

    VV_CHROME_LIST(struct vv_chrome_half) halves;      /* of B and E, and of X without duration  */
    VV_CHROME_LIST(struct vv_chrome_half) async_halves; /* group: row in asyncs                 */
    VV_CHROME_LIST(struct vv_chrome_async) asyncs;
    VV_CHROME_LIST(struct vv_chrome_async_mark) async_marks;
    VV_CHROME_LIST(struct vv_chrome_flow_end) flow_ends;
    VV_CHROME_LIST(struct vv_chrome_family) families;
    VV_CHROME_LIST(struct vv_chrome_title) titles;
    VV_CHROME_LIST(struct vv_chrome_frame) frames;
    VV_CHROME_LIST(uint32_t) frame_args; /* rows in args whose value is the id of a frame       */
    VV_CHROME_LIST(uint32_t) step_slices; /* of each step of this input                         */
    VV_CHROME_LIST(uint32_t) runs;   /* steps without a number, which are counted in order of time */
    struct vv_slots async_slots, family_slots;
    uint32_t last_family;

    int64_t base_ns, rank, world_size; /* rank -1, world_size 0: not said                       */
    uint32_t host;              /* string: where it was recorded; 0                             */
    bool has_events;                /* the list of events was found                             */
    bool is_cut;                    /* the input ends inside of it                              */
    uint64_t reserved_at;           /* bytes read when there was made room for the rest         */
    uint64_t begin;                 /* of what is read, in the input                            */
    uint64_t stop_at;               /* of a part: the first event that begins here or later is not its */
};

/* Of a part: does the next token stand behind its end? */
static inline bool vv_chrome_stops(const struct vv_chrome_reader *reader)
{
    return reader->stop_at != 0 &&
           reader->window.offset + *reader->cursor.next >= reader->stop_at;
}

#define VV_CHROME_PUSH(list, item, error)                                                           \
    do {                                                                                            \
        VV_TRY(vv_array_reserve(&(list)->items, &(list)->capacity, (list)->count + 1,               \
                                sizeof *(list)->items, (error)));                                   \
        (list)->items[(list)->count++] = (item);                                                    \
    } while (0)

/* chrome/reader.c. `model` as in the struct; the window is opened at `offset`. */
enum varve_code vv_chrome_reader_init(struct vv_chrome_reader *reader,
                                      const struct vv_import_job *job, struct vv_model *model,
                                      uint64_t offset, struct varve_error *error);
void vv_chrome_reader_deinit(struct vv_chrome_reader *reader);
/* Reads on and puts the cursor back to the byte at `keep`; false in *out_more: there is no more. */
enum varve_code vv_chrome_refill(struct vv_chrome_reader *reader, const char *keep, bool *out_more,
                                 struct varve_error *error);
/* The failure that the cursor has met. */
enum varve_code vv_chrome_fail(const struct vv_chrome_reader *reader, struct varve_error *error);

/* chrome/document.c: what stands before the events, so that the cursor is at the first one; has_events false: all of
 * the text, and there are none. */
enum varve_code vv_chrome_read_head(struct vv_chrome_reader *reader, bool *out_is_object,
                                    struct varve_error *error);
/* Events from the cursor on; *out_is_closed: up to the end of the list, else up to stop_at or the end of the input. */
enum varve_code vv_chrome_read_events(struct vv_chrome_reader *reader, bool *out_is_closed,
                                      struct varve_error *error);
/* What follows the list. */
enum varve_code vv_chrome_read_rest(struct vv_chrome_reader *reader, bool is_object,
                                    struct varve_error *error);

/* chrome/events_to_rows.c: reader->event becomes rows. */
enum varve_code vv_chrome_apply(struct vv_chrome_reader *reader, struct varve_error *error);
/* A sample of the top-level list "samples". */
enum varve_code vv_chrome_apply_sample(struct vv_chrome_reader *reader, struct varve_error *error);

/* chrome/slice.c: an X or B event becomes a slice; duration_ns -1 = it has no end yet. */
enum varve_code vv_chrome_add_slice(struct vv_chrome_reader *reader, int64_t duration_ns,
                                    uint32_t *out_slice, struct varve_error *error);

/* chrome/args.c */
/* Appends one argument. */
enum varve_code vv_chrome_add_arg(struct vv_chrome_reader *reader, uint32_t key,
                                  const struct vv_chrome_value *value, struct varve_error *error);
/* VARVE_LIMIT for an event with more arguments than a slice can have. */
enum varve_code vv_chrome_bound_args(const struct vv_chrome_reader *reader, struct varve_error *error);
/* All arguments of the event as plain ones; frames too. */
enum varve_code vv_chrome_add_args(struct vv_chrome_reader *reader, uint32_t *out_first,
                                   uint16_t *out_count, struct varve_error *error);
/* A value as args and facts keep it. */
enum varve_code vv_chrome_store(struct vv_chrome_reader *reader, const struct vv_chrome_value *value,
                                uint64_t *out_value, uint8_t *out_kind, struct varve_error *error);
/* Members of the event itself that have no column: "s", "sf", "scope" … as arguments. */
enum varve_code vv_chrome_add_field_args(struct vv_chrome_reader *reader, struct varve_error *error);
/* The name of an argument, and what it means. */
struct vv_chrome_key {
    uint32_t id;
    enum vv_dialect_role role;
};
enum varve_code vv_chrome_new_key(struct vv_chrome_reader *reader,
                                  const struct vv_recent_probe *probe, struct vv_recent_text *slot,
                                  struct vv_chrome_key *out_key, struct varve_error *error);

VV_CHROME_INLINE enum varve_code vv_chrome_find_key(struct vv_chrome_reader *reader,
                                                    const struct vv_chrome_value *key,
                                                    struct vv_chrome_key *out_key,
                                                    struct varve_error *error)
{
    bool found;
    struct vv_recent_probe probe = vv_recent_probe(key->at, key->length);
    struct vv_recent_text *slot = vv_recent_find(&reader->keys, &probe, &found);
    if (__builtin_expect(!found, 0))
        return vv_chrome_new_key(reader, &probe, slot, out_key, error);
    out_key->id = slot->id;
    out_key->role = (enum vv_dialect_role)slot->meaning;
    return VARVE_OK;
}

/* kineto.c */
enum varve_code vv_kineto_slice_args(struct vv_chrome_reader *reader, uint32_t slice,
                                     struct varve_error *error);
/* A "[memory]" instant; *out_done false: it is none. */
enum varve_code vv_kineto_memory(struct vv_chrome_reader *reader, bool *out_done,
                                 struct varve_error *error);
enum varve_code vv_chrome_add_step(struct vv_chrome_reader *reader, uint32_t slice, int64_t index,
                                   struct varve_error *error);
/* chrome/kineto_devices.c: rows of devices, of what the run's facts say. */
enum varve_code vv_kineto_devices(struct vv_chrome_reader *reader, struct varve_error *error);
/* Makes a step of a slice that is one. */
enum varve_code vv_kineto_step(struct vv_chrome_reader *reader, uint32_t slice,
                               struct varve_error *error);

/* chrome/pairs.c, chrome/async.c, chrome/flows.c, chrome/frames.c, chrome/titles.c: the last stage */
enum varve_code vv_chrome_add_async(struct vv_chrome_reader *reader, struct varve_error *error);
enum varve_code vv_chrome_add_flow(struct vv_chrome_reader *reader, enum vv_chrome_flow_kind kind,
                                   struct varve_error *error);
enum varve_code vv_chrome_event_id(struct vv_chrome_reader *reader, struct vv_chrome_id *out_id,
                                   struct varve_error *error);
/* Rows of asyncs and families, found or made. */
enum varve_code vv_chrome_async_row(struct vv_chrome_reader *reader,
                                    const struct vv_chrome_async *async, uint32_t *out_row,
                                    struct varve_error *error);
enum varve_code vv_chrome_family_row(struct vv_chrome_reader *reader,
                                     const struct vv_chrome_family *family, uint32_t *out_row,
                                     struct varve_error *error);
enum varve_code vv_chrome_add_title(struct vv_chrome_reader *reader, struct varve_error *error);
/* Gives begins their ends. `is_async`: the async halves, whose groups are rows of asyncs. */
enum varve_code vv_chrome_pair_halves(struct vv_chrome_reader *reader, bool is_async,
                                      struct varve_error *error);
enum varve_code vv_chrome_close_async(struct vv_chrome_reader *reader, struct varve_error *error);
enum varve_code vv_chrome_join_flows(struct vv_chrome_reader *reader, struct varve_error *error);
enum varve_code vv_chrome_resolve_frames(struct vv_chrome_reader *reader, struct varve_error *error);
enum varve_code vv_chrome_apply_titles(struct vv_chrome_reader *reader, struct varve_error *error);
/* chrome/close.c: all of them, and what else needs all events. */
enum varve_code vv_chrome_close(struct vv_chrome_reader *reader, struct varve_error *error);

#endif
