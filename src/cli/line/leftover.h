/* SPDX-License-Identifier: Apache-2.0 */
/* leftover.h — Ctrl-C, a hang-up or a request to end leaves nothing behind: no half-written file, no line of
 * progress. The process still ends by the signal. Not thread-safe; one of each at a time. */
#ifndef VV_CLI_LINE_LEFTOVER_H
#define VV_CLI_LINE_LEFTOVER_H

#include <stdbool.h>

enum vv_leftover { VV_LEFTOVER_CACHE, VV_LEFTOVER_OUTPUT, VV_LEFTOVER_COUNT };

/* The file that is to go, as seen from the open folder, or AT_FDCWD; NULL: it is finished, or gone. The first call installs the handlers. */
void vv_leftover_file(enum vv_leftover which, int folder, const char *name);
/* Standard error shows a line that is to be erased. */
void vv_leftover_line(bool has_line);

#endif
