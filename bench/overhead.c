/* SPDX-License-Identifier: Apache-2.0 */
/* overhead.c — what a record costs, against the clock it has to read.
 *
 * One process; a round takes one short sample of each variant in turn, so that all see the same
 * machine. Shown are the ratio of the median to that of the floor (two bare reads of the clock),
 * minimum, median and nine tenths.
 * Usage: overhead [FOLDER]  (for the trace; default build/bench.varve) */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/system/clock.h"
#include "loops.h"
#include "new_pages.h"
#include "others.h"
#include "sampling.h"
#include "threads.h"
#include "varve/varve.h"

/* A sample of 400 ranges fills 6 kB, so that most samples meet no new page: those are what
 * *sustained* is for. */
#define PAIRS 400
#define OPERATORS 50
#define WORK_PAIRS 100
#define THREAD_PAIRS 1000

enum {
    EMPTY, FLOOR, OFF, OFF_LIBRARY, OFF_EXECUTE, RANGE, EXECUTE, NEXT, OPERATOR, ARGUMENT,
    COLLECTIVE, OUTPUTS, PLAIN, ACTIVITY, LAUNCH, DEVICE_WORK, WORK, WORK_FLOOR, WORK_RANGE,
    VARIANTS
};

static const struct {
    void (*run)(long count);
    long count;
    uint32_t layers;
} variants[VARIANTS] = {
    [EMPTY] = { bench_run_empty, PAIRS, 0 },
    [FLOOR] = { bench_run_floor, PAIRS, 0 },
    [OFF] = { bench_run_range, PAIRS, 0 },
    [OFF_LIBRARY] = { bench_run_library_range, PAIRS, 0 },
    [OFF_EXECUTE] = { bench_run_execute, PAIRS, 0 },
    [RANGE] = { bench_run_range, PAIRS, VARVE_LAYER_ALL },
    [EXECUTE] = { bench_run_execute, PAIRS, VARVE_LAYER_ALL },
    [NEXT] = { bench_run_next, PAIRS, VARVE_LAYER_ALL },
    [OPERATOR] = { bench_run_operator, OPERATORS, VARVE_LAYER_ALL },
    [ARGUMENT] = { bench_run_argument, PAIRS, VARVE_LAYER_ALL },
    [COLLECTIVE] = { bench_run_collective, OPERATORS, VARVE_LAYER_ALL },
    [OUTPUTS] = { bench_run_outputs, OPERATORS, VARVE_LAYER_ALL },
    [PLAIN] = { bench_run_plain_operator, PAIRS, VARVE_LAYER_ALL },
    [ACTIVITY] = { bench_run_activity, PAIRS, VARVE_LAYER_ALL },
    [LAUNCH] = { bench_run_launch, PAIRS, VARVE_LAYER_ALL },
    [DEVICE_WORK] = { bench_run_device_work, OPERATORS, VARVE_LAYER_ALL },
    [WORK] = { bench_run_work, WORK_PAIRS, 0 },
    [WORK_FLOOR] = { bench_run_work_floor, WORK_PAIRS, 0 },
    [WORK_RANGE] = { bench_run_work_range, WORK_PAIRS, VARVE_LAYER_ALL },
};

static struct bench_samples samples[VARIANTS] = {
    [EMPTY] = { .name = "empty loop" },
    [FLOOR] = { .name = "floor: two clock reads" },
    [OFF] = { .name = "range, off" },
    [OFF_LIBRARY] = { .name = "range, off, in a shared library" },
    [OFF_EXECUTE] = { .name = "executor event, off" },
    [RANGE] = { .name = "range" },
    [EXECUTE] = { .name = "executor event" },
    [NEXT] = { .name = "next" },
    [OPERATOR] = { .name = "operator, four shaped inputs" },
    [ARGUMENT] = { .name = "argument, in a range" },
    [COLLECTIVE] = { .name = "collective, in a range" },
    [OUTPUTS] = { .name = "varve_op with an output, in a range" },
    [PLAIN] = { .name = "operator, no inputs" },
    [ACTIVITY] = { .name = "device activity" },
    [LAUNCH] = { .name = "device launch, in a range" },
    [DEVICE_WORK] = { .name = "device work, backend host" },
    /* What they take more than WORK in the same round, so that one sample that was interrupted
     * counts for two. */
    [WORK_FLOOR] = { .name = "two clock reads", .least = 0.1 },
    [WORK_RANGE] = { .name = "range", .least = 0.1 },
};

