/* SPDX-License-Identifier: Apache-2.0 */
#include "sampling.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/system/clock.h"

void bench_add(struct bench_samples *samples, double value)
{
    if (samples->count < BENCH_SAMPLES)
        samples->values[samples->count++] = value;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_quantile(struct bench_samples *samples, double part)
{
    if (samples->count == 0)
        return 0;
    qsort(samples->values, samples->count, sizeof samples->values[0], by_value);
    return samples->values[(size_t)(part * (double)(samples->count - 1) + 0.5)];
}

double bench_time_ns(void (*run)(long count), long count)
{
    uint64_t before_ns = vv_clock_monotonic_ns();
    run(count);
    return (double)(vv_clock_monotonic_ns() - before_ns) / (double)count;
}

void bench_print_head(const char *title, const char *ratio, const char *least)
{
    printf("\n%-38s %8s %8s %8s %8s\n", title, ratio, least, "median", "p90");
}

void bench_print(struct bench_samples *samples, double base, const char *note)
{
    double median = bench_median(samples);
    char ratio[16] = "";
    if (base > 0)
        snprintf(ratio, sizeof ratio, "%.3f", median / base);
    printf("%-38s %8s %8.2f %8.2f %8.2f%s%s\n", samples->name, ratio,
           bench_quantile(samples, samples->least), median, bench_quantile(samples, 0.9),
           *note != '\0' ? "   " : "", note);
}

void bench_print_absent(const char *name, const char *why)
{
    printf("%-38s %8s %8s %8s %8s   %s\n", name, "-", "-", "-", "-", why);
}
