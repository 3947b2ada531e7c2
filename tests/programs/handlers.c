/* SPDX-License-Identifier: Apache-2.0 */
/* handlers.c — four threads record without pause while signal handlers record in them.
 *
 * handlers FILE COUNT NAMES: thread i tells slot i (ctf/count_records.h) at most 50 * COUNT times,
 * and its handlers slot 4 + i (SIGALRM, from an interval timer of 50 us) and slot 8 + i (SIGUSR1,
 * sent without pause to one thread after the other; may interrupt the former), until SIGUSR1 has
 * come COUNT times to each. With NAMES = 1 the threads also begin and end ranges whose names are
 * made at run time. */
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/time.h>

#include "tally.h"

#define THREADS 4u

static _Thread_local unsigned number;
static uint64_t count;
static bool with_names, over;

static void on_alarm(int signal)
{
    (void)signal;
    tally_tell(4 + number);
}

static void on_user(int signal)
{
    (void)signal;
    tally_tell(8 + number);
}

static void *run(void *argument)
{
    sigset_t both;
    char name[16];
    number = (unsigned)(uintptr_t)argument;
    sigemptyset(&both);
    sigaddset(&both, SIGALRM);
    sigaddset(&both, SIGUSR1);
    pthread_sigmask(SIG_UNBLOCK, &both, NULL);
    for (uint64_t i = 0; !__atomic_load_n(&over, __ATOMIC_ACQUIRE); i++) {
        if (i >= 50 * count) {
            sched_yield();
            continue;
        }
        tally_tell(number);
        if (with_names) {
            snprintf(name, sizeof name, "name %u", (unsigned)(i % 2000));
            varve_begin_name(name, VARVE_LAYER_OP);
            varve_end();
        }
    }
    return NULL;
}

static bool is_enough(void)
{
    for (unsigned i = 0; i < THREADS; i++)
        if (__atomic_load_n(&tally[8 + i], __ATOMIC_ACQUIRE) < count)
            return false;
    return true;
}

int main(int argc, char **argv)
{
    struct sigaction action = { .sa_handler = on_alarm, .sa_flags = SA_RESTART };
    const struct itimerval often = { { 0, 50 }, { 0, 50 } }, never = { { 0, 0 }, { 0, 0 } };
    pthread_t threads[THREADS];
    sigset_t all;
    if (argc != 4)
        return 2;
    tally_open(argv[1]);
    count = strtoull(argv[2], NULL, 10);
    with_names = argv[3][0] == '1';
    sigaction(SIGALRM, &action, NULL);
    action.sa_handler = on_user;
    sigaction(SIGUSR1, &action, NULL);
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    for (uintptr_t i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, run, (void *)i) != 0)
            return 99;
    setitimer(ITIMER_REAL, &often, NULL);
    for (unsigned i = 0; !is_enough(); i++)
        pthread_kill(threads[i % THREADS], SIGUSR1);
    setitimer(ITIMER_REAL, &never, NULL);
    __atomic_store_n(&over, true, __ATOMIC_RELEASE);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
