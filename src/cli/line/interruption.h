/* SPDX-License-Identifier: Apache-2.0 */
/* interruption.h — handles Ctrl-C and similar signals for verbs that make a trace: the work ends at
 * the next block, the unfinished trace is removed, and then the signal takes effect.
 * Process-wide. */
#ifndef VV_CLI_LINE_INTERRUPTION_H
#define VV_CLI_LINE_INTERRUPTION_H

#include <signal.h>

/* The signal that has come; 0 = none. */
extern volatile sig_atomic_t vv_interruption;

/* From now on, the first SIGINT, SIGTERM or SIGHUP is only stored; a second one kills. */
void vv_interruption_watch(void);

#endif
