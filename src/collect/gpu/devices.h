/* SPDX-License-Identifier: Apache-2.0 */
/* devices.h — which devices have work in the trace, and what each of them is. Thread-safe.
 *
 * PyTorch calls AMD's devices `cuda`, too, and HIP numbers them as CUDA does NVIDIA's. So both
 * vendors' devices have that kind here, and a tensor's device is the kernel's. */
#ifndef VV_COLLECT_GPU_DEVICES_H
#define VV_COLLECT_GPU_DEVICES_H

#include <stdint.h>

#define VV_GPU_DEVICES 64u

/* What is not known is 0, or "". */
struct vv_gpu_device {
    char name[80], uuid[48];
    char architecture[48]; /* for people: "compute capability 9.0", "gfx942"                     */
    const char *units_are; /* "multiprocessors"                                                  */
    uint32_t major, minor; /* compute capability; 0: not NVIDIA's                                */
    uint32_t units, clock_khz;
    uint64_t memory_bytes, memory_bytes_per_s;
};

/* Work of the device is in the trace: it is to be described. Async-signal-safe. */
void vv_gpu_device_seen(uint32_t device);

/* A bit for each device that was seen. */
uint64_t vv_gpu_devices_seen(void);

/* Writes into the trace what the device is; doc/format.md §6 has the text of the fact. */
void vv_gpu_device_note(uint32_t number, const char *vendor, const struct vv_gpu_device *device);

#endif
