/* SPDX-License-Identifier: Apache-2.0 */
/* overhead.c — what a record costs, against the clock it has to read.
 *
 * One process, variants interleaved round by round, so that all see the same machine; minimum and median
 * over rounds; ratios to the floor (two bare clock reads a pair). Recording is switched on and off
 * between rounds by varve_layers_set. Usage: overhead [FOLDER]  (for the trace; default build/bench.varve) */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "varve/varve.h"

#define PAIRS 10000
#define ROUNDS 151
#define SUSTAINED_PAIRS 5000000

VARVE_SITE(work, "work", VARVE_LAYER_OP);

static volatile uint64_t sink;

static void run_empty(long pairs)
{
    for (long i = 0; i < pairs; i++)
        __asm__ volatile("" ::: "memory");
}

static void run_floor(long pairs)
{
    for (long i = 0; i < pairs; i++) {
        sink = vv_clock_ticks();
        sink = vv_clock_ticks();
    }
}

static void run_range(long pairs)
{
    for (long i = 0; i < pairs; i++) {
        varve_begin(&work);
        __asm__ volatile("" ::: "memory");
        varve_end();
    }
}

static void run_next(long pairs)
{
    for (long i = 0; i < pairs; i++)
        varve_next(&work);
}

static void run_operator(long pairs)
{
    static const int64_t dims[4] = { 32, 64, 56, 56 };
    struct varve_tensor inputs[4];
    for (int i = 0; i < 4; i++)
        inputs[i] = (struct varve_tensor){ VARVE_F32, 4, dims };
    for (long i = 0; i < pairs; i++) {
        varve_begin(&work);
        struct varve_op_info info = VARVE_OP_INFO_INIT;
        info.inputs = inputs;
        info.input_count = 4;
        varve_op(&info);
        varve_end();
    }
}

static const struct {
    const char *name;
    void (*run)(long pairs);
    uint32_t layers;
} variants[] = {
    { "empty loop", run_empty, 0 },
    { "floor: two clock reads", run_floor, 0 },
    { "range, off", run_range, 0 },
    { "range", run_range, VARVE_LAYER_ALL },
    { "next", run_next, VARVE_LAYER_ALL },
    { "operator, four shaped inputs", run_operator, VARVE_LAYER_ALL },
};
#define VARIANTS (sizeof variants / sizeof variants[0])

static double time_of(void (*run)(long), long pairs)
{
    uint64_t before = vv_clock_monotonic_ns();
    run(pairs);
    return (double)(vv_clock_monotonic_ns() - before) / (double)pairs;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    static double ns[VARIANTS][ROUNDS];
    struct varve_session_options options = VARVE_SESSION_OPTIONS_INIT;
    struct varve_error error;
    options.output = argc > 1 ? argv[1] : "build/bench.varve";
    if (varve_session_start(&options, &error) != VARVE_OK) {
        fprintf(stderr, "overhead: %s\n", error.message);
        return 1;
    }
    vv_clock_init();
    for (int round = 0; round < ROUNDS; round++)
        for (size_t v = 0; v < VARIANTS; v++) {
            varve_layers_set(variants[v].layers);
            ns[v][round] = time_of(variants[v].run, PAIRS);
        }
    varve_layers_set(VARVE_LAYER_ALL);
    double sustained = time_of(run_range, SUSTAINED_PAIRS);
    varve_session_stop(NULL);
    for (size_t v = 0; v < VARIANTS; v++)
        qsort(ns[v], ROUNDS, sizeof ns[v][0], by_value);
    double floor_ns = ns[1][ROUNDS / 2];
    printf("%-30s %8s %8s %8s   clock: %s\n", "ns a pair", "min", "median", "× floor",
           vv_clock_source());
    for (size_t v = 0; v < VARIANTS; v++)
        printf("%-30s %8.2f %8.2f %8.2f\n", variants[v].name, ns[v][0], ns[v][ROUNDS / 2],
               ns[v][ROUNDS / 2] / floor_ns);
    printf("%-30s %8s %8.2f %8.2f   5 M pairs back to back, into a file\n", "range, sustained", "",
           sustained, sustained / floor_ns);
    return 0;
}
