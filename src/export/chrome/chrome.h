/* SPDX-License-Identifier: Apache-2.0 */
/* chrome.h — the parts of the Chrome JSON writer: ids and lanes, arrows, events. doc/chrome.md.
 *
 * Invariants of the output: on one (pid, tid), two X events nest or do not overlap. pid and tid are
 * integers above 0 and below 2^32. Every X event has cat, name, pid, tid, ts, and dur >= 0. No ts
 * is negative. */
#ifndef VV_EXPORT_CHROME_CHROME_H
#define VV_EXPORT_CHROME_CHROME_H

#include <stdio.h>

#include "export/output/format.h"

/* ---- chrome/lanes.c: the numbers and rows in a viewer ---- */

struct vv_chrome_lane {
    uint32_t track;
    uint32_t number;      /* 0 = the track's own row, 1, 2 … = additional rows                  */
    int64_t tid;
};

struct vv_chrome_layout {
    int64_t *pids;        /* process row -> its pid, or a new one if taken or out of range      */
    uint32_t *first_lane; /* track -> its first lane                                            */
    struct vv_chrome_lane *lanes;
    uint32_t lane_count;
    size_t lane_capacity;
    uint32_t *lane_of;    /* slice -> row in lanes                                              */
    uint32_t *step_of;    /* slice -> the step that it is, or VV_NONE                           */
    uint32_t *lane_of_step; /* step -> row in lanes, if no slice is the step; or VV_NONE         */
    int64_t base_ns;      /* instant written as ts 0: a whole second, or the first there is; not
                             after any record */
};

/* The time since the base; a trace longer than 292 years ends there. */
static inline int64_t vv_chrome_since_base_ns(const struct vv_chrome_layout *layout, int64_t at_ns)
{
    int64_t since_ns;
    return __builtin_sub_overflow(at_ns, layout->base_ns, &since_ns) ? INT64_MAX : since_ns;
}

enum varve_code vv_chrome_layout_init(struct vv_chrome_layout *layout, const struct vv_model *model,
                                      struct varve_error *error);
void vv_chrome_layout_deinit(struct vv_chrome_layout *layout);

/* ---- chrome/arguments.c: arguments without a column, written as ", KEY: VALUE" ---- */

#define VV_CHROME_COLUMN_ARGUMENTS 21u

struct vv_chrome_writer;
void vv_chrome_find_arguments(struct vv_chrome_writer *writer); /* call before the first event */
/* Writes a text that should be a JSON array or object; if it is neither, writes it as a string. */
void vv_chrome_put_json(struct vv_chrome_writer *writer, uint32_t string);
/* op: the slice's row of operators, or VV_NONE. */
void vv_chrome_put_arguments(struct vv_chrome_writer *writer, uint32_t op, uint32_t first,
                             uint32_t count);

/* ---- chrome/events.c: one function for each kind of record; each event is one line ---- */

struct vv_chrome_writer {
    const struct vv_model *model;
    const struct vv_chrome_layout *layout;
    FILE *stream;
    bool has_event;                  /* the next event needs a comma before it                   */
    uint32_t from_columns[VV_CHROME_COLUMN_ARGUMENTS]; /* strings; UINT32_MAX: not in this model */
    struct vv_export_counts counts;
};

void vv_chrome_put_names(struct vv_chrome_writer *writer);
/* Steps that were found and are no slice. A slice of the same time is inside the step, so these
 * come before the slices. */
void vv_chrome_put_found_steps(struct vv_chrome_writer *writer);
void vv_chrome_put_slices(struct vv_chrome_writer *writer);
void vv_chrome_put_marks(struct vv_chrome_writer *writer);
void vv_chrome_put_counters(struct vv_chrome_writer *writer);
enum varve_code vv_chrome_put_memory(struct vv_chrome_writer *writer, struct varve_error *error);
enum varve_code vv_chrome_put_flows(struct vv_chrome_writer *writer, struct varve_error *error);

#endif
