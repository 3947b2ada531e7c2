/* SPDX-License-Identifier: Apache-2.0 */
/* turns.h — how the C programs of this folder run a plant, its twin, or both in turns
 * (../conftest.py).
 *
 *     PROGRAM PLANT planted | mended      runs STEPS steps
 *     PROGRAM --measure PLANT             both, step by step; prints the mean times of their steps,
 *                                         {"planted_ns": n, "mended_ns": n}, where each step counts
 *                                         as its shortest in ROUNDS: others only make it longer */
#ifndef TURNS_H
#define TURNS_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "varve/varve.h"

#define STEPS 14
#define ROUNDS 3

struct plant {
    const char *name;
    void *(*begin)(int is_mended);          /* makes the state */
    void (*step)(void *state, int number);
};

static inline int64_t clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static inline void sleep_us(int64_t us)
{
    struct timespec time = { us / 1000000, us % 1000000 * 1000 };
    nanosleep(&time, NULL);
}

/* Uses so much of the processor, however many others want it. */
static inline void compute_us(int64_t us)
{
    int64_t end_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) + us * 1000;
    while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end_ns)
        ;
}

static inline void *begin_block(size_t bytes)
{
    void *block = calloc(1, bytes);
    if (block == NULL)
        abort();
    return block;
}

static inline int measure(const struct plant *plant)
{
    void *states[2] = { plant->begin(0), plant->begin(1) };
    int64_t shortest_ns[2][STEPS], sums_ns[2] = { 0, 0 };
    for (int turn = 0; turn < ROUNDS * STEPS; turn++)
        for (int is_mended = 0; is_mended < 2; is_mended++) {
            int64_t begin_ns = clock_ns(CLOCK_MONOTONIC), *shortest = shortest_ns[is_mended];
            int number = turn % STEPS;
            plant->step(states[is_mended], number);
            int64_t took_ns = clock_ns(CLOCK_MONOTONIC) - begin_ns;
            shortest[number] = turn < STEPS || took_ns < shortest[number] ? took_ns
                                                                          : shortest[number];
        }
    for (int number = 0; number < STEPS; number++) {
        sums_ns[0] += shortest_ns[0][number];
        sums_ns[1] += shortest_ns[1][number];
    }
    printf("{\"planted_ns\": %lld, \"mended_ns\": %lld}\n", (long long)(sums_ns[0] / STEPS),
           (long long)(sums_ns[1] / STEPS));
    fflush(stdout);
    return 0;
}

static inline int run(const struct plant *plant, int is_mended)
{
    void *state = plant->begin(is_mended);
    for (int number = 0; number < STEPS; number++) {
        varve_step_begin(number);
        plant->step(state, number);
        varve_step_end();
    }
    return 0;
}

static inline int take_turns(int argc, char **argv, const struct plant *plants, int count)
{
    int is_measure = argc == 3 && strcmp(argv[1], "--measure") == 0;
    for (int i = 0; i < count && argc == 3; i++)
        if (strcmp(plants[i].name, argv[1 + is_measure]) == 0)
            return is_measure ? measure(&plants[i]) : run(&plants[i], argv[2][0] == 'm');
    fputs("PLANT planted | PLANT mended | --measure PLANT\n", stderr);
    return 2;
}

#endif
