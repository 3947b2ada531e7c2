/* SPDX-License-Identifier: Apache-2.0 */
/* sessions.c — four threads and their signal handlers record while sessions come and go.
 *
 * sessions FOLDER COUNT: starts and stops COUNT sessions into FOLDER; each lets the threads record
 * for some 100 us. SIGUSR1 is sent to the threads all the while. Exit status 0: every call said
 * VARVE_OK. */
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include "varve/varve.h"

#define THREADS 4

VARVE_SITE(flow, "flow", VARVE_LAYER_OP);
VARVE_SITE(handler, "handler", VARVE_LAYER_OP);

static bool over;
static pthread_t threads[THREADS];

static void on_user(int signal)
{
    (void)signal;
    varve_mark(&handler);
}

static void *record(void *unused)
{
    while (!__atomic_load_n(&over, __ATOMIC_ACQUIRE)) {
        varve_begin(&flow);
        varve_end();
    }
    return unused;
}

static void *send(void *unused)
{
    for (unsigned i = 0; !__atomic_load_n(&over, __ATOMIC_ACQUIRE); i++)
        pthread_kill(threads[i % THREADS], SIGUSR1);
    return unused;
}

int main(int argc, char **argv)
{
    struct varve_session_options options = VARVE_SESSION_OPTIONS_INIT;
    struct sigaction action = { .sa_handler = on_user, .sa_flags = SA_RESTART };
    const struct timespec moment = { 0, 100000 };
    pthread_t sender;
    if (argc != 3)
        return 2;
    options.output = argv[1];
    sigaction(SIGUSR1, &action, NULL);
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, record, NULL) != 0)
            return 99;
    if (pthread_create(&sender, NULL, send, NULL) != 0)
        return 99;
    int failures = 0;
    for (int i = 0; i < atoi(argv[2]); i++) {
        failures += varve_session_start(&options, NULL) != VARVE_OK;
        nanosleep(&moment, NULL);
        failures += varve_session_stop(NULL) != VARVE_OK;
    }
    __atomic_store_n(&over, true, __ATOMIC_RELEASE);
    pthread_join(sender, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return failures == 0 ? 0 : 1;
}
