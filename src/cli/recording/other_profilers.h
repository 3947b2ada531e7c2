/* SPDX-License-Identifier: Apache-2.0 */
/* other_profilers.h — names the variables that other tools have set in the program's environment,
 * and says what varve does with them. */
#ifndef VV_CLI_RECORDING_OTHER_PROFILERS_H
#define VV_CLI_RECORDING_OTHER_PROFILERS_H

/* Writes them to standard error: the libraries that stay in LD_PRELOAD before libvarve, and the
 * interfaces that are left to other tools, because varve does not use them. */
void vv_surroundings_say(void);

#endif
