/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

/* How each signal is met while the child runs. */
enum manner { IGNORE, FORWARD, STANDARD };
static const struct { int number; enum manner manner; } watched[] = {
    { SIGINT, IGNORE }, { SIGQUIT, IGNORE }, { SIGTERM, FORWARD }, { SIGHUP, FORWARD },
    { SIGCHLD, STANDARD }, /* ignored, it would make wait lose the exit code */
};
#define WATCHED_COUNT (sizeof watched / sizeof watched[0])

static volatile pid_t child_pid;
static sigset_t mask; /* the caller's */
static bool is_held;  /* signals wait */

static void forward(int number)
{
    int kept_errno = errno;
    if (child_pid > 0)
        kill(child_pid, number);
    errno = kept_errno;
}

static void watch_signals(struct sigaction former[WATCHED_COUNT])
{
    for (size_t i = 0; i < WATCHED_COUNT; i++) {
        struct sigaction action = { .sa_flags = SA_RESTART };
        action.sa_handler = watched[i].manner == IGNORE    ? SIG_IGN
                            : watched[i].manner == FORWARD ? forward
                                                           : SIG_DFL;
        sigaction(watched[i].number, NULL, &former[i]);
        /* Under nohup SIGHUP is ignored on purpose. */
        if (watched[i].manner != FORWARD || former[i].sa_handler != SIG_IGN)
            sigaction(watched[i].number, &action, NULL);
    }
}

static void restore_signals(const struct sigaction former[WATCHED_COUNT])
{
    for (size_t i = 0; i < WATCHED_COUNT; i++)
        sigaction(watched[i].number, &former[i], NULL);
}

int64_t vv_child_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* In the child. Says through `report` why the program did not start; nothing is said if it did, since
 * exec closes the pipe. */
__attribute__((noreturn)) static void become(char *const *command,
                                             const struct vv_child_setting *settings,
                                             size_t setting_count, int report)
{
    int failure = 0;
    for (size_t i = 0; i < setting_count && failure == 0; i++)
        failure = setenv(settings[i].name, settings[i].value, 1) != 0 ? errno : 0;
    if (failure == 0) {
        execvp(command[0], command);
        failure = errno;
    }
    ssize_t written = write(report, &failure, sizeof failure);
    _exit(written == (ssize_t)sizeof failure ? 127 : 126);
}

static int read_report(int report)
{
    int failure = 0;
    ssize_t length;
    do
        length = read(report, &failure, sizeof failure);
    while (length < 0 && errno == EINTR);
    close(report);
    return length == (ssize_t)sizeof failure ? failure : 0;
}

static int wait_for(pid_t pid)
{
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    return status;
}

enum varve_code vv_child_run(char *const *command, const struct vv_child_setting *settings,
                             size_t setting_count, struct vv_child_end *out_end,
                             struct varve_error *error)
{
    struct sigaction former[WATCHED_COUNT];
    sigset_t all;
    int report[2];
    if (pipe2(report, O_CLOEXEC) != 0)
        return vv_fail_errno(error, errno, "cannot make a pipe to the program");
    *out_end = (struct vv_child_end){ .begin_realtime_ns = vv_child_now_ns() };
    uint64_t begin_ns = vv_clock_monotonic_ns();
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &mask); /* none may come between the handlers and child_pid */
    watch_signals(former);
    pid_t pid = fork();
    int fork_errno = errno;
    if (pid == 0) {
        restore_signals(former);
        sigprocmask(SIG_SETMASK, &mask, NULL);
        become(command, settings, setting_count, report[1]);
    }
    child_pid = pid;
    close(report[1]);
    sigprocmask(SIG_SETMASK, &mask, NULL);
    out_end->exec_errno = read_report(report[0]);
    int status = pid > 0 ? wait_for(pid) : 0;
    sigprocmask(SIG_BLOCK, &all, NULL);
    is_held = true;
    child_pid = 0;
    restore_signals(former);
    out_end->end_realtime_ns = vv_child_now_ns();
    out_end->duration_ns = (int64_t)(vv_clock_monotonic_ns() - begin_ns);
    out_end->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    out_end->exit_code = out_end->signal != 0 ? 128 + out_end->signal : WEXITSTATUS(status);
    if (pid < 0)
        return vv_fail_errno(error, fork_errno, "cannot start another process");
    return VARVE_OK;
}

void vv_child_release(void)
{
    if (is_held)
        sigprocmask(SIG_SETMASK, &mask, NULL);
    is_held = false;
}

void vv_child_follow(const struct vv_child_end *end)
{
    struct sigaction action;
    sigset_t one;
    if ((end->signal != SIGINT && end->signal != SIGQUIT) || sigaction(end->signal, NULL, &action) != 0 ||
        action.sa_handler != SIG_DFL)
        return;
    setrlimit(RLIMIT_CORE, &(struct rlimit){ 0 }); /* the program's own says more */
    sigemptyset(&one);
    sigaddset(&one, end->signal);
    sigprocmask(SIG_UNBLOCK, &one, NULL);
    raise(end->signal);
}
