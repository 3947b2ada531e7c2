/* SPDX-License-Identifier: Apache-2.0 */
/* importer.h — from paths to a finished model, whatever wrote them. One row a format (importer.c). */
#ifndef VV_IMPORT_IMPORTER_H
#define VV_IMPORT_IMPORTER_H

#include "import/source.h"
#include "model/model.h"

struct vv_import_options {
    bool counts_only;            /* struct vv_model                                             */
    uint64_t max_memory_bytes;   /* of the model, about; 0 = no limit. Beyond it VARVE_LIMIT     */
    const char *step_by;         /* struct vv_model; borrowed until the import is done          */
    unsigned threads;            /* that may read one file; 0 = as many as there are processors */
    vv_progress *progress;       /* NULL = nobody listens; called from any thread, one at a time,
                                    with the bytes of all inputs together                       */
    void *progress_context;
};

struct vv_named_pids; /* parts.h */

/* One input of a run. The model is shared by all of them. */
struct vv_import_job {
    const char *path;
    struct vv_source *source;    /* at its beginning; NULL for a folder                         */
    struct vv_model *model;
    uint32_t scope;              /* for the processes it adds (model.h)                         */
    const struct vv_import_options *options;
    struct vv_named_pids *named; /* processes of which it holds nothing but names are added to it; NULL = nobody asks */
};

struct vv_importer {
    const char *name;  /* in the model's inputs: "varve"                                        */
    const char *title; /* for the list of known formats in messages: "varve"                    */
    /* Does `path` (a folder, or a file that, decompressed, begins so) look like this format? */
    bool (*probe)(const char *path, bool is_folder, const char *head, size_t head_bytes);
    /* Adds what it reads to job->model. A file that ends too early: what there is, and health.truncated_files + 1. */
    enum varve_code (*read)(const struct vv_import_job *job, struct varve_error *error);
    /* Reads files that are parts of one trace as that trace, into the model of the first. NULL: each is read by itself, and
     * rows that stand for the same are joined (parts_merge.c); pairs that were split then stay without their partner. */
    enum varve_code (*read_parts)(const struct vv_import_job *const *jobs, size_t count,
                                  struct varve_error *error);
};

/* Finds each path's importer by content, reads them all into one model, finishes. *out_model belongs to the caller.
 * `options` may be NULL. VARVE_NOT_FOUND: no such path. VARVE_UNSUPPORTED: not a trace; the message shows its first
 * bytes and the known formats. VARVE_CORRUPT, VARVE_TRUNCATED: with byte offset. */
enum varve_code vv_import_all(const char *const *paths, size_t count, const struct vv_import_options *options,
                              struct vv_model **out_model, struct varve_error *error);

/* One path, without options. */
enum varve_code vv_import(const char *path, struct vv_model **out_model, struct varve_error *error);

/* The same, but counts the records alone: run.events, run.lost and the processes' columns are filled, the
 * other tables may be empty. Memory does not grow with a trace of ours. */
enum varve_code vv_import_counts(const char *path, struct vv_model **out_model,
                                 struct varve_error *error);

/* In the order in which they are asked: importer.c. */
extern const struct vv_importer vv_importer_varve, vv_importer_chrome, vv_importer_mlirgraph,
    vv_importer_rocprof, vv_importer_xspace, vv_importer_xspace_json, vv_importer_perfetto, vv_importer_nsys,
    vv_importer_memory_plan;

#endif
