/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/gpu/devices.h"

#include <stdio.h>

#include "record/source_note.h"
#include "varve/device.h"

#define TEXT_BYTES 400u /* whatever a device says of itself; a note keeps what it has room for   */

static uint64_t seen; /* atomic                                                                  */

void vv_gpu_device_seen(uint32_t device)
{
    if (device < VV_GPU_DEVICES &&
        (__atomic_load_n(&seen, __ATOMIC_RELAXED) >> device & 1) == 0)
        __atomic_fetch_or(&seen, UINT64_C(1) << device, __ATOMIC_RELEASE);
}

uint64_t vv_gpu_devices_seen(void)
{
    return __atomic_load_n(&seen, __ATOMIC_ACQUIRE);
}

void vv_gpu_device_note(uint32_t number, const char *vendor, const struct vv_gpu_device *device)
{
    char source[VV_COLLECTOR_NAME_BYTES_MAX + 1], text[TEXT_BYTES], speed[40] = "";
    varve_device_describe(&(struct varve_device_info){
        .struct_size = sizeof(struct varve_device_info),
        .device = VARVE_DEVICE(VARVE_DEVICE_KIND_CUDA, number), .uuid = device->uuid,
        .name = device->name, .capability_major = device->major,
        .capability_minor = device->minor, .units = device->units,
        .clock_khz = device->clock_khz, .memory_bytes = device->memory_bytes,
        .memory_bytes_per_s = device->memory_bytes_per_s,
    });
    snprintf(source, sizeof source, "%s device %u", vendor, number);
    if (device->memory_bytes_per_s > 0)
        snprintf(speed, sizeof speed, ", %llu GB/s",
                 (unsigned long long)device->memory_bytes_per_s / 1000000000);
    snprintf(text, sizeof text, "%.80s, %s, %u %s at %u MHz, %llu MB%s",
             device->name[0] != '\0' ? device->name : "a device", device->architecture,
             device->units, device->units_are, device->clock_khz / 1000,
             (unsigned long long)device->memory_bytes / 1000000, speed);
    vv_collector_note(source, VV_COLLECTOR_NOTE, text);
}
