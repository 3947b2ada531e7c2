/* SPDX-License-Identifier: Apache-2.0 */
/* interpreter.h — a Python and its PyTorch, as they are installed: asked in a process of its own, for a limited time, and
 * nothing is imported there but what the interpreter brings. Not thread-safe (a child). */
#ifndef VV_CLI_RECORDING_INTERPRETER_H
#define VV_CLI_RECORDING_INTERPRETER_H

#include <limits.h>
#include <stdbool.h>

struct vv_interpreter {
    char path[PATH_MAX];       /* as it was found; "" = there is none                            */
    char why[160];             /* that it cannot be told; "" = it answered                       */
    int major, minor;
    char version[40];          /* "3.11.2"                                                       */
    char kind[40];             /* "cpython"                                                      */
    char torch_folder[PATH_MAX]; /* "" = it has no PyTorch                                       */
    char torch_version[40];    /* "2.15.0+cu132", or "" where it does not say                    */
};

/* `name`: a path or a program in PATH; NULL: that of the active virtual environment, or python3. */
void vv_interpreter_ask(const char *name, struct vv_interpreter *out_interpreter);

#endif
