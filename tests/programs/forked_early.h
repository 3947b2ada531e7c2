/* SPDX-License-Identifier: Apache-2.0 */
/* forked_early.h — a program that records itself forks while another of its threads begins a GPU's
 * runtime, which takes its time. The child asks for sources; it has 5 s. */
#ifndef VV_TESTS_PROGRAMS_FORKED_EARLY_H
#define VV_TESTS_PROGRAMS_FORKED_EARLY_H

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "varve/control.h"

/* Returns how the child has ended. The session runs. */
static int vv_fork_early(void *(*begin)(void *), const char *source)
{
    const struct timespec until_it_begins = { 0, 100000000 };
    struct varve_session_options options = VARVE_SESSION_OPTIONS_INIT;
    pthread_t thread;
    int status;
    options.output = "own.varve";
    if (varve_session_start(&options, NULL) != VARVE_OK ||
        varve_collect(source, NULL) != VARVE_OK ||
        pthread_create(&thread, NULL, begin, NULL) != 0)
        exit(5);
    nanosleep(&until_it_begins, NULL);
    pid_t child = fork();
    if (child == 0) {
        alarm(5);
        (void)varve_collect("none", NULL);
        (void)varve_collect(source, NULL);
        _exit(0);
    }
    waitpid(child, &status, 0);
    pthread_join(thread, NULL);
    return status;
}

#endif
