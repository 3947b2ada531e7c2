/* SPDX-License-Identifier: Apache-2.0 */
/* ranges.h — decodes runs of plain records, the fast way through a stream. Private to this room.
 *
 * Plain records are begins, ends and nexts of sites outside of layer STEP, one word each, and
 * notes: records that change no range, such as operators, allocations and marks. A run is decoded
 * by itself: it knows how many ranges are open around it, and their rows, but not when they began.
 * So consecutive runs can be decoded at the same time. The effects of a run on the ranges around it
 * are settled afterwards, run by run; only then the actions of its notes are done.
 * Thread-compatible: a run belongs to one thread. */
#ifndef VV_IMPORT_VARVE_PROCESS_RANGES_H
#define VV_IMPORT_VARVE_PROCESS_RANGES_H

#include "import/varve/records/stream.h"

/* A run may leave so many ranges open, and may end so many of those around it. */
#define VV_RUN_DEPTH 512u

#define VV_RUN_NOTES 512u /* of runs one after the other */

struct vv_run_note {
    struct vv_record record; /* its words stay where they are until the run is settled           */
    uint64_t ticks;
    int64_t time_ns;
};

/* The end of a range that was open around the run. */
struct vv_run_end {
    int64_t end_ns;
    int64_t inside_ns; /* time of the run's own ranges inside that range                         */
};

struct vv_range_run {
    const struct vv_event_class *classes;
    uint32_t class_count, track;
    struct vv_timeline timeline; /* its base is not after `ticks`                               */
    /* the columns in memory; from first_row on, a row for each word fits */
    struct vv_slices columns;
    uint32_t first_row;
    const struct vv_open_range *around; /* innermost last                                       */
    size_t around_count;
    uint64_t last_ticks; /* records after this are not plain                                    */
    struct vv_run_note *notes;
    size_t note_room;    /* a note after so many is not plain                                   */
    /* set by vv_ranges_decode */
    uint64_t ticks;      /* of the last record; at first, of the one before the run              */
    int64_t time_ns;     /* the same, in ns                                                     */
    uint32_t row;        /* the first row after those written                                   */
    uint64_t records;
    size_t note_count;
    bool has_empty;      /* a range had no duration: finish must order and nest                  */
    size_t ended_count, open_count;
    struct vv_run_end ended[VV_RUN_DEPTH];
    /* [0] stands for the innermost range around the run */
    struct vv_open_range open[VV_RUN_DEPTH + 1];
};

/* Call before the first record of a run, when all fields above vv_ranges_decode's are set, and also
 * ticks and time_ns. */
void vv_run_start(struct vv_range_run *run);
/* Decodes plain records from words[0] on, which is at `offset` of the file, up to the first that is
 * not plain; returns the number of their words. */
size_t vv_ranges_decode(struct vv_range_run *run, const uint64_t *words, size_t count,
                        uint64_t offset);
/* Makes the records of a run part of the stream. The run must come directly after what the stream
 * has read. */
enum varve_code vv_run_settle(struct vv_range_run *run, struct vv_stream_reader *stream,
                              struct varve_error *error);

/* Call before vv_ranges_read whenever the model's slices may have moved in memory. */
void vv_ranges_prepare(struct vv_stream_reader *stream);
/* Reads the stream's plain records from words[0] on, which is at `offset`. *out_used is the number
 * of their words; 0 if the first record is not plain. The slices must have room for a row for each
 * word. */
enum varve_code vv_ranges_read(struct vv_stream_reader *stream, const uint64_t *words, size_t count,
                               uint64_t offset, size_t *out_used, struct varve_error *error);

#endif
