/* SPDX-License-Identifier: Apache-2.0 */
/* reader.h — the state of reading one input in Chrome's trace format, or one part of it.
 * doc/formats.md.
 *
 * The stages, in order:
 *     chrome/document.c         the top level: finds the events; the rest becomes facts
 *     chrome/event.c            reads one event as it is written
 *     chrome/events_to_rows.c   finds what kind of event it is; makes rows, or items of the lists
 *                               here
 *     chrome/slice.c, kineto.c  find what its arguments mean
 *     chrome/parts.c            joins the parts that several threads read (chrome/merge.c)
 *     chrome/close.c            does what needs all events: pairs, flows, names, layers, time base
 * Before the last stage, times are those of the file, without its base. Thread-compatible. */
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

/* One end of a slice that consists of two events, or a slice without an end. */
struct vv_chrome_half {
    int64_t time_ns;
    uint32_t group;     /* pairs are within one: the track's row, or a row of asyncs            */
    uint32_t track;     /* the track that the event names                                       */
    uint32_t slice;     /* of a begin; VV_NONE: it is an end                                    */
    uint32_t name;      /* for an end: 0 = it ends the innermost                                */
    uint32_t first_arg; /* for an end                                                           */
    uint32_t ordinal;
    uint16_t arg_count;
};

/* The data that the halves of an asynchronous range share. */
struct vv_chrome_async {
    struct vv_chrome_ident pid; /* kind NONE: the id is the same for all processes              */
    uint64_t id;
    uint32_t category, scope;
    uint32_t name;              /* for ranges in the old form, whose key includes it; else 0    */
    uint32_t track;             /* found last                                                   */
};

struct vv_chrome_async_mark {
    uint32_t mark, async, process; /* rows                                                      */
};

/* The "id" of an event, or its "id2", with the scope in which it is unique. */
struct vv_chrome_id {
    uint64_t number;    /* for a text that is no number: its hash                               */
    uint32_t scope;     /* string                                                               */
    bool is_local;      /* unique only in its process                                           */
    bool is_there;
};

/* THROUGH: of a slice that an arrow enters and another leaves. At equal times they are in this
 * order. */
enum vv_chrome_flow_kind { VV_FLOW_OUT, VV_FLOW_STEP, VV_FLOW_THROUGH, VV_FLOW_IN };

struct vv_chrome_flow_end {
    int64_t time_ns;
    uint64_t id;
    /* Row of families: the (category, name, scope, process) in which the id is unique. */
    uint32_t family;
    uint32_t track;
    uint32_t ordinal;
    uint8_t kind;       /* enum vv_chrome_flow_kind                                             */
    uint8_t to_next;    /* it ends in the next slice, not in the one around it                  */
};

struct vv_chrome_family {
    /* process: for ids that are local to one; else VV_NONE */
    uint32_t category, name, scope, process;
};

enum vv_chrome_title_kind {
    VV_TITLE_PROCESS_NAME, VV_TITLE_PROCESS_LABELS, VV_TITLE_PROCESS_SORT,
    VV_TITLE_THREAD_NAME, VV_TITLE_THREAD_SORT, VV_TITLE_OTHER,
    VV_TITLE_EVENT /* one for each metadata event of any kind: to count them                   */
};

/* A metadata event. It may come before or after the events that it names. */
struct vv_chrome_title {
    struct vv_chrome_ident pid, tid;
    uint64_t value;     /* as in args                                                           */
    uint32_t key;       /* string: the event's name, for VV_TITLE_OTHER                         */
    uint8_t kind;       /* enum vv_chrome_title_kind                                            */
    uint8_t value_kind; /* enum vv_arg_kind                                                     */
};

struct vv_chrome_frame {
    uint32_t id, parent, name; /* strings; parent 0 = outermost                                 */
};

/* Data of the current event that every kind of event needs. */
struct vv_chrome_now {
    struct vv_chrome_place place;
    const struct vv_dialect_class *class;
    int64_t time_ns;
    uint32_t name, category, ordinal;
    char phase;
};

/* The last pid or tid that was written as a short text. */
struct vv_chrome_former_ident {
    struct vv_recent_text text;
    struct vv_chrome_ident ident;
};

#define VV_CHROME_FORMER_KEYS 16u

