/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/metrics/cupti.h"

#include <dlfcn.h>
#include <glob.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OLDEST 27u /* 12.9: the parameters are known from here on                                */
#define MAJOR_LATEST 13
#define COUNT(array) (sizeof(array) / sizeof *(array))

/* In the order in which they are tried, in each folder. */
static const struct { int major; const char *name; } libraries[] = {
    { 13, "libcupti.so.13" }, { 12, "libcupti.so.12" },
};
static const char *const folders[] = {
    "", "/usr/local/cuda/extras/CUPTI/lib64/", "/usr/local/cuda/lib64/",
    "/opt/cuda/extras/CUPTI/lib64/",
};
static const char *const packages[] = { "cu13/lib/", "cuda_cupti/lib/" };

static void *load(const char *folder, int major_most)
{
    char path[PATH_MAX];
    void *library = NULL;
    for (size_t i = 0; i < COUNT(libraries) && library == NULL; i++)
        if (libraries[i].major <= major_most &&
            (size_t)snprintf(path, sizeof path, "%s%s", folder, libraries[i].name) < sizeof path)
            library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    return library;
}

/* Of a Python whose command is `folder`/python: pip's packages lie beside it. */
static void *load_from_python(const char *folder, size_t bytes, int major_most)
{
    char pattern[PATH_MAX];
    void *library = NULL;
    for (size_t p = 0; p < COUNT(packages) && library == NULL; p++) {
        glob_t found;
        if ((size_t)snprintf(pattern, sizeof pattern, "%.*s/../lib/python3*/%s/nvidia/%s",
                             (int)bytes, folder, "*-packages", packages[p]) >= sizeof pattern ||
            glob(pattern, 0, NULL, &found) != 0)
            continue;
        for (size_t i = 0; i < found.gl_pathc && library == NULL; i++)
            library = load(found.gl_pathv[i], major_most);
        globfree(&found);
    }
    return library;
}

static void *load_from_path(int major_most)
{
    const char *path = getenv("PATH");
    void *library = NULL;
    while (path != NULL && *path != '\0' && library == NULL) {
        size_t bytes = strcspn(path, ":");
        if (bytes > 0 && bytes < PATH_MAX / 2)
            library = load_from_python(path, bytes, major_most);
        path += bytes + (path[bytes] == ':');
    }
    return library;
}

static void *find_library(const char *program, int major_most)
{
    const char *named = getenv("VARVE_CUPTI");
    const char *slash = program != NULL ? strrchr(program, '/') : NULL;
    void *library = NULL;
    if (named != NULL && *named != '\0')
        return dlopen(named, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (slash != NULL)
        library = load_from_python(program, (size_t)(slash - program), major_most);
    for (size_t i = 0; i < COUNT(folders) && library == NULL; i++)
        library = load(folders[i], major_most);
    return library != NULL ? library : load_from_path(major_most);
}

static bool find(void *library, const char *name, void *out_function)
{
    void *found = dlsym(library, name);
    memcpy(out_function, &found, sizeof found);
    return found != NULL;
}

static enum varve_code check_version(void *library, struct varve_error *error)
{
    int (*get)(uint32_t *);
    uint32_t version = 0;
    if (!find(library, "cuptiGetVersion", &get) || get(&version) != VV_CUPTI_DONE)
        VV_FAIL(error, VARVE_UNSUPPORTED, "CUPTI does not say its version, so it is not used");
    if (version < OLDEST)
        VV_FAIL(error, VARVE_UNSUPPORTED,
                "hardware counters need CUPTI 12.9 or later, and this one is older (interface %u): "
                "pip install 'nvidia-cuda-cupti-cu12>=12.9', or VARVE_CUPTI=/path/libcupti.so",
                version);
    if (version >= 100000 && version / 10000 > MAJOR_LATEST)
        VV_FAIL(error, VARVE_UNSUPPORTED,
                "CUPTI %u.%u is later than what is known (13): VARVE_CUPTI=/path/libcupti.so "
                "names another one", version / 10000, version / 100 % 100);
    return VARVE_OK;
}

enum varve_code vv_cupti_sampling_open(const char *program, struct vv_cupti_sampling *out,
                                       struct varve_error *error)
{
    *out = (struct vv_cupti_sampling){ 0 };
    VV_TRY(vv_cuda_numbers_init(&out->cuda, error));
    void *library = find_library(program, out->cuda.major);
    if (library == NULL)
        VV_FAIL(error, VARVE_UNSUPPORTED,
                "hardware counters of GPUs come from NVIDIA's libcupti, which is not found: pip "
                "install nvidia-cuda-cupti%s, or VARVE_CUPTI=/path/libcupti.so",
                out->cuda.major > 12 ? "" : "-cu12");
    VV_TRY(check_version(library, error));
#define TAKE(name, symbol)                                                                         \
    if (!find(library, symbol, &out->name))                                                        \
        VV_FAIL(error, VARVE_UNSUPPORTED, "this libcupti has no " symbol                           \
                ": hardware counters need CUPTI 12.9 or later");
    VV_CUPTI_SAMPLING_FUNCTIONS(TAKE)
#undef TAKE
    (void)find(library, "cuptiGetTimestamp", &out->timestamp);
    (void)find(library, "cuptiGetResultString", &out->result_name);
    return VARVE_OK;
}

enum varve_code vv_cupti_refuses(const struct vv_cupti_sampling *cupti, unsigned device, int result,
                                 struct varve_error *error)
{
    static const struct { int result; const char *says; } known[] = {
        { VV_CUPTI_NO_MEMORY, "leave more memory of the device or the machine free" },
        { 15, "libnvperf_host.so and libnvperf_target.so must lie beside libcupti" },
        { VV_CUPTI_NOT_SUPPORTED, "this GPU has no sampling: it is there from Turing on" },
        { 33, "this kind of virtual GPU has no counters" },
        { 35, "only an administrator may read counters here: load the driver's module with "
              "NVreg_RestrictProfilingToAdminUsers=0, run as root, or give a container SYS_ADMIN" },
        { 40, "the host of this virtual GPU forbids it: ask who runs the host" },
        { 41, "confidential computing forbids it" },
        { 43, "not on this part of a GPU (MIG)" },
    };
    const char *name = NULL, *says = "leave it out of --metrics; another profiler may sample now";
    if (cupti->result_name != NULL)
        (void)cupti->result_name(result, &name);
    for (size_t i = 0; i < COUNT(known); i++)
        says = known[i].result == result ? known[i].says : says;
    VV_FAIL(error, VARVE_UNSUPPORTED, "CUPTI samples no hardware counters of cuda:%u: %.60s (%d): "
            "%s", device, name != NULL ? name : "error", result, says);
}
