/* SPDX-License-Identifier: Apache-2.0 */
/* importer.h — from paths to a finished model, whatever wrote them. One row a format (formats.h). */
#ifndef VV_IMPORT_IMPORTER_H
#define VV_IMPORT_IMPORTER_H

#include "import/formats.h"

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

#endif
