/* SPDX-License-Identifier: Apache-2.0 */
/* rows.h — the rows of Fluid's report: ranges of one name, summed up for each thread, and for all
 * threads together if there are two or more.
 *
 * Rows stand in the order in which their first ranges ended. A row `P/x` whose name has no '/'
 * behind that one is a child of the row `P` of its report and thread, if there is one. The share of
 * every row, children too, is of the total of the rows that are no children. Sorting moves these
 * rows only. Thread-compatible. */
#ifndef VV_ANALYSE_PADDLE_ROWS_H
#define VV_ANALYSE_PADDLE_ROWS_H

#include "analyse/paddle/events.h"
#include "question/fluid_sort.h"

#define VV_FLUID_MERGED VV_NONE

struct vv_fluid_row {
    uint32_t name;             /* in names->texts                                               */
    uint64_t calls;
    int64_t total_ns;          /* cpu_ns + gpu_ns                                               */
    int64_t cpu_ns, gpu_ns;
    int64_t min_ns, max_ns;    /* of one range: both times together                             */
    uint32_t parent;           /* row, or VV_NONE                                               */
    uint32_t first_child, last_child, next; /* the children of one row are a list               */
};

/* A report, or the part of one that belongs to a thread. */
struct vv_fluid_block {
    uint32_t track;            /* VV_FLUID_MERGED: of all threads                               */
    uint32_t number;           /* of the thread                                                 */
    uint32_t *roots;           /* its rows that are no children, in the order of the report     */
    uint32_t root_count;
    int64_t total_ns;          /* of these rows                                                 */
};

struct vv_fluid_rows {
    struct vv_groups groups;   /* (name, number of a block) -> row                              */
    struct vv_fluid_row *items;
    size_t capacity;
    struct vv_fluid_block *blocks; /* that of all threads first; then the newest thread's       */
    uint32_t block_count;
};

/* Reads all threads of `events`. */
enum varve_code vv_fluid_rows_make(struct vv_fluid_rows *out_rows, struct vv_fluid_events *events,
                                   enum vv_fluid_sort sort, struct varve_error *error);

#endif
