/* SPDX-License-Identifier: Apache-2.0 */
/* ranges.h — the fast way through a stream: runs of plain records; private to the varve reader.
 *
 * Plain are begins, ends and nexts of sites outside layer STEP: one word each, and all that a loop writes. A run is
 * decoded on its own: it knows how many ranges are open around it and which rows they are, but not when
 * they began, so runs that follow each other can be decoded at the same time. What a run does to the ranges
 * around it is settled afterwards, run by run. Thread-compatible: a run belongs to one thread. */
#ifndef VV_IMPORT_VARVE_RANGES_H
#define VV_IMPORT_VARVE_RANGES_H

#include "import/varve/stream.h"

#define VV_RUN_DEPTH 512u /* ranges a run may leave open, and as many of those around it that it may end   */

/* The end of a range that was open around the run. */
struct vv_run_end {
    int64_t end_ns;
    int64_t inside_ns; /* what the run's own ranges took of it                                   */
};

struct vv_range_run {
    const struct vv_event_class *classes;
    uint32_t class_count, track;
    struct vv_timeline timeline; /* with a base not after `ticks`                               */
    struct vv_slices columns; /* as they lie in memory; room for a row a word from first_row on        */
    uint32_t first_row;
    const struct vv_open_range *around; /* innermost last                                       */
    size_t around_count;
    uint64_t last_ticks; /* no record after it is plain                                         */
    /* kept by vv_run_decode */
    uint64_t ticks;      /* of the last record, at first of the one before the run               */
    int64_t time_ns;     /* the same                                                            */
    uint32_t row;        /* the first behind those written                                      */
    bool has_empty;      /* a range took no time: order and nesting are for finish to find       */
    size_t ended_count, open_count;
    struct vv_run_end ended[VV_RUN_DEPTH];
    struct vv_open_range open[VV_RUN_DEPTH + 1]; /* [0] stands for what is open around          */
};

/* Before the first of a run's records, when all above vv_run_decode's is set, and ticks and time_ns. */
void vv_run_start(struct vv_range_run *run);
/* Decodes from words[0] on, as long as records are plain; returns how many words that were. */
size_t vv_run_decode(struct vv_range_run *run, const uint64_t *words, size_t count);
/* The run follows what the stream has read, and nothing does yet: makes its records part of the stream. */
enum varve_code vv_run_settle(struct vv_range_run *run, struct vv_stream_reader *stream,
                              struct varve_error *error);

/* Before vv_ranges_read, whenever the model's slices may lie elsewhere than the last time. */
void vv_ranges_prepare(struct vv_stream_reader *stream);
/* Reads the stream's plain records from words[0] on; *out_used is how many words they were, 0 if the first is not
 * plain. The slices have room for a row a word. */
enum varve_code vv_ranges_read(struct vv_stream_reader *stream, const uint64_t *words, size_t count,
                               size_t *out_used, struct varve_error *error);

#endif
