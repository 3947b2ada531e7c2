/* SPDX-License-Identifier: Apache-2.0 */
/* child.h — runs a program as a shell would and waits for its end. Not thread-safe (signal handlers).
 *
 * The child gets our descriptors, signal dispositions and mask as we got them; nothing of ours is open
 * in it. While it runs, interrupts from the terminal are its own affair, and SIGTERM and SIGHUP to us are
 * passed on to it. From its end to vv_child_release signals wait, so that what is then written is whole: a
 * terminal that closes hangs up twice. */
#ifndef VV_CLI_RECORDING_CHILD_H
#define VV_CLI_RECORDING_CHILD_H

#include <stddef.h>

#include "base/error.h"

struct vv_child_setting { const char *name, *value; };

struct vv_child_end {
    int exec_errno;  /* not 0: it never started                                                  */
    int exit_code;   /* its own, or 128 + signal                                                 */
    int signal;      /* that ended it, or 0                                                      */
    int64_t begin_realtime_ns, end_realtime_ns, duration_ns;
};

/* The time of day, as the child's begin and end are given. */
int64_t vv_child_now_ns(void);

/* `command` is NULL-terminated; `settings`, setting_count of them, join its environment. */
enum varve_code vv_child_run(char *const *command, const struct vv_child_setting *settings,
                             size_t setting_count, struct vv_child_end *out_end,
                             struct varve_error *error);

/* Lets signals through again; nothing if no child has ended since. */
void vv_child_release(void);

/* Ends this process as the child ended if Ctrl-C or Ctrl-\ ended it, where they would end this one too: a shell's loop goes on
 * after a program that exits with 130, and stops after one that SIGINT has ended. Else returns. */
void vv_child_follow(const struct vv_child_end *end);

#endif
