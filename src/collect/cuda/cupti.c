/* SPDX-License-Identifier: Apache-2.0 */
/* cupti.c — finds CUPTI. The library that comes with the program's own CUDA is the right one: a
 * version that is later than the driver's is refused by the driver. */
#include "collect/cuda/cupti.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collect/process/modules.h"

#define OLDEST 18u       /* 11.8: layouts are known from here on (layouts.c)                     */
#define MAJOR_LATEST 13u /* a later one may order its records otherwise                          */

struct vv_cupti_api vv_cupti;

static const struct vv_module_function functions[] = {
#define VV_NEEDED(name, symbol, parameters) { symbol, offsetof(struct vv_cupti_api, name), true },
#define VV_OPTIONAL(name, symbol, parameters)                                                      \
    { symbol, offsetof(struct vv_cupti_api, name), false },
    VV_CUPTI_FUNCTIONS(VV_NEEDED, VV_OPTIONAL)
};

/* In the order in which they are tried. */
static const struct { int major; const char *name; } libraries[] = {
    { 13, "libcupti.so.13" }, { 12, "libcupti.so.12" }, { 11, "libcupti.so.11.8" },
    { 0, "libcupti.so" },
};

/* Folders in which CUPTI lies, seen from the folder of libcudart: in pip's packages and in NVIDIA's
 * toolkits. */
static const char *const beside_runtime[] = {
    "", "../../cuda_cupti/lib/", "../extras/CUPTI/lib64/", "../../extras/CUPTI/lib64/",
    "../../../extras/CUPTI/lib64/",
};

/* Where the loader does not look by itself; "" is the loader's own search. */
static const char *const standard_folders[] = {
    "", "/usr/local/cuda/extras/CUPTI/lib64/", "/usr/local/cuda/lib64/",
    "/opt/cuda/extras/CUPTI/lib64/",
};
#define COUNT(array) (sizeof(array) / sizeof *(array))

void vv_cupti_version_text(uint32_t version, char *out_text, size_t bytes)
{
    static const struct { uint32_t from; const char *text; } old[] = {
        { 27, "12.9" }, { 26, "12.8" }, { 24, "12.6" }, { 23, "12.5" }, { 22, "12.4" },
        { 21, "12.3" }, { 20, "12.2" }, { 19, "12.1" }, { 18, "11.8 or 12.0" },
    };
    if (version >= 100000) {
        snprintf(out_text, bytes, "%u.%u", version / 10000, version / 100 % 100);
        return;
    }
    for (size_t i = 0; i < COUNT(old); i++)
        if (version >= old[i].from) {
            snprintf(out_text, bytes, "%s", old[i].text);
            return;
        }
    snprintf(out_text, bytes, "of interface %u", version);
}

/* What CUPTI refuses, why, and what to do: by CUPTI's numbers. */
static const char *advice_on(vv_cupti_result result)
{
    static const struct { vv_cupti_result result; const char *says; } all[] = {
        { 8, "no memory for it: leave more of the device or of the machine free" },
        { 15, "CUDA is not initialised" },
        { 27, "not on this device" },
        { 28, "unified memory is not told of on this system" },
        { 29, "unified memory is not told of on this device" },
        { 31, "unified memory is not told of under MPS: run without MPS" },
        { 33, "not on a virtual GPU of this kind" },
        { 35, "only root may profile: NVreg_RestrictProfilingToAdminUsers=0 for the "
              "driver's module" },
        { 40, "the host of this virtual GPU forbids it: ask who runs the host" },
        { 41, "confidential computing forbids it" },
        { 43, "not on this part of a GPU (MIG)" },
        { 45, "not in this version of WSL" },
    };
    for (size_t i = 0; i < COUNT(all); i++)
        if (all[i].result == result)
            return all[i].says;
    return NULL;
}

void vv_cupti_result_text(vv_cupti_result result, char *out_text, size_t bytes)
{
    const char *name = NULL, *advice = advice_on(result);
    if (vv_cupti.result_name != NULL)
        (void)vv_cupti.result_name(result, &name);
    snprintf(out_text, bytes, "%s (%d)%s%s", name != NULL ? name : "error", result,
             advice != NULL ? ": " : "", advice != NULL ? advice : "");
}

