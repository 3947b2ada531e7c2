/* SPDX-License-Identifier: Apache-2.0 */
/* peak_measure.c — all processors work for a while, at the same time. The best of a few rounds
 * counts.
 *
 * FLOP: independent chains of a = a * b + c in registers, enough of them to hide the latency, in
 * the widest vectors that the processor has. Bytes: a[i] = b[i] + s * c[i] over arrays that no
 * cache can hold; 24 bytes for each element, as STREAM counts. */
#include "cli/reading/peak_measure.h"

#include <stdlib.h>

#include "base/system/clock.h"
#include "base/workers.h"
#include "machine/machine.h"

#define ROUNDS 4
#define ROUND_NS 120000000u
#define CHAINS 12u
#define UNROLLED _Pragma("GCC unroll 12") /* so that the chains stay in registers */
#define REPEATS 4096u
#define ARRAY_BYTES ((size_t)16 << 20) /* one of three arrays, for each processor */

/* Returns the multiply-adds done, in FLOP. */
typedef uint64_t chains_fn(uint64_t until_ns, volatile double *sink);

/* Each chain converges to 2, so no number grows or becomes denormal. */
#define CHAINS_OF(function, type, bytes, attributes)                              \
    attributes static uint64_t function(uint64_t until_ns, volatile double *sink) \
    {                                                                             \
        typedef type vector __attribute__((vector_size(bytes)));                  \
        vector chain[CHAINS], half = { 0 }, one = { 0 }, sum = { 0 };             \
        uint64_t flop = 0;                                                        \
        half = half + (type)0.5;                                                  \
        one = one + (type)1.0;                                                    \
        UNROLLED for (unsigned i = 0; i < CHAINS; i++)                            \
            chain[i] = one * (type)i;                                             \
        do {                                                                      \
            for (unsigned r = 0; r < REPEATS; r++)                                \
                UNROLLED for (unsigned i = 0; i < CHAINS; i++)                    \
                    chain[i] = chain[i] * half + one;                             \
            flop += (uint64_t)2 * REPEATS * CHAINS * (bytes / sizeof(type));      \
        } while (vv_clock_monotonic_ns() < until_ns);                             \
        UNROLLED for (unsigned i = 0; i < CHAINS; i++)                            \
            sum += chain[i];                                                      \
        *sink = (double)sum[0];                                                   \
        return flop;                                                              \
    }

CHAINS_OF(chains_f32, float, 16, )
CHAINS_OF(chains_f64, double, 16, )
#if defined(__x86_64__)
#define AVX2 __attribute__((target("avx2,fma")))
#define AVX512 __attribute__((target("avx512f")))
CHAINS_OF(chains_f32_avx2, float, 32, AVX2)
CHAINS_OF(chains_f64_avx2, double, 32, AVX2)
CHAINS_OF(chains_f32_avx512, float, 64, AVX512)
CHAINS_OF(chains_f64_avx512, double, 64, AVX512)
#endif

static void choose_chains(chains_fn **out_f32, chains_fn **out_f64)
{
    *out_f32 = chains_f32;
    *out_f64 = chains_f64;
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f")) {
        *out_f32 = chains_f32_avx512;
        *out_f64 = chains_f64_avx512;
    } else if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        *out_f32 = chains_f32_avx2;
        *out_f64 = chains_f64_avx2;
    }
#endif
}

/* One round on all processors. */
struct round {
    chains_fn *chains; /* NULL: measure memory                                                  */
    double *arrays;    /* three for each processor                                              */
    double *rates;     /* for each processor, per second                                        */
    uint64_t begin_ns;
};

static uint64_t pass_memory(double *arrays, uint64_t until_ns, volatile double *sink)
{
    size_t count = ARRAY_BYTES / sizeof *arrays;
    double *restrict a = arrays;
    const double *restrict b = arrays + count, *restrict c = arrays + 2 * count;
    uint64_t bytes = 0;
    do {
        for (size_t i = 0; i < count; i++)
            a[i] = b[i] + 3.0 * c[i];
        *sink = a[bytes % count];
        bytes += 3 * ARRAY_BYTES;
    } while (vv_clock_monotonic_ns() < until_ns);
    return bytes;
}

static void work(void *context, size_t processor)
{
    const struct round *round = context;
    volatile double sink;
    uint64_t begin_ns = vv_clock_monotonic_ns(), until_ns = round->begin_ns + ROUND_NS;
    uint64_t done =
        round->chains != NULL
            ? round->chains(until_ns, &sink)
            : pass_memory(round->arrays + processor * 3 * (ARRAY_BYTES / sizeof *round->arrays),
                          until_ns, &sink);
    round->rates[processor] = (double)done / (double)(vv_clock_monotonic_ns() - begin_ns) * 1e9;
}

static double best_of_rounds(struct round *round, size_t processors)
{
    double best = 0;
    for (unsigned r = 0; r < ROUNDS; r++) {
        double sum = 0;
        round->begin_ns = vv_clock_monotonic_ns();
        vv_workers_run((unsigned)processors, processors, work, round);
        for (size_t p = 0; p < processors; p++)
            sum += round->rates[p];
        best = sum > best ? sum : best;
    }
    return best;
}

enum varve_code vv_peaks_measure(struct vv_peaks *out_peaks, struct varve_error *error)
{
    int64_t online = vv_machine_cpus();
    size_t processors = online > 0 ? (size_t)online : 1,
           numbers = processors * 3 * (ARRAY_BYTES / sizeof(double));
    struct round round = { .arrays = malloc(numbers * sizeof *round.arrays),
                           .rates = calloc(processors, sizeof *round.rates) };
    chains_fn *f32, *f64;
    if (round.arrays == NULL || round.rates == NULL) {
        free(round.arrays);
        free(round.rates);
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory to measure %zu processors", processors);
    }
    for (size_t i = 0; i < numbers; i++)
        round.arrays[i] = 1;
    vv_clock_init();
    choose_chains(&f32, &f64);
    *out_peaks = (struct vv_peaks){ .bytes = best_of_rounds(&round, processors) };
    round.chains = f32;
    out_peaks->vector_f32 = out_peaks->matrix_f32 = best_of_rounds(&round, processors);
    round.chains = f64;
    out_peaks->vector_f64 = out_peaks->matrix_f64 = best_of_rounds(&round, processors);
    free(round.arrays);
    free(round.rates);
    return VARVE_OK;
}
