/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/cuda/driver.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "collect/gpu/devices.h"
#include "collect/process/modules.h"

#define NAME_BYTES 80
#define UUID_BYTES 16
#define LOOKS_MAX 8u /* calls of a program that has no current device yet                       */

enum attribute { /* as the driver numbers them */
    CLOCK_KHZ = 13, PROCESSORS = 16, MEMORY_CLOCK_KHZ = 36, BUS_BITS = 37, MAJOR = 75, MINOR = 76
};

struct device {
    char name[NAME_BYTES];
    unsigned char uuid[UUID_BYTES];
    bool has_uuid;
    size_t memory_bytes;
    int clock_khz, processors, memory_clock_khz, bus_bits, major, minor;
};

static uint64_t described; /* a bit for each device; atomic                                      */
static _Thread_local bool is_ours;

static void *find(const char *name)
{
    struct vv_module driver;
    void *handle = vv_module_find("libcuda.so", &driver) ? vv_module_open(&driver) : NULL;
    void *found = handle != NULL ? dlsym(handle, name) : NULL;
    if (handle != NULL && found == NULL)
        dlerror();
    return found;
}

#define FIND(function, ...)                                                                        \
    int (*function)(__VA_ARGS__);                                                                  \
    {                                                                                              \
        void *found = find(#function);                                                             \
        memcpy(&(function), &found, sizeof found);                                                 \
    }

bool vv_cuda_driver_is_loaded(void)
{
    return find("cuInit") != NULL;
}

bool vv_cuda_driver_is_initialised(void)
{
    int count = 0;
    FIND(cuDeviceGetCount, int *)
    return cuDeviceGetCount != NULL && cuDeviceGetCount(&count) == 0;
}

int vv_cuda_driver_version(void)
{
    int version = 0;
    FIND(cuDriverGetVersion, int *)
    return cuDriverGetVersion != NULL && cuDriverGetVersion(&version) == 0 ? version : 0;
}

/* ---- what a device is ---- */

static void ask_attributes(int handle, struct device *out)
{
    const struct { enum attribute attribute; int *value; } asked[] = {
        { CLOCK_KHZ, &out->clock_khz }, { PROCESSORS, &out->processors },
        { MEMORY_CLOCK_KHZ, &out->memory_clock_khz }, { BUS_BITS, &out->bus_bits },
        { MAJOR, &out->major }, { MINOR, &out->minor },
    };
    FIND(cuDeviceGetAttribute, int *, int, int)
    for (size_t i = 0; cuDeviceGetAttribute != NULL && i < sizeof asked / sizeof *asked; i++)
        if (cuDeviceGetAttribute(asked[i].value, (int)asked[i].attribute, handle) != 0 ||
            *asked[i].value < 0)
            *asked[i].value = 0;
}

/* False: the driver does not know it, or cannot be asked any more. What it does not say is 0. */
static bool ask(uint32_t number, struct device *out)
{
    int handle = 0;
    FIND(cuDeviceGet, int *, int)
    FIND(cuDeviceGetName, char *, int, int)
    FIND(cuDeviceGetUuid, unsigned char *, int)
    FIND(cuDeviceGetUuid_v2, unsigned char *, int)
    FIND(cuDeviceTotalMem_v2, size_t *, int)
    memset(out, 0, sizeof *out);
    if (cuDeviceGet == NULL || cuDeviceGet(&handle, (int)number) != 0)
        return false;
    if (cuDeviceGetName == NULL || cuDeviceGetName(out->name, sizeof out->name, handle) != 0)
        out->name[0] = '\0';
    out->name[sizeof out->name - 1] = '\0';
    if (cuDeviceGetUuid_v2 != NULL) /* that of a part of a device, where it is one               */
        out->has_uuid = cuDeviceGetUuid_v2(out->uuid, handle) == 0;
    else
        out->has_uuid = cuDeviceGetUuid != NULL && cuDeviceGetUuid(out->uuid, handle) == 0;
    if (cuDeviceTotalMem_v2 == NULL || cuDeviceTotalMem_v2(&out->memory_bytes, handle) != 0)
        out->memory_bytes = 0;
    ask_attributes(handle, out);
    return true;
}

/* Two transfers for each tick of the memory's clock. */
static unsigned long long memory_bytes_per_s(const struct device *device)
{
    return 2ull * (unsigned)device->memory_clock_khz * 1000 * (unsigned)device->bus_bits / 8;
}

static void write_uuid(const struct device *device, char *out, size_t bytes)
{
    const char *kind = strstr(device->name, "MIG") != NULL ? "MIG" : "GPU";
    int length = snprintf(out, bytes, "%s", device->has_uuid ? kind : "");
    for (size_t i = 0; device->has_uuid && i < UUID_BYTES; i++)
        length += snprintf(out + length, bytes - (size_t)length, "%s%02x",
                           i == 0 || i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
                           device->uuid[i]);
}

static void note(uint32_t number, const struct device *device)
{
    struct vv_gpu_device said = {
        .units_are = "multiprocessors", .major = (uint32_t)device->major,
        .minor = (uint32_t)device->minor, .units = (uint32_t)device->processors,
        .clock_khz = (uint32_t)device->clock_khz, .memory_bytes = device->memory_bytes,
        .memory_bytes_per_s = memory_bytes_per_s(device),
    };
    snprintf(said.name, sizeof said.name, "%s", device->name);
    snprintf(said.architecture, sizeof said.architecture, "compute capability %d.%d",
             device->major, device->minor);
    write_uuid(device, said.uuid, sizeof said.uuid);
    vv_gpu_device_note(number, "cuda", &said);
}

/* The device of the program's first calls, before its work is told of. */
static void see_current(void)
{
    int handle = -1;
    FIND(cuCtxGetDevice, int *)
    if (cuCtxGetDevice != NULL && cuCtxGetDevice(&handle) == 0 && handle >= 0)
        vv_gpu_device_seen((uint32_t)handle); /* handles count as devices do                    */
}

static void describe(uint64_t new)
{
    struct device device;
    for (uint32_t i = 0; i < VV_GPU_DEVICES; i++)
        if ((new >> i & 1) != 0 && ask(i, &device))
            note(i, &device);
}

void vv_cuda_devices_describe(void)
{
    static uint32_t looks; /* atomic                                                             */
    uint64_t all = vv_gpu_devices_seen();
    bool looks_first = all == 0 && __atomic_load_n(&looks, __ATOMIC_RELAXED) < LOOKS_MAX;
    if (is_ours || (all == __atomic_load_n(&described, __ATOMIC_RELAXED) && !looks_first))
        return;
    int saved_errno = errno;
    is_ours = true;
    if (looks_first && __atomic_fetch_add(&looks, 1, __ATOMIC_RELAXED) < LOOKS_MAX)
        see_current();
    all = vv_gpu_devices_seen();
    describe(all & ~__atomic_fetch_or(&described, all, __ATOMIC_ACQ_REL));
    is_ours = false;
    errno = saved_errno;
}

bool vv_cuda_driver_call(void)
{
    int version = 0, saved_errno = errno;
    FIND(cuDriverGetVersion, int *)
    bool was_ours = is_ours;
    is_ours = true;
    bool is_done = cuDriverGetVersion != NULL && cuDriverGetVersion(&version) == 0;
    is_ours = was_ours;
    errno = saved_errno;
    return is_done;
}

bool vv_cuda_driver_is_ours(void)
{
    return is_ours;
}
