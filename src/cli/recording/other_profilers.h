/* SPDX-License-Identifier: Apache-2.0 */
/* other_profilers.h — variables that the program's environment has from other tools, and what became of them. */
#ifndef VV_CLI_RECORDING_OTHER_PROFILERS_H
#define VV_CLI_RECORDING_OTHER_PROFILERS_H

/* Writes to standard error what was there: the libraries that stay in LD_PRELOAD before ours; the ways by which other
 * tools come in, which are left to them since none is ours. */
void vv_surroundings_say(void);

#endif
