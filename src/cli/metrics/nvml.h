/* SPDX-License-Identifier: Apache-2.0 */
/* nvml.h — NVIDIA's library of the driver's own figures, opened at run time. No header of NVIDIA's
 * is needed: here is what is used of it. Not thread-safe.
 *
 * Functions and structs with a number at their end are that version for good; those without one
 * have not changed since the library is there. */
#ifndef VV_CLI_METRICS_NVML_H
#define VV_CLI_METRICS_NVML_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define VV_NVML_SUCCESS 0u
#define VV_NVML_NOT_SUPPORTED 3u
#define VV_NVML_FUNCTION_NOT_FOUND 13u

enum { VV_NVML_CLOCK_SM = 1, VV_NVML_CLOCK_MEMORY = 2 };
enum { VV_NVML_PCIE_SENT = 0, VV_NVML_PCIE_RECEIVED = 1 };
enum { VV_NVML_TEMPERATURE_GPU = 0 };

/* Numbers of fields. */
enum {
    VV_NVML_NVLINK_SENT_KIB = 138, VV_NVML_NVLINK_RECEIVED_KIB = 139,
    VV_NVML_PCIE_SENT_BYTES = 197, VV_NVML_PCIE_RECEIVED_BYTES = 198
};
#define VV_NVML_ALL_LINKS UINT32_MAX

enum { /* types of a field's value */
    VV_NVML_DOUBLE, VV_NVML_UNSIGNED, VV_NVML_UNSIGNED_LONG, VV_NVML_UNSIGNED_LONG_LONG,
    VV_NVML_SIGNED_LONG_LONG
};

typedef struct vv_nvml_handle *vv_nvml_device;

struct vv_nvml_field {
    uint32_t number, scope;
    int64_t time_us, latency_us;
    uint32_t type, code;
    union { double real; uint32_t unsigned_32; uint64_t unsigned_64; int64_t signed_64; } value;
};
struct vv_nvml_memory { uint64_t total, free, used; };
struct vv_nvml_memory_2 { uint32_t version, unused; uint64_t total, reserved, free, used; };
#define VV_NVML_MEMORY_2 ((uint32_t)sizeof(struct vv_nvml_memory_2) | 2u << 24)
struct vv_nvml_utilization { uint32_t gpu, memory; };

_Static_assert(sizeof(struct vv_nvml_field) == 40 && sizeof(struct vv_nvml_memory_2) == 40,
               "as in NVIDIA's header");

/* NVML(name, symbol, is_needed, parameters): functions that return one of NVML's codes. Those that
 * are not needed are NULL in a library that lacks them. */
#define VV_NVML_FUNCTIONS(NVML) \
    NVML(init, "nvmlInit_v2", true, (void)) \
    NVML(shut_down, "nvmlShutdown", true, (void)) \
    NVML(count, "nvmlDeviceGetCount_v2", true, (unsigned *)) \
    NVML(by_index, "nvmlDeviceGetHandleByIndex_v2", true, (unsigned, vv_nvml_device *)) \
    NVML(by_uuid, "nvmlDeviceGetHandleByUUID", false, (const char *, vv_nvml_device *)) \
    NVML(name, "nvmlDeviceGetName", false, (vv_nvml_device, char *, unsigned)) \
    NVML(uuid, "nvmlDeviceGetUUID", false, (vv_nvml_device, char *, unsigned)) \
    NVML(whole_of_mig, "nvmlDeviceGetDeviceHandleFromMigDeviceHandle", false, \
         (vv_nvml_device, vv_nvml_device *)) \
    NVML(power_mw, "nvmlDeviceGetPowerUsage", false, (vv_nvml_device, unsigned *)) \
    NVML(power_limit_mw, "nvmlDeviceGetEnforcedPowerLimit", false, (vv_nvml_device, unsigned *)) \
    NVML(clock_mhz, "nvmlDeviceGetClockInfo", false, (vv_nvml_device, unsigned, unsigned *)) \
    NVML(most_clock_mhz, "nvmlDeviceGetMaxClockInfo", false, \
         (vv_nvml_device, unsigned, unsigned *)) \
    NVML(temperature, "nvmlDeviceGetTemperature", false, (vv_nvml_device, unsigned, unsigned *)) \
    NVML(memory, "nvmlDeviceGetMemoryInfo", false, (vv_nvml_device, struct vv_nvml_memory *)) \
    NVML(memory_2, "nvmlDeviceGetMemoryInfo_v2", false, \
         (vv_nvml_device, struct vv_nvml_memory_2 *)) \
    NVML(utilization, "nvmlDeviceGetUtilizationRates", false, \
         (vv_nvml_device, struct vv_nvml_utilization *)) \
    NVML(pcie_kb_per_s, "nvmlDeviceGetPcieThroughput", false, \
         (vv_nvml_device, unsigned, unsigned *)) \
    NVML(fields, "nvmlDeviceGetFieldValues", false, \
         (vv_nvml_device, int, struct vv_nvml_field *)) \
    NVML(reasons, "nvmlDeviceGetCurrentClocksEventReasons", false, (vv_nvml_device, uint64_t *)) \
    NVML(reasons_before_12_2, "nvmlDeviceGetCurrentClocksThrottleReasons", false, \
         (vv_nvml_device, uint64_t *))

struct vv_nvml {
#define VV_NVML_MEMBER(name, symbol, is_needed, parameters) unsigned(*name) parameters;
    VV_NVML_FUNCTIONS(VV_NVML_MEMBER)
#undef VV_NVML_MEMBER
    const char *(*text)(unsigned code);
};

/* Opens libnvidia-ml.so.1 and begins. VARVE_UNSUPPORTED: the library is not there or lacks a
 * function; the message says which. Other codes: the driver refuses. */
enum varve_code vv_nvml_open(struct vv_nvml *out_nvml, struct varve_error *error);

#endif
