/* SPDX-License-Identifier: Apache-2.0 */
/* work.c — names are those that PyTorch's profiler writes, so that a recording and its trace agree.
 *
 * CUPTI numbers devices as CUDA does, and contexts and streams once in a process. */
#include "collect/cuda/work.h"

#include <stdio.h>
#include <string.h>

#include "collect/cuda/calls.h"
#include "collect/cuda/layouts.h"
#include "collect/cuda/memory.h"
#include "collect/gpu/names.h"
#include "collect/gpu/tracks.h"
#include "varve/past.h"

#define NO_NUMBER UINT32_MAX /* CUPTI's "no stream"                                              */
#define EVENTS 1024u         /* known at once; a later event takes the place of an older one     */
#define NAME_BYTES 96

struct record {
    const struct vv_cupti_layout *layout;
    const uint8_t *at;
    size_t bytes;
};

static uint32_t clock;

static uint64_t get(const struct record *record, enum vv_cupti_field field)
{
    return vv_cupti_field(record->layout, record->at, record->bytes, field, 0);
}

static const char *text_of(const struct record *record)
{
    return (const char *)(uintptr_t)get(record, VV_F_TEXT);
}

static int64_t number_or_none(uint64_t number)
{
    return number == NO_NUMBER ? -1 : (int64_t)number;
}

/* ---- arguments of work ---- */

static void add_graph(struct vv_gpu_args *args, const struct record *record)
{
    VARVE_KEY(node, "graph node id");
    VARVE_KEY(graph, "graph id");
    if (get(record, VV_F_GRAPH) != 0)
        vv_gpu_add_int(args, &graph, (int64_t)get(record, VV_F_GRAPH));
    if (get(record, VV_F_GRAPH_NODE) != 0)
        vv_gpu_add_int(args, &node, (int64_t)get(record, VV_F_GRAPH_NODE));
}

static bool has_times(const struct record *record)
{
    return get(record, VV_F_START) != 0 && get(record, VV_F_END) != 0;
}

/* `device` is the record's, unless the record has none. */
static enum vv_gpu_taken put(const struct record *record, uint32_t kind, const char *name,
                              uint32_t device, struct vv_gpu_args *args)
{
    uint32_t correlation = (uint32_t)get(record, VV_F_CORRELATION);
    uint64_t number = vv_cuda_call_number(correlation);
    if (!has_times(record))
        return VV_GPU_SHORT;
    if (!vv_cuda_call_was_on(number))
        return VV_GPU_OFF;
    vv_cuda_call_has_work(number);
    uint32_t track = vv_gpu_track(device, number_or_none(get(record, VV_F_CONTEXT)),
                                   number_or_none(get(record, VV_F_STREAM)), clock);
    const struct varve_activity_info info = {
        sizeof info, track, name, kind, 0, (int64_t)get(record, VV_F_START),
        (int64_t)get(record, VV_F_END), correlation != 0 ? number : 0, get(record, VV_F_BYTES)
    };
    vv_gpu_put(&info, args);
    return VV_GPU_TAKEN;
}

/* ---- kernels and graphs ---- */

static enum vv_gpu_taken take_kernel(const struct record *record)
{
    struct vv_gpu_args args;
    vv_gpu_args_init(&args);
    args.has_launch = true;
    for (int i = 0; i < 3; i++) {
        args.grid[i] = (int32_t)get(record, VV_F_GRID_X + i);
        args.block[i] = (int32_t)get(record, VV_F_BLOCK_X + i);
    }
    args.registers = (int64_t)get(record, VV_F_REGISTERS);
    args.shared_bytes = (int64_t)(get(record, VV_F_SHARED) + get(record, VV_F_SHARED_DYNAMIC));
    add_graph(&args, record);
    vv_gpu_add_collective(&args, get(record, VV_F_CORRELATION));
    const char *name = text_of(record);
    return put(record, VARVE_ACTIVITY_KERNEL,
               name != NULL ? vv_gpu_kernel_name(name) : "(kernel without a name)",
               (uint32_t)get(record, VV_F_DEVICE), &args);
}

static enum vv_gpu_taken take_graph(const struct record *record)
{
    struct vv_gpu_args args;
    char name[NAME_BYTES];
    vv_gpu_args_init(&args);
    snprintf(name, sizeof name, "CUDA graph %u", (unsigned)get(record, VV_F_GRAPH));
    add_graph(&args, record);
    return put(record, VARVE_ACTIVITY_KERNEL, name, (uint32_t)get(record, VV_F_DEVICE), &args);
}

