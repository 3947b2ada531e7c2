/* SPDX-License-Identifier: Apache-2.0 */
/* wishes.h — what `varve record --metrics` asks for: a group of the processor's counters, which the
 * library counts in the program, and metrics of GPUs, which a process beside it reads. Thread-safe.
 */
#ifndef VV_CLI_METRICS_WISHES_H
#define VV_CLI_METRICS_WISHES_H

#include <stdint.h>

#include "base/error.h"

/* METRIC(name): a word of --metrics, and a bit. First what the driver tells, then hardware
 * counters, which CUPTI samples. */
#define VV_DRIVER_METRICS(METRIC)                                                       \
    METRIC(power) METRIC(clocks) METRIC(temperature) METRIC(used_memory)                \
    METRIC(utilization) METRIC(nvlink) METRIC(pcie) METRIC(throttling)
#define VV_HARDWARE_METRICS(METRIC)                                                     \
    METRIC(sm_active) METRIC(occupancy) METRIC(tensor_cores) METRIC(dram)
#define VV_DEVICE_METRICS(METRIC) VV_DRIVER_METRICS(METRIC) VV_HARDWARE_METRICS(METRIC)

enum {
#define VV_NUMBERED(name) VV_NUMBER_OF_##name,
    VV_DEVICE_METRICS(VV_NUMBERED)
#undef VV_NUMBERED
#define VV_BIT(name) VV_METRIC_##name = 1 << VV_NUMBER_OF_##name,
    VV_DEVICE_METRICS(VV_BIT)
#undef VV_BIT
#define VV_OR(name) | VV_METRIC_##name
    VV_METRICS_OF_DRIVER = 0 VV_DRIVER_METRICS(VV_OR),
    VV_METRICS_OF_HARDWARE = 0 VV_HARDWARE_METRICS(VV_OR),
#undef VV_OR
};

#define VV_METRICS_PERIOD_NS UINT64_C(100000000) /* unless the user says another one              */
/* A driver without persistence mode wakes each GPU first. */
#define VV_METRICS_BEGIN_WAIT_MS 20000
#define VV_SAMPLE_PERIOD_NS UINT64_C(200000)     /* the same, of hardware counters                */

struct vv_metric_wishes {
    uint32_t metrics;   /* of GPUs: VV_METRIC_…; 0 = none                                         */
    uint64_t period_ns; /* between two readings of what the driver tells                          */
    uint64_t sample_period_ns; /* of hardware counters                                            */
    unsigned begin_wait_ms;    /* for the driver's first answer                                   */
    const char *program;       /* that is recorded: its Python may have CUPTI; borrowed, or NULL  */
    char *group;        /* of the processor's counters; "" = none                                 */
};

/* Reads "power,clocks,PipeUtilization": `gpu` is every metric that the driver tells, `hardware`
 * every hardware counter, and what is neither is the group. NULL = nothing, for both texts.
 * VARVE_INVALID: a word is wrong. */
enum varve_code vv_metric_wishes_read(const char *metrics, const char *period,
                                      struct vv_metric_wishes *out_wishes,
                                      struct varve_error *error);
void vv_metric_wishes_deinit(struct vv_metric_wishes *wishes);

#endif