static void *load(const char *path)
{
    int saved_errno = errno;
    void *handle = dlopen(path, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
    if (handle == NULL)
        dlerror(); /* clears it: the program's next dlerror must not show it */
    errno = saved_errno;
    return handle;
}

/* `folder` ends in a slash, or is empty. */
static void *load_from(const char *folder, const char *more, int driver_major)
{
    char path[PATH_MAX];
    void *handle = NULL;
    for (size_t i = 0; i < COUNT(libraries) && handle == NULL; i++)
        if (libraries[i].major <= driver_major &&
            (size_t)snprintf(path, sizeof path, "%s%s%s", folder, more, libraries[i].name) <
                sizeof path)
            handle = load(path);
    return handle;
}

static void *load_beside_runtime(int driver_major)
{
    struct vv_module runtime;
    void *handle = NULL;
    if (!vv_module_find("libcudart.so", &runtime))
        return NULL;
    char *slash = strrchr(runtime.path, '/');
    if (slash == NULL)
        return NULL;
    slash[1] = '\0';
    for (size_t i = 0; i < COUNT(beside_runtime) && handle == NULL; i++)
        handle = load_from(runtime.path, beside_runtime[i], driver_major);
    return handle;
}

static void *find_library(int driver_version)
{
    const char *named = getenv("VARVE_CUPTI");
    struct vv_module loaded;
    int major = driver_version / 1000;
    if (named != NULL && *named != '\0')
        return load(named);
    void *handle = vv_module_find("libcupti.so", &loaded) ? vv_module_open(&loaded) : NULL;
    if (handle == NULL)
        handle = load_beside_runtime(major);
    for (size_t i = 0; i < COUNT(standard_folders) && handle == NULL; i++)
        handle = load_from(standard_folders[i], "", major);
    return handle;
}

static void say_none(int driver_version, char *out_why, size_t bytes)
{
    const char *named = getenv("VARVE_CUPTI");
    const char *package = driver_version >= 13000   ? "nvidia-cuda-cupti"
                          : driver_version >= 12000 ? "nvidia-cuda-cupti-cu12"
                                                    : "nvidia-cuda-cupti-cu11";
    if (named != NULL && *named != '\0')
        snprintf(out_why, bytes, "VARVE_CUPTI=%.80s cannot be loaded: unset it, or name a "
                 "libcupti.so, as of pip install %s", named, package);
    else
        snprintf(out_why, bytes, "no libcupti for this driver's CUDA %d.%d: pip install %s, or "
                 "VARVE_CUPTI=/path/libcupti.so",
                 driver_version / 1000, driver_version / 10 % 100, package);
}

static bool is_known(uint32_t version)
{
    return version >= OLDEST && (version < 100000 || version / 10000 <= MAJOR_LATEST);
}

bool vv_cupti_open(int driver_version, char *out_why, size_t bytes)
{
    static struct vv_cupti_api api; /* the caller has the turn */
    char version[32];
    Dl_info place;
    if (vv_cupti.version != 0)
        return true;
    void *library = find_library(driver_version);
    if (library == NULL) {
        say_none(driver_version, out_why, bytes);
        return false;
    }
    const char *missing = vv_module_functions(library, functions, COUNT(functions), &api);
    if (missing != NULL) {
        snprintf(out_why, bytes, "libcupti has no %s", missing);
        return false;
    }
    if (dladdr((void *)(uintptr_t)api.get_version, &place) != 0)
        snprintf(api.path, sizeof api.path, "%s", place.dli_fname);
    vv_cupti_result result = api.get_version(&api.version);
    if (result != VV_CUPTI_SUCCESS) { /* some versions crash in later calls then */
        snprintf(out_why, bytes, "CUPTI does not say its version (%d): no driver that it knows: "
                 "%.120s", result, api.path);
        api.version = 0;
        return false;
    }
    if (!is_known(api.version)) {
        vv_cupti_version_text(api.version, version, sizeof version);
        snprintf(out_why, bytes, "CUPTI %s: its records are known from 11.8 to 13", version);
        return false;
    }
    vv_cupti = api;
    return true;
}
