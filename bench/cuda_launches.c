/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_launches.c — what recording a GPU costs the thread that launches: with the stand-ins for
 * NVIDIA's driver and CUPTI, and for AMD's HIP and rocprofiler-sdk, which do no work. In turns:
 * alone, with a tool that does nothing (cupti_floor.c, rocprofiler_floor.c), and under `varve
 * record`. What the last one takes beyond the second is Varve's; what the vendor's library itself
 * takes, no stand-in shows.
 *
 * As `cuda_launches launch` and `cuda_launches launch_hip` it is the program that launches. */
#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
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

static void (*launch_by_hip)(const char *, uint64_t, uint32_t);
static int (*launch_by_cuda)(int, const char *, uint32_t);

static void launch_one(void)
{
    if (launch_by_hip != NULL)
        launch_by_hip("kernel", 7, 1);
    else
        launch_by_cuda(1, "kernel", 7);
}

static int open_driver(bool is_hip)
{
    void *driver = dlopen(is_hip ? "libamdhip64.so.7" : "libcuda.so.1", RTLD_NOW), *found;
    int (*init)(unsigned);
    if (driver == NULL)
        return 1;
    found = dlsym(driver, "standin_launch");
    if (is_hip) {
        memcpy(&launch_by_hip, &found, sizeof found);
        return 0;
    }
    memcpy(&launch_by_cuda, &found, sizeof found);
    found = dlsym(driver, "cuInit");
    memcpy(&init, &found, sizeof found);
    return init(0);
}

/* Prints the median of the batches, in which mostly nothing is handed over, and the mean processor
 * time, in which all records are read: on this thread, because the stand-ins have no other. */
static int launch_all(bool is_hip)
{
    static struct bench_samples samples;
    if (open_driver(is_hip) != 0)
        return 1;
    launch_one();
    double begin_cpu_ns = cpu_ns();
    for (int batch = 0; batch < BATCHES; batch++) {
        uint64_t begin_ns = vv_clock_monotonic_ns();
        for (int i = 0; i < BATCH; i++)
            launch_one();
        bench_add(&samples, (double)(vv_clock_monotonic_ns() - begin_ns) / BATCH);
    }
    double mean_ns = (cpu_ns() - begin_cpu_ns) / ((double)BATCHES * BATCH);
    printf("%f %f\n", bench_median(&samples), mean_ns);
    return 0;
}

struct variant {
    const char *name;
    char *command;
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

enum { ALONE, FLOOR, VARVE, VARIANTS };

static void compare(struct variant variants[VARIANTS])
{
    for (int round = 0; round < ROUNDS; round++) {
        (void)run(&variants[ALONE]);
        double floor_ns = run(&variants[FLOOR]);
        bench_add(&variants[VARVE].ratio, run(&variants[VARVE]) - floor_ns);
    }
    printf("a launch, ns%26smedian    with the reading of records\n", "");
    for (size_t i = 0; i < VARIANTS; i++)
        printf("  %-34s %6.0f %20.0f\n", variants[i].name, bench_median(&variants[i].median_ns),
               bench_median(&variants[i].mean_ns));
    printf("  varve beyond the tool that does nothing: %.0f ns (quarters %.0f to %.0f)\n",
           bench_median(&variants[VARVE].ratio), bench_quantile(&variants[VARVE].ratio, 0.25),
           bench_quantile(&variants[VARVE].ratio, 0.75));
}

static void name_commands(struct variant variants[VARIANTS], const char *environment,
                          const char *floor, const char *folder, const char *self,
                          const char *mode)
{
#define SET(which, ...)                                                                            \
    if (asprintf(&variants[which].command, __VA_ARGS__) < 0)                                       \
        exit(1)
    SET(ALONE, "%s %s %s", environment, self, mode);
    SET(FLOOR, "%s %s %s %s", environment, floor, self, mode);
    SET(VARVE, "%s %s/../varve record -q --keep 64MB -o /tmp/varve-bench-cuda.varve -- %s %s",
        environment, folder, self, mode);
#undef SET
}

int main(int argc, char **argv)
{
    static struct variant of_cuda[VARIANTS] = { { .name = "alone" },
                                                { .name = "a user of CUPTI that does nothing" },
                                                { .name = "varve record" } };
    static struct variant of_hip[VARIANTS] = { { .name = "alone, HIP" },
                                               { .name = "a tool that does nothing" },
                                               { .name = "varve record" } };
    static char self[PATH_MAX], folder[PATH_MAX], environment[3 * PATH_MAX], floor[2 * PATH_MAX];
    if (argc > 1 && strncmp(argv[1], "launch", 6) == 0)
        return launch_all(strcmp(argv[1], "launch_hip") == 0);
    char *slash = readlink("/proc/self/exe", self, sizeof self - 1) > 0 ? strrchr(self, '/') : NULL;
    if (slash == NULL)
        return 1;
    memcpy(folder, self, (size_t)(slash - self));
    snprintf(environment, sizeof environment, "LD_LIBRARY_PATH=%s/../tests/drivers/recorded",
             folder);
    snprintf(floor, sizeof floor, "CUDA_INJECTION64_PATH=%s/lib/libbench_cupti_floor.so", folder);
    name_commands(of_cuda, environment, floor, folder, self, "launch");
    compare(of_cuda);
    snprintf(environment, sizeof environment,
             "LD_LIBRARY_PATH=%s/../tests/drivers/hip:%s/../tests/drivers/rocprofiler", folder,
             folder);
    snprintf(floor, sizeof floor,
             "LD_PRELOAD=%s/lib/libbench_rocprofiler_floor.so:librocprofiler-sdk.so.1", folder);
    name_commands(of_hip, environment, floor, folder, self, "launch_hip");
    compare(of_hip);
    return 0;
}
