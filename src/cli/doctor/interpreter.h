/* SPDX-License-Identifier: Apache-2.0 */
/* interpreter.h — asks a Python about itself and its PyTorch. This happens in a process of its own,
 * for a limited time; that process imports only what the interpreter brings. Not thread-safe (a
 * child). */
#ifndef VV_CLI_DOCTOR_INTERPRETER_H
#define VV_CLI_DOCTOR_INTERPRETER_H

#include <limits.h>
#include <stdbool.h>

struct vv_interpreter {
    char path[PATH_MAX];       /* where it was found; "" = there is none                         */
    char why[160];             /* why it did not answer; "" = it answered                        */
    int major, minor;
    char version[40];          /* "3.11.2"                                                       */
    char kind[40];             /* "cpython"                                                      */
    char torch_folder[PATH_MAX]; /* "" = it has no PyTorch                                       */
    char torch_version[40];    /* "2.15.0+cu132"; "" = not known                                 */
};

/* `name` is a path or a program in PATH; NULL = that of the active virtual environment, or
 * python3. */
void vv_interpreter_ask(const char *name, struct vv_interpreter *out_interpreter);

#endif
