/* SPDX-License-Identifier: Apache-2.0 */
/* observers.c — what a range costs while observers look, and PyTorch's RecordFunction beside it.
 *
 * One process; a round takes one short sample of each variant in turn. Nothing is recorded. The
 * ratio is that of the median to that of RecordFunction without a callback, or to two bare reads of
 * the clock where PyTorch was not found when the bench was built. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/system/clock.h"
#include "loops.h"
#include "others.h"
#include "others/other.h"
#include "others/tool_ring.h"
#include "sampling.h"
#include "varve/observer.h"

#define PAIRS 400

VARVE_SITE(work, "work", VARVE_LAYER_OP);

static struct tool_ring ring;
static const struct bench_other *torch;

static int empty_start(void *user, const struct varve_observed *what, uint64_t *out_context)
{
    (void)user, (void)what, (void)out_context;
    return 0;
}

static int empty_end(void *user, const struct varve_observed *what, uint64_t context)
{
    (void)user, (void)what, (void)context;
    return 0;
}

static int ring_start(void *user, const struct varve_observed *what, uint64_t *out_context)
{
    (void)user, (void)out_context;
    tool_ring_put(&ring, (uintptr_t)what->name);
    return 0;
}

static int ring_end(void *user, const struct varve_observed *what, uint64_t context)
{
    (void)user, (void)what, (void)context;
    tool_ring_put(&ring, 0);
    return 0;
}

/* ---- what is there while a variant runs ---- */

static uint64_t handles[2];
static size_t handle_count;

static void add(uint32_t scopes, double probability, varve_observer_start *start,
                varve_observer_end *end)
{
    struct varve_observer observer = VARVE_OBSERVER_INIT;
    observer.scopes = scopes;
    observer.probability = probability;
    observer.start = start;
    observer.end = end;
    (void)varve_observer_add(&observer, &handles[handle_count++], NULL);
}

static void nobody(void)
{
}

static void another_scope(void)
{
    add(VARVE_LAYER_COMM, 1, empty_start, empty_end);
}

static void sampled(void)
{
    add(0, 1e-4, empty_start, empty_end);
}

static void one_empty(void)
{
    add(0, 1, empty_start, empty_end);
}

static void two_empty(void)
{
    one_empty();
    one_empty();
}

static void one_ring(void)
{
    add(0, 1, ring_start, ring_end);
}

static void torch_one_ring(void)
{
    (void)torch->start();
}

static void remove_all(void)
{
    while (handle_count > 0)
        (void)varve_observer_remove(handles[--handle_count], NULL);
}

static void torch_stop(void)
{
    torch->stop();
}

/* ---- what runs ---- */

static void run_guard(long count)
{
    for (long i = 0; i < count; i++) {
        struct varve_guard guard = VARVE_GUARD_INIT(&work);
        (void)varve_guard_needs(&guard);
        varve_guard_begin(&guard, NULL);
        __asm__ volatile("" ::: "memory");
        varve_guard_end(&guard, NULL, 0);
    }
}

static void run_torch(long count)
{
    torch->run(count);
}

enum {
    EMPTY, FLOOR, RANGE_OFF, GUARD_OFF, TORCH_OFF, OTHER_SCOPE, SAMPLED, ONE, TWO, GUARD_ONE, RING,
    TORCH_RING, VARIANTS
};

static const struct {
    void (*before)(void);
    void (*run)(long count);
    void (*after)(void);
    bool is_torch;
} variants[VARIANTS] = {
    [EMPTY] = { nobody, bench_run_empty, nobody, false },
    [FLOOR] = { nobody, bench_run_floor, nobody, false },
    [RANGE_OFF] = { nobody, bench_run_range, nobody, false },
    [GUARD_OFF] = { nobody, run_guard, nobody, false },
    [TORCH_OFF] = { nobody, run_torch, nobody, true },
    [OTHER_SCOPE] = { another_scope, bench_run_range, remove_all, false },
    [SAMPLED] = { sampled, bench_run_range, remove_all, false },
    [ONE] = { one_empty, bench_run_range, remove_all, false },
    [TWO] = { two_empty, bench_run_range, remove_all, false },
    [GUARD_ONE] = { one_empty, run_guard, remove_all, false },
    [RING] = { one_ring, bench_run_range, remove_all, false },
    [TORCH_RING] = { torch_one_ring, run_torch, torch_stop, true },
};

static struct bench_samples samples[VARIANTS] = {
    [EMPTY] = { .name = "empty loop" },
    [FLOOR] = { .name = "two clock reads" },
    [RANGE_OFF] = { .name = "range, no observer" },
    [GUARD_OFF] = { .name = "guard, no observer" },
    [TORCH_OFF] = { .name = "RecordFunction, no callback" },
    [OTHER_SCOPE] = { .name = "range, an observer of another scope" },
    [SAMPLED] = { .name = "range, an observer of 1 in 10,000" },
    [ONE] = { .name = "range, an empty observer" },
    [TWO] = { .name = "range, two empty observers" },
    [GUARD_ONE] = { .name = "guard, an empty observer" },
    [RING] = { .name = "range, clock and 16 bytes" },
    [TORCH_RING] = { .name = "RecordFunction, clock and 16 bytes" },
};

static void sample(size_t variant)
{
    variants[variant].before();
    variants[variant].run(2); /* looks anew who observes, and cold lines */
    bench_add(&samples[variant], bench_time_ns(variants[variant].run, PAIRS));
    variants[variant].after();
}

int main(void)
{
    const char *why = NULL;
    vv_clock_init();
    torch = bench_others_torch(&why);
    for (int round = 0; round < BENCH_SAMPLES; round++)
        for (size_t v = 0; v < VARIANTS; v++)
            if (torch != NULL || !variants[v].is_torch)
                sample(v);
    double base_ns = bench_median(&samples[torch != NULL ? TORCH_OFF : FLOOR]);
    double empty_ns = bench_median(&samples[EMPTY]);
    bench_print_head("observers, ns a pair", torch != NULL ? "x torch" : "x floor", "min");
    for (size_t v = 0; v < VARIANTS; v++) {
        char note[64] = "";
        if (v == RANGE_OFF || v == GUARD_OFF || v == TORCH_OFF)
            snprintf(note, sizeof note, "%.2f over the empty loop",
                     bench_median(&samples[v]) - empty_ns);
        if (samples[v].count > 0)
            bench_print(&samples[v], base_ns, note);
        else
            bench_print_absent(samples[v].name, why);
    }
    return 0;
}
