/* SPDX-License-Identifier: Apache-2.0 */
/* endings.c — all the ways in which a process ends or becomes two, while four threads record.
 *
 * endings FILE WAY COUNT: the threads tell slots 0 to 3 (ctf/count_records.h), at most 10 * COUNT
 * times each; when each has told COUNT, the main thread goes the WAY. It tells slot 4 COUNT times
 * before and after each fork; what other processes tell is said below. Exit status 0 where the way
 * leaves a choice. */
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "tally.h"

#define THREADS 4u
#define MAIN 4u     /* slot of the main thread                           */
#define CHILDREN 8u /* a child of number i tells CHILD + i               */
#define CHILD 8u

static const char *file, *program;
static uint64_t count;

static void *tell_until_stopped(void *slot)
{
    tally_tell_times((unsigned)(uintptr_t)slot, 10 * count);
    for (;;)
        pause();
    return NULL;
}

static void *tell_and_return(void *slot)
{
    tally_tell_times((unsigned)(uintptr_t)slot, count);
    return NULL;
}

static void begin_threads(void *(*run)(void *))
{
    pthread_t thread;
    for (uintptr_t i = 0; i < THREADS; i++)
        if (pthread_create(&thread, NULL, run, (void *)i) != 0)
            exit(99);
}

static void wait_for_threads(void)
{
    for (unsigned i = 0; i < THREADS; i++)
        tally_wait(i, count);
}

static void expect_success(pid_t child)
{
    int status;
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
        exit(98);
}

static void run_again(const char *way, char *slot)
{
    char number[24];
    snprintf(number, sizeof number, "%llu", (unsigned long long)count);
    execl(program, program, file, way, number, slot, (char *)NULL);
    _exit(97);
}

/* ---- the ways ---- */

static void go_abort(void)
{
    abort();
}

static void go_underscore_exit(void)
{
    _exit(0);
}

static void go_exit(void)
{
    exit(0);
}

static void go_quick_exit(void)
{
    quick_exit(0);
}

static void go_segv(void)
{
    raise(SIGSEGV);
}

static void go_terminate(void)
{
    raise(SIGTERM);
}

static void go_kill(void)
{
    raise(SIGKILL);
}

static void go_exec(void)
{
    tally_tell_times(MAIN, count);
    run_again("executed", "7");
}

/* Children tell slots 8 to 15, each COUNT times and its own child as often again. */
static void go_fork(void)
{
    for (unsigned i = 0; i < CHILDREN; i++) {
        tally_tell_times(MAIN, count);
        pid_t child = fork();
        if (child == 0) {
            tally_tell_times(CHILD + i, count);
            pid_t grandchild = fork();
            if (grandchild == 0) {
                tally_tell_times(CHILD + i, count);
                exit(0);
            }
            expect_success(grandchild);
            _exit(0);
        }
        tally_tell_times(MAIN, count);
        expect_success(child);
    }
    exit(0);
}

static char slot_texts[CHILDREN][4];

static pid_t vfork_one(unsigned number)
{
    pid_t child = vfork();
    if (child != 0)
        return child;
    tally_tell(5);
    if (number % 2 == 1)
        run_again("executed", slot_texts[number]);
    _exit(0);
}

/* Children tell slot 5 once, in the parent's memory; every second one then executes this program,
 * which tells slots 9, 11, 13 and 15. */
static void go_vfork(void)
{
    for (unsigned i = 0; i < CHILDREN; i++) {
        snprintf(slot_texts[i], sizeof slot_texts[i], "%u", CHILD + i);
        tally_tell_times(MAIN, count);
        pid_t child = vfork_one(i);
        tally_tell_times(MAIN, count);
        expect_success(child);
    }
    exit(0);
}

static void go_pthread_exit(void)
{
    tally_tell_times(MAIN, count);
    pthread_exit(NULL);
}

static const struct way {
    const char *name;
    void (*go)(void);
    void *(*threads)(void *); /* NULL: this way has none */
} ways[] = {
    { "abort", go_abort, tell_until_stopped },
    { "_exit", go_underscore_exit, tell_until_stopped },
    { "exit", go_exit, tell_until_stopped },
    { "quick_exit", go_quick_exit, tell_until_stopped },
    { "segv", go_segv, tell_until_stopped },
    { "terminate", go_terminate, tell_until_stopped },
    { "kill", go_kill, tell_until_stopped },
    { "exec", go_exec, tell_until_stopped },
    { "fork", go_fork, tell_until_stopped },
    { "vfork", go_vfork, tell_until_stopped },
    { "pthread_exit", go_pthread_exit, tell_and_return },
};

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    program = argv[0];
    file = argv[1];
    count = strtoull(argv[3], NULL, 10);
    tally_open(file);
    if (strcmp(argv[2], "executed") == 0 && argc == 5) {
        tally_tell_times((unsigned)atoi(argv[4]), count);
        return 0;
    }
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        if (strcmp(ways[i].name, argv[2]) != 0)
            continue;
        begin_threads(ways[i].threads);
        if (ways[i].go != go_pthread_exit)
            wait_for_threads();
        ways[i].go();
    }
    return 2;
}
