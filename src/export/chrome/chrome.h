/* SPDX-License-Identifier: Apache-2.0 */
/* chrome.h — the parts of the Chrome JSON writer: ids and lanes, arrows, events. doc/chrome.md.
 *
 * Invariants of what is written: on one (pid, tid), two X events nest or are disjoint; 0 < tid < 2^32
 * and 0 < pid < 2^32, integers; every X has cat, name, pid, tid, ts, dur >= 0; no ts is negative. */
#ifndef VV_EXPORT_CHROME_CHROME_H
#define VV_EXPORT_CHROME_CHROME_H

#include <stdio.h>

#include "export/output/format.h"

/* ---- chrome/lanes.c: the numbers and rows that a viewer sees ---- */

struct vv_chrome_lane {
    uint32_t track;
    uint32_t number;      /* 0 = the track's own row, 1, 2 … = further ones                     */
    int64_t tid;
};

struct vv_chrome_layout {
    int64_t *pids;        /* by process row: its own, or a new one where taken or out of range  */
    uint32_t *first_lane; /* by track                                                           */
    struct vv_chrome_lane *lanes;
    uint32_t lane_count;
    size_t lane_capacity;
    uint32_t *lane_of;    /* by slice: a row in lanes                                           */
    uint32_t *step_of;    /* by slice: the step that it is, or VV_NONE                          */
    int64_t base_ns;      /* instant that is written as ts 0: a whole second, at or before all  */
};

enum varve_code vv_chrome_layout_init(struct vv_chrome_layout *layout, const struct vv_model *model,
                                      struct varve_error *error);
void vv_chrome_layout_deinit(struct vv_chrome_layout *layout);

/* ---- chrome/arguments.c: what has no column, as ", KEY: VALUE" behind what has ---- */

#define VV_CHROME_COLUMN_ARGUMENTS 18u

struct vv_chrome_writer;
void vv_chrome_find_arguments(struct vv_chrome_writer *writer); /* before the first */
/* A text that should be an array or object; as a text where it is none. */
void vv_chrome_put_json(struct vv_chrome_writer *writer, uint32_t string);
void vv_chrome_put_arguments(struct vv_chrome_writer *writer, uint32_t first, uint32_t count);

/* ---- chrome/events.c: one function a kind of record; each event is one line ---- */

struct vv_chrome_writer {
    const struct vv_model *model;
    const struct vv_chrome_layout *layout;
    FILE *stream;
    bool has_event;                  /* the next one needs a comma                               */
    uint32_t from_columns[VV_CHROME_COLUMN_ARGUMENTS]; /* strings; UINT32_MAX: not in this model */
    struct vv_export_counts counts;
};

void vv_chrome_put_names(struct vv_chrome_writer *writer);
void vv_chrome_put_slices(struct vv_chrome_writer *writer);
void vv_chrome_put_marks(struct vv_chrome_writer *writer);
void vv_chrome_put_counters(struct vv_chrome_writer *writer);
enum varve_code vv_chrome_put_memory(struct vv_chrome_writer *writer, struct varve_error *error);
enum varve_code vv_chrome_put_flows(struct vv_chrome_writer *writer, struct varve_error *error);

#endif
