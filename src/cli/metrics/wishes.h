/* SPDX-License-Identifier: Apache-2.0 */
/* wishes.h — what `varve record --metrics` asks for: a group of the processor's counters, which the
 * library counts in the program, and metrics of GPUs, which a process beside it reads. Thread-safe.
 */
#ifndef VV_CLI_METRICS_WISHES_H
#define VV_CLI_METRICS_WISHES_H

#include <stdint.h>

#include "base/error.h"

/* METRIC(name): a word of --metrics, and a bit. */
#define VV_DEVICE_METRICS(METRIC)                                                       \
    METRIC(power) METRIC(clocks) METRIC(temperature) METRIC(used_memory)                \
    METRIC(utilization) METRIC(nvlink) METRIC(pcie) METRIC(throttling)

enum {
#define VV_NUMBERED(name) VV_NUMBER_OF_##name,
    VV_DEVICE_METRICS(VV_NUMBERED)
#undef VV_NUMBERED
#define VV_BIT(name) VV_METRIC_##name = 1 << VV_NUMBER_OF_##name,
    VV_DEVICE_METRICS(VV_BIT)
#undef VV_BIT
};

#define VV_METRICS_PERIOD_NS UINT64_C(100000000) /* unless the user says another one              */

struct vv_metric_wishes {
    uint32_t metrics;   /* of GPUs: VV_METRIC_…; 0 = none                                         */
    uint64_t period_ns; /* between two readings of them                                           */
    char *group;        /* of the processor's counters; "" = none                                 */
};

/* Reads "power,clocks,PipeUtilization": `gpu` is every metric of GPUs, and what is none of them is
 * the group. NULL = nothing, for both texts. VARVE_INVALID: a word is wrong. VARVE_UNSUPPORTED: it
 * is something that is not recorded here. */
enum varve_code vv_metric_wishes_read(const char *metrics, const char *period,
                                      struct vv_metric_wishes *out_wishes,
                                      struct varve_error *error);
void vv_metric_wishes_deinit(struct vv_metric_wishes *wishes);

#endif
