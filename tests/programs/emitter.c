/* SPDX-License-Identifier: Apache-2.0 */
/* emitter.c — records as fast as it can, and says how much.
 *
 * emitter FILE THREADS PAIRS [ROUNDS]: THREADS threads make PAIRS ranges each (0: for ever), ROUNDS
 * times one after the other (1 unless given), each with threads of its own. After each range a
 * thread stores in its u64 of FILE (a shared mapping of 64 of them, so the numbers outlive a kill)
 * how many it has made; numbers of later rounds are added. Exit status 0: every call returned. */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "varve/varve.h"

#define THREADS_MAX 64

VARVE_SITE(work, "work", VARVE_LAYER_OP);

static uint64_t pairs;

static void *emit(void *argument)
{
    uint64_t *made = argument;
    for (uint64_t i = 0; pairs == 0 || i < pairs; i++) {
        varve_begin(&work);
        varve_end();
        __atomic_store_n(made, *made + 1, __ATOMIC_RELEASE);
    }
    return NULL;
}

static uint64_t *map_counts(const char *path)
{
    int file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0 || ftruncate(file, THREADS_MAX * sizeof(uint64_t)) != 0)
        return NULL;
    void *address =
        mmap(NULL, THREADS_MAX * sizeof(uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    return address == MAP_FAILED ? NULL : address;
}

int main(int argc, char **argv)
{
    uint64_t *counts = argc >= 4 ? map_counts(argv[1]) : NULL;
    int threads = argc >= 4 ? atoi(argv[2]) : 0;
    if (counts == NULL || threads < 1 || threads > THREADS_MAX) {
        fprintf(stderr, "usage: emitter FILE THREADS PAIRS [ROUNDS]\n");
        return 2;
    }
    pairs = strtoull(argv[3], NULL, 10);
    long rounds = argc > 4 ? atol(argv[4]) : 1;
    for (long round = 0; round < rounds; round++) {
        pthread_t running[THREADS_MAX];
        for (int i = 0; i < threads; i++)
            if (pthread_create(&running[i], NULL, emit, &counts[i]) != 0)
                return 1;
        for (int i = 0; i < threads; i++)
            pthread_join(running[i], NULL);
    }
    return 0;
}
