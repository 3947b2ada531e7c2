/* SPDX-License-Identifier: Apache-2.0 */
/* nsys.h — what the files of the reader of Nsight Systems' SQLite exports share. doc/formats.md.
 *
 * Times in the file are nanoseconds since the session's start; epoch_ns puts them on the model's clock. */
#ifndef VV_IMPORT_NSYS_NSYS_H
#define VV_IMPORT_NSYS_NSYS_H

#include "import/input/format.h"
#include "import/nsys/sqlite.h"
#include "import/rows/attribute.h"
#include "import/rows/row_map.h"

#ifdef VV_HAVE_SQLITE

enum {
    VV_NSYS_KEY_STRING, VV_NSYS_KEY_PROCESS, VV_NSYS_KEY_THREAD, VV_NSYS_KEY_STREAM, VV_NSYS_KEY_LANE,
    VV_NSYS_KEY_DOMAIN, VV_NSYS_KEY_CATEGORY /* of NVTX                                          */
};

struct vv_nsys {
    struct vv_model *model;
    uint32_t scope;
    sqlite3 *database;
    int64_t epoch_ns, last_ns;  /* last_ns: the latest instant of any event so far               */
    uint64_t file_bytes;        /* as SQLite sees it: decompressed                              */
    uint64_t rows_left;         /* a file cannot hold more rows than bytes: beyond it, it is torn */
    uint64_t text_bytes_left;   /* no file holds more text than that                             */
    uint64_t looks_left;        /* at SQLite's machine: beyond it, it goes round in circles      */
    uint64_t fact_rows, counted_rows; /* of the table that is being read                         */
    uint32_t host;              /* string                                                       */
    struct vv_row_map rows;     /* keys end with a kind, VV_NSYS_KEY_                            */
    uint32_t *unfinished;       /* slices without an end                                        */
    size_t unfinished_count, unfinished_capacity;
    bool is_torn;
};

/* What a column says, by its name; ARGUMENT is any that has no place of its own. */
enum vv_nsys_role {
    VV_NSYS_ARGUMENT, VV_NSYS_STRING, /* an argument that is the id of a string                    */
    VV_NSYS_START, VV_NSYS_END, VV_NSYS_TID, VV_NSYS_PID, VV_NSYS_NAME, VV_NSYS_TEXT, VV_NSYS_CORRELATION,
    VV_NSYS_DEVICE, VV_NSYS_CONTEXT, VV_NSYS_STREAM, VV_NSYS_BYTES, VV_NSYS_COPY_KIND, VV_NSYS_EVENT_TYPE,
    VV_NSYS_DOMAIN, VV_NSYS_CATEGORY, VV_NSYS_RANK,
    VV_NSYS_ROLE_COUNT
};
#define VV_NSYS_COLUMNS_MAX 96
#define VV_NSYS_ABSENT INT64_MIN

/* A row: values by role, NAME and TEXT as strings of the model. Columns beyond VV_NSYS_COLUMNS_MAX are not
 * looked at. */
struct vv_nsys_row {
    sqlite3_stmt *statement;
    int column_count;
    uint8_t roles[VV_NSYS_COLUMNS_MAX];
    uint32_t keys[VV_NSYS_COLUMNS_MAX]; /* strings: the columns' names                            */
    int64_t values[VV_NSYS_ROLE_COUNT]; /* VV_NSYS_ABSENT: no such column, or NULL                */
};

/* A page that cannot be read ends the table and makes the file a torn one. A table that is not there has no
 * rows. */
typedef enum varve_code vv_nsys_take(struct vv_nsys *nsys, const struct vv_nsys_row *row,
                                     const void *context, struct varve_error *error);
enum varve_code vv_nsys_each(struct vv_nsys *nsys, const char *table, vv_nsys_take *take,
                             const void *context, struct varve_error *error);
/* The columns without a place of their own. */
enum varve_code vv_nsys_arguments(struct vv_nsys *nsys, const struct vv_nsys_row *row, uint32_t slice,
                                  struct varve_error *error);
/* A column as an attribute; false where it is NULL. */
enum varve_code vv_nsys_attribute(struct vv_nsys *nsys, const struct vv_nsys_row *row, int column,
                                  struct vv_attribute *out, bool *out_is_said, struct varve_error *error);

/* Limits, permissions and budgets of a database that is open. nsys/guard.c */
void vv_nsys_guard(struct vv_nsys *nsys, bool lacks_pages);
/* Are its columns in the file, and not computed? */
enum varve_code vv_nsys_is_plain_table(struct vv_nsys *nsys, const char *table, bool *out_is_plain,
                                       struct varve_error *error);
/* Takes the statement's row out of the budget; false where that is spent. */
bool vv_nsys_may_hold(struct vv_nsys *nsys, sqlite3_stmt *statement);

/* The string of the model for an id of StringIds; 0 for one that is not there. */
uint32_t vv_nsys_string(const struct vv_nsys *nsys, int64_t id);
enum varve_code vv_nsys_read_strings(struct vv_nsys *nsys, struct varve_error *error);

/* What a globalTid or globalPid stands for: it is made with its first event. */
enum varve_code vv_nsys_process(struct vv_nsys *nsys, int64_t global_id, uint32_t *out_row,
                                struct varve_error *error);
enum varve_code vv_nsys_thread(struct vv_nsys *nsys, int64_t global_tid, uint32_t *out_track,
                               struct varve_error *error);
enum varve_code vv_nsys_stream(struct vv_nsys *nsys, const struct vv_nsys_row *row, uint32_t *out_track,
                               struct varve_error *error);
/* The lane of a process for ranges that may begin and end anywhere. */
enum varve_code vv_nsys_lane(struct vv_nsys *nsys, int64_t global_tid, uint32_t *out_track,
                             struct varve_error *error);
/* Names of processes and threads that have events. */
enum varve_code vv_nsys_name_all(struct vv_nsys *nsys, struct varve_error *error);

/* Every table of events; *out_is_known is false for one of another kind. nsys/events.c */
enum varve_code vv_nsys_read_events(struct vv_nsys *nsys, const char *table, bool *out_is_known,
                                    struct varve_error *error);
/* NVTX_EVENTS. nsys/nvtx.c */
enum varve_code vv_nsys_read_nvtx(struct vv_nsys *nsys, struct varve_error *error);
/* Slices without an end last as long as anything does. */
void vv_nsys_close(struct vv_nsys *nsys);

/* What all events have; an instant that is not said is VV_NSYS_ABSENT. */
struct vv_nsys_event {
    int64_t start_ns, end_ns;
    uint32_t track, name, category;
    uint16_t layer;
};
/* Adds the slice; start and end as the file says them. */
enum varve_code vv_nsys_add(struct vv_nsys *nsys, const struct vv_nsys_event *event,
                            uint32_t *out_slice, struct varve_error *error);

#endif
#endif
