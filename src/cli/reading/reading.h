/* SPDX-License-Identifier: Apache-2.0 */
/* reading.h — what every verb that reads traces does first and last. Thread-compatible. */
#ifndef VV_CLI_READING_READING_H
#define VV_CLI_READING_READING_H

#include "cli/line/arguments.h"
#include "question/question.h"

struct vv_cache;

struct vv_reading {
    char *path;             /* of the first trace, as the user knows it; owned                  */
    char *title;            /* of all of them: "rank0.json and 7 more"; owned                   */
    struct vv_model *model; /* owned                                                            */
    struct vv_cache *cache; /* to be written when all is done, or NULL; owned                   */
    bool is_cache_wanted;   /* by name: --cache                                                 */
};

/* Finds and reads the traces that the command line means. On failure the user has been told. Returns an
 * exit code; close in any case. */
VV_MUST_USE int vv_reading_open(const struct vv_arguments *arguments, struct vv_reading *out_reading);
/* Writes the cache, if one is due, after the user has had the answer. Idempotent. */
void vv_reading_close(struct vv_reading *reading);

/* `status`, or with --strict VV_EXIT_NO where that is DONE and the trace lost events or was cut. */
VV_MUST_USE int vv_reading_verdict(const struct vv_arguments *arguments, const struct vv_reading *reading,
                                   int status);

#define VV_READING_SHEETS_MAX 16

/* What the command line asks of an analysis. VARVE_INVALID. */
enum varve_code vv_reading_question(const struct vv_arguments *arguments, struct vv_question *out_question,
                                    struct varve_error *error);

/* A whole verb: reads the traces, makes the tables of those names (NULL-terminated, at most
 * VV_READING_SHEETS_MAX), or the one that --table names, whatever it is, and prints them in order. `full`: people
 * see all of each. Returns an exit code. */
VV_MUST_USE int vv_reading_print(const struct vv_arguments *arguments, const char *verb,
                                 const char *const *tables, bool full);

/* The bytes that reading may take: --max-memory, or three quarters of the machine's. VARVE_INVALID. */
enum varve_code vv_reading_memory(const struct vv_arguments *arguments, uint64_t *out_bytes,
                                  struct varve_error *error);

#endif
