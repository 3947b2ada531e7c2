/* SPDX-License-Identifier: Apache-2.0 */
/* leftover.h — makes sure that Ctrl-C, a hang-up or a termination leaves nothing behind: no
 * half-written file, no line of progress. The process still ends by the signal. Not thread-safe; at
 * most one file of each kind at a time. */
#ifndef VV_CLI_LINE_LEFTOVER_H
#define VV_CLI_LINE_LEFTOVER_H

#include <stdbool.h>

enum vv_leftover { VV_LEFTOVER_CACHE, VV_LEFTOVER_OUTPUT, VV_LEFTOVER_COUNT };

/* Sets the file to remove, relative to the open folder or AT_FDCWD. NULL: the file is finished, or
 * was removed. The first call installs the handlers. */
void vv_leftover_file(enum vv_leftover which, int folder, const char *name);
/* Says whether standard error shows a line that must be erased. */
void vv_leftover_line(bool has_line);

#endif
