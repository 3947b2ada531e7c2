/* SPDX-License-Identifier: Apache-2.0 */
/* agents.h — the processors that rocprofiler-sdk knows, and the numbers that HIP gives to those of
 * them that are GPUs. They are read once, when the library takes the collector in. */
#ifndef VV_COLLECT_ROCM_AGENTS_H
#define VV_COLLECT_ROCM_AGENTS_H

#include <stdint.h>

#include "collect/rocm/layouts.h"
#include "collect/rocm/sdk.h"

#define VV_ROCM_NO_DEVICE UINT32_MAX

/* The library's number of a failure, or 0. */
vv_rocp_result vv_rocm_agents_read(const struct vv_rocp_layout *layout);

/* The device's number in HIP. VV_ROCM_NO_DEVICE: a CPU, or an agent that is not known. */
uint32_t vv_rocm_device_of(uint64_t agent);

/* Writes what each device with work is into the trace, once. Calls nothing of ROCm. Thread-safe. */
void vv_rocm_devices_describe(void);

#endif
