/* SPDX-License-Identifier: Apache-2.0 */
#include "device/opencl/api.h"

#include <dlfcn.h>
#include <string.h>

#include "base/error.h"

#define LIBRARY "libOpenCL.so.1"

struct vv_opencl_api vv_cl;

static const struct {
    const char *name;
    size_t offset;
    int is_needed;
} functions[] = {
#define VV_NEEDED(result, name, parameters) { #name, offsetof(struct vv_opencl_api, name), 1 },
#define VV_OPTIONAL(result, name, parameters) { #name, offsetof(struct vv_opencl_api, name), 0 },
    VV_OPENCL_FUNCTIONS(VV_NEEDED, VV_OPTIONAL)
};

enum varve_code vv_opencl_load(struct varve_error *error)
{
    void *library = dlopen(LIBRARY, RTLD_LAZY | RTLD_NODELETE);
    if (library == NULL) {
        dlerror(); /* clears it: the program's next dlerror must not show it */
        VV_FAIL(error, VARVE_UNSUPPORTED, "opencl: " LIBRARY " is not installed");
    }
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        void *found = dlsym(library, functions[i].name);
        if (found == NULL)
            dlerror();
        if (found == NULL && functions[i].is_needed)
            VV_FAIL(error, VARVE_UNSUPPORTED, "opencl: " LIBRARY " has no %s: it is older than "
                                              "OpenCL 1.2",
                    functions[i].name);
        memcpy((char *)&vv_cl + functions[i].offset, &found, sizeof found);
    }
    return VARVE_OK;
}
