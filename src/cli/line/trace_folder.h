/* SPDX-License-Identifier: Apache-2.0 */
/* trace_folder.h — the folder that `varve record` writes: its name, its place, the trace that was there
 * before. Thread-compatible.
 *
 * Made, renamed and removed by descriptors: whoever owns a folder on the way may exchange its parts meanwhile, and leads
 * nobody elsewhere.
 *
 * Invariant: only a folder that is a trace, and that no other `varve record` is writing, is ever renamed or
 * removed, and until vv_trace_folder_keep the former state can be put back. */
#ifndef VV_CLI_LINE_TRACE_FOLDER_H
#define VV_CLI_LINE_TRACE_FOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Does the folder hold a manifest.json of ours, or a process's metadata? */
bool vv_trace_folder_is_trace(const char *path);
/* Do both exist, and are they one folder? */
bool vv_trace_folder_is_same(const char *a, const char *b);

/* "train.varve" for a command, after the script where an interpreter runs one. Belongs to the caller;
 * NULL without memory. */
VV_MUST_USE char *vv_trace_folder_name(char *const *command);

struct vv_trace_folder {
    char *path;     /* as the user knows it, without a slash at the end                          */
    char *absolute; /* no link in it; set once the folder is ours                                */
    char *former;   /* path.old: what lay at path before; NULL = nothing                         */
    char *outdated; /* hidden name of what lay at path.old before; NULL = nothing                */
    int parent;     /* where it lies, open: names are changed there and nowhere else             */
    int folder;     /* itself, open, and locked as long as this struct lives; -1 = not yet       */
    bool was_empty; /* an empty folder lay at path, and is used                                  */
    bool is_shared; /* other users may read what is made, as far as umask lets them              */
};

/* Makes the folder, private unless `is_shared`, or takes an empty one; what was there becomes path.old. On failure everything is as
 * it was. VARVE_EXISTS: in the way is something that is not a trace, or a trace that is being recorded. */
enum varve_code vv_trace_folder_make(struct vv_trace_folder *out_folder, const char *path, bool is_shared,
                                     struct varve_error *error);
/* Removes what lay at path.old before. */
enum varve_code vv_trace_folder_keep(struct vv_trace_folder *folder, struct varve_error *error);
/* Removes the new folder and puts the former ones back. */
void vv_trace_folder_undo(struct vv_trace_folder *folder);
void vv_trace_folder_deinit(struct vv_trace_folder *folder); /* idempotent */

/* Bytes on the disk, by blocks: holes do not count. */
int64_t vv_trace_folder_size(const char *path);
/* Process folders in it: 0 if nothing was recorded. */
size_t vv_trace_folder_processes(const char *path);

#endif
