/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/rocm/sdk.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collect/process/modules.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

struct vv_rocp_api vv_rocp;

static const struct vv_module_function functions[] = {
#define VV_NEEDED(name, symbol, parameters)                                                        \
    { "rocprofiler_" symbol, offsetof(struct vv_rocp_api, name), true },
#define VV_OPTIONAL(name, symbol, parameters)                                                      \
    { "rocprofiler_" symbol, offsetof(struct vv_rocp_api, name), false },
    VV_ROCP_FUNCTIONS(VV_NEEDED, VV_OPTIONAL)
    { "rocprofiler_set_api_table", offsetof(struct vv_rocp_api, set_table), true },
    { "rocprofiler_get_status_string", offsetof(struct vv_rocp_api, result_text), false },
};

static const char *const names[] = { "librocprofiler-sdk.so.1", "librocprofiler-sdk.so.0",
                                     "librocprofiler-sdk.so" };

/* Libraries of ROCm beside which it lies. */
static const char *const neighbours[] = { "librocprofiler-register.so", "libamdhip64.so",
                                          "libhsa-runtime64.so" };

/* Where the loader does not look by itself; "" is the loader's own search. */
static const char *const standard_folders[] = { "", "/opt/rocm/lib/" };

/* As AMD's own loader of this library opens it: tools look for its functions by name. */
static void *load(const char *path)
{
    int saved_errno = errno;
    void *handle = dlopen(path, RTLD_LAZY | RTLD_GLOBAL | RTLD_NODELETE);
    if (handle == NULL)
        dlerror(); /* clears it: the program's next dlerror must not show it */
    errno = saved_errno;
    return handle;
}

/* `folder` ends in a slash, or is empty. */
static void *load_from(const char *folder)
{
    char path[PATH_MAX];
    void *handle = NULL;
    for (size_t i = 0; i < COUNT(names) && handle == NULL; i++)
        if ((size_t)snprintf(path, sizeof path, "%s%s", folder, names[i]) < sizeof path)
            handle = load(path);
    return handle;
}

static void *load_beside(const char *name)
{
    struct vv_module library;
    char *slash;
    if (!vv_module_find(name, &library) || (slash = strrchr(library.path, '/')) == NULL)
        return NULL;
    slash[1] = '\0';
    return load_from(library.path);
}

static void *find_library(void)
{
    static const char *const variables[] = { "VARVE_ROCPROFILER", "ROCPROFILER_REGISTER_LIBRARY" };
    struct vv_module loaded;
    for (size_t i = 0; i < COUNT(variables); i++) {
        const char *named = getenv(variables[i]);
        if (named != NULL && *named != '\0')
            return load(named);
    }
    void *handle =
        vv_module_find("librocprofiler-sdk.so", &loaded) ? vv_module_open(&loaded) : NULL;
    for (size_t i = 0; i < COUNT(neighbours) && handle == NULL; i++)
        handle = load_beside(neighbours[i]);
    for (size_t i = 0; i < COUNT(standard_folders) && handle == NULL; i++)
        handle = load_from(standard_folders[i]);
    return handle;
}

bool vv_rocp_open(char *out_why, size_t bytes)
{
    static struct vv_rocp_api api; /* the caller has the lock */
    Dl_info place;
    void *library = vv_rocp.set_table != NULL ? NULL : find_library();
    if (vv_rocp.set_table != NULL)
        return true;
    if (library == NULL) {
        snprintf(out_why, bytes, "no librocprofiler-sdk beside this ROCm: install the package "
                 "rocprofiler-sdk (ROCm 6.2 and later), or VARVE_ROCPROFILER=/path/"
                 "librocprofiler-sdk.so");
        return false;
    }
    const char *missing = vv_module_functions(library, functions, COUNT(functions), &api);
    if (missing != NULL) {
        snprintf(out_why, bytes, "librocprofiler-sdk has no %s", missing);
        return false;
    }
    if (dladdr((void *)(uintptr_t)api.timestamp, &place) != 0)
        snprintf(api.path, sizeof api.path, "%s", place.dli_fname);
    vv_rocp = api;
    return true;
}

void vv_rocp_result_text(vv_rocp_result result, char *out_text, size_t bytes)
{
    const char *text = vv_rocp.result_text != NULL ? vv_rocp.result_text(result) : NULL;
    snprintf(out_text, bytes, "%.120s (%d)", text != NULL ? text : "error", result);
}
