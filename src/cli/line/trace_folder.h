/* SPDX-License-Identifier: Apache-2.0 */
/* trace_folder.h — the folder that `varve record` writes: its name, its place, and the trace that
 * was there before. Thread-compatible.
 *
 * Folders are made, renamed and removed through descriptors. So a user who owns a folder on the way
 * may replace parts of the path meanwhile, but cannot redirect any of this.
 *
 * Invariant: a folder is renamed or removed only if it is a trace and no other `varve record` is
 * writing it. Until vv_trace_folder_keep, the former state can be restored. */
#ifndef VV_CLI_LINE_TRACE_FOLDER_H
#define VV_CLI_LINE_TRACE_FOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Does the folder hold a manifest.json of Varve, or the metadata of a process? */
bool vv_trace_folder_is_trace(const char *path);
/* Do both paths exist, and name the same folder? */
bool vv_trace_folder_is_same(const char *a, const char *b);

/* "train.varve" for a command; if it is an interpreter, from the name of the script. The caller
 * frees it. NULL if there is no memory. */
VV_MUST_USE char *vv_trace_folder_name(char *const *command);

struct vv_trace_folder {
    char *path;     /* as the user wrote it, without a slash at the end                          */
    char *absolute; /* without links; set when the folder is made or taken                       */
    char *former;   /* path.old, the former content of path; NULL = there is none                */
    char *outdated; /* hidden name of the former path.old; NULL = there is none                  */
    int parent;     /* its parent folder, open: all renames happen in it                         */
    int folder;     /* the folder, open, and locked while this struct exists; or -1              */
    bool was_empty; /* an empty folder was at path, and is used                                  */
    bool is_shared; /* other users may read what is made, as far as umask allows                 */
};

/* Makes the folder, private unless `is_shared`, or takes an empty one. A trace that was there
 * becomes path.old. After a failure all is as it was. VARVE_EXISTS: there is something that is not
 * a trace, or a trace that is being recorded. */
enum varve_code vv_trace_folder_make(struct vv_trace_folder *out_folder, const char *path,
                                     bool is_shared, struct varve_error *error);
/* True if the folder is still there. One that was renamed meanwhile has its new path from then on,
 * in `path` and `absolute`. */
bool vv_trace_folder_follow(struct vv_trace_folder *folder);
/* Removes the former path.old. */
enum varve_code vv_trace_folder_keep(struct vv_trace_folder *folder, struct varve_error *error);
/* Removes the new folder and restores the former ones. */
void vv_trace_folder_undo(struct vv_trace_folder *folder);
void vv_trace_folder_deinit(struct vv_trace_folder *folder); /* idempotent */

/* Its bytes on the disk, counted in blocks: holes do not count. */
int64_t vv_trace_folder_size(const char *path);
/* The number of process folders in it; 0 if nothing was recorded. */
size_t vv_trace_folder_processes(const char *path);

#endif
