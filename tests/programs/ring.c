/* SPDX-License-Identifier: Apache-2.0 */
/* ring.c — four ranks, a process each, that sum their numbers around a ring of pipes; the rank of
 * the first argument computes long before it takes part. Says which collective each range is, by
 * names that tell nothing.
 *
 * Standard output has a line for each rank and step: RANK STEP BEGIN, the CLOCK_MONOTONIC instant
 * in ns at which the rank began the collective. Exit code 1: the sums are wrong. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "varve/values.h"

enum { RANKS = 4, STEPS = 3, CHUNK = 64, LONG_MS = 60, SHORT_MS = 3 };

VARVE_SITE(layer_site, "layer", VARVE_LAYER_OP);
VARVE_SITE(long_site, "long layer", VARVE_LAYER_OP);
VARVE_SITE(sum_site, "sum them up", VARVE_LAYER_RUNTIME);
VARVE_SITE(give_site, "to the right", VARVE_LAYER_RUNTIME);
VARVE_SITE(take_site, "from the left", VARVE_LAYER_RUNTIME);

static const int64_t members[RANKS] = { 0, 1, 2, 3 };
static int pipes[RANKS][2]; /* [r] leads from rank r to the next one */

static long long now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void say(const char *operation, int rank, int peer, int64_t number, uint64_t elements)
{
    struct varve_collective_info info = VARVE_COLLECTIVE_INFO_INIT;
    info.operation = operation;
    info.group = "ring";
    info.rank = rank;
    info.group_size = RANKS;
    info.peer = peer;
    info.number = number;
    info.dtype = VARVE_F64;
    info.in_elements = info.out_elements = elements;
    info.bytes = elements * sizeof(double);
    info.ranks = members;
    info.rank_count = RANKS;
    varve_collective(&info);
}

/* Sends one chunk to the right, and takes one from the left. */
static void exchange(int rank, int64_t number, const double *to_right, double *from_left)
{
    const int left = (rank + RANKS - 1) % RANKS, right = (rank + 1) % RANKS;
    varve_begin(&give_site);
    say("send", rank, right, number, CHUNK);
    if (write(pipes[rank][1], to_right, CHUNK * sizeof(double)) != CHUNK * sizeof(double))
        exit(2);
    varve_next(&take_site);
    say("recv", rank, left, number, CHUNK);
    if (read(pipes[left][0], from_left, CHUNK * sizeof(double)) != CHUNK * sizeof(double))
        exit(2);
    varve_end();
}

static void all_reduce(int rank, int64_t step, double numbers[RANKS][CHUNK])
{
    double chunk[CHUNK];
    varve_begin(&sum_site);
    say("all_reduce", rank, -1, step, RANKS * CHUNK);
    for (int turn = 0; turn < 2 * (RANKS - 1); turn++) {
        const bool sums = turn < RANKS - 1;
        const int give = (rank - turn + (sums ? 0 : RANKS) + 2 * RANKS) % RANKS;
        const int out = sums ? give : (rank + 1 - (turn - RANKS + 1) + 2 * RANKS) % RANKS;
        const int in = (out + RANKS - 1) % RANKS;
        exchange(rank, step * 2 * (RANKS - 1) + turn, numbers[out], chunk);
        for (int i = 0; i < CHUNK; i++)
            numbers[in][i] = chunk[i] + (sums ? numbers[in][i] : 0);
    }
    varve_end();
}

static void compute(bool is_long)
{
    struct timespec time = { 0, (is_long ? LONG_MS : SHORT_MS) * 1000000L };
    varve_begin(is_long ? &long_site : &layer_site);
    nanosleep(&time, NULL);
    varve_end();
}

static int run(int rank, bool is_late)
{
    static double numbers[RANKS][CHUNK];
    char text[16];
    snprintf(text, sizeof text, "%d", rank);
    setenv("RANK", text, 1);
    setenv("WORLD_SIZE", "4", 1);
    for (int step = 0; step < STEPS; step++) {
        for (int c = 0; c < RANKS; c++)
            for (int i = 0; i < CHUNK; i++)
                numbers[c][i] = rank + c + i;
        varve_step_begin(step);
        compute(is_late);
        printf("%d %d %lld\n", rank, step, now_ns());
        all_reduce(rank, step, numbers);
        varve_step_end();
        for (int c = 0; c < RANKS; c++)
            for (int i = 0; i < CHUNK; i++)
                if (numbers[c][i] != 6 + RANKS * (c + i))
                    return 1;
    }
    return fflush(stdout) == 0 ? 0 : 2;
}

int main(int argc, char **argv)
{
    const int late = argc > 1 ? atoi(argv[1]) : 2;
    int failures = 0, status;
    for (int r = 0; r < RANKS; r++)
        if (pipe(pipes[r]) != 0)
            return 2;
    for (int r = 0; r < RANKS; r++)
        if (fork() == 0)
            exit(run(r, r == late));
    while (wait(&status) > 0)
        failures += status != 0;
    return failures == 0 ? 0 : 1;
}
