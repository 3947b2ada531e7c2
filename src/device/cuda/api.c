/* SPDX-License-Identifier: Apache-2.0 */
#include "device/cuda/api.h"

#include <dlfcn.h>
#include <string.h>

#include "base/error.h"

#define LIBRARY "libcuda.so.1"

struct vv_cuda_api vv_cu;

static const struct {
    const char *symbol;
    size_t offset;
} functions[] = {
#define VV_ROW(name, symbol, parameters) { symbol, offsetof(struct vv_cuda_api, name) },
    VV_CUDA_FUNCTIONS(VV_ROW)
};

enum varve_code vv_cuda_fail(const char *function, CUresult code, struct varve_error *error)
{
    const char *name = NULL;
    if (vv_cu.cuGetErrorName == NULL || vv_cu.cuGetErrorName(code, &name) != CUDA_SUCCESS)
        name = NULL;
    VV_FAIL(error, VARVE_IO, "cuda: %s failed with %d (%s)", function, code,
            name != NULL ? name : "unknown");
}

enum varve_code vv_cuda_load(struct varve_error *error)
{
    int count = 0;
    void *library = dlopen(LIBRARY, RTLD_LAZY | RTLD_NODELETE);
    if (library == NULL) {
        dlerror(); /* clears it: the program's next dlerror must not show it */
        VV_FAIL(error, VARVE_UNSUPPORTED, "cuda: " LIBRARY " is not there: NVIDIA's driver is not "
                                          "installed");
    }
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        void *found = dlsym(library, functions[i].symbol);
        if (found == NULL) {
            dlerror();
            VV_FAIL(error, VARVE_UNSUPPORTED, "cuda: " LIBRARY " has no %s", functions[i].symbol);
        }
        memcpy((char *)&vv_cu + functions[i].offset, &found, sizeof found);
    }
    CUresult result = vv_cu.cuInit(0);
    if (result == CUDA_SUCCESS)
        result = vv_cu.cuDeviceGetCount(&count);
    if (result != CUDA_SUCCESS || count == 0)
        VV_FAIL(error, VARVE_UNSUPPORTED, "cuda: the driver has no GPU (%d)", result);
    return VARVE_OK;
}
