/* SPDX-License-Identifier: Apache-2.0 */
/* The rate of sampling is exact: on every thread, in every scope, for every observer by itself. */
#include "watch.h"

#include <math.h>

#include "observe/geometric.h"

VARVE_SITE(conv, "conv", VARVE_LAYER_OP);
VARVE_SITE(reduce, "reduce", VARVE_LAYER_COMM);

/* How far a count of hits may be from calls * p: six standard deviations, which one test in 10^9
 * exceeds by chance. */
static void assert_binomial(uint64_t hits, double calls, double p)
{
    double away = fabs((double)hits - calls * p), bound = 6 * sqrt(calls * p * (1 - p)) + 1;
    if (away > bound)
        fail_msg("%llu of %.0f calls at %g: %.0f away, at most %.0f", (unsigned long long)hits,
                 calls, p, away, bound);
}

static void the_logarithm_is_libms(void **state)
{
    (void)state;
    for (double p = 1e-15; p < 1; p = p < 0.5 ? p * 1.37 : p + 0.01) {
        double expected = log1p(-p);
        assert_true(fabs(vv_geometric_scale(p) / expected - 1) < 4e-16);
    }
}

/* The draws are geometric: their mean is 1 / p, and each count has its own probability. */
static void draws_have_the_geometric_distribution(void **state)
{
    (void)state;
    enum { DRAWS = 1000000 };
    const double ps[] = { 0.9, 0.5, 0.1, 1e-3, 1e-9 };
    struct vv_generator generator;
    vv_generator_seed(&generator, 1);
    for (size_t i = 0; i < sizeof ps / sizeof ps[0]; i++) {
        double p = ps[i], scale = vv_geometric_scale(p), sum = 0;
        uint64_t counts[4] = { 0 };
        for (int draw = 0; draw < DRAWS; draw++) {
            uint64_t value = vv_geometric_draw(&generator, scale);
            assert_true(value >= 1);
            sum += (double)value;
            if (value <= 4)
                counts[value - 1]++;
        }
        double deviation = sqrt((1 - p) / DRAWS) / p;
        assert_true(fabs(sum / DRAWS - 1 / p) < 6 * deviation);
        for (int k = 0; k < 4; k++)
            assert_binomial(counts[k], DRAWS, p * pow(1 - p, k));
    }
}

static void extreme_rates_are_defined(void **state)
{
    (void)state;
    struct vv_generator generator;
    vv_generator_seed(&generator, 2);
    const double tiny[] = { 1e-300, 5e-324 };
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(vv_geometric_draw(&generator, vv_geometric_scale(tiny[i])),
                         UINT64_C(1) << 62);
    double scale = vv_geometric_scale(1 - 0x1p-53);
    for (int i = 0; i < 1000; i++)
        assert_in_range(vv_geometric_draw(&generator, scale), 1, 2);
}

/* ---- observers ---- */

#define THREADS 4
#define ROUNDS 1250000 /* of two ranges: 10^7 ranges in all */

struct counter {
    double p;
    uint64_t starts[2], ends[2]; /* of OP and COMM; atomic */
    uint64_t handle;
};

static int count_start(void *user, const struct varve_observed *what, uint64_t *out_context)
{
    struct counter *counter = user;
    *out_context = what->layer == VARVE_LAYER_COMM;
    __atomic_fetch_add(&counter->starts[*out_context], 1, __ATOMIC_RELAXED);
    return 0;
}

static int count_end(void *user, const struct varve_observed *what, uint64_t context)
{
    struct counter *counter = user;
    (void)what;
    __atomic_fetch_add(&counter->ends[context], 1, __ATOMIC_RELAXED);
    return 0;
}

static void *mark(void *rounds)
{
    for (long i = 0; i < *(const long *)rounds; i++) {
        varve_begin(&conv);
        varve_next(&reduce);
        varve_end();
    }
    return NULL;
}

/* All observers at once, so that each one's turn comes amid the others'. */
static void ten_million_calls_are_within_the_binomial_bound(void **state)
{
    (void)state;
    struct counter counters[] = { { .p = 0.1 },  { .p = 1e-3 }, { .p = 1e-4 }, { .p = 0.5 },
                                  { .p = 1e-6 }, { .p = 0 },    { .p = 1 } };
    const size_t count = sizeof counters / sizeof counters[0];
    long rounds = getenv("VARVE_SLOW") != NULL ? ROUNDS / 100 : ROUNDS;
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
    rounds /= 50;
#endif
    double calls = THREADS * (double)rounds;
    pthread_t threads[THREADS];
    for (size_t i = 0; i + 1 < count; i++) {
        struct varve_observer observer = VARVE_OBSERVER_INIT;
        observer.probability = counters[i].p;
        observer.start = count_start;
        observer.end = count_end;
        observer.user = &counters[i];
        assert_int_equal(varve_observer_add(&observer, &counters[i].handle, NULL), VARVE_OK);
    }
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, mark, &rounds), 0);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    struct varve_observer all = VARVE_OBSERVER_INIT;
    struct counter *last = &counters[count - 1];
    all.start = count_start;
    all.end = count_end;
    all.user = last;
    assert_int_equal(varve_observer_add(&all, &last->handle, NULL), VARVE_OK);
    long few = 1000;
    mark(&few);
    assert_int_equal(last->starts[0], few);
    assert_int_equal(last->starts[1], few);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(varve_observer_remove(counters[i].handle, NULL), VARVE_OK);
        for (int scope = 0; scope < 2; scope++) {
            assert_int_equal(counters[i].starts[scope], counters[i].ends[scope]);
            if (&counters[i] != last)
                assert_binomial(counters[i].starts[scope], calls + (double)few, counters[i].p);
        }
    }
}

/* Which ranges are seen depends on no earlier one: also if observers come and go meanwhile. */
static void coming_and_going_does_not_change_the_rate(void **state)
{
    (void)state;
    struct counter counter = { .p = 0.01 }, other = { .p = 0.3 };
    struct varve_observer observer = VARVE_OBSERVER_INIT, another;
    observer.start = count_start;
    observer.end = count_end;
    observer.probability = counter.p;
    observer.user = &counter;
    another = observer;
    another.probability = other.p;
    another.user = &other;
    assert_int_equal(varve_observer_add(&observer, &counter.handle, NULL), VARVE_OK);
    enum { TIMES = 20000 };
    long ranges = 7;
    for (int i = 0; i < TIMES; i++) {
        assert_int_equal(varve_observer_add(&another, &other.handle, NULL), VARVE_OK);
        mark(&ranges);
        assert_int_equal(varve_observer_remove(other.handle, NULL), VARVE_OK);
        mark(&ranges);
    }
    assert_int_equal(varve_observer_remove(counter.handle, NULL), VARVE_OK);
    for (int scope = 0; scope < 2; scope++) {
        assert_binomial(counter.starts[scope], 14.0 * TIMES, counter.p);
        assert_binomial(other.starts[scope], 7.0 * TIMES, other.p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_logarithm_is_libms),
        cmocka_unit_test(draws_have_the_geometric_distribution),
        cmocka_unit_test(extreme_rates_are_defined),
        cmocka_unit_test(ten_million_calls_are_within_the_binomial_bound),
        cmocka_unit_test(coming_and_going_does_not_change_the_rate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
