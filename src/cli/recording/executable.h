/* SPDX-License-Identifier: Apache-2.0 */
/* executable.h — finds what the kernel would start for a program's name, and whether libvarve.so
 * can be loaded into it. It only reads files, and runs nothing. Thread-safe. doc/collectors.md,
 * "What cannot be recorded" */
#ifndef VV_CLI_RECORDING_EXECUTABLE_H
#define VV_CLI_RECORDING_EXECUTABLE_H

#include <limits.h>

enum vv_loading {
    VV_LOADS,        /* as far as one can see from outside                                       */
    VV_LOADS_NOTHING, /* it ignores LD_PRELOAD: no harm, and its children may load it           */
    VV_LOADS_OTHER,  /* its loader would complain about libvarve, or end the program             */
};

struct vv_executable {
    char path[PATH_MAX]; /* the file with the machine code; "" = there is none                   */
    enum vv_loading loading;
    char why[200];       /* unless VV_LOADS: a clause, such as "is statically linked, …"         */
    const char *next;    /* … and what to do next; NULL = nothing in particular                 */
};

/* Follows the same rules as execvp: PATH, the first lines of scripts, and the shell for a text
 * without such a line. */
void vv_executable_look(const char *name, struct vv_executable *out_executable);

#endif
