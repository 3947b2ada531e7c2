/* SPDX-License-Identifier: Apache-2.0 */
/* run.c — the program under ptrace, its threads, and their samples. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <elf.h>

#include "base/array.h"
#include "base/system/clock.h"
#include "cli/sampling/maps.h"

#define TICK_NS 1000000      /* between two looks at all threads                                 */
#define LEAST_NS 100000      /* a thread that has run less is left alone                         */
#define FOLLOWED (PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | \
                  PTRACE_O_TRACEEXEC | PTRACE_O_TRACEEXIT)

struct task {
    pid_t tid, pid;
    int64_t ran_ns;          /* at its last sample                                              */
    bool is_asked;           /* to stop                                                         */
    uint32_t command;
};

struct run {
    struct vv_samples *samples;
    struct vv_sample_maps maps;
    struct task *tasks;
    size_t task_count, task_capacity;
    pid_t child;
    int status;              /* of the child, at its end                                        */
    enum varve_code code;    /* once it is not VARVE_OK, the program runs on to its end unseen   */
    bool is_over;            /* nobody is left                                                  */
};

/* ---- /proc ---- */

/* Reads a small file of a thread. */
static bool read_file(pid_t tid, const char *name, char *text, size_t bytes)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)tid, name);
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return false;
    size_t length = fread(text, 1, bytes - 1, file);
    fclose(file);
    text[length] = '\0';
    return length > 0;
}

/* How long the thread has run; -1: it is not known. */
static int64_t ran_of(pid_t tid)
{
    char text[128];
    int64_t ns;
    if (!read_file(tid, "schedstat", text, sizeof text) || sscanf(text, "%" SCNd64, &ns) != 1)
        return -1;
    return ns;
}

static pid_t process_of(pid_t tid)
{
    char text[4096];
    const char *found;
    int pid;
    if (!read_file(tid, "status", text, sizeof text) ||
        (found = strstr(text, "\nTgid:")) == NULL || sscanf(found, "\nTgid: %d", &pid) != 1)
        return tid;
    return pid;
}

static uint32_t command_of(struct run *run, pid_t tid)
{
    char text[64];
    if (!read_file(tid, "comm", text, sizeof text))
        return 0;
    uint32_t row = vv_sample_name(run->samples, text, strcspn(text, "\n"));
    return row == UINT32_MAX ? 0 : row;
}

/* ---- threads ---- */

static struct task *task_of(struct run *run, pid_t tid)
{
    for (size_t i = 0; i < run->task_count; i++)
        if (run->tasks[i].tid == tid)
            return &run->tasks[i];
    return NULL;
}

static enum varve_code add_task(struct run *run, pid_t tid, struct task **out_task,
                                struct varve_error *error)
{
    VV_TRY(vv_array_reserve(&run->tasks, &run->task_capacity, run->task_count + 1,
                            sizeof *run->tasks, error));
    struct task *task = &run->tasks[run->task_count++];
    *task = (struct task){ .tid = tid, .pid = process_of(tid), .command = command_of(run, tid) };
    *out_task = task;
    return VARVE_OK;
}

static void remove_task(struct run *run, pid_t tid)
{
    struct task *task = task_of(run, tid);
    if (task == NULL)
        return;
    if (task->pid == tid)
        vv_sample_forget(&run->maps, tid);
    *task = run->tasks[--run->task_count];
}

static bool read_pointer(pid_t tid, uint64_t *out_address)
{
    struct user_regs_struct registers;
    struct iovec part = { &registers, sizeof registers };
    if (ptrace(PTRACE_GETREGSET, tid, NT_PRSTATUS, &part) != 0)
        return false;
#if defined(__x86_64__)
    *out_address = registers.rip;
#else
    *out_address = registers.pc;
#endif
    return true;
}

