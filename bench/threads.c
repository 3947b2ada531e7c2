/* SPDX-License-Identifier: Apache-2.0 */
#include "threads.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>

#include "base/system/clock.h"
#include "varve/varve.h"

#define ROUNDS 101
#define NEW_THREADS 200

VARVE_SITE(first, "first", VARVE_LAYER_OP);

/* The partner runs round r once `round` is r, and then counts `done` up: no sleep, so both begin at
 * once. */
struct partner {
    void (*run)(long count);
    long count;
    long round, done;
    bool leave;
    double ns;
};

static void *run_as_partner(void *argument)
{
    struct partner *partner = argument;
    for (long round = 1;; round++) {
        while (__atomic_load_n(&partner->round, __ATOMIC_ACQUIRE) < round)
            sched_yield();
        if (partner->leave)
            return NULL;
        partner->ns = bench_time_ns(partner->run, partner->count);
        __atomic_store_n(&partner->done, round, __ATOMIC_RELEASE);
    }
}

int bench_two_threads(void (*run)(long count), long count, struct bench_samples *out_one,
                      struct bench_samples *out_two)
{
    struct partner partner = { .run = run, .count = count };
    pthread_t thread;
    int failure = pthread_create(&thread, NULL, run_as_partner, &partner);
    if (failure != 0)
        return failure;
    for (long round = 1; round <= ROUNDS; round++) {
        bench_add(out_one, bench_time_ns(run, count));
        __atomic_store_n(&partner.round, round, __ATOMIC_RELEASE);
        double ns = bench_time_ns(run, count);
        while (__atomic_load_n(&partner.done, __ATOMIC_ACQUIRE) < round)
            sched_yield();
        bench_add(out_two, (ns + partner.ns) / 2);
    }
    partner.leave = true;
    __atomic_store_n(&partner.round, ROUNDS + 1, __ATOMIC_RELEASE);
    return pthread_join(thread, NULL);
}

static void *record_first(void *argument)
{
    uint64_t before_ns = vv_clock_monotonic_ns();
    varve_begin(&first);
    *(double *)argument = (double)(vv_clock_monotonic_ns() - before_ns) / 1e3;
    varve_end();
    return NULL;
}

int bench_first_event(struct bench_samples *out_us)
{
    varve_begin(&first); /* the site is known from now on */
    varve_end();
    for (int i = 0; i < NEW_THREADS; i++) {
        pthread_t thread;
        double us = 0;
        int failure = pthread_create(&thread, NULL, record_first, &us);
        if (failure == 0)
            failure = pthread_join(thread, NULL);
        if (failure != 0)
            return failure;
        bench_add(out_us, us);
    }
    return 0;
}