struct vv_chrome_reader {
    const struct vv_import_job *job;
    struct vv_model *model;         /* the job's model, or a part's own                         */
    struct vv_chrome_window window;
    struct vv_chrome_cursor cursor;
    struct vv_chrome_event event;
    struct vv_chrome_text text;
    struct vv_chrome_places places;
    struct vv_recent_texts keys;    /* of arguments; meaning: enum vv_dialect_role              */
    struct vv_recent_text former_keys[VV_CHROME_FORMER_KEYS]; /* the last key at each number    */
    struct vv_chrome_former_ident former_pid, former_tid;
    struct vv_recent_texts categories; /* meaning: row in known_classes                         */
    const struct vv_dialect_class *known_classes[256];
    uint32_t known_class_count;
    struct vv_kineto_shapes shapes;
    struct vv_chrome_now now;
    uint32_t ordinal;               /* number of the next event                                 */
    uint64_t first_rows[VV_TABLE_COUNT]; /* rows before these are of other inputs               */

    VV_CHROME_LIST(struct vv_chrome_half) halves;      /* of B and E, and of X without duration  */
    VV_CHROME_LIST(struct vv_chrome_half) async_halves; /* group: row in asyncs                 */
    VV_CHROME_LIST(struct vv_chrome_async) asyncs;
    VV_CHROME_LIST(struct vv_chrome_async_mark) async_marks;
    VV_CHROME_LIST(struct vv_chrome_flow_end) flow_ends;
    VV_CHROME_LIST(struct vv_chrome_family) families;
    VV_CHROME_LIST(struct vv_chrome_title) titles;
    VV_CHROME_LIST(struct vv_chrome_frame) frames;
    VV_CHROME_LIST(uint32_t) frame_args; /* rows in args whose value is the id of a frame       */
    VV_CHROME_LIST(uint32_t) step_slices; /* the slice of each step of this input               */
    /* Steps without a number; they are numbered in order of time. */
    VV_CHROME_LIST(uint32_t) runs;
    struct vv_slots async_slots, family_slots;
    uint32_t last_family;

    int64_t base_ns, rank, world_size; /* rank -1, world_size 0: not given                      */
    uint32_t host;              /* string: where it was recorded; or 0                          */
    bool has_events;                /* the list of events was found                             */
    bool is_cut;                    /* the input ends inside the list                           */
    uint64_t reserved_at;           /* bytes read when room was reserved for the rest           */
    uint64_t begin;                 /* begin of the read bytes in the input                     */
    /* For a part: the first event that begins at or after this belongs to the next part. */
    uint64_t stop_at;
};

/* For a part: is the next token after its end? */
static inline bool vv_chrome_stops(const struct vv_chrome_reader *reader)
{
    return reader->stop_at != 0 &&
           reader->window.offset + *reader->cursor.next >= reader->stop_at;
}

#define VV_CHROME_PUSH(list, item, error)                                             \
    do {                                                                              \
        VV_TRY(vv_array_reserve(&(list)->items, &(list)->capacity, (list)->count + 1, \
                                sizeof *(list)->items, (error)));                     \
        (list)->items[(list)->count++] = (item);                                      \
    } while (0)

/* chrome/reader.c. For `model` see the struct. The window is opened at `offset`. */
enum varve_code vv_chrome_reader_init(struct vv_chrome_reader *reader,
                                      const struct vv_import_job *job, struct vv_model *model,
                                      uint64_t offset, struct varve_error *error);
void vv_chrome_reader_deinit(struct vv_chrome_reader *reader);
/* Reads on, and moves the cursor back to the byte at `keep`. *out_more is false if there is no
 * more. */
enum varve_code vv_chrome_refill(struct vv_chrome_reader *reader, const char *keep, bool *out_more,
                                 struct varve_error *error);
/* Returns the failure that the cursor has found. */
enum varve_code vv_chrome_fail(const struct vv_chrome_reader *reader, struct varve_error *error);

/* chrome/document.c: reads what comes before the events, so that the cursor is at the first event.
 * If has_events is false, it has read all of the text, and there are no events. */
enum varve_code vv_chrome_read_head(struct vv_chrome_reader *reader, bool *out_is_object,
                                    struct varve_error *error);
/* Reads events from the cursor on. *out_is_closed is true at the end of the list; otherwise it
 * stopped at stop_at or at the end of the input. */
enum varve_code vv_chrome_read_events(struct vv_chrome_reader *reader, bool *out_is_closed,
                                      struct varve_error *error);
/* Reads what follows the list. */
enum varve_code vv_chrome_read_rest(struct vv_chrome_reader *reader, bool is_object,
                                    struct varve_error *error);

/* chrome/events_to_rows.c: makes rows of reader->event. */
enum varve_code vv_chrome_apply(struct vv_chrome_reader *reader, struct varve_error *error);
/* Makes rows of a sample from the top-level list "samples". */
enum varve_code vv_chrome_apply_sample(struct vv_chrome_reader *reader, struct varve_error *error);