/* ---- copies and sets ---- */

static const char *memory_text(uint64_t kind)
{
    static const char *const texts[] = { "Unknown", "Pageable", "Pinned",        "Device",
                                         "Array",   "Managed",  "Device Static", "Managed Static" };
    return kind < sizeof texts / sizeof *texts ? texts[kind] : texts[0];
}

static enum vv_gpu_taken take_copy(const struct record *record)
{
    static const char *const sorts[] = { "unknown", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA",
                                         "AtoD",    "DtoA", "DtoD", "HtoH", "PtoP" };
    VARVE_KEY(from_device, "fromDevice");
    VARVE_KEY(to_device, "toDevice");
    struct vv_gpu_args args;
    char name[NAME_BYTES];
    uint64_t sort = get(record, VV_F_SORT);
    vv_gpu_args_init(&args);
    snprintf(name, sizeof name, "Memcpy %s (%s -> %s)",
             sort < sizeof sorts / sizeof *sorts ? sorts[sort] : sorts[0],
             memory_text(get(record, VV_F_FROM)), memory_text(get(record, VV_F_TO)));
    if (record->layout->kind == VV_CUPTI_MEMCPY_PEERS) {
        vv_gpu_add_int(&args, &from_device, (int64_t)get(record, VV_F_FROM_DEVICE));
        vv_gpu_add_int(&args, &to_device, (int64_t)get(record, VV_F_TO_DEVICE));
    }
    add_graph(&args, record);
    return put(record, VARVE_ACTIVITY_COPY, name, (uint32_t)get(record, VV_F_DEVICE), &args);
}

static enum vv_gpu_taken take_set(const struct record *record)
{
    struct vv_gpu_args args;
    char name[NAME_BYTES];
    vv_gpu_args_init(&args);
    snprintf(name, sizeof name, "Memset (%s)", memory_text(get(record, VV_F_TO)));
    add_graph(&args, record);
    return put(record, VARVE_ACTIVITY_SET, name, (uint32_t)get(record, VV_F_DEVICE), &args);
}

/* ---- waits, and what they wait for ---- */

/* Who recorded each event last. */
static struct { uint32_t event, context, stream; uint64_t call, sync; } events[EVENTS];

static enum vv_gpu_taken take_event(const struct record *record)
{
    uint32_t event = (uint32_t)get(record, VV_F_EVENT), at = event % EVENTS;
    events[at].event = event;
    events[at].context = (uint32_t)get(record, VV_F_CONTEXT);
    events[at].stream = (uint32_t)get(record, VV_F_STREAM);
    events[at].call = vv_cuda_call_number((uint32_t)get(record, VV_F_CORRELATION));
    events[at].sync = get(record, VV_F_EVENT_SYNC);
    return VV_GPU_TAKEN;
}

/* Since 12.9 a number says which record of the event is waited for; before, the last one is. */
static void add_awaited(struct vv_gpu_args *args, const struct record *record)
{
    VARVE_KEY(stream, "wait_on_stream");
    VARVE_KEY(correlation, "wait_on_cuda_event_record_corr_id");
    uint32_t event = (uint32_t)get(record, VV_F_EVENT), at = event % EVENTS;
    uint64_t sync = get(record, VV_F_EVENT_SYNC);
    bool is_same = events[at].call != 0 && events[at].event == event &&
                   events[at].context == (uint32_t)get(record, VV_F_CONTEXT) &&
                   (sync == 0 || events[at].sync == 0 || events[at].sync == sync);
    if (!is_same)
        return;
    vv_gpu_add_int(args, &stream, number_or_none(events[at].stream));
    vv_gpu_add_int(args, &correlation, (int64_t)events[at].call);
}

static enum vv_gpu_taken take_wait(const struct record *record)
{
    static const char *const sorts[] = { "Unknown Sync", "Event Sync", "Stream Wait Event",
                                         "Stream Sync", "Context Sync" };
    enum { EVENT = 1, STREAM_EVENT = 2 };
    struct vv_gpu_args args;
    uint64_t sort = get(record, VV_F_SORT);
    uint32_t device = vv_gpu_device_of((uint32_t)get(record, VV_F_CONTEXT));
    vv_gpu_args_init(&args);
    if (device == VV_GPU_NO_DEVICE)
        return VV_GPU_SHORT;
    if (sort == EVENT || sort == STREAM_EVENT)
        add_awaited(&args, record);
    return put(record, VARVE_ACTIVITY_WAIT,
               sort < sizeof sorts / sizeof *sorts ? sorts[sort] : sorts[0], device, &args);
}

