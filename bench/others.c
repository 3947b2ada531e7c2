/* SPDX-License-Identifier: Apache-2.0 */
#include "others.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "others/other.h"
#include "sampling.h"

static struct {
    const char *file, *name, *advice;
    const struct bench_other *other; /* NULL, or it runs */
    const char *why;
    struct bench_samples samples;
} all[BENCH_OTHERS] = {
    { "lttng_ust.so", "LTTng-UST", "not built: apt-get install liblttng-ust-dev lttng-tools", NULL,
      NULL, { 0 } },
    { "nvtx.so", "NVTX",
      "not built: it needs nvtx3/nvToolsExt.h (the wheel nvidia-nvtx-cu12), in -D "
      "VARVE_NVTX=FOLDER",
      NULL, NULL, { 0 } },
    { "record_function.so", "PyTorch RecordFunction", "not built: apt-get install libtorch-dev",
      NULL, NULL, { 0 } },
};

static void start(size_t i, const char *folder)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, all[i].file);
    all[i].why = all[i].advice;
    if (access(path, F_OK) != 0)
        return;
    void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const struct bench_other *other = object != NULL ? dlsym(object, "bench_other") : NULL;
    all[i].why = other != NULL ? other->start() : dlerror();
    if (all[i].why == NULL)
        all[i].other = other;
}

void bench_others_start(const char *folder)
{
    for (size_t i = 0; i < BENCH_OTHERS; i++) {
        all[i].samples.name = all[i].name;
        start(i, folder);
    }
}

void bench_others_sample(long count)
{
    for (size_t i = 0; i < BENCH_OTHERS; i++)
        if (all[i].other != NULL)
            bench_add(&all[i].samples, bench_time_ns(all[i].other->run, count));
}

void bench_others_print(double floor_ns)
{
    bool all_run = true;
    for (size_t i = 0; i < BENCH_OTHERS; i++)
        if (all[i].other != NULL) {
            bench_print(&all[i].samples, floor_ns, all[i].other->version);
            all[i].other->stop();
        } else {
            bench_print_absent(all[i].name, all[i].why);
            all_run = false;
        }
    if (!all_run)
        puts("to build them: cmake --preset default; cmake --build --preset default --target "
             "bench_others");
}
