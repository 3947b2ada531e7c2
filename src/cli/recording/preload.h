/* SPDX-License-Identifier: Apache-2.0 */
/* preload.h — how libvarve.so comes into the program: LD_PRELOAD, and what others find in the environment beside it.
 *
 * Ours is the last of the list: whatever the user preloads keeps its place, and a sanitizer's runtime must be the
 * first. A list that names ours already (of a varve record around this one) names it once.
 * Thread-compatible. doc/collectors.md, "What cannot be recorded" */
#ifndef VV_CLI_RECORDING_PRELOAD_H
#define VV_CLI_RECORDING_PRELOAD_H

#include <stddef.h>

#include "base/error.h"
#include "cli/recording/executable.h"

struct vv_preload {
    char *list;         /* LD_PRELOAD of the program; NULL = as it is                            */
    char *asan_options; /* ASAN_OPTIONS of the program; NULL = as they are                       */
};

/* Takes the loading program into account: where ours would do harm it stays out. */
enum varve_code vv_preload_make(const struct vv_executable *executable, struct vv_preload *out_preload,
                                struct varve_error *error);
void vv_preload_deinit(struct vv_preload *preload);

/* The next name in a list as LD_PRELOAD is one, those of ours left out; NULL: the list is at its end. *at is where to
 * go on. */
const char *vv_preload_next_other(const char **at, size_t *out_length);

#endif