/* chrome/slice.c: makes a slice of an X or B event; duration_ns -1 = it has no end yet. */
enum varve_code vv_chrome_add_slice(struct vv_chrome_reader *reader, int64_t duration_ns,
                                    uint32_t *out_slice, struct varve_error *error);

/* chrome/args.c */
/* Appends one argument. */
enum varve_code vv_chrome_add_arg(struct vv_chrome_reader *reader, uint32_t key,
                                  const struct vv_chrome_value *value, struct varve_error *error);
/* VARVE_LIMIT: the event has more arguments than a slice can have. */
enum varve_code vv_chrome_bound_args(const struct vv_chrome_reader *reader,
                                     struct varve_error *error);
/* Adds all arguments of the event without interpreting them; frames too. */
enum varve_code vv_chrome_add_args(struct vv_chrome_reader *reader, uint32_t *out_first,
                                   uint16_t *out_count, struct varve_error *error);
/* Stores a value in the form of args and facts. */
enum varve_code vv_chrome_store(struct vv_chrome_reader *reader,
                                const struct vv_chrome_value *value, uint64_t *out_value,
                                uint8_t *out_kind, struct varve_error *error);
/* Adds members of the event that have no column as arguments: "s", "sf", "scope" … */
enum varve_code vv_chrome_add_field_args(struct vv_chrome_reader *reader,
                                         struct varve_error *error);
/* Finds the name of an argument, and its meaning. */
struct vv_chrome_key {
    uint32_t id;
    enum vv_dialect_role role;
};
enum varve_code vv_chrome_new_key(struct vv_chrome_reader *reader,
                                  const struct vv_recent_probe *probe, struct vv_recent_text *slot,
                                  struct vv_chrome_key *out_key, struct varve_error *error);

/* Of the argument with this number in the event. Most events have the keys of the event before. */
VV_CHROME_INLINE enum varve_code vv_chrome_find_key(struct vv_chrome_reader *reader, size_t number,
                                                    struct vv_chrome_key *out_key,
                                                    struct varve_error *error)
{
    bool found;
    const struct vv_chrome_value *key = &reader->event.args[number].key;
    struct vv_recent_text *former = &reader->former_keys[number % VV_CHROME_FORMER_KEYS];
    if (__builtin_expect(vv_recent_is(former, key->at, key->length), 1)) {
        out_key->id = former->id;
        out_key->role = (enum vv_dialect_role)former->meaning;
        return VARVE_OK;
    }
    struct vv_recent_probe probe = vv_recent_probe(key->at, key->length);
    struct vv_recent_text *slot = vv_recent_find(&reader->keys, &probe, &found);
    if (__builtin_expect(!found, 0))
        return vv_chrome_new_key(reader, &probe, slot, out_key, error);
    *former = *slot;
    out_key->id = slot->id;
    out_key->role = (enum vv_dialect_role)slot->meaning;
    return VARVE_OK;
}

/* kineto.c */
enum varve_code vv_kineto_slice_args(struct vv_chrome_reader *reader, uint32_t slice,
                                     struct varve_error *error);
/* Handles a "[memory]" instant; *out_done is false if it is another kind of instant. */
enum varve_code vv_kineto_memory(struct vv_chrome_reader *reader, bool *out_done,
                                 struct varve_error *error);
enum varve_code vv_chrome_add_step(struct vv_chrome_reader *reader, uint32_t slice, int64_t index,
                                   struct varve_error *error);
/* chrome/kineto_devices.c: makes rows of devices from the facts of the run. */
enum varve_code vv_kineto_devices(struct vv_chrome_reader *reader, struct varve_error *error);
/* If the slice is a step, makes a step of it. */
enum varve_code vv_kineto_step(struct vv_chrome_reader *reader, uint32_t slice,
                               struct varve_error *error);

/* chrome/pairs.c, chrome/async.c, chrome/flows.c, chrome/frames.c, chrome/titles.c: the last
 * stage. */
enum varve_code vv_chrome_add_async(struct vv_chrome_reader *reader, struct varve_error *error);
enum varve_code vv_chrome_add_flow(struct vv_chrome_reader *reader, enum vv_chrome_flow_kind kind,
                                   struct varve_error *error);
enum varve_code vv_chrome_event_id(struct vv_chrome_reader *reader, struct vv_chrome_id *out_id,
                                   struct varve_error *error);
/* Finds or makes rows of asyncs and families. */
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
enum varve_code vv_chrome_resolve_frames(struct vv_chrome_reader *reader,
                                         struct varve_error *error);
enum varve_code vv_chrome_apply_titles(struct vv_chrome_reader *reader, struct varve_error *error);
/* chrome/close.c: does the whole last stage. */
enum varve_code vv_chrome_close(struct vv_chrome_reader *reader, struct varve_error *error);

#endif
