/* SPDX-License-Identifier: Apache-2.0 */
#include "device/builtin.h"

#include <string.h>

#include "base/error.h"
#include "base/system/os.h"
#include "device/host/host.h"
#include "device/opencl/opencl.h"
#include "device/cuda/cuda.h"

static const struct {
    const char *name;
    enum varve_code (*open)(const struct varve_backend **out_backend, struct varve_error *error);
} rows[] = {
    { "host", vv_host_open },
    { "opencl", vv_opencl_open },
    { "cuda", vv_cuda_open },
};

enum varve_code vv_backend_builtin(const char *name, const struct varve_backend **out_backend,
                                   struct varve_error *error)
{
    if (vv_os_is_privileged())
        VV_FAIL(error, VARVE_PERMISSION, "varve_backend_open: nothing is loaded into a set-user-id "
                                         "process");
    for (size_t i = 0; name != NULL && i < sizeof rows / sizeof rows[0]; i++)
        if (strcmp(rows[i].name, name) == 0)
            return rows[i].open(out_backend, error);
    VV_FAIL(error, VARVE_NOT_FOUND, "varve_backend_open: there is no backend '%s': there are host, "
                                    "opencl and cuda",
            name != NULL ? name : "(NULL)");
}
