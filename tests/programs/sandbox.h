/* SPDX-License-Identifier: Apache-2.0 */
/* sandbox.h — a thread forbids itself every system call but the last ones of a process: any other
 * kills. */
#ifndef VV_TESTS_SANDBOX_H
#define VV_TESTS_SANDBOX_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

enum { SANDBOX_CALLS_MAX = 16 };

/* Allows `calls`, too, at most SANDBOX_CALLS_MAX. False: the kernel has no filters. */
static inline bool sandbox_enter_with(const unsigned *calls, size_t count)
{
    struct sock_filter filter[2 * SANDBOX_CALLS_MAX + 6] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_filter allow[] = { BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1),
                                         BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW) };
    unsigned short length = 4;
    for (size_t i = 0; i < count; i++) {
        filter[length] = allow[0];
        filter[length++].k = calls[i];
        filter[length++] = allow[1];
    }
    filter[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
    const struct sock_fprog program = { length, filter };
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static inline bool sandbox_enter(void)
{
    return sandbox_enter_with(NULL, 0);
}

#endif