/* The thread has been stopped. */
static enum varve_code take(struct run *run, struct task *task, struct varve_error *error)
{
    struct vv_samples *samples = run->samples;
    struct vv_sample sample = { .pid = task->pid, .tid = task->tid, .command = task->command,
                                .time_ns = (int64_t)vv_clock_monotonic_ns() };
    int64_t ran_ns = ran_of(task->tid);
    if (ran_ns <= task->ran_ns || !read_pointer(task->tid, &sample.address))
        return VARVE_OK;
    sample.period_ns = ran_ns - task->ran_ns;
    task->ran_ns = ran_ns;
    VV_TRY(vv_sample_place(&run->maps, samples, &sample, error));
    VV_TRY(vv_array_reserve(&samples->items, &samples->capacity, samples->count + 1, sizeof sample,
                            error));
    samples->items[samples->count++] = sample;
    samples->period_ns += sample.period_ns;
    return VARVE_OK;
}

/* ---- the loop ---- */

/* Whatever fails, the thread goes on. Any stop uses up the request to stop, so another one follows
 * at the next tick: of a thread that was asked just as it made a thread, no stop would come. */
static void stopped(struct run *run, pid_t tid, int status, struct varve_error *error)
{
    int signal = WSTOPSIG(status), event = status >> 16;
    struct task *task = task_of(run, tid);
    if (task == NULL && run->code == VARVE_OK) /* a new thread or process */
        run->code = add_task(run, tid, &task, error);
    bool is_group = event == PTRACE_EVENT_STOP && (signal == SIGSTOP || signal == SIGTSTP ||
                                                   signal == SIGTTIN || signal == SIGTTOU);
    if (event == PTRACE_EVENT_EXEC && run->code == VARVE_OK) {
        vv_sample_forget(&run->maps, task->pid);
        task->command = command_of(run, tid);
    }
    if (run->code == VARVE_OK && /* at its exit: what it has run since */
        ((event == PTRACE_EVENT_STOP && !is_group && task->is_asked) || event == PTRACE_EVENT_EXIT))
        run->code = take(run, task, error);
    if (task != NULL)
        task->is_asked = false;
    if (is_group)
        ptrace(PTRACE_LISTEN, tid, NULL, NULL);
    else
        ptrace(PTRACE_CONT, tid, NULL, (void *)(intptr_t)(event == 0 ? signal : 0));
}

static void look_at_events(struct run *run, struct varve_error *error)
{
    int status;
    for (;;) {
        pid_t tid = waitpid(-1, &status, __WALL | WNOHANG);
        if (tid <= 0) {
            run->is_over = tid < 0 && errno == ECHILD;
            return;
        }
        if (WIFSTOPPED(status)) {
            stopped(run, tid, status, error);
            continue;
        }
        remove_task(run, tid);
        run->status = tid == run->child ? status : run->status;
    }
}

/* Asks those threads to stop that have run. */
static void ask(struct run *run)
{
    for (size_t i = 0; i < run->task_count; i++) {
        struct task *task = &run->tasks[i];
        if (!task->is_asked && ran_of(task->tid) - task->ran_ns >= LEAST_NS)
            task->is_asked = ptrace(PTRACE_INTERRUPT, task->tid, NULL, NULL) == 0;
    }
}

/* Until nobody is left; if something has failed, also those that are not known any more. */
static enum varve_code loop(struct run *run, const sigset_t *child_ends, struct varve_error *error)
{
    int64_t next_ns = (int64_t)vv_clock_monotonic_ns() + TICK_NS;
    while (!run->is_over && (run->task_count > 0 || run->code != VARVE_OK)) {
        look_at_events(run, error);
        int64_t left_ns = next_ns - (int64_t)vv_clock_monotonic_ns();
        if (left_ns > 0) {
            const struct timespec wait = { 0, left_ns < TICK_NS ? left_ns : TICK_NS };
            sigtimedwait(child_ends, NULL, &wait);
            continue;
        }
        if (run->code == VARVE_OK)
            ask(run);
        next_ns = (int64_t)vv_clock_monotonic_ns() + TICK_NS;
    }
    return run->code;
}

/* ---- the program ---- */

