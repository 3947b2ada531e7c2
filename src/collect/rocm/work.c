/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/rocm/work.h"

#include <errno.h>
#include <stdio.h>

#include "collect/gpu/names.h"
#include "collect/gpu/tracks.h"
#include "collect/process/launches.h"
#include "collect/rocm/agents.h"
#include "collect/rocm/calls.h"
#include "collect/rocm/memory.h"
#include "collect/rocm/symbols.h"
#include "varve/device.h"

#define NUMBERS 128
#define NAME_BYTES 64

struct record {
    const struct vv_rocp_layout *layout;
    const void *at;
};

static const struct vv_rocp_layout *layouts;
static uint32_t clock;
static uint8_t kind_of[NUMBERS]; /* by the library's number: kind + 1                            */
static struct vv_gpu_counts counts;

const struct vv_gpu_counts *vv_rocm_counts(void)
{
    return &counts;
}

void vv_rocm_work_begin(const struct vv_rocp_layout *of_version, uint32_t of_clock)
{
    layouts = of_version;
    clock = of_clock;
}

bool vv_rocm_work_is(int number, enum vv_rocp_kind kind)
{
    if (number < 0 || number >= NUMBERS)
        return false;
    kind_of[number] = (uint8_t)(kind + 1);
    return true;
}

static uint64_t get(const struct record *record, enum vv_rocp_field field)
{
    return vv_rocp_field(record->layout, record->at, field);
}

static enum vv_gpu_taken put(const struct record *record, uint32_t track, uint32_t kind,
                             const char *name, struct vv_gpu_args *args)
{
    uint64_t begin = get(record, VV_RF_START), end = get(record, VV_RF_END);
    uint64_t correlation = get(record, VV_RF_INTERNAL);
    if (begin == 0 || end < begin)
        return VV_GPU_SHORT;
    if (!vv_rocm_call_was_on(correlation))
        return VV_GPU_OFF;
    const struct varve_activity_info info = {
        sizeof info, track, name, kind, 0, (int64_t)begin, (int64_t)end, correlation,
        kind == VARVE_ACTIVITY_COPY ? get(record, VV_RF_SIZE) : 0
    };
    vv_gpu_put(&info, args);
    return VV_GPU_TAKEN;
}

/* The stream of HIP, where the library tells of streams; otherwise what stands below it. */
static uint32_t track_of(const struct record *record, uint32_t device)
{
    uint64_t stream = get(record, VV_RF_EXTERNAL);
    bool has_queue = record->layout->fields[VV_RF_QUEUE].bytes != 0;
    if (stream != VV_ROCM_NO_STREAM)
        return vv_gpu_track(device, -1, (int64_t)((stream - 1) & INT64_MAX), clock);
    if (!has_queue)
        return vv_gpu_track(device, -1, VV_GPU_COPIES, clock);
    return vv_gpu_track_called("queue", device, -1,
                               (int64_t)(get(record, VV_RF_QUEUE) & INT64_MAX), clock);
}

/* ---- kernels ---- */

/* The library counts the threads of a whole grid. */
static int64_t blocks_of(uint64_t threads, uint64_t block)
{
    return (int64_t)(block > 0 ? (threads + block - 1) / block : threads);
}

static enum vv_gpu_taken take_kernel(const struct record *record)
{
    const struct vv_rocm_symbol *symbol = vv_rocm_symbol_of(get(record, VV_RF_KERNEL));
    uint32_t device = vv_rocm_device_of(get(record, VV_RF_AGENT));
    struct vv_gpu_args args;
    vv_gpu_args_init(&args);
    if (device == VV_ROCM_NO_DEVICE)
        return VV_GPU_SHORT;
    args.has_launch = true;
    for (int i = 0; i < 3; i++) {
        uint64_t block = get(record, VV_RF_BLOCK_X + i);
        args.block[i] = (int64_t)block;
        args.grid[i] = blocks_of(get(record, VV_RF_THREADS_X + i), block);
    }
    args.registers = symbol != NULL ? symbol->registers : 0;
    args.shared_bytes = (int64_t)get(record, VV_RF_SHARED);
    if (symbol != NULL && vv_launch_communicates(symbol->name))
        vv_gpu_add_collective(&args, get(record, VV_RF_INTERNAL));
    return put(record, track_of(record, device), VARVE_ACTIVITY_KERNEL,
               symbol != NULL ? vv_gpu_kernel_name(symbol->name) : "(kernel without a name)",
               &args);
}

void vv_rocm_symbol_told(const void *payload)
{
    const struct record record = { &layouts[VV_ROCP_SYMBOL], payload };
    int saved_errno = errno;
    vv_gpu_records_lock();
    if (payload == NULL || !vv_rocp_is_whole(record.layout, payload) ||
        !vv_rocm_symbol_add(get(&record, VV_RF_KERNEL),
                            (const char *)(uintptr_t)get(&record, VV_RF_TEXT),
                            (uint32_t)(get(&record, VV_RF_REGISTERS) +
                                       get(&record, VV_RF_MORE_REGISTERS))))
        vv_gpu_count(&counts, VV_GPU_UNKNOWN);
    vv_gpu_records_unlock();
    errno = saved_errno;
}

