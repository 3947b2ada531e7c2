/* SPDX-License-Identifier: Apache-2.0 */
/* kill_self.c — four threads record until the process kills itself with SIGKILL.
 *
 * kill_self FILE COUNT PAUSE_NS: thread i sets the counter "count" to 0, 1, 2 …, and after each
 * record it stores how many it has made in the i-th u64 of FILE (a shared mapping, so the number
 * outlives the kill).
 * After each 64 records it sleeps PAUSE_NS, if that is not 0. When every thread has made COUNT
 * records the main thread raises SIGKILL while they still run; a thread that is far ahead of the
 * others waits, so that the trace stays small. tests/oracle holds the trace against FILE: what was
 * acknowledged must be there. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "varve/varve.h"

#define THREADS 4
#define RECORDS_BETWEEN_PAUSES 64
#define LEAD_MAX 4 /* no thread makes more than this many times COUNT */

struct writer {
    int number;
    uint64_t *acknowledged;
    uint64_t goal;
    long pause_ns;
};

VARVE_SITE(count_site, "count", VARVE_LAYER_METRIC);

static void *write_until_killed(void *argument)
{
    struct writer *writer = argument;
    const struct timespec pause = {0, writer->pause_ns};
    char name[16];
    snprintf(name, sizeof name, "writer %d", writer->number);
    varve_thread_name(name);
    for (uint64_t made = 0; made < LEAD_MAX * writer->goal;) {
        varve_counter(&count_site, (double)made);
        __atomic_store_n(writer->acknowledged, ++made, __ATOMIC_RELEASE);
        if (writer->pause_ns && made % RECORDS_BETWEEN_PAUSES == 0)
            nanosleep(&pause, NULL);
    }
    for (;;)
        sleep(1);
    return NULL;
}

static uint64_t *map_counts(const char *path)
{
    int file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0 || ftruncate(file, THREADS * sizeof(uint64_t)) != 0)
        return NULL;
    void *address =
        mmap(NULL, THREADS * sizeof(uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    return address == MAP_FAILED ? NULL : address;
}

int main(int argc, char **argv)
{
    static struct writer writers[THREADS];
    const struct timespec millisecond = {0, 1000000};
    uint64_t *counts = argc == 4 ? map_counts(argv[1]) : NULL;
    if (!counts) {
        fprintf(stderr, "usage: kill_self FILE COUNT PAUSE_NS\n");
        return 2;
    }
    uint64_t goal = strtoull(argv[2], NULL, 10);
    for (int i = 0; i < THREADS; i++) {
        pthread_t thread;
        writers[i] = (struct writer){i, &counts[i], goal, strtol(argv[3], NULL, 10)};
        if (pthread_create(&thread, NULL, write_until_killed, &writers[i]))
            return 99;
    }
    for (int i = 0; i < THREADS; i++)
        while (__atomic_load_n(&counts[i], __ATOMIC_ACQUIRE) < goal)
            nanosleep(&millisecond, NULL);
    raise(SIGKILL);
    return 99;
}
