/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/cuda/memory.h"

#include <stdio.h>

#include "collect/gpu/devices.h"
#include "collect/gpu/tracks.h"
#include "varve/past.h"
#include "varve/values.h"

struct record {
    const struct vv_cupti_layout *layout;
    const uint8_t *at;
    size_t bytes;
    uint32_t clock;
};

static uint64_t get(const struct record *record, enum vv_cupti_field field)
{
    return vv_cupti_field(record->layout, record->at, record->bytes, field, 0);
}

static void count(const struct record *record, uint32_t track, const char *name, double value)
{
    const struct varve_device_counter_info info = {
        sizeof info, track, name, (int64_t)get(record, VV_F_START), value
    };
    varve_device_counter(&info);
}

/* ---- what is allocated, by device and sort of memory ---- */

static enum vv_gpu_taken take_memory(const struct record *record)
{
    enum { TAKEN = 1, PINNED = 2, DEVICE = 3, ARRAY = 4, MANAGED = 5, SORTS };
    static const char *const names[SORTS] = {
        [PINNED] = "pinned memory (bytes)", [DEVICE] = "device memory (bytes)",
        [ARRAY] = "device memory (bytes)", [MANAGED] = "managed memory (bytes)"
    };
    static int64_t sums[VV_GPU_DEVICES][SORTS];
    uint64_t sort = get(record, VV_F_TO), device = get(record, VV_F_DEVICE);
    if (sort >= SORTS || names[sort] == NULL || device >= VV_GPU_DEVICES)
        return VV_GPU_SHORT;
    int64_t *sum = &sums[device][sort == ARRAY ? DEVICE : sort];
    int64_t bytes = (int64_t)get(record, VV_F_BYTES);
    *sum += get(record, VV_F_SORT) == TAKEN ? bytes : -bytes;
    if (*sum < 0) /* taken before anything was recorded */
        *sum = 0;
    count(record, vv_gpu_track((uint32_t)device, -1, -1, record->clock), names[sort],
          (double)*sum);
    return VV_GPU_TAKEN;
}

/* A pool of the driver's (cudaMallocAsync) was made, cut, or given up. */
static enum vv_gpu_taken take_pool(const struct record *record)
{
    enum { GIVEN_UP = 2 };
    uint64_t device = get(record, VV_F_DEVICE);
    if (device >= VV_GPU_DEVICES)
        return VV_GPU_SHORT;
    bool is_gone = get(record, VV_F_SORT) == GIVEN_UP;
    uint32_t track = vv_gpu_track((uint32_t)device, -1, -1, record->clock);
    count(record, track, "memory pool (bytes)", is_gone ? 0 : (double)get(record, VV_F_BYTES));
    if (record->layout->fields[VV_F_USED].offset + sizeof(uint64_t) <= record->bytes)
        count(record, track, "memory pool in use (bytes)",
              is_gone ? 0 : (double)get(record, VV_F_USED));
    return VV_GPU_TAKEN;
}

/* ---- unified memory ---- */

enum unified { /* as CUPTI numbers them */
    TO_DEVICE = 1, TO_HOST = 2, HOST_FAULTS = 3, DEVICE_FAULTS = 4, THRASHING = 5, THROTTLING = 6,
    REMOTE_MAP = 7, BETWEEN_DEVICES = 8, UNIFIED_SORTS
};

static enum vv_gpu_taken put_range(const struct record *record, uint32_t track, uint32_t kind,
                                    const char *name)
{
    VARVE_KEY(address, "address");
    VARVE_KEY(faults, "page faults");
    bool is_copy = kind == VARVE_ACTIVITY_COPY;
    bool has_count = get(record, VV_F_SORT) == DEVICE_FAULTS;
    struct varve_arg args[2] = { varve_arg_of(&address, VARVE_ARG_INT, 0),
                                 varve_arg_of(&faults, VARVE_ARG_INT, 0) };
    int64_t start = (int64_t)get(record, VV_F_START), end = (int64_t)get(record, VV_F_END);
    args[0].value.integer = (int64_t)get(record, VV_F_ADDRESS);
    args[1].value.integer = (int64_t)get(record, VV_F_BYTES);
    if (start == 0)
        return VV_GPU_SHORT;
    const struct varve_activity_info info = {
        sizeof info, track, name, kind, 0, start, end > start ? end : start, 0,
        is_copy ? get(record, VV_F_BYTES) : 0
    };
    const struct varve_activity_values values = { sizeof values, has_count ? 2 : 1, args, NULL };
    varve_emit_activity_with(&info, &values);
    return VV_GPU_TAKEN;
}

/* Pages move without a call of the program, so these records belong to no operator. */
static enum vv_gpu_taken take_unified(const struct record *record)
{
    static const char *const names[UNIFIED_SORTS] = {
        [TO_DEVICE] = "Memcpy HtoD (Unified Memory)", [TO_HOST] = "Memcpy DtoH (Unified Memory)",
        [BETWEEN_DEVICES] = "Memcpy DtoD (Unified Memory)", [DEVICE_FAULTS] = "GPU page faults",
        [THRASHING] = "Thrashing (Unified Memory)", [THROTTLING] = "Throttling (Unified Memory)",
        [REMOTE_MAP] = "Remote map (Unified Memory)",
    };
    static uint64_t host_faults, device_faults[VV_GPU_DEVICES];
    uint64_t sort = get(record, VV_F_SORT), bytes = get(record, VV_F_BYTES);
    uint64_t device = get(record, sort == TO_DEVICE ? VV_F_TO_DEVICE : VV_F_FROM_DEVICE);
    if (device >= VV_GPU_DEVICES) /* the host */
        device = 0;
    uint32_t track = vv_gpu_track((uint32_t)device, -1, VV_GPU_UNIFIED, record->clock);
    if (sort == HOST_FAULTS) {
        count(record, track, "CPU page faults", (double)(host_faults += bytes > 0 ? bytes : 1));
        return VV_GPU_TAKEN;
    }
    if (sort >= UNIFIED_SORTS || names[sort] == NULL)
        return VV_GPU_UNKNOWN;
    if (sort == DEVICE_FAULTS)
        count(record, track, "GPU page faults", (double)(device_faults[device] += bytes));
    bool is_copy = sort == TO_DEVICE || sort == TO_HOST || sort == BETWEEN_DEVICES;
    return put_range(record, track, is_copy ? VARVE_ACTIVITY_COPY : VARVE_ACTIVITY_RANGE,
                     names[sort]);
}

bool vv_cuda_memory_knows(uint32_t kind)
{
    return kind == VV_CUPTI_MEMORY || kind == VV_CUPTI_POOL || kind == VV_CUPTI_UNIFIED;
}

enum vv_gpu_taken vv_cuda_memory_take(const struct vv_cupti_layout *layout, const uint8_t *at,
                                       size_t bytes, uint32_t clock)
{
    const struct record record = { layout, at, bytes, clock };
    return layout->kind == VV_CUPTI_MEMORY ? take_memory(&record)
           : layout->kind == VV_CUPTI_POOL ? take_pool(&record) : take_unified(&record);
}
