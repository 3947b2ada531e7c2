/* SPDX-License-Identifier: Apache-2.0 */
/* child.h — starts another program in a group of its own, so that what it starts ends with it. No
 * shell is involved. Thread-safe. */
#ifndef VV_MLIR_CHILD_CHILD_H
#define VV_MLIR_CHILD_CHILD_H

#include <spawn.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

/* Gives the program its files. Returns 0 or an errno number. */
typedef int vv_child_files(const void *context, posix_spawn_file_actions_t *actions);

/* `words`: its path and its arguments; NULL at the end. Returns 0 or an errno number. */
VV_MUST_USE int vv_child_start(const char *const *words, vv_child_files *files,
                               const void *context, pid_t *out_process);
/* Ends the program and all that it has started, and waits for it. */
void vv_child_end(pid_t process, int *out_status);

/* Of a clock that nobody sets. */
int64_t vv_child_now_ms(void);

#endif
