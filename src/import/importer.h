/* SPDX-License-Identifier: Apache-2.0 */
/* importer.h — makes a finished model of paths, whatever program wrote the files. formats.h lists
 * the formats. */
#ifndef VV_IMPORT_IMPORTER_H
#define VV_IMPORT_IMPORTER_H

#include "import/formats.h"

/* Recognises the format of each path by content, reads all paths into one model, and finishes it.
 * *out_model belongs to the caller. `options` may be NULL. VARVE_NOT_FOUND: there is no such path.
 * VARVE_UNSUPPORTED: the file is no trace; the message shows its first bytes and the known formats.
 * VARVE_CORRUPT, VARVE_TRUNCATED: the message has the byte offset. */
enum varve_code vv_import_all(const char *const *paths, size_t count,
                              const struct vv_import_options *options, struct vv_model **out_model,
                              struct varve_error *error);

/* VARVE_INVALID: two of the paths name the same file or folder, which would be counted twice. */
enum varve_code vv_paths_differ(const char *const *paths, size_t count, struct varve_error *error);

/* Reads one path, without options. */
enum varve_code vv_import(const char *path, struct vv_model **out_model, struct varve_error *error);

/* Reads one path, but only counts records. run.events, run.lost and the columns of processes are
 * filled; the other tables may be empty. Memory does not grow with the length of a Varve trace. */
enum varve_code vv_import_counts(const char *path, struct vv_model **out_model,
                                 struct varve_error *error);

#endif
