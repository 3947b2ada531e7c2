/* SPDX-License-Identifier: Apache-2.0 */
/* format.h — the functions of a reader of one format, and the job that it is given. */
#ifndef VV_IMPORT_INPUT_FORMAT_H
#define VV_IMPORT_INPUT_FORMAT_H

#include "import/input/source.h"
#include "model/model.h"

struct vv_import_options {
    bool counts_only;            /* as in struct vv_model                                       */
    bool is_without_args;        /* nobody asks for all arguments of ranges: a reader may leave out
                                    those that no column, link or metric is made of */
    uint64_t max_memory_bytes;   /* of the model, about; 0 = no limit. A larger model is
                                    VARVE_LIMIT */
    bool is_bound_by_size;       /* the model may also hold no more than VV_SOURCE_GROWTH_MAX times
                                    the inputs, plus VV_SOURCE_GROWN_BYTES_MIN */
    uint64_t named_bytes;        /* what the inputs take on disk, for is_bound_by_size; 0 = find
                                    out */
    const char *step_by;         /* as in struct vv_model; borrowed until the import is done    */
    const char *step_thread;     /* the same                                                    */
    unsigned threads;            /* threads that may read one file; 0 = as many as there are
                                    processors */
    vv_progress *progress;       /* NULL = no progress; called from any thread, one call at a time,
                                    with the bytes of all inputs together */
    void *progress_context;
};

/* The pids of processes of which an input has only names. In any order. */
struct vv_named_pids {
    int64_t *items; /* allocated                                                                */
    size_t count, capacity;
};

/* One input of a run. The model is shared by all of them. */
struct vv_import_job {
    const char *path;
    struct vv_source *source;    /* at the begin of the file; NULL for a folder                 */
    struct vv_model *model;
    uint32_t scope;              /* scope of the processes that it adds (model.h)               */
    const struct vv_import_options *options;
    const char **format; /* the reader may set a name for the format that it found, if it reads
                            several; it lives for ever. NULL = not wanted */
    struct vv_named_pids *named; /* the reader adds the processes of which the file has only names;
                                    NULL = not wanted */
};

struct vv_importer {
    const char *name;  /* format in table "inputs", unless the reader sets another: "varve"     */
    const char *title; /* name in the list of known formats in messages: "varve"                */
    /* True if `path` looks like this format. `head` has the first bytes of a file, decompressed. */
    bool (*probe)(const char *path, bool is_folder, const char *head, size_t head_bytes);
    /* Adds the content of the file to job->model. Of a file that ends too early it adds all that is
     * there, and adds 1 to health.truncated_files. */
    enum varve_code (*read)(const struct vv_import_job *job, struct varve_error *error);
    /* Reads files that are parts of one trace together, into the model of the first. NULL: each is
     * read by itself, and rows that stand for the same are joined (parts_merge.c); then pairs that
     * were split between files stay without their partner. */
    enum varve_code (*read_parts)(const struct vv_import_job *const *jobs, size_t count,
                                  struct varve_error *error);
    bool comes_last; /* it completes other inputs, so it is read after them */
    /* Is the file, which the probe knows, a recording? Those a search finds (search.h). NULL: files
     * of this format are graphs, pictures, tables: to be named. */
    bool (*is_recording)(const char *path);
};

/* For formats whose probe says enough. */
static inline bool vv_is_always_recording(const char *path)
{
    (void)path;
    return true;
}

#endif
