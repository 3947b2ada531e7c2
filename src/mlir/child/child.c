/* SPDX-License-Identifier: Apache-2.0 */
#include "mlir/child/child.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/wait.h>
#include <time.h>

extern char **environ;

int vv_child_start(const char *const *words, vv_child_files *files, const void *context,
                   pid_t *out_process)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int failure = posix_spawn_file_actions_init(&actions);
    if (failure != 0)
        return failure;
    failure = posix_spawnattr_init(&attributes);
    if (failure == 0) {
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
        posix_spawnattr_setpgroup(&attributes, 0);
        failure = files(context, &actions);
        if (failure == 0)
            failure = posix_spawn(out_process, words[0], &actions, &attributes,
                                  (char *const *)(uintptr_t)words, environ);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return failure;
}

void vv_child_end(pid_t process, int *out_status)
{
    kill(-process, SIGKILL);
    while (waitpid(process, out_status, 0) < 0 && errno == EINTR)
        continue;
}

int64_t vv_child_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}
