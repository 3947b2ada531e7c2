/* SPDX-License-Identifier: Apache-2.0 */
/* cleanup_on_signal.h — makes sure that Ctrl-C, a hang-up or a termination leaves nothing behind:
 * no half-written file, no line of progress. The process still ends by the signal. An ignored
 * signal stays ignored (nohup). Process-wide; not thread-safe. */
#ifndef VV_CLI_LINE_CLEANUP_ON_SIGNAL_H
#define VV_CLI_LINE_CLEANUP_ON_SIGNAL_H

#include <signal.h>
#include <stdbool.h>

/* At most one file of each kind at a time. */
enum vv_cleanup { VV_CLEANUP_CACHE, VV_CLEANUP_OUTPUT, VV_CLEANUP_COUNT };

/* Sets the file to remove, relative to the open folder or AT_FDCWD. NULL: the file is finished, or
 * was removed. The first call installs the handlers. */
void vv_cleanup_file(enum vv_cleanup which, int folder, const char *name);
/* Sets the folder to remove with all that is in it. NULL: it was removed. */
void vv_cleanup_folder(const char *path);
/* Says whether standard error shows a line that must be erased. */
void vv_cleanup_line(bool has_line);

/* For verbs that make a trace. From now on, the first signal is only stored, and a second one
 * kills. The verb looks at vv_cleanup_signal between blocks, removes the unfinished trace, and
 * raises the signal again. */
void vv_cleanup_by_verb(void);
/* The signal that was stored; 0 = none. */
extern volatile sig_atomic_t vv_cleanup_signal;

#endif
