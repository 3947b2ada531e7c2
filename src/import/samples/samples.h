/* SPDX-License-Identifier: Apache-2.0 */
/* samples.h — shared by the files of the importer of perf's samples. doc/formats.md.
 *
 * A sample says that a thread was at a place when a counter had run for one more period. It becomes
 * a slice of one period's length that ends about there; with call chains, one slice for each
 * function, each inside its caller. So a function's calls are its samples, and all self times add
 * up to the sum of the periods. Texts are counted: they lie in the file. */
#ifndef VV_IMPORT_SAMPLES_SAMPLES_H
#define VV_IMPORT_SAMPLES_SAMPLES_H

#include "base/array.h"
#include "import/input/format.h"
#include "import/rows/row_map.h"

struct vv_perf_text { const char *at; size_t length; };

/* "train 71/72 [003] 25928.107787: 2000000 cpu-clock: …" */
struct vv_perf_head {
    struct vv_perf_text command, event; /* event: empty = not printed                           */
    int64_t pid, tid;                   /* pid -1 = not printed                                  */
    int64_t time_ns;
    int64_t period;                     /* -1 = not printed                                      */
    struct vv_perf_text rest;           /* the frame, of a sample without a call chain           */
};

/* "116d inner+0x24 (/usr/bin/a)" */
struct vv_perf_frame { struct vv_perf_text symbol, object; };

/* Each gives false for a line of another kind. */
VV_MUST_USE bool vv_perf_read_head(struct vv_perf_text line, struct vv_perf_head *out_head);
VV_MUST_USE bool vv_perf_read_frame(struct vv_perf_text line, struct vv_perf_frame *out_frame);
/* "a.c:3", "/src/a.c:3 (discriminator 4)"; false also for "a[12]" and "??:0". */
VV_MUST_USE bool vv_perf_read_place(struct vv_perf_text line, struct vv_perf_text *out_file,
                                    uint32_t *out_line);

struct vv_perf_place { uint32_t name, source; }; /* string; row in sources, 0 = none             */

struct vv_perf_sample {
    int64_t time_ns, period;
    uint32_t track, event;              /* row; string                                          */
    uint32_t first_place, place_count;  /* in places, innermost first                           */
};

struct vv_perf_reading {
    const struct vv_import_job *job;
    struct vv_model *model;
    VV_ARRAY_OF(struct vv_perf_sample) samples;
    VV_ARRAY_OF(struct vv_perf_place) places;
    struct vv_row_map rows;             /* processes, threads, sources                          */
};

/* Makes slices of all samples, and says in facts how. */
enum varve_code vv_perf_add_slices(struct vv_perf_reading *reading, struct varve_error *error);

#endif
