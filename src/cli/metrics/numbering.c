/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/metrics/numbering.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UUID_BYTES 16
#define NAME_BYTES 80

static bool find(void *library, const char *name, void *out_function)
{
    void *found = dlsym(library, name);
    memcpy(out_function, &found, sizeof found);
    return found != NULL;
}

/* The driver must not load libvarve.so into this process once more. */
enum varve_code vv_cuda_numbers_init(struct vv_cuda_numbers *out_numbers,
                                     struct varve_error *error)
{
    int (*init)(unsigned), (*count)(int *), (*version)(int *);
    int said = 0, devices = 0;
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    *out_numbers = (struct vv_cuda_numbers){ 0 };
    unsetenv("CUDA_INJECTION64_PATH");
    if (driver == NULL || !find(driver, "cuInit", &init) ||
        !find(driver, "cuDeviceGetCount", &count) ||
        !find(driver, "cuDriverGetVersion", &version))
        VV_FAIL(error, VARVE_UNSUPPORTED,
                "hardware counters of GPUs need NVIDIA's driver (libcuda.so.1), which the loader "
                "does not find here: leave them out of --metrics, or record where the driver is");
    int result = init(0);
    if (result != 0 || count(&devices) != 0 || version(&said) != 0)
        VV_FAIL(error, VARVE_UNSUPPORTED,
                "hardware counters of GPUs: NVIDIA's driver does not begin here (CUDA error %d): "
                "see whether nvidia-smi gets an answer", result);
    if (devices <= 0)
        VV_FAIL(error, VARVE_NOT_FOUND, "there is no GPU whose hardware counters could be sampled");
    out_numbers->device_count = (unsigned)devices;
    out_numbers->major = said / 1000;
    (void)find(driver, "cuDeviceGet", &out_numbers->handle);
    (void)find(driver, "cuDeviceGetName", &out_numbers->name);
    if (!find(driver, "cuDeviceGetUuid_v2", &out_numbers->uuid)) /* of a part, where it is one    */
        (void)find(driver, "cuDeviceGetUuid", &out_numbers->uuid);
    return VARVE_OK;
}

void vv_cuda_name(const struct vv_cuda_numbers *numbers, unsigned device, char *out_text,
                  size_t bytes)
{
    char name[NAME_BYTES] = "";
    int handle = 0;
    if (numbers->handle == NULL || numbers->name == NULL ||
        numbers->handle(&handle, (int)device) != 0 ||
        numbers->name(name, (int)sizeof name, handle) != 0)
        name[0] = '\0';
    name[sizeof name - 1] = '\0';
    snprintf(out_text, bytes, "%s", name);
}

void vv_cuda_identity(const struct vv_cuda_numbers *numbers, unsigned device,
                      char out_text[VV_CUDA_IDENTITY_BYTES])
{
    unsigned char uuid[UUID_BYTES] = { 0 };
    char name[NAME_BYTES];
    int handle = 0;
    out_text[0] = '\0';
    if (numbers->handle == NULL || numbers->uuid == NULL ||
        numbers->handle(&handle, (int)device) != 0 || numbers->uuid(uuid, handle) != 0)
        return;
    vv_cuda_name(numbers, device, name, sizeof name);
    int length = snprintf(out_text, VV_CUDA_IDENTITY_BYTES, "%s",
                          strstr(name, "MIG") != NULL ? "MIG" : "GPU");
    for (size_t i = 0; i < UUID_BYTES; i++)
        length += snprintf(out_text + length, VV_CUDA_IDENTITY_BYTES - (size_t)length, "%s%02x",
                           i == 0 || i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid[i]);
}
