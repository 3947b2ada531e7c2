/* SPDX-License-Identifier: Apache-2.0 */
/* open_library.c — MLIR's C API from a library that somebody else built: torch-mlir's, IREE's, or
 * any other that exports it. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "capi.h"

const bool takes_library = true;

#define ADDRESS(result, name, parameters) { #name, offsetof(struct capi, name) },
static const struct {
    const char *name;
    size_t member;
} all[] = { CAPI_ALL(ADDRESS) }, some[] = { CAPI_SOME(ADDRESS) };
#undef ADDRESS

static bool find(void *library, const char *name, void *member)
{
    void *address = dlsym(library, name);
    memcpy(member, &address, sizeof address);
    return address != NULL;
}

bool fill_capi(const char *path, struct capi *out_capi)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        fprintf(said, "cannot open the library: %s\n", dlerror());
        return false;
    }
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (!find(library, all[i].name, (char *)out_capi + all[i].member)) {
            fprintf(said,
                    "%s is no library with MLIR's C API: it has no %s; torch-mlir has "
                    "libTorchMLIRAggregateCAPI.so, IREE has libIREECompiler.so\n",
                    path, all[i].name);
            return false;
        }
    for (size_t i = 0; i < sizeof some / sizeof *some; i++)
        (void)find(library, some[i].name, (char *)out_capi + some[i].member);
    return true;
}
