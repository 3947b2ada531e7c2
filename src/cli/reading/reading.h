/* SPDX-License-Identifier: Apache-2.0 */
/* reading.h — the first and the last actions of every verb that reads traces. Thread-compatible. */
#ifndef VV_CLI_READING_READING_H
#define VV_CLI_READING_READING_H

#include "cli/line/arguments.h"
#include "question/question.h"

struct vv_cache;
struct vv_gathered;

struct vv_reading {
    char *path;             /* path of the first trace, as the user knows it; owned             */
    char *title;            /* title of all traces: "rank0.json and 7 more"; owned              */
    struct vv_model *model; /* owned                                                            */
    struct vv_cache *cache; /* cache to write when the verb has printed, or NULL; owned         */
    bool is_cache_wanted;   /* the user asked for it with --cache                               */
    bool is_without_args;   /* as in struct vv_import_options, if no cache is written           */
};

/* Finds and reads the traces that the command line names. On failure it has reported the error.
 * Returns an exit code. Call vv_reading_close in any case. */
VV_MUST_USE int vv_reading_open(const struct vv_arguments *arguments,
                                struct vv_reading *out_reading);
/* The same for traces that a verb has gathered itself (import/gather.h); a message names what the
 * user named. */
VV_MUST_USE int vv_reading_open_gathered(const struct vv_arguments *arguments,
                                         const struct vv_gathered *from,
                                         struct vv_reading *out_reading);
/* Writes the cache, if there is one to write. Call it after the result is printed. Idempotent. */
void vv_reading_close(struct vv_reading *reading);

/* Returns `status`. With --strict, returns VV_EXIT_NO instead of DONE if the trace lost events or
 * was cut. */
VV_MUST_USE int vv_reading_verdict(const struct vv_arguments *arguments,
                                   const struct vv_reading *reading, int status);

#define VV_READING_SHEETS_MAX 16

/* Makes the question that the command line asks. VARVE_INVALID if it cannot. */
enum varve_code vv_reading_question(const struct vv_arguments *arguments,
                                    struct vv_question *out_question, struct varve_error *error);

/* FULL: people see every column of each table. WITHOUT_ARGS: none of these tables shows arguments
 * of ranges, or is made of them. */
enum vv_screen_flag { VV_SCREEN_FULL = 1, VV_SCREEN_WITHOUT_ARGS = 2 };

/* Does a whole verb: reads the traces, makes the tables with these names, and prints them in order.
 * `tables` is NULL-terminated and has at most VV_READING_SHEETS_MAX names. With --table, makes only
 * the table that --table names. `flags`: VV_SCREEN_. Returns an exit code. */
VV_MUST_USE int vv_reading_print(const struct vv_arguments *arguments, const char *verb,
                                 const char *const *tables, unsigned flags);

#endif
