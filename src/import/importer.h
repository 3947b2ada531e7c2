/* SPDX-License-Identifier: Apache-2.0 */
/* importer.h — from paths to a finished model, whatever wrote them. One row a format (importer.c). */
#ifndef VV_IMPORT_IMPORTER_H
#define VV_IMPORT_IMPORTER_H

#include "import/input/format.h"

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