static _Noreturn void begin_program(char *const *command, const int gate[2], const int report[2],
                                    const sigset_t *mask)
{
    char byte;
    close(gate[1]); /* else the gate would never end                                             */
    if (read(gate[0], &byte, 1) == 1) { /* we are looked at */
        sigprocmask(SIG_SETMASK, mask, NULL);
        execvp(command[0], command);
        int failure = errno;
        ssize_t written = write(report[1], &failure, sizeof failure);
        (void)written;
    }
    _exit(127);
}

/* Its gate is closed, so it ends; who is traced stops on the way. */
static void await_end(pid_t child)
{
    int status;
    while (waitpid(child, &status, __WALL) == child && WIFSTOPPED(status))
        ptrace(PTRACE_CONT, child, NULL, NULL);
}

static enum varve_code start(struct run *run, char *const *command, const sigset_t *mask,
                             int *out_report, struct varve_error *error)
{
    int gate[2], report[2];
    struct task *task;
    if (pipe2(gate, O_CLOEXEC) != 0)
        return vv_fail_errno(error, errno, "cannot make a pipe");
    if (pipe2(report, O_CLOEXEC) != 0) {
        close(gate[0]);
        close(gate[1]);
        return vv_fail_errno(error, errno, "cannot make a pipe");
    }
    run->child = fork();
    if (run->child == 0)
        begin_program(command, gate, report, mask);
    close(gate[0]);
    close(report[1]);
    *out_report = report[0];
    bool is_ours = run->child > 0 && ran_of(run->child) >= 0 &&
                   ptrace(PTRACE_SEIZE, run->child, NULL, (void *)(intptr_t)FOLLOWED) == 0;
    enum varve_code code = VARVE_OK;
    if (!is_ours)
        code = vv_with_next(error, VV_NEXT_IS_SAID,
                            vv_fail(error, VARVE_UNSUPPORTED,
                                    "this system lets nobody look at '%s': ptrace or "
                                    "/proc/PID/schedstat is closed. It did not run", command[0]));
    if (code == VARVE_OK)
        code = add_task(run, run->child, &task, error);
    if (code == VARVE_OK && write(gate[1], "", 1) != 1)
        code = vv_fail_errno(error, errno, "cannot start '%s'", command[0]);
    close(gate[1]);
    if (code != VARVE_OK && run->child > 0)
        await_end(run->child);
    return code;
}

enum varve_code vv_sample_run(char *const *command, struct vv_samples *out_samples,
                              int *out_status, struct varve_error *error)
{
    struct run run = { .samples = out_samples };
    sigset_t child_ends, mask;
    int report = -1, failure = 0;
    *out_samples = (struct vv_samples){ .items = NULL };
    sigemptyset(&child_ends);
    sigaddset(&child_ends, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child_ends, &mask);
    enum varve_code code = vv_sample_name(out_samples, "", 0) == 0
                               ? start(&run, command, &mask, &report, error)
                               : vv_fail(error, VARVE_NO_MEMORY, "no memory for a name");
    if (code == VARVE_OK) { /* an interrupt of the terminal is for the program                   */
        const struct sigaction ignored = { .sa_handler = SIG_IGN };
        struct sigaction former[2];
        sigaction(SIGINT, &ignored, &former[0]);
        sigaction(SIGQUIT, &ignored, &former[1]);
        code = loop(&run, &child_ends, error);
        sigaction(SIGINT, &former[0], NULL);
        sigaction(SIGQUIT, &former[1], NULL);
    }
    sigprocmask(SIG_SETMASK, &mask, NULL);
    if (code == VARVE_OK && read(report, &failure, sizeof failure) == sizeof failure)
        code = vv_fail_errno(error, failure, "cannot run '%s'", command[0]);
    if (report >= 0)
        close(report);
    free(run.maps.items);
    free(run.tasks);
    if (code != VARVE_OK)
        vv_samples_deinit(out_samples);
    *out_status = run.status;
    return code;
}