/* The processor's time and that of the disk are told apart. */
static struct {
    void (*run)(long count);
    long count;
    const char *what;
    struct bench_samples all, processor;
} sustained[] = {
    { bench_run_range, 5000000, "5 M, and the pages of 80 MB", { .name = "range, sustained" },
      { 0 } },
    { bench_run_operator, 400000, "400,000, and the pages of 99 MB",
      { .name = "operator, sustained" }, { 0 } },
    /* The least that any recorder does: new_pages.h. */
    { bench_run_range_in_128_kib, 2500000, "two clock reads, 16 bytes",
      { .name = "floor in new pages, 128 KiB" }, { 0 } },
    { bench_run_range_in_2_mib, 2500000, "two clock reads, 16 bytes",
      { .name = "floor in new pages, 2 MiB" }, { 0 } },
    { bench_run_range_ahead, 2500000, "the same, a second thread makes the pages",
      { .name = "floor in new pages, ahead" }, { 0 } },
    { bench_run_operator_in_128_kib, 200000, "two clock reads, 248 bytes",
      { .name = "operator's in new pages, 128 KiB" }, { 0 } },
    { bench_run_operator_in_2_mib, 200000, "two clock reads, 248 bytes",
      { .name = "operator's in new pages, 2 MiB" }, { 0 } },
    { bench_run_operator_ahead, 200000, "the same, a second thread makes the pages",
      { .name = "operator's in new pages, ahead" }, { 0 } },
};
#define SUSTAINED (sizeof sustained / sizeof sustained[0])
#define SUSTAINED_ROUNDS 3

static double sample(size_t variant)
{
    varve_layers_set(variants[variant].layers);
    variants[variant].run(2); /* the switch, and cold lines */
    return bench_time_ns(variants[variant].run, variants[variant].count);
}

static double processor_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void run_rounds(void)
{
    for (int round = 0; round < BENCH_SAMPLES; round++) {
        double ns[VARIANTS];
        for (size_t v = 0; v < VARIANTS; v++)
            ns[v] = sample(v);
        ns[WORK_FLOOR] -= ns[WORK];
        ns[WORK_RANGE] -= ns[WORK];
        for (size_t v = 0; v < VARIANTS; v++)
            bench_add(&samples[v], ns[v]);
        varve_layers_set(0);
        bench_others_sample(PAIRS);
    }
}

static void run_sustained(void)
{
    varve_layers_set(VARVE_LAYER_ALL);
    for (int round = 0; round < SUSTAINED_ROUNDS; round++)
        for (size_t i = 0; i < SUSTAINED; i++) {
            double before_ns = processor_ns();
            bench_add(&sustained[i].all, bench_time_ns(sustained[i].run, sustained[i].count));
            bench_add(&sustained[i].processor,
                      (processor_ns() - before_ns) / (double)sustained[i].count);
        }
}

static void print_sustained(double floor_ns)
{
    for (size_t i = 0; i < SUSTAINED; i++) {
        char note[96];
        snprintf(note, sizeof note, "%s; %.2f without waiting for the disk", sustained[i].what,
                 bench_median(&sustained[i].processor));
        bench_print(&sustained[i].all, floor_ns, note);
    }
}

static void print_devices(double floor_ns)
{
    static const int rows[] = { ACTIVITY, LAUNCH, DEVICE_WORK };
    bench_print(&samples[PLAIN], floor_ns, "three clock reads, 64 bytes");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char over[64];
        snprintf(over, sizeof over, "%.2f x operator, no inputs",
                 bench_median(&samples[rows[i]]) / bench_median(&samples[PLAIN]));
        bench_print(&samples[rows[i]], floor_ns, over);
    }
}

