/* SPDX-License-Identifier: Apache-2.0 */
#include "mlir/tune/process.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "mlir/child/child.h"

#define LOOK_NS 5000000

static int set_files(const void *context, posix_spawn_file_actions_t *actions)
{
    const struct vv_tune_process *process = context;
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

enum varve_code vv_tune_run(const struct vv_tune_process *process, struct vv_tune_ended *out_ended,
                            struct varve_error *error)
{
    const struct timespec look = { 0, LOOK_NS };
    int64_t begin_ms = vv_child_now_ms();
    int status = 0;
    pid_t child, ended = 0;
    int failure = vv_child_start(process->words, set_files, process, &child);
    if (failure != 0)
        return vv_fail_errno(error, failure, "cannot start %s", process->words[0]);
    *out_ended = (struct vv_tune_ended){ .how = VV_TUNE_DONE };
    while ((ended = waitpid(child, &status, WNOHANG)) == 0) {
        if (process->stop != NULL && *process->stop != 0)
            out_ended->how = VV_TUNE_STOPPED;
        else if (vv_child_now_ms() - begin_ms >= process->limit_ms)
            out_ended->how = VV_TUNE_TIMED_OUT;
        if (out_ended->how != VV_TUNE_DONE)
            break;
        nanosleep(&look, NULL);
    }
    if (ended == 0)
        vv_child_end(child, &status);
    else
        kill(-child, SIGKILL); /* what it has left behind                                        */
    out_ended->wall_ms = vv_child_now_ms() - begin_ms;
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
