/* SPDX-License-Identifier: Apache-2.0 */
/* standin_nvml.c — stands in for NVIDIA's libnvidia-ml.so.1: two GPUs, the second of which has a
 * MIG instance. For tests. The environment says what they are like:
 *
 *     STANDIN_NVML            "refuses": the driver is not there; "hangs", "dies" in its beginning;
 *                             "old": no sums, only the first layout of memory; "mixed": GPUs of
 *                             two models
 *     STANDIN_NVML_LACKS      functions that say "not supported", with commas between
 *     STANDIN_NVML_REASONS    why the clocks are held down: NVIDIA's word, 0 unless said */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#pragma GCC visibility push(default)
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

enum { SUCCESS = 0, NOT_SUPPORTED = 3, NOT_FOUND = 6, DRIVER_NOT_LOADED = 9, VERSION = 25 };
enum { GPUS = 2, MIG = 2, SENT = 138, RECEIVED = 139, PCIE_SENT = 197, PCIE_RECEIVED = 198 };
enum { LONG_LONG = 3 };

static struct device { unsigned number; } devices[GPUS + 1] = { { 0 }, { 1 }, { MIG } };

static int is(const char *mode)
{
    const char *said = getenv("STANDIN_NVML");
    return said != NULL && strcmp(said, mode) == 0;
}

static int lacks(const char *function)
{
    const char *said = getenv("STANDIN_NVML_LACKS");
    return said != NULL && strstr(said, function) != NULL;
}

static uint64_t word(void)
{
    const char *said = getenv("STANDIN_NVML_REASONS");
    return said != NULL ? strtoull(said, NULL, 0) : 0;
}

/* A MIG instance has memory and no other figure. */
static unsigned told(const struct device *device, const char *function, unsigned *out,
                     unsigned value)
{
    if (device->number == MIG || lacks(function))
        return NOT_SUPPORTED;
    *out = value;
    return SUCCESS;
}

const char *nvmlErrorString(unsigned code)
{
    return code == DRIVER_NOT_LOADED ? "Driver Not Loaded" : "an error of the stand-in's";
}

unsigned nvmlInit_v2(void)
{
    if (is("dies"))
        raise(SIGKILL);
    while (is("hangs"))
        pause();
    return is("refuses") ? DRIVER_NOT_LOADED : SUCCESS;
}

unsigned nvmlShutdown(void) { return SUCCESS; }

unsigned nvmlDeviceGetCount_v2(unsigned *out)
{
    *out = GPUS;
    return SUCCESS;
}

unsigned nvmlDeviceGetHandleByIndex_v2(unsigned number, struct device **out)
{
    if (number >= GPUS)
        return NOT_FOUND;
    *out = &devices[number];
    return SUCCESS;
}

unsigned nvmlDeviceGetUUID(const struct device *device, char *out, unsigned bytes)
{
    snprintf(out, bytes,
             device->number == MIG ? "MIG-5c89852c" : "GPU-%u1d5cba7-0000-0000-0000-000000000000",
             device->number);
    return SUCCESS;
}

unsigned nvmlDeviceGetName(const struct device *device, char *out, unsigned bytes)
{
    snprintf(out, bytes, "NVIDIA %s", is("mixed") && device->number == 1 ? "H100" : "A40");
    return SUCCESS;
}

unsigned nvmlDeviceGetHandleByUUID(const char *uuid, struct device **out)
{
    char own[64];
    for (unsigned i = 0; i <= GPUS; i++) {
        nvmlDeviceGetUUID(&devices[i], own, sizeof own);
        if (strcmp(own, uuid) != 0)
            continue;
        *out = &devices[i];
        return SUCCESS;
    }
    return NOT_FOUND;
}

unsigned nvmlDeviceGetDeviceHandleFromMigDeviceHandle(struct device *device, struct device **out)
{
    if (device->number != MIG)
        return NOT_FOUND;
    *out = &devices[1];
    return SUCCESS;
}

unsigned nvmlDeviceGetPowerUsage(struct device *device, unsigned *out)
{
    return told(device, "PowerUsage", out, 350500 + 1000 * device->number);
}

unsigned nvmlDeviceGetEnforcedPowerLimit(struct device *device, unsigned *out)
{
    return told(device, "PowerLimit", out, 400000);
}

unsigned nvmlDeviceGetClockInfo(struct device *device, unsigned clock, unsigned *out)
{
    return told(device, "ClockInfo", out, clock != 1 ? 2619 : word() != 0 ? 1200 : 1980);
}

unsigned nvmlDeviceGetMaxClockInfo(struct device *device, unsigned clock, unsigned *out)
{
    (void)clock;
    return told(device, "ClockInfo", out, 1980);
}

unsigned nvmlDeviceGetTemperature(struct device *device, unsigned sensor, unsigned *out)
{
    (void)sensor;
    return told(device, "Temperature", out, 61);
}

struct memory { uint64_t total, free, used; };
unsigned nvmlDeviceGetMemoryInfo(const struct device *device, struct memory *out)
{
    *out = (struct memory){ 80u << 20, 8u << 20, 72u << 20 };
    return device->number == MIG ? NOT_SUPPORTED : SUCCESS;
}

struct memory_2 { unsigned version; uint64_t total, reserved, free, used; };
unsigned nvmlDeviceGetMemoryInfo_v2(const struct device *device, struct memory_2 *out)
{
    if (is("old") || out->version != (sizeof *out | 2u << 24))
        return VERSION;
    out->used = device->number == MIG ? 10u << 20 : 70u << 20;
    return SUCCESS;
}

struct utilization { unsigned gpu, memory; };
unsigned nvmlDeviceGetUtilizationRates(struct device *device, struct utilization *out)
{
    out->memory = 40;
    return told(device, "Utilization", &out->gpu, 97);
}

unsigned nvmlDeviceGetPcieThroughput(struct device *device, unsigned way, unsigned *out)
{
    return told(device, "Pcie", out, way == 0 ? 3000000 : 5000000);
}

struct field {
    unsigned number, scope;
    int64_t time_us, latency_us;
    unsigned type, code;
    uint64_t value;
};

/* 2 GiB/s are sent and 1 GiB/s is received by NVLink; 4 and 6 GB/s by PCIe. */
static uint64_t sum_of(const struct field *field, uint64_t ns)
{
    switch (field->number) {
    case SENT: return ns * 2 * 1024 * 1024 / 1000000000;
    case RECEIVED: return ns * 1024 * 1024 / 1000000000;
    case PCIE_SENT: return ns * 4;
    default: return ns * 6;
    }
}

unsigned nvmlDeviceGetFieldValues(const struct device *device, int count, struct field *fields)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    for (int i = 0; i < count; i++) {
        int is_link = fields[i].number == SENT || fields[i].number == RECEIVED;
        fields[i].type = LONG_LONG;
        fields[i].value =
            sum_of(&fields[i], (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec);
        fields[i].code = device->number == MIG || is("old") || lacks(is_link ? "NvLink" : "Pcie") ||
                                 (is_link && fields[i].scope != UINT32_MAX)
                             ? NOT_SUPPORTED
                             : SUCCESS;
    }
    return SUCCESS;
}

unsigned nvmlDeviceGetCurrentClocksThrottleReasons(const struct device *device, uint64_t *out)
{
    *out = word();
    return device->number == MIG || lacks("Reasons") ? NOT_SUPPORTED : SUCCESS;
}
