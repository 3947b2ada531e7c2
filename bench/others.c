/* SPDX-License-Identifier: Apache-2.0 */
#include "others.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "others/other.h"
#include "sampling.h"

enum { LTTNG, NVTX, TORCH };

static struct {
    const char *file, *name, *advice;
    const struct bench_other *other; /* NULL, or it runs */
    const char *why;
    struct bench_samples samples;
} all[BENCH_OTHERS] = {
    [LTTNG] = { "lttng_ust.so", "LTTng-UST",
                "not built: apt-get install liblttng-ust-dev lttng-tools", NULL, NULL, { 0 } },
    [NVTX] = { "nvtx.so", "NVTX",
               "not built: it needs nvtx3/nvToolsExt.h (the wheel nvidia-nvtx-cu12), in -D "
               "VARVE_NVTX=FOLDER", NULL, NULL, { 0 } },
    [TORCH] = { "record_function.so", "PyTorch RecordFunction",
                "not built: apt-get install libtorch-dev, or make check-clients", NULL, NULL,
                { 0 } },
};

/* FOLDER/others/NAME.so, where this program is FOLDER/PROGRAM. */
static const struct bench_other *load(size_t i)
{
    char path[PATH_MAX + 64];
    ssize_t length = readlink("/proc/self/exe", path, PATH_MAX);
    while (length > 0 && path[length - 1] != '/')
        length--;
    snprintf(path + (length > 0 ? length : 0), 64, "others/%s", all[i].file);
    all[i].why = all[i].advice;
    if (access(path, F_OK) != 0)
        return NULL;
    void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const struct bench_other *other = object != NULL ? dlsym(object, "bench_other") : NULL;
    if (other == NULL)
        all[i].why = dlerror();
    return other;
}

void bench_others_start(void)
{
    for (size_t i = 0; i < BENCH_OTHERS; i++) {
        all[i].samples.name = all[i].name;
        const struct bench_other *other = load(i);
        if (other != NULL && (all[i].why = other->start()) == NULL)
            all[i].other = other;
    }
}

const struct bench_other *bench_others_torch(const char **out_why)
{
    const struct bench_other *other = load(TORCH);
    *out_why = all[TORCH].why;
    return other;
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
