/* SPDX-License-Identifier: Apache-2.0 */
/* stack.h — room for the command's own calls, whatever `ulimit -s` says. */
#ifndef VV_CLI_LINE_STACK_H
#define VV_CLI_LINE_STACK_H

typedef int vv_stack_function(int argc, char **argv);

/* Calls `run`, where the shell grants little stack on one of the command's own. Threads that begin
 * later have enough, too. The limit stays as it is, so a recorded program begins with it. With
 * another C library than glibc, or without memory, `run` has the stack that there is. Call once,
 * before there is a second thread. */
int vv_stack_run(vv_stack_function *run, int argc, char **argv);

#endif
