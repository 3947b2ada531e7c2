/* SPDX-License-Identifier: Apache-2.0 */
/* importer.h — from a path to a finished model, whatever wrote it. One row a format (importer.c). */
#ifndef VV_IMPORT_IMPORTER_H
#define VV_IMPORT_IMPORTER_H

#include "model/model.h"

struct vv_importer {
    const char *name;  /* "varve"                                                               */
    const char *title; /* for the list of known formats in messages: "varve"                    */
    /* Does `path` (a folder, or a file with these first bytes) look like this format? */
    bool (*probe)(const char *path, bool is_folder, const void *head, size_t head_bytes);
    enum varve_code (*read)(const char *path, struct vv_model *model, struct varve_error *error);
};

/* Finds the importer by content, reads, finishes. *out_model belongs to the caller.
 * VARVE_NOT_FOUND: no such path. VARVE_UNSUPPORTED: not a trace; the message shows its first bytes
 * and the known formats. VARVE_CORRUPT, VARVE_TRUNCATED: with byte offset. */
enum varve_code vv_import(const char *path, struct vv_model **out_model, struct varve_error *error);

/* The same, but counts the records alone: run.events, run.lost and the processes' columns are filled, the
 * other tables may be empty. Memory does not grow with the trace. */
enum varve_code vv_import_counts(const char *path, struct vv_model **out_model,
                                 struct varve_error *error);

extern const struct vv_importer vv_importer_varve;

#endif