/* ---- the rest ---- */

/* Time that CUPTI and the driver take from a thread of the program. */
static enum vv_gpu_taken take_overhead(const struct record *record)
{
    enum { COMPILER = 1, THREAD = 2 };
    static const char *const sorts[] = {
        NULL, "Buffer Flush", "Instrumentation", "Resource", "Runtime Triggered Module Loading",
        "Lazy Function Loading", "Command Buffer Full", "Activity Buffer Request",
        "UVM Activity Init",
    };
    uint64_t sort = get(record, VV_F_SORT), row = sort >> 16;
    const char *name = sort == COMPILER ? "Driver Compiler"
                       : row < sizeof sorts / sizeof *sorts ? sorts[row] : NULL;
    if (clock != VARVE_CLOCK_MONOTONIC || get(record, VV_F_OBJECT) != THREAD)
        return VV_GPU_TAKEN; /* nobody's: CUPTI's own thread                                    */
    const struct varve_past_range_info info = {
        sizeof info, VARVE_LAYER_RUNTIME, name != NULL ? name : "CUPTI", NULL,
        get(record, VV_F_THREAD), clock, 0, (int64_t)get(record, VV_F_START),
        (int64_t)get(record, VV_F_END)
    };
    varve_past_range(&info);
    return VV_GPU_TAKEN;
}

static enum vv_gpu_taken take_context(const struct record *record)
{
    vv_gpu_context_is_of((uint32_t)get(record, VV_F_CONTEXT),
                          (uint32_t)get(record, VV_F_DEVICE));
    return VV_GPU_TAKEN;
}

static enum vv_gpu_taken take_name(const struct record *record)
{
    enum { CONTEXT = 4, STREAM = 5 };
    if (get(record, VV_F_OBJECT) == STREAM && text_of(record) != NULL)
        vv_gpu_stream_is_called((uint32_t)get(record, VV_F_STREAM), text_of(record));
    if (get(record, VV_F_OBJECT) == CONTEXT && text_of(record) != NULL)
        vv_gpu_context_is_called((uint32_t)get(record, VV_F_CONTEXT), text_of(record));
    return VV_GPU_TAKEN;
}

static const struct {
    uint8_t kind;
    enum vv_gpu_taken (*take)(const struct record *record);
} actions[] = {
    { VV_CUPTI_KERNEL, take_kernel },
    { VV_CUPTI_MEMCPY, take_copy },
    { VV_CUPTI_MEMCPY_PEERS, take_copy },
    { VV_CUPTI_MEMSET, take_set },
    { VV_CUPTI_SYNCHRONIZATION, take_wait },
    { VV_CUPTI_EVENT, take_event },
    { VV_CUPTI_GRAPH, take_graph },
    { VV_CUPTI_OVERHEAD, take_overhead },
    { VV_CUPTI_CONTEXT, take_context },
    { VV_CUPTI_NAME, take_name },
};

void vv_cuda_work_begin(uint32_t of_clock)
{
    clock = of_clock;
}

enum vv_gpu_taken vv_cuda_work_take(const uint8_t *at, size_t bytes)
{
    uint32_t kind = 0;
    if (bytes < sizeof kind)
        return VV_GPU_SHORT;
    memcpy(&kind, at, sizeof kind);
    struct record record = { vv_cupti_layout_of(kind), at, bytes };
    if (record.layout == NULL)
        return VV_GPU_UNKNOWN;
    if (bytes < record.layout->needed_bytes)
        return VV_GPU_SHORT;
    if (record.layout->fields[VV_F_DEVICE].bytes != 0 &&
        record.layout->fields[VV_F_CONTEXT].bytes != 0 && kind != VV_CUPTI_NAME)
        vv_gpu_context_is_of((uint32_t)get(&record, VV_F_CONTEXT),
                              (uint32_t)get(&record, VV_F_DEVICE));
    if (vv_cuda_memory_knows(kind))
        return vv_cuda_memory_take(record.layout, at, bytes, clock);
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++)
        if (actions[i].kind == kind)
            return actions[i].take(&record);
    return VV_GPU_UNKNOWN;
}

void vv_cuda_work_missing(int64_t begin_ns, int64_t end_ns, const char *why)
{
    const struct varve_activity_info info = {
        sizeof info, vv_gpu_track(0, -1, -2, VARVE_CLOCK_MONOTONIC), why, VARVE_ACTIVITY_RANGE, 0,
        begin_ns, end_ns, 0, 0
    };
    varve_activity(&info);
}
