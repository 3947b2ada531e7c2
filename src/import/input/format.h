/* SPDX-License-Identifier: Apache-2.0 */
/* format.h — what a reader of one format is, and what it is given to read. */
#ifndef VV_IMPORT_INPUT_FORMAT_H
#define VV_IMPORT_INPUT_FORMAT_H

#include "import/input/source.h"
#include "model/model.h"

struct vv_import_options {
    bool counts_only;            /* struct vv_model                                             */
    uint64_t max_memory_bytes;   /* of the model, about; 0 = no limit. Beyond it VARVE_LIMIT     */
    bool is_bound_by_size;       /* nor may the model hold more than VV_SOURCE_GROWTH_MAX times the inputs, and a little */
    const char *step_by;         /* struct vv_model; borrowed until the import is done          */
    unsigned threads;            /* that may read one file; 0 = as many as there are processors */
    vv_progress *progress;       /* NULL = nobody listens; called from any thread, one at a time,
                                    with the bytes of all inputs together                       */
    void *progress_context;
};

/* The pids of processes of which an input holds names and nothing else, in any order. */
struct vv_named_pids {
    int64_t *items; /* allocated                                                                */
    size_t count, capacity;
};

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

#endif
