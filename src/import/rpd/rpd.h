/* SPDX-License-Identifier: Apache-2.0 */
/* rpd.h — shared by the files of the importer of rocmProfileData's databases. doc/formats.md.
 *
 * Rows name texts, calls and work by ids. The tables that others name are read first: texts, which
 * call started which work, what is known of calls, calls, work. All times are of one clock. */
#ifndef VV_IMPORT_RPD_RPD_H
#define VV_IMPORT_RPD_RPD_H

#include "import/rows/key_map.h"
#include "import/rows/row_map.h"
#include "import/rows/spans.h"
#include "import/sqlite/database.h"

#ifdef VV_HAVE_SQLITE

enum { VV_RPD_KEY_PROCESS, VV_RPD_KEY_THREAD, VV_RPD_KEY_QUEUE, VV_RPD_KEY_SESSION,
       VV_RPD_KEY_SERIES };

/* A row about a call in a table of its own: the arguments that it became. */
struct vv_rpd_detail { uint32_t first_arg, arg_count, next; };

/* What is known of a call, perhaps before its row is read. */
struct vv_rpd_call {
    int64_t id;
    uint64_t bytes;      /* copied; 0 = not known                                               */
    uint32_t slice;      /* VV_NONE: its row has not been read                                  */
    uint32_t first_detail, work_count;
    uint32_t said;       /* string: what PyTorch says of a range, or 0                          */
    int8_t copy_kind;    /* HIP's number for the direction; -1 = not known                      */
    uint8_t detail_count;
    bool has_work;       /* a row of its work has been read                                     */
};

/* The last sample of a counter. */
struct vv_rpd_series { int64_t end_ns; double value; uint32_t name, series; };

struct vv_rpd {
    struct vv_model *model;
    uint32_t scope;
    struct vv_database *database;
    struct vv_spans spans;
    struct vv_key_map strings, unique_strings; /* id -> string                                  */
    struct vv_key_map calls, work;             /* id of a call, of work -> index in calls       */
    VV_ARRAY_OF(struct vv_rpd_call) known_calls;
    VV_ARRAY_OF(struct vv_rpd_detail) details;
    VV_ARRAY_OF(struct vv_rpd_series) series;
    struct vv_row_map rows;     /* a key's last word is a kind, VV_RPD_KEY_                     */
    uint32_t main_process;      /* row of the first one; VV_NONE                                */
    uint32_t monitor_track;     /* VV_NONE until needed                                         */
    bool has_unique_strings;    /* since schema 3, arguments are in a table of their own        */
    bool counts_work_items;     /* all grids are in work items, not in blocks                   */
};

/* The meaning of a column, by its name. Columns without a meaning become arguments. */
enum vv_rpd_role {
    VV_RPD_ARGUMENT,
    VV_RPD_ID, VV_RPD_PID, VV_RPD_TID, VV_RPD_START, VV_RPD_END, VV_RPD_API_NAME, VV_RPD_ARGS,
    VV_RPD_DOMAIN, VV_RPD_CATEGORY, VV_RPD_GPU, VV_RPD_QUEUE, VV_RPD_SEQUENCE_ID,
    VV_RPD_DESCRIPTION, VV_RPD_OP_TYPE, VV_RPD_API, VV_RPD_OP, VV_RPD_API_PTR, VV_RPD_STRING,
    VV_RPD_TAG, VV_RPD_VALUE, VV_RPD_DEVICE_TYPE, VV_RPD_DEVICE, VV_RPD_MONITOR_TYPE, VV_RPD_KIND,
    VV_RPD_SIZE, VV_RPD_WIDTH, VV_RPD_HEIGHT, VV_RPD_KERNEL_NAME, VV_RPD_AUTOGRAD_NAME,
    VV_RPD_SEQUENCE, VV_RPD_SIZES, VV_RPD_INPUT_OPS,
    VV_RPD_ROLE_COUNT
};
#define VV_RPD_COLUMNS_MAX 96

/* A row of any table. Columns beyond VV_RPD_COLUMNS_MAX are ignored. */
struct vv_rpd_row {
    sqlite3_stmt *statement;
    int column_count;
    int columns[VV_RPD_ROLE_COUNT];    /* -1: there is no such column                            */
    uint8_t roles[VV_RPD_COLUMNS_MAX];
    uint32_t keys[VV_RPD_COLUMNS_MAX]; /* strings: the names of the columns                      */
};

