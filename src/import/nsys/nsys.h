/* SPDX-License-Identifier: Apache-2.0 */
/* nsys.h — shared by the files of the importer of Nsight Systems' SQLite exports. doc/formats.md.
 *
 * Times in the file are nanoseconds since the session's start. The spans' epoch converts them
 * to the model's clock. */
#ifndef VV_IMPORT_NSYS_NSYS_H
#define VV_IMPORT_NSYS_NSYS_H

#include "import/rows/row_map.h"
#include "import/rows/spans.h"
#include "import/sqlite/database.h"

#ifdef VV_HAVE_SQLITE

enum {
    VV_NSYS_KEY_STRING, VV_NSYS_KEY_PROCESS, VV_NSYS_KEY_THREAD, VV_NSYS_KEY_STREAM,
    VV_NSYS_KEY_LANE,
    VV_NSYS_KEY_DOMAIN, VV_NSYS_KEY_CATEGORY /* of NVTX                                          */
};

struct vv_nsys {
    struct vv_model *model;
    uint32_t scope;
    struct vv_database *database;
    struct vv_spans spans;      /* its epoch converts the file's times                          */
    uint64_t fact_rows;         /* of the current table                                         */
    uint32_t host;              /* string                                                       */
    struct vv_row_map rows;     /* a key's last word is a kind, VV_NSYS_KEY_                     */
};

/* The meaning of a column, by its name; ARGUMENT is any column without a place in the model. */
enum vv_nsys_role {
    VV_NSYS_ARGUMENT, VV_NSYS_STRING, /* an argument that is the id of a string */
    VV_NSYS_START, VV_NSYS_END, VV_NSYS_TID, VV_NSYS_PID, VV_NSYS_NAME, VV_NSYS_TEXT,
    VV_NSYS_CORRELATION,
    VV_NSYS_DEVICE, VV_NSYS_CONTEXT, VV_NSYS_STREAM, VV_NSYS_BYTES, VV_NSYS_COPY_KIND,
    VV_NSYS_EVENT_TYPE,
    VV_NSYS_DOMAIN, VV_NSYS_CATEGORY, VV_NSYS_RANK,
    VV_NSYS_ROLE_COUNT
};
#define VV_NSYS_COLUMNS_MAX 96

/* A row. Values are stored by role; NAME and TEXT are strings of the model. Columns beyond
 * VV_NSYS_COLUMNS_MAX are ignored. */
struct vv_nsys_row {
    sqlite3_stmt *statement;
    int column_count;
    uint8_t roles[VV_NSYS_COLUMNS_MAX];
    uint32_t keys[VV_NSYS_COLUMNS_MAX]; /* strings: the names of the columns                      */
    int64_t values[VV_NSYS_ROLE_COUNT]; /* VV_SPAN_ABSENT: there is no such column, or it is NULL */
};

/* Takes one row; as vv_database_each. */
typedef enum varve_code vv_nsys_take(struct vv_nsys *nsys, const struct vv_nsys_row *row,
                                     const void *context, struct varve_error *error);
enum varve_code vv_nsys_each(struct vv_nsys *nsys, const char *table, vv_nsys_take *take,
                             const void *context, struct varve_error *error);
/* Adds the columns without a place in the model as arguments. */
enum varve_code vv_nsys_arguments(struct vv_nsys *nsys, const struct vv_nsys_row *row,
                                  uint32_t slice, struct varve_error *error);
enum varve_code vv_nsys_read_strings(struct vv_nsys *nsys, struct varve_error *error);

/* Finds the row for a globalTid or globalPid. The row is made with its first event. */
enum varve_code vv_nsys_thread(struct vv_nsys *nsys, int64_t global_tid, uint32_t *out_track,
                               struct varve_error *error);
enum varve_code vv_nsys_stream(struct vv_nsys *nsys, const struct vv_nsys_row *row,
                               uint32_t *out_track, struct varve_error *error);
/* The track of a process for ranges that may begin and end anywhere. */
enum varve_code vv_nsys_lane(struct vv_nsys *nsys, int64_t global_tid, uint32_t *out_track,
                             struct varve_error *error);
/* Names the processes and threads that have events. */
enum varve_code vv_nsys_name_all(struct vv_nsys *nsys, struct varve_error *error);

/* Reads a table if it holds events; otherwise *out_is_known is false. nsys/events.c */
enum varve_code vv_nsys_read_events(struct vv_nsys *nsys, const char *table, bool *out_is_known,
                                    struct varve_error *error);
/* Reads NVTX_EVENTS. nsys/nvtx.c */
enum varve_code vv_nsys_read_nvtx(struct vv_nsys *nsys, struct varve_error *error);

/* Is the database of Nsight Systems? */
enum varve_code vv_nsys_is(struct vv_database *database, bool *out_is, struct varve_error *error);
/* Adds what the database has to the job's model. */
enum varve_code vv_nsys_read(struct vv_database *database, const struct vv_import_job *job,
                             struct varve_error *error);

#endif
#endif
