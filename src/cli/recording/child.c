/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/recording/child.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/system/clock.h"

/* How each signal is handled while the child runs. */
enum manner { IGNORE, FORWARD, STANDARD };
static const struct { int number; enum manner manner; } watched[] = {
    { SIGINT, IGNORE }, { SIGQUIT, IGNORE }, { SIGTERM, FORWARD }, { SIGHUP, FORWARD },
    { SIGCHLD, STANDARD }, /* if it were ignored, wait would lose the exit code */
};
#define WATCHED_COUNT (sizeof watched / sizeof watched[0])

static volatile pid_t child_pid;
static sigset_t mask; /* the caller's mask */
static bool is_held;  /* signals are blocked */

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
        /* Under nohup, SIGHUP is ignored on purpose. */
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

static bool is_set(const char *variable, const struct vv_child_setting *settings, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(settings[i].name);
        if (strncmp(variable, settings[i].name, length) == 0 && variable[length] == '=')
            return true;
    }
    return false;
}

static void free_environment(char **environment, size_t own_count)
{
    for (size_t i = 0; environment != NULL && i < own_count; i++)
        free(environment[i]);
    free(environment);
}

/* Joins this process's environment with the settings, which replace variables of the same name.
 * NULL if there is no memory. The caller frees the list and its first `count` texts. */
static char **join_environment(const struct vv_child_setting *settings, size_t count)
{
    size_t own = 0, joined = 0;
    while (environ[own] != NULL)
        own++;
    char **out = calloc(own + count + 1, sizeof *out);
    for (; out != NULL && joined < count; joined++)
        if (asprintf(&out[joined], "%s=%s", settings[joined].name, settings[joined].value) < 0) {
            out[joined] = NULL;
            free_environment(out, joined);
            return NULL;
        }
    for (size_t i = 0; out != NULL && i < own; i++)
        if (!is_set(environ[i], settings, count))
            out[joined++] = environ[i];
    return out;
}

static int wait_for(pid_t pid)
{
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    return status;
}

/* vfork: until the child runs the other program, it uses this process's memory, which saves a copy.
 * It changes only `failure` there, and has its own signal handlers. Returns fork's errno. */
static int start(char *const *command, char *const *environment,
                 const struct sigaction former[WATCHED_COUNT], pid_t *out_pid,
                 volatile int *failure)
{
    pid_t pid = vfork();
    if (pid == 0) {
        restore_signals(former);
        sigprocmask(SIG_SETMASK, &mask, NULL);
        execvpe(command[0], command, environment);
        *failure = errno;
        _exit(127);
    }
    *out_pid = pid;
    return errno;
}

/* CPU time of children that were waited for, and of theirs. */
static int64_t children_cpu_ns(void)
{
    struct rusage usage;
    if (getrusage(RUSAGE_CHILDREN, &usage) != 0)
        return 0;
    int64_t seconds = (int64_t)usage.ru_utime.tv_sec + (int64_t)usage.ru_stime.tv_sec,
            micros = (int64_t)usage.ru_utime.tv_usec + (int64_t)usage.ru_stime.tv_usec;
    return (seconds * 1000000 + micros) * 1000;
}

enum varve_code vv_child_run(char *const *command, const struct vv_child_setting *settings,
                             size_t setting_count, struct vv_child_end *out_end,
                             struct varve_error *error)
{
    struct sigaction former[WATCHED_COUNT];
    sigset_t all;
    volatile int failure = 0;
    pid_t pid;
    char **environment = join_environment(settings, setting_count);
    if (environment == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for the program's environment");
    *out_end = (struct vv_child_end){ .begin_realtime_ns = vv_child_now_ns() };
    uint64_t begin_ns = vv_clock_monotonic_ns();
    int64_t former_cpu_ns = children_cpu_ns();
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &mask); /* no signal may come before child_pid is set */
    watch_signals(former);
    int fork_errno = start(command, environment, former, &pid, &failure);
    child_pid = pid;
    sigprocmask(SIG_SETMASK, &mask, NULL);
    free_environment(environment, setting_count);
    out_end->exec_errno = failure;
    int status = pid > 0 ? wait_for(pid) : 0;
    sigprocmask(SIG_BLOCK, &all, NULL);
    is_held = true;
    child_pid = 0;
    restore_signals(former);
    out_end->end_realtime_ns = vv_child_now_ns();
    out_end->cpu_ns = children_cpu_ns() - former_cpu_ns;
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
    if ((end->signal != SIGINT && end->signal != SIGQUIT) ||
        sigaction(end->signal, NULL, &action) != 0 || action.sa_handler != SIG_DFL)
        return;
    setrlimit(RLIMIT_CORE, &(struct rlimit){ 0 }); /* the program's own core says more */
    sigemptyset(&one);
    sigaddset(&one, end->signal);
    sigprocmask(SIG_UNBLOCK, &one, NULL);
    raise(end->signal);
}
