/* SPDX-License-Identifier: Apache-2.0 */
/* told.c — a program whose control callback writes down what it is told, while others switch its
 * recording. It runs until standard input ends.
 *
 *     told steps LOG      makes steps           told polls LOG     calls varve_profiling_poll
 *     told records LOG    records ranges alone  told neither LOG   waits
 *     told handler LOG    a timer's handler records ranges; the program waits for it
 *     told all LOG        a thread each of the first three
 *
 * LOG has a line for each call: EVENT LAYERS TIME_NS ASKED_BY PID MISSED WHERE, which is "main",
 * "thread" or "handler". */
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include <varve/control.h>

VARVE_SITE(work, "work", VARVE_LAYER_OP);

static FILE *log_file;
static bool is_over;
static pthread_t main_thread;
static volatile sig_atomic_t is_in_handler;

static bool goes_on(void)
{
    return !__atomic_load_n(&is_over, __ATOMIC_RELAXED);
}

static void write_down(const struct varve_profiling_command *command, void *context)
{
    const char *where = is_in_handler                                ? "handler"
                        : pthread_equal(main_thread, pthread_self()) ? "main"
                                                                     : "thread";
    (void)context;
    fprintf(log_file, "%u %u %llu %u %u %llu %s\n", command->event, command->layers,
            (unsigned long long)command->time_ns, command->asked_by, command->asker_pid,
            (unsigned long long)command->missed, where);
    fflush(log_file);
    varve_begin(&work); /* as a callback may */
    varve_end();
}

static void *make_steps(void *unused)
{
    (void)unused;
    for (int64_t i = 0; goes_on(); i++) {
        varve_step_begin(i);
        varve_begin(&work);
        varve_end();
        varve_step_end();
        usleep(100);
    }
    return NULL;
}

static void *poll_for_switches(void *unused)
{
    (void)unused;
    while (goes_on()) {
        varve_profiling_poll();
        usleep(100);
    }
    return NULL;
}

static void *record_ranges(void *unused)
{
    (void)unused;
    while (goes_on()) {
        varve_begin(&work);
        varve_end();
        usleep(100);
    }
    return NULL;
}

static void on_timer(int number)
{
    (void)number;
    is_in_handler = 1;
    varve_begin(&work);
    varve_end();
    varve_step_begin(0);
    varve_step_end();
    is_in_handler = 0;
}

static void begin_timer(void)
{
    struct sigaction action;
    const struct itimerval often = { { 0, 500 }, { 0, 500 } };
    memset(&action, 0, sizeof action);
    action.sa_handler = on_timer;
    action.sa_flags = SA_RESTART;
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
}

static const struct role {
    const char *name;
    void *(*function)(void *);
} roles[] = {
    { "steps", make_steps },
    { "polls", poll_for_switches },
    { "records", record_ranges },
};
#define ROLES (sizeof roles / sizeof roles[0])

int main(int count, char **words)
{
    pthread_t threads[ROLES];
    bool runs[ROLES] = { false };
    if (count != 3 || (log_file = fopen(words[2], "w")) == NULL)
        return 2;
    main_thread = pthread_self();
    if (varve_profiling_callback_add(write_down, NULL, NULL) != VARVE_OK)
        return 3;
    if (strcmp(words[1], "handler") == 0)
        begin_timer();
    for (size_t i = 0; i < ROLES; i++) {
        runs[i] = strcmp(words[1], roles[i].name) == 0 || strcmp(words[1], "all") == 0;
        if (runs[i] && pthread_create(&threads[i], NULL, roles[i].function, NULL) != 0)
            return 4;
    }
    puts("ready");
    fflush(stdout);
    while (getchar() != EOF)
        continue;
    __atomic_store_n(&is_over, true, __ATOMIC_RELAXED);
    for (size_t i = 0; i < ROLES; i++)
        if (runs[i])
            pthread_join(threads[i], NULL);
    return 0;
}
