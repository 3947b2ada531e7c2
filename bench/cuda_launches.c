/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_launches.c — what recording a GPU costs the thread that launches: with the stand-ins for
 * NVIDIA's driver and CUPTI, which do no work. In turns: alone, with a user of CUPTI that does
 * nothing (cupti_floor.c), and under `varve record`. What the last one takes beyond the second is
 * Varve's; what CUPTI itself takes, no stand-in shows.
 *
 * As `cuda_launches launch` it is the program that launches. */
#include <dlfcn.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/system/clock.h"
#include "sampling.h"

#define ROUNDS 15
#define BATCHES 301
#define BATCH 500 /* launches: a buffer of CUPTI's holds five of them                             */

/* Processor time of this thread. */
static double cpu_ns(void)
{
    struct timespec used;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return 1e9 * (double)used.tv_sec + (double)used.tv_nsec;
}

/* Prints the median of the batches, in which mostly nothing is handed over, and the mean processor
 * time, in which all records are read: on this thread, because the stand-in has no other. */
static int launch_all(void)
{
    static struct bench_samples samples;
    void *driver = dlopen("libcuda.so.1", RTLD_NOW), *found;
    int (*init)(unsigned), (*launch)(int, const char *, uint32_t);
    if (driver == NULL)
        return 1;
    found = dlsym(driver, "cuInit");
    memcpy(&init, &found, sizeof init);
    found = dlsym(driver, "standin_launch");
    memcpy(&launch, &found, sizeof launch);
    init(0);
    double begin_cpu_ns = cpu_ns();
    for (int batch = 0; batch < BATCHES; batch++) {
        uint64_t begin_ns = vv_clock_monotonic_ns();
        for (int i = 0; i < BATCH; i++)
            launch(1, "kernel", 7);
        bench_add(&samples, (double)(vv_clock_monotonic_ns() - begin_ns) / BATCH);
    }
    double mean_ns = (cpu_ns() - begin_cpu_ns) / ((double)BATCHES * BATCH);
    printf("%f %f\n", bench_median(&samples), mean_ns);
    return 0;
}

struct variant {
    const char *name;
    char command[4 * PATH_MAX];
    struct bench_samples median_ns, mean_ns, ratio; /* ratio: to the second variant of the round  */
};

static double run(struct variant *variant)
{
    double median_ns = 0, mean_ns = 0;
    FILE *program = popen(variant->command, "re");
    if (program == NULL || fscanf(program, "%lf %lf", &median_ns, &mean_ns) != 2 ||
        pclose(program) != 0) {
        fprintf(stderr, "cuda_launches: this failed: %s\n", variant->command);
        exit(1);
    }
    bench_add(&variant->median_ns, median_ns);
    bench_add(&variant->mean_ns, mean_ns);
    return median_ns;
}

int main(int argc, char **argv)
{
    enum { ALONE, FLOOR, VARVE, VARIANTS };
    static struct variant variants[VARIANTS] = { { .name = "alone" },
                                                 { .name = "a user of CUPTI that does nothing" },
                                                 { .name = "varve record" } };
    char self[PATH_MAX] = "";
    if (argc > 1 && strcmp(argv[1], "launch") == 0)
        return launch_all();
    char *slash = readlink("/proc/self/exe", self, sizeof self - 1) > 0 ? strrchr(self, '/') : NULL;
    if (slash == NULL)
        return 1;
    int length = (int)(slash - self);
#define FOUND "LD_LIBRARY_PATH=%.*s/../tests/drivers/recorded "
    snprintf(variants[ALONE].command, sizeof variants[ALONE].command, FOUND "%s launch", length,
             self, self);
    snprintf(variants[FLOOR].command, sizeof variants[FLOOR].command,
             FOUND "CUDA_INJECTION64_PATH=%.*s/lib/libbench_cupti_floor.so %s launch", length, self,
             length, self, self);
    snprintf(variants[VARVE].command, sizeof variants[VARVE].command,
             FOUND "%.*s/../varve record -q --keep 64MB -o /tmp/varve-bench-cuda.varve -- "
                   "%s launch",
             length, self, length, self, self);
    for (int round = 0; round < ROUNDS; round++) {
        (void)run(&variants[ALONE]);
        double floor_ns = run(&variants[FLOOR]);
        bench_add(&variants[VARVE].ratio, run(&variants[VARVE]) - floor_ns);
    }
    printf("a launch, ns%26smedian    with the reading of records\n", "");
    for (size_t i = 0; i < VARIANTS; i++)
        printf("  %-34s %6.0f %20.0f\n", variants[i].name, bench_median(&variants[i].median_ns),
               bench_median(&variants[i].mean_ns));
    printf("  varve beyond the user that does nothing: %.0f ns (quarters %.0f to %.0f)\n",
           bench_median(&variants[VARVE].ratio), bench_quantile(&variants[VARVE].ratio, 0.25),
           bench_quantile(&variants[VARVE].ratio, 0.75));
    return 0;
}
