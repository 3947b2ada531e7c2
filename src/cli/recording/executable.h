/* SPDX-License-Identifier: Apache-2.0 */
/* executable.h — what the kernel would start for a program's name, and whether libvarve.so can be loaded into it.
 * Looks at the file alone and runs nothing. Thread-safe. doc/collectors.md, "What cannot be recorded" */
#ifndef VV_CLI_RECORDING_EXECUTABLE_H
#define VV_CLI_RECORDING_EXECUTABLE_H

#include <limits.h>

enum vv_loading {
    VV_LOADS,        /* as far as can be seen from outside                                       */
    VV_LOADS_NOTHING, /* it looks at no LD_PRELOAD: harmless, and its children may              */
    VV_LOADS_OTHER,  /* its loader would complain of ours, or end the program                    */
};

struct vv_executable {
    char path[PATH_MAX]; /* of the file with the machine code; "" = there is none                */
    enum vv_loading loading;
    char why[200];       /* not VV_LOADS: a clause, such as "is statically linked, …"            */
    const char *next;    /* … and the next thing to do; NULL = none in particular               */
};

/* Follows what execvp follows: PATH, the first lines of scripts, the shell for a text without one. */
void vv_executable_look(const char *name, struct vv_executable *out_executable);

#endif
