/* SPDX-License-Identifier: Apache-2.0 */
/* child.h — runs a program as a shell would, and waits for its end. Not thread-safe (signal
 * handlers).
 *
 * The child gets the descriptors, signal dispositions and mask that this process got; none of
 * varve's own files is open in it. While the child runs, interrupts from the terminal are left to
 * it, and SIGTERM and SIGHUP to this process are passed on to it. From the child's end to
 * vv_child_release, signals wait, so that the files written then are complete: a terminal that
 * closes sends two hang-ups. */
#ifndef VV_CLI_RECORDING_CHILD_H
#define VV_CLI_RECORDING_CHILD_H

#include <stddef.h>

#include "base/error.h"

struct vv_child_setting { const char *name, *value; };

struct vv_child_end {
    int exec_errno;  /* not 0: the program never started                                         */
    int exit_code;   /* the program's own, or 128 + signal                                       */
    int signal;      /* the signal that ended it, or 0                                           */
    int64_t begin_realtime_ns, end_realtime_ns, duration_ns;
    int64_t cpu_ns; /* CPU time of the program, and of all that it waited for                    */
};

/* The time of day, on the clock of the child's begin and end. */
int64_t vv_child_now_ns(void);

/* `command` ends with NULL. The setting_count `settings` are added to its environment. */
enum varve_code vv_child_run(char *const *command, const struct vv_child_setting *settings,
                             size_t setting_count, struct vv_child_end *out_end,
                             struct varve_error *error);

/* Lets signals through again. Does nothing if no child has ended since. */
void vv_child_release(void);

/* If Ctrl-C or Ctrl-\ ended the child and would end this process too, ends this process in the same
 * way; otherwise returns. Reason: a shell's loop continues after a program that exits with 130, but
 * stops after a program that SIGINT has ended. */
void vv_child_follow(const struct vv_child_end *end);

#endif
