/* SPDX-License-Identifier: Apache-2.0 */
#include "mlir/tune/process.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stddef.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LOOK_NS 5000000

extern char **environ;

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int set_files(const struct vv_tune_process *process, posix_spawn_file_actions_t *actions)
{
    const int flags = O_WRONLY | O_CREAT | O_TRUNC;
    int failure = posix_spawn_file_actions_addopen(actions, 0, "/dev/null", O_RDONLY, 0);
    if (failure == 0)
        failure = posix_spawn_file_actions_addopen(actions, 2, process->log_path, flags, 0600);
    if (failure != 0)
        return failure;
    return process->out_path == NULL
               ? posix_spawn_file_actions_adddup2(actions, 2, 1)
               : posix_spawn_file_actions_addopen(actions, 1, process->out_path, flags, 0600);
}

/* In a group of its own, so that what it starts ends with it. */
static int start(const struct vv_tune_process *process, pid_t *out_process)
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
        failure = set_files(process, &actions);
        if (failure == 0)
            failure = posix_spawn(out_process, process->words[0], &actions, &attributes,
                                  (char *const *)(uintptr_t)process->words, environ);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return failure;
}

static void reap(pid_t process, int *out_status)
{
    while (waitpid(process, out_status, 0) < 0 && errno == EINTR)
        continue;
}

enum varve_code vv_tune_run(const struct vv_tune_process *process, struct vv_tune_ended *out_ended,
                            struct varve_error *error)
{
    const struct timespec look = { 0, LOOK_NS };
    int64_t begin_ms = now_ms();
    int status = 0;
    pid_t child, ended = 0;
    int failure = start(process, &child);
    if (failure != 0)
        return vv_fail_errno(error, failure, "cannot start %s", process->words[0]);
    *out_ended = (struct vv_tune_ended){ .how = VV_TUNE_DONE };
    while ((ended = waitpid(child, &status, WNOHANG)) == 0) {
        if (process->stop != NULL && *process->stop != 0)
            out_ended->how = VV_TUNE_STOPPED;
        else if (now_ms() - begin_ms >= process->limit_ms)
            out_ended->how = VV_TUNE_TIMED_OUT;
        if (out_ended->how != VV_TUNE_DONE)
            break;
        nanosleep(&look, NULL);
    }
    kill(-child, SIGKILL); /* what it has left behind, too                                       */
    if (ended == 0)
        reap(child, &status);
    out_ended->wall_ms = now_ms() - begin_ms;
    if (out_ended->how != VV_TUNE_DONE)
        return VARVE_OK;
    if (WIFSIGNALED(status)) {
        out_ended->how = VV_TUNE_CRASHED;
        out_ended->number = WTERMSIG(status);
    } else if (WEXITSTATUS(status) != 0) {
        out_ended->how = VV_TUNE_FAILED;
        out_ended->number = WEXITSTATUS(status);
    }
    return VARVE_OK;
}
