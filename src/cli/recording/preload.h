/* SPDX-License-Identifier: Apache-2.0 */
/* preload.h — makes the program load libvarve.so: LD_PRELOAD, and variables that other code reads.
 *
 * libvarve.so is the last in the list: libraries that the user preloads keep their places, and a
 * sanitizer's runtime must be the first. If the list already has libvarve.so (from a varve record
 * around this one), it is named only once. Thread-compatible. doc/collectors.md, "What cannot be
 * recorded" */
#ifndef VV_CLI_RECORDING_PRELOAD_H
#define VV_CLI_RECORDING_PRELOAD_H

#include <stddef.h>

#include "base/error.h"
#include "cli/recording/executable.h"

struct vv_preload {
    char *list;         /* LD_PRELOAD for the program; NULL = leave it as it is                  */
    const char *library; /* libvarve.so in this list; NULL = it is not there                     */
    char *asan_options; /* ASAN_OPTIONS for the program; NULL = leave them as they are           */
};

/* Considers the program that will load it: where libvarve.so would do harm, it is left out. */
enum varve_code vv_preload_make(const struct vv_executable *executable,
                                struct vv_preload *out_preload, struct varve_error *error);
void vv_preload_deinit(struct vv_preload *preload);

/* The next name in a list in the form of LD_PRELOAD, without names of libvarve.so; NULL at the end
 * of the list. *at is the place to continue from. */
const char *vv_preload_next_other(const char **at, size_t *out_length);

#endif
