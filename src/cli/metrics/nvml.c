/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/metrics/nvml.h"

#include <dlfcn.h>
#include <string.h>

#define LIBRARY "libnvidia-ml.so.1"

enum varve_code vv_nvml_open(struct vv_nvml *out_nvml, struct varve_error *error)
{
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE), *found;
    *out_nvml = (struct vv_nvml){ 0 };
    if (library == NULL)
        VV_FAIL(error, VARVE_UNSUPPORTED,
                "metrics of GPUs come from NVIDIA's " LIBRARY ", a part of the driver, and the "
                "loader does not find it here: leave them out of --metrics, or record where the "
                "driver is; NVIDIA_DRIVER_CAPABILITIES=compute,utility gives it to a container");
#define TAKE(name, symbol, is_needed, parameters)                                                  \
    found = dlsym(library, symbol);                                                                \
    if (found == NULL && (is_needed))                                                              \
        VV_FAIL(error, VARVE_UNSUPPORTED, "this " LIBRARY " has no " symbol                        \
                ": metrics of GPUs need a driver from 2014 or later");                             \
    memcpy(&out_nvml->name, &found, sizeof found);
    VV_NVML_FUNCTIONS(TAKE)
#undef TAKE
    found = dlsym(library, "nvmlErrorString");
    memcpy(&out_nvml->text, &found, sizeof found);
    unsigned code = out_nvml->init();
    const char *why =
        code != VV_NVML_SUCCESS && out_nvml->text != NULL ? out_nvml->text(code) : NULL;
    if (code != VV_NVML_SUCCESS)
        VV_FAIL(error, VARVE_UNSUPPORTED, "NVIDIA's driver gives no metrics of GPUs: %s",
                why != NULL ? why : "it does not say why");
    return VARVE_OK;
}