/* Takes one row; as vv_database_each. rpd/rows.c */
typedef enum varve_code vv_rpd_take(struct vv_rpd *rpd, const struct vv_rpd_row *row,
                                    struct varve_error *error);
enum varve_code vv_rpd_each(struct vv_rpd *rpd, const char *table, vv_rpd_take *take,
                            struct varve_error *error);
/* A column's number; VV_SPAN_ABSENT if there is no such column, or it is NULL or "". */
int64_t vv_rpd_int(const struct vv_rpd_row *row, enum vv_rpd_role role);
/* A column's text as a string; 0 if there is no such column. */
enum varve_code vv_rpd_text(struct vv_rpd *rpd, const struct vv_rpd_row *row,
                            enum vv_rpd_role role, uint32_t *out_string,
                            struct varve_error *error);
/* The string whose id a column has; 0 if there is none. */
uint32_t vv_rpd_string(const struct vv_rpd *rpd, const struct vv_rpd_row *row,
                       enum vv_rpd_role role);
/* Adds a column as an argument of the slice, unless it is NULL or "". */
enum varve_code vv_rpd_argument(struct vv_rpd *rpd, const struct vv_rpd_row *row, int column,
                                uint32_t slice, struct varve_error *error);
/* The same for all columns without a meaning. */
enum varve_code vv_rpd_arguments(struct vv_rpd *rpd, const struct vv_rpd_row *row, uint32_t slice,
                                 struct varve_error *error);
/* Adds a string as an argument, unless it is "". */
enum varve_code vv_rpd_say(struct vv_rpd *rpd, uint32_t slice, const char *key, uint32_t string,
                           struct varve_error *error);

/* The process of this pid; the first is the main one. rpd/places.c */
enum varve_code vv_rpd_process(struct vv_rpd *rpd, int64_t pid, uint32_t *out_row,
                               struct varve_error *error);
enum varve_code vv_rpd_thread(struct vv_rpd *rpd, int64_t pid, int64_t tid, uint32_t *out_track,
                              struct varve_error *error);
/* Where work runs. `stream` is -1 where queues are all that is known. */
struct vv_rpd_queue { int64_t gpu, queue, stream; };
enum varve_code vv_rpd_queue(struct vv_rpd *rpd, uint32_t process, const struct vv_rpd_queue *queue,
                             uint32_t *out_track, struct varve_error *error);
/* Each process counts its ids from its session's number, in the upper 32 bits. */
enum varve_code vv_rpd_note_session(struct vv_rpd *rpd, int64_t id, uint32_t process,
                                    struct varve_error *error);
/* The process of work that no call started. */
enum varve_code vv_rpd_process_of_session(struct vv_rpd *rpd, int64_t id, uint32_t *out_process,
                                          struct varve_error *error);

/* The call of this id, known from now on. rpd/calls.c */
enum varve_code vv_rpd_call_at(struct vv_rpd *rpd, int64_t id, uint32_t *out_index,
                               struct varve_error *error);
/* Reads a table with data about calls, which come later. */
enum varve_code vv_rpd_read_details(struct vv_rpd *rpd, const char *table,
                                    struct varve_error *error);
/* Lets the slice, which has no arguments yet, share what is known of the call. For one row of the
 * call and one of its work alone. */
enum varve_code vv_rpd_share_details(struct vv_rpd *rpd, const struct vv_rpd_call *call,
                                     uint32_t slice, struct varve_error *error);
enum varve_code vv_rpd_read_calls(struct vv_rpd *rpd, struct varve_error *error);
/* Reads device work. rpd/work.c */
enum varve_code vv_rpd_read_work(struct vv_rpd *rpd, struct varve_error *error);
/* Reads samples of the devices' sensors as counters. rpd/monitor.c */
enum varve_code vv_rpd_read_monitor(struct vv_rpd *rpd, struct varve_error *error);

/* Is the database of rocmProfileData? */
enum varve_code vv_rpd_is(struct vv_database *database, bool *out_is, struct varve_error *error);
/* Adds what the database has to the job's model. */
enum varve_code vv_rpd_read(struct vv_database *database, const struct vv_import_job *job,
                            struct varve_error *error);

#endif
#endif