static void print_pairs(void)
{
    double floor_ns = bench_median(&samples[FLOOR]);
    double empty_ns = bench_median(&samples[EMPTY]);
    char over_c[64], over_library[64], over_range[64];
    snprintf(over_c, sizeof over_c, "%.2f over the empty loop",
             bench_median(&samples[OFF]) - empty_ns);
    snprintf(over_library, sizeof over_library, "%.2f over the empty loop",
             bench_median(&samples[OFF_LIBRARY]) - empty_ns);
    snprintf(over_range, sizeof over_range, "%.3f x range, begin and end of a node",
             bench_median(&samples[EXECUTE]) / bench_median(&samples[RANGE]));
    bench_print_head("ns a pair", "x floor", "min");
    bench_print(&samples[EMPTY], floor_ns, "");
    bench_print(&samples[FLOOR], floor_ns, vv_clock_source());
    bench_print(&samples[OFF], floor_ns, over_c);
    bench_print(&samples[OFF_LIBRARY], floor_ns, over_library);
    bench_print(&samples[OFF_EXECUTE], floor_ns, "");
    bench_print(&samples[RANGE], floor_ns, "");
    bench_print(&samples[EXECUTE], floor_ns, over_range);
    bench_print(&samples[NEXT], floor_ns, "one clock read");
    bench_print(&samples[OPERATOR], floor_ns, "three clock reads, 248 bytes");
    bench_print(&samples[ARGUMENT], floor_ns, "one clock read, 32 bytes");
    bench_print(&samples[COLLECTIVE], floor_ns, "one clock read, 88 bytes");
    bench_print(&samples[OUTPUTS], floor_ns, "one clock read, 328 bytes");
    print_devices(floor_ns);
    print_sustained(floor_ns);
    bench_print_head("others, ns a pair", "x floor", "min");
    bench_others_print(floor_ns);
}

static void print_work(void)
{
    bench_print_head("added to 100 ns inside, 100 ns outside", "x clock", "p10");
    double clock_ns = bench_median(&samples[WORK_FLOOR]);
    bench_print(&samples[WORK_FLOOR], 0, "");
    bench_print(&samples[WORK_RANGE], clock_ns, "");
}

static int print_threads(void)
{
    static struct bench_samples one_floor = { .name = "two clock reads, one thread" };
    static struct bench_samples two_floor = { .name = "two clock reads, two threads at once" };
    static struct bench_samples one = { .name = "range, one thread" };
    static struct bench_samples two = { .name = "range, two threads at once" };
    static struct bench_samples first = { .name = "us: first record of a new thread" };
    int failure = bench_two_threads(bench_run_floor, THREAD_PAIRS, &one_floor, &two_floor);
    if (failure == 0)
        failure = bench_two_threads(bench_run_range, THREAD_PAIRS, &one, &two);
    if (failure == 0)
        failure = bench_first_event(&first);
    if (failure != 0) {
        fprintf(stderr, "overhead: cannot start a thread: %s\n", strerror(failure));
        return 1;
    }
    bench_print_head("ns a pair and thread", "x one", "min");
    bench_print(&one_floor, 0, "");
    bench_print(&two_floor, bench_median(&one_floor), "");
    bench_print(&one, 0, "");
    bench_print(&two, bench_median(&one), "");
    bench_print(&first, 0, "200 threads, one after the other");
    return 0;
}

int main(int argc, char **argv)
{
    struct varve_session_options options = VARVE_SESSION_OPTIONS_INIT;
    struct varve_error error;
    options.output = argc > 1 ? argv[1] : "build/bench.varve";
    bench_others_start();
    if (varve_session_start(&options, &error) != VARVE_OK) {
        fprintf(stderr, "overhead: %s\n", error.message);
        return 1;
    }
    vv_clock_init();
    bench_calibrate_work();
    bench_register_graph();
    if (!bench_add_device(&error)) {
        fprintf(stderr, "overhead: %s\n", error.message);
        return 1;
    }
    bench_new_pages_begin(options.output);
    run_rounds();
    run_sustained();
    print_pairs();
    print_work();
    int status = print_threads();
    varve_session_stop(NULL);
    return status;
}