/* ---- copies ---- */

static enum vv_gpu_taken take_copy(const struct record *record)
{
    static const char *const directions[] = {
        "unknown", "HtoH (Host -> Host)", "HtoD (Host -> Device)", "DtoH (Device -> Host)",
        "DtoD (Device -> Device)",
    };
    VARVE_KEY(from_device, "fromDevice");
    VARVE_KEY(to_device, "toDevice");
    struct vv_gpu_args args;
    char name[NAME_BYTES];
    uint64_t direction = get(record, VV_RF_OPERATION);
    uint32_t from = vv_rocm_device_of(get(record, VV_RF_FROM_AGENT));
    uint32_t to = vv_rocm_device_of(get(record, VV_RF_AGENT));
    uint32_t device = from != VV_ROCM_NO_DEVICE ? from : to;
    bool is_between = from != to && from != VV_ROCM_NO_DEVICE && to != VV_ROCM_NO_DEVICE;
    vv_gpu_args_init(&args);
    if (is_between) {
        vv_gpu_add_int(&args, &from_device, from);
        vv_gpu_add_int(&args, &to_device, to);
    }
    snprintf(name, sizeof name, "Memcpy %s",
             is_between ? "PtoP (Device -> Device)"
             : direction < sizeof directions / sizeof *directions ? directions[direction]
                                                                  : directions[0]);
    return put(record, track_of(record, device != VV_ROCM_NO_DEVICE ? device : 0),
               VARVE_ACTIVITY_COPY, name, &args);
}

/* ---- memory ---- */

static enum vv_gpu_taken take_scratch(const struct record *record)
{
    static const char *const sorts[] = { "Scratch memory", "Scratch memory taken",
                                         "Scratch memory given back",
                                         "Scratch memory taken away" };
    VARVE_KEY(bytes, "bytes");
    struct vv_gpu_args args;
    uint64_t sort = get(record, VV_RF_OPERATION), size = get(record, VV_RF_SIZE);
    uint32_t device = vv_rocm_device_of(get(record, VV_RF_AGENT));
    vv_gpu_args_init(&args);
    if (device == VV_ROCM_NO_DEVICE)
        return VV_GPU_SHORT;
    if (size > 0)
        vv_gpu_add_int(&args, &bytes, (int64_t)size);
    return put(record, vv_gpu_track(device, -1, -1, clock), VARVE_ACTIVITY_RANGE,
               sort < sizeof sorts / sizeof *sorts ? sorts[sort] : sorts[0], &args);
}

static enum vv_gpu_taken take_allocation(const struct record *record)
{
    const struct vv_rocm_memory memory = {
        .operation = (uint32_t)get(record, VV_RF_OPERATION),
        .device = vv_rocm_device_of(get(record, VV_RF_AGENT)), .clock = clock,
        .address = get(record, VV_RF_ADDRESS), .bytes = get(record, VV_RF_SIZE),
        .time = (int64_t)get(record, VV_RF_END),
    };
    return vv_rocm_memory_take(&memory);
}

/* ---- a buffer ---- */

static enum vv_gpu_taken take(const struct vv_rocp_header *header)
{
    static enum vv_gpu_taken (*const takes[VV_ROCP_KINDS])(const struct record *) = {
        [VV_ROCP_KERNEL] = take_kernel, [VV_ROCP_COPY] = take_copy,
        [VV_ROCP_ALLOCATION] = take_allocation, [VV_ROCP_SCRATCH] = take_scratch,
    };
    if (header == NULL || header->record == NULL)
        return VV_GPU_SHORT;
    uint32_t kind = header->kind < NUMBERS ? kind_of[header->kind] : 0;
    if (header->category != VV_ROCP_TRACING || kind == 0 || takes[kind - 1] == NULL)
        return VV_GPU_UNKNOWN;
    const struct record record = { &layouts[kind - 1], header->record };
    return vv_rocp_is_whole(record.layout, record.at) ? takes[kind - 1](&record) : VV_GPU_SHORT;
}

/* `dropped` counts since the buffer was made. */
void vv_rocm_complete(uint64_t context, uint64_t buffer, struct vv_rocp_header **headers,
                      size_t count, void *user, uint64_t dropped)
{
    static uint64_t known; /* with the lock */
    (void)context;
    (void)buffer;
    (void)user;
    if (vv_gpu_records_have_ended())
        return;
    int saved_errno = errno;
    vv_gpu_records_lock();
    for (size_t i = 0; i < count; i++)
        vv_gpu_count(&counts, take(headers[i]));
    if (dropped > known) {
        vv_gpu_count_dropped(&counts, dropped - known);
        known = dropped;
    }
    vv_gpu_records_unlock();
    errno = saved_errno;
}
