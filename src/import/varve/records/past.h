/* SPDX-License-Identifier: Apache-2.0 */
/* past.h — ranges that were told when they were over, and notes of what they were (doc/format.md
 * §6). Private to import/varve.
 *
 * Both are kept until all streams are decoded, because they come in any order and from any thread.
 * Thread-compatible. */
#ifndef VV_IMPORT_VARVE_RECORDS_PAST_H
#define VV_IMPORT_VARVE_RECORDS_PAST_H

#include "base/array.h"
#include "import/rows/key_map.h"

struct vv_process_reader;
struct vv_record;
struct vv_stream_reader;

struct vv_past_range {
    uint64_t tid;
    int64_t begin, end;
    uint32_t clock, name, subject; /* strings; subject 0 = none                                  */
    uint32_t slice;                /* row; VV_NONE = it has no instant                           */
    uint32_t around;               /* while notes look for their ranges: past.c                  */
    uint16_t layer;
};

struct vv_past_note {
    uint64_t tid, correlation;
    int64_t time;
    size_t first_word;   /* in `words`: the values                                               */
    uint32_t value_count, name, clock, flags;
    uint32_t order;      /* in which it was read                                                 */
    uint32_t slice;      /* row; VV_NONE = no range holds it                                     */
    uint32_t subject;    /* that range's                                                         */
    uint32_t op_slice;   /* row: of the innermost operator's range at that instant; VV_NONE      */
    uint16_t layer;
};

struct vv_past_said {
    VV_ARRAY_OF(struct vv_past_range) ranges;
    VV_ARRAY_OF(struct vv_past_note) notes;
    VV_ARRAY_OF(uint64_t) words; /* the values of all notes, as in the file                      */
    struct vv_key_map models;    /* the runtime's number of a model to row in loaded_models      */
};

/* Actions of process/record.c. */
enum varve_code vv_past_range_read(struct vv_stream_reader *stream, const struct vv_record *record,
                                   struct varve_error *error);
enum varve_code vv_past_note_read(struct vv_stream_reader *stream, const struct vv_record *record,
                                  struct varve_error *error);

/* When all streams are decoded: adds the ranges to the tracks of their threads, of which the first
 * is `first_track`, and gives them their notes. Finish must then nest what lies behind
 * `first_placed`. */
enum varve_code vv_past_join(struct vv_process_reader *process, uint32_t first_track,
                             size_t first_placed, struct varve_error *error);
void vv_past_said_deinit(struct vv_past_said *said); /* idempotent */

/* ---- past_values.c ---- */

/* Adds the values of notes [first, limit), which are all notes of a slice, to it. */
enum varve_code vv_past_values_to_slice(struct vv_process_reader *process, uint32_t slice,
                                        size_t first, size_t limit, struct varve_error *error);
/* The same for one note and a mark. */
enum varve_code vv_past_values_to_mark(struct vv_process_reader *process, uint32_t mark,
                                       const struct vv_past_note *note, struct varve_error *error);
/* If the note's name is a known one, gives what it says its place in the model's tables. Ranges
 * must have the names that their notes give them. */
enum varve_code vv_past_tables_add(struct vv_process_reader *process,
                                   const struct vv_past_note *note, struct varve_error *error);

#endif
