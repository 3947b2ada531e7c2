/* SPDX-License-Identifier: Apache-2.0 */
/* interruption.h — Ctrl-C and its like, for verbs that make a trace: work ends at the next block, what was begun is
 * removed, then the signal has its way. Process-wide. */
#ifndef VV_CLI_LINE_INTERRUPTION_H
#define VV_CLI_LINE_INTERRUPTION_H

#include <signal.h>

/* The signal that came; 0 = none. */
extern volatile sig_atomic_t vv_interruption;

/* From now on the first SIGINT, SIGTERM or SIGHUP is noted; a second one kills. */
void vv_interruption_watch(void);

#endif
