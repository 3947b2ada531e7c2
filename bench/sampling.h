/* SPDX-License-Identifier: Apache-2.0 */
/* sampling.h — samples of one quantity, and how a table shows them. */
#ifndef VARVE_BENCH_SAMPLING_H
#define VARVE_BENCH_SAMPLING_H

#include <stddef.h>

#define BENCH_SAMPLES 301

struct bench_samples {
    const char *name;
    double least; /* what stands in the column `min`: 0 = the minimum, else that part of the
                     samples */
    size_t count;
    double values[BENCH_SAMPLES];
};

void bench_add(struct bench_samples *samples, double value);
/* The value below which that part of the samples lies; sorts them. */
double bench_quantile(struct bench_samples *samples, double part);
static inline double bench_median(struct bench_samples *samples)
{
    return bench_quantile(samples, 0.5);
}

/* Nanoseconds that one of `count` operations takes. */
double bench_time_ns(void (*run)(long count), long count);

/* `ratio` and `least` name their columns. */
void bench_print_head(const char *title, const char *ratio, const char *least);
/* Ratio first: median to `base`; 0 = none is shown. */
void bench_print(struct bench_samples *samples, double base, const char *note);
void bench_print_absent(const char *name, const char *why);

#endif
