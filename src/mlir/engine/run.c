/* SPDX-License-Identifier: Apache-2.0 */
#include "mlir/engine/run.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mlir/child/child.h"
#include "mlir/engine/exits.h"

#define LOOK_MS 50 /* its pipe tells its end at once, unless something else holds the pipe  */

struct said {
    char text[400];
    size_t bytes;
};

struct files { int from, to, message; };

static int set_files(const void *context, posix_spawn_file_actions_t *actions)
{
    const struct files *files = context;
    int failure = posix_spawn_file_actions_adddup2(actions, files->from, 0);
    if (failure == 0)
        failure = posix_spawn_file_actions_adddup2(actions, files->to, 1);
    return failure != 0 ? failure : posix_spawn_file_actions_adddup2(actions, files->message, 2);
}

static int start(const struct vv_mlir_run *run, int message, pid_t *out_process)
{
    const struct files files = { run->from, run->to, message };
    const char *words[6] = { run->program };
    int count = 1;
    if (run->library != NULL)
        words[count++] = run->library;
    words[count++] = run->form;
    words[count++] = run->name;
    return vv_child_start(words, set_files, &files, out_process);
}

/* False at the end of what it says. */
static bool hear(int file, struct said *said)
{
    char more[512];
    ssize_t bytes = read(file, more, sizeof more);
    if (bytes <= 0)
        return bytes < 0 && (errno == EINTR || errno == EAGAIN);
    size_t room = sizeof said->text - 1 - said->bytes;
    size_t kept = (size_t)bytes < room ? (size_t)bytes : room;
    memcpy(said->text + said->bytes, more, kept);
    said->bytes += kept;
    said->text[said->bytes] = '\0';
    return true;
}

/* True when the process has ended by itself. */
static bool wait_for(pid_t process, int file, int64_t limit_ms, struct said *said, int *out_status)
{
    int64_t end_ms = vv_child_now_ms() + limit_ms;
    bool is_open = true;
    for (;;) {
        int64_t left_ms = end_ms - vv_child_now_ms();
        int wait_ms = left_ms < LOOK_MS ? (int)(left_ms > 0 ? left_ms : 0) : LOOK_MS;
        struct pollfd poller = { .fd = is_open ? file : -1, .events = POLLIN };
        if (poll(&poller, 1, is_open ? wait_ms : 1) > 0)
            is_open = hear(file, said);
        pid_t ended = waitpid(process, out_status, WNOHANG);
        if (ended == process) {
            while (is_open && poll(&poller, 1, 0) > 0 && hear(file, said))
                continue;
            return true;
        }
        if (left_ms <= 0)
            return false;
    }
}

/* What it said, one line, with the module's name in front. */
static enum varve_code fail_said(const struct vv_mlir_run *run, enum varve_code code,
                                 const struct said *said, struct varve_error *error)
{
    size_t line = strcspn(said->text, "\n"), name = strlen(run->name);
    while (line > 0 && said->text[line - 1] == ' ')
        line--;
    bool is_named = strncmp(said->text, run->name, name) == 0 && said->text[name] == ':';
    return vv_with_next(error, VV_NEXT_IS_SAID,
                        vv_fail(error, code, "%s%s%.*s", is_named ? "" : run->name,
                                is_named ? "" : ": ", (int)line,
                                line > 0 ? said->text : "the converter gives no reason"));
}

static enum varve_code judge(const struct vv_mlir_run *run, int status, const struct said *said,
                             struct varve_error *error)
{
    const char *who = run->library != NULL ? run->library : run->program;
    if (WIFSIGNALED(status))
        VV_FAIL_SAID(error, VARVE_UNSUPPORTED,
                     "%s crashed while it read %s (signal %d, %s); print the module as text with "
                     "the tool that wrote it",
                     who, run->name, WTERMSIG(status), strsignal(WTERMSIG(status)));
    switch (WEXITSTATUS(status)) {
    case 0: return VARVE_OK;
    case VV_MLIR_EXIT_INPUT: return fail_said(run, VARVE_CORRUPT, said, error);
    case VV_MLIR_EXIT_LIBRARY:
    case VV_MLIR_EXIT_LOSS: return fail_said(run, VARVE_UNSUPPORTED, said, error);
    case VV_MLIR_EXIT_FAILED: return fail_said(run, VARVE_IO, said, error);
    default:
        VV_FAIL_SAID(error, VARVE_UNSUPPORTED,
                     "%s ended with status %d while it read %s; print the module as text with the "
                     "tool that wrote it",
                     who, WEXITSTATUS(status), run->name);
    }
}

enum varve_code vv_mlir_run(const struct vv_mlir_run *run, struct varve_error *error)
{
    int ends[2], status = 0;
    pid_t process;
    struct said said = { .bytes = 0 };
    if (pipe2(ends, O_CLOEXEC) != 0)
        return vv_fail_errno(error, errno, "cannot start %s", run->program);
    int failure = start(run, ends[1], &process);
    close(ends[1]);
    if (failure != 0) {
        close(ends[0]);
        return vv_fail_errno(error, failure, "cannot start %s", run->program);
    }
    bool is_ended = wait_for(process, ends[0], run->limit_ms, &said, &status);
    close(ends[0]);
    if (is_ended)
        return judge(run, status, &said, error);
    vv_child_end(process, &status);
    VV_FAIL_SAID(error, VARVE_LIMIT,
                 "%s had not read %s after %lld s, and was ended; print the module as text with "
                 "the tool that wrote it",
                 run->library != NULL ? run->library : run->program, run->name,
                 (long long)(run->limit_ms / 1000));
}
