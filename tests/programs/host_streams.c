/* SPDX-License-Identifier: Apache-2.0 */
/* host_streams.c — a runtime whose device is threads: each is a stream, and times its own work by
 * the backend "host". tests/device compares the trace with what it prints.
 *
 * host_streams PIECES [kill]: three threads, PIECES pieces of work each. For each piece a line:
 * work STREAM BEGIN_BEFORE BEGIN_AFTER END_BEFORE END_AFTER, readings of CLOCK_MONOTONIC around
 * both events. At the end: stats BEGUN RECORDED TOTAL_NS. Dies by SIGKILL if asked to. */
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "varve/backend.h"

enum { STREAMS = 3, PIECES_MAX = 10000 };

VARVE_SITE(task_site, "task", VARVE_LAYER_OP);

static int64_t times[STREAMS][PIECES_MAX][4];
static uint32_t backend;
static int pieces;

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void *run_stream(void *stream)
{
    int index = (int)((int64_t(*)[PIECES_MAX][4])stream - times);
    for (int i = 0; i < pieces; i++) {
        struct varve_device_work work = VARVE_DEVICE_WORK_INIT;
        int64_t *at = times[index][i];
        work.backend = backend;
        work.stream = stream;
        work.name = "spin";
        varve_begin(&task_site);
        at[0] = now_ns();
        uint64_t piece = varve_device_begin(&work);
        at[1] = now_ns();
        while (now_ns() < at[1] + 2000)
            continue;
        at[2] = now_ns();
        varve_device_end(piece);
        at[3] = now_ns();
        varve_end();
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[STREAMS];
    struct varve_backend_stats stats = { .struct_size = sizeof stats };
    pieces = argc > 1 ? atoi(argv[1]) : 10;
    if (pieces < 1 || pieces > PIECES_MAX || varve_backend_open("host", &backend, NULL) != VARVE_OK)
        return 2;
    for (int i = 0; i < STREAMS; i++)
        if (pthread_create(&threads[i], NULL, run_stream, &times[i]) != 0)
            return 3;
    for (int i = 0; i < STREAMS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < STREAMS; i++)
        for (int k = 0; k < pieces; k++)
            printf("work %d %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 "\n", i, times[i][k][0],
                   times[i][k][1], times[i][k][2], times[i][k][3]);
    if (varve_backend_stats_read(backend, &stats, NULL) == VARVE_OK)
        printf("stats %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", stats.begun, stats.recorded,
               stats.total_ns);
    fflush(stdout);
    if (argc > 2 && strcmp(argv[2], "kill") == 0)
        raise(SIGKILL);
    return 0;
}
