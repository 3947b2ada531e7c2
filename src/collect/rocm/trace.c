/* SPDX-License-Identifier: Apache-2.0 */
/* trace.c — kinds of records are found by their names: their numbers differ between versions. */
#include "collect/rocm/trace.h"

#include <stdio.h>
#include <string.h>

#include "base/system/clock.h"
#include "collect/process/wishes.h"
#include "collect/rocm/agents.h"
#include "collect/rocm/calls.h"
#include "collect/rocm/work.h"
#include "varve/device.h"

#define KIND_NUMBERS 64
#define BUFFER_BYTES (UINT32_C(512) * 1024) /* two of them: one is filled while one is read      */
#define BUFFER_MARK_BYTES (BUFFER_BYTES / 8 * 7)

static uint64_t context, buffer;
static uint32_t clock_number;
static int code_objects, hip_calls, hip_streams; /* numbers of kinds; -1: there is none           */
static const struct vv_rocp_layout *layouts;
static bool is_prepared; /* atomic                                                               */

/* ---- clocks ---- */

/* How the library's clock stands to ours. */
static void pair_clocks(void)
{
    uint64_t value = 0, before = vv_clock_ticks(), before_ns = vv_clock_monotonic_ns();
    if (!__atomic_load_n(&is_prepared, __ATOMIC_ACQUIRE) ||
        vv_rocp.timestamp(&value) != VV_ROCP_SUCCESS)
        return;
    uint64_t after_ns = vv_clock_monotonic_ns(), after = vv_clock_ticks();
    varve_clock_pair(clock_number, (int64_t)value, before + (after - before) / 2,
                     (after_ns - before_ns) / 2 + 1);
}

/* ---- what is told at once ---- */

static void told(uint32_t kind, int32_t operation, uint32_t phase, uint64_t correlation,
                 const void *payload, uint64_t *shared)
{
    enum { KERNEL_SYMBOL = 2, STREAM_IS_SET = 3 };
    const struct vv_rocp_layout *stream = &layouts[VV_ROCP_STREAM];
    if ((int)kind == hip_calls)
        vv_rocm_call(operation, phase, correlation, shared);
    else if ((int)kind == code_objects && operation == KERNEL_SYMBOL && phase == VV_ROCP_ENTER)
        vv_rocm_symbol_told(payload);
    else if ((int)kind == hip_streams && operation == STREAM_IS_SET && payload != NULL &&
             vv_rocp_is_whole(stream, payload))
        vv_rocm_call_for(vv_rocp_field(stream, payload, VV_RF_STREAM), phase == VV_ROCP_ENTER);
}

static void told_0(struct vv_rocp_event_0 event, uint64_t *shared, void *user)
{
    (void)user;
    told(event.kind, event.operation, event.phase, event.internal, event.payload, shared);
}

static void told_1(struct vv_rocp_event_1 event, uint64_t *shared, void *user)
{
    (void)user;
    told(event.kind, event.operation, event.phase, event.internal, event.payload, shared);
}

/* ---- what is asked for ---- */

/* -1: this version has no such kind. */
static int kind_called(vv_rocp_result (*name_of)(int, const char **, uint64_t *), const char *name)
{
    for (int kind = 0; kind < KIND_NUMBERS; kind++) {
        const char *said = NULL;
        uint64_t length = 0;
        if (name_of(kind, &said, &length) == VV_ROCP_SUCCESS && said != NULL &&
            strcmp(said, name) == 0)
            return kind;
    }
    return -1;
}

/* The address of a function is the library's `void *` here; which struct it is given depends on
 * the version. */
static void *callback_of(uint32_t version)
{
    vv_rocp_callback_0 *const first = told_0;
    vv_rocp_callback_1 *const second = told_1;
    void *callback;
    if (vv_rocp_has_ancestors(version))
        memcpy(&callback, &second, sizeof callback);
    else
        memcpy(&callback, &first, sizeof callback);
    return callback;
}

static vv_rocp_result ask_for_events(uint32_t version)
{
    static int32_t calls[VV_ROCM_CALLS_MAX];
    void *callback = callback_of(version);
    code_objects = kind_called(vv_rocp.callback_kind_name, "CODE_OBJECT");
    hip_calls = kind_called(vv_rocp.callback_kind_name, "HIP_RUNTIME_API");
    hip_streams = layouts[VV_ROCP_STREAM].needed_bytes > 0
                      ? kind_called(vv_rocp.callback_kind_name, "HIP_STREAM")
                      : -1;
    size_t count = vv_rocm_calls_choose(hip_calls, vv_wishes_have("rocm_calls"), calls);
    vv_rocp_result result =
        vv_rocp.trace_by_callback(context, code_objects, NULL, 0, callback, NULL);
    if (result == VV_ROCP_SUCCESS && count > 0)
        result = vv_rocp.trace_by_callback(context, hip_calls, calls, count, callback, NULL);
    if (hip_streams >= 0 &&
        vv_rocp.trace_by_callback(context, hip_streams, NULL, 0, callback, NULL) !=
            VV_ROCP_SUCCESS)
        hip_streams = -1;
    return result;
}

static vv_rocp_result ask_for_records(void)
{
    static const struct { const char *name; enum vv_rocp_kind kind; bool is_needed; } kinds[] = {
        { "KERNEL_DISPATCH", VV_ROCP_KERNEL, true },
        { "MEMORY_COPY", VV_ROCP_COPY, true },
        { "MEMORY_ALLOCATION", VV_ROCP_ALLOCATION, false },
        { "SCRATCH_MEMORY", VV_ROCP_SCRATCH, false },
    };
    static const int asked[] = { VV_ROCP_ASKS_COPY, VV_ROCP_ASKS_KERNEL };
    vv_rocp_result worst =
        vv_rocp.create_buffer(context, BUFFER_BYTES, BUFFER_MARK_BYTES, VV_ROCP_LOSSLESS,
                              vv_rocm_complete, NULL, &buffer);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && worst == VV_ROCP_SUCCESS; i++) {
        int number = kind_called(vv_rocp.buffer_kind_name, kinds[i].name);
        if (layouts[kinds[i].kind].needed_bytes == 0 ||
            !vv_rocm_work_is(number, kinds[i].kind))
            continue;
        vv_rocp_result result = vv_rocp.trace_into_buffer(context, number, NULL, 0, buffer);
        if (kinds[i].is_needed)
            worst = result;
    }
    if (worst == VV_ROCP_SUCCESS && vv_rocp.number_work != NULL)
        (void)vv_rocp.number_work(context, asked, sizeof asked / sizeof *asked, vv_rocm_launch,
                                  NULL);
    return worst;
}

bool vv_rocm_trace_prepare(uint32_t version, char *out_why, size_t bytes)
{
    const struct varve_clock_info info = { sizeof info, 0, "rocprofiler-sdk", 0, 0 };
    char said[160];
    layouts = vv_rocp_layouts_of(version);
    if (varve_clock_add(&info, &clock_number, NULL) != VARVE_OK) {
        snprintf(out_why, bytes, "the trace has no room for the clock of rocprofiler-sdk");
        return false;
    }
    vv_rocm_work_begin(layouts, clock_number);
    vv_rocp_result result = vv_rocp.create_context(&context);
    if (result == VV_ROCP_SUCCESS)
        result = vv_rocm_agents_read(&layouts[VV_ROCP_AGENT]);
    if (result == VV_ROCP_SUCCESS)
        result = ask_for_events(version);
    if (result == VV_ROCP_SUCCESS)
        result = ask_for_records();
    if (result != VV_ROCP_SUCCESS) {
        vv_rocp_result_text(result, said, sizeof said);
        snprintf(out_why, bytes, "rocprofiler-sdk records no kernels here: %.150s", said);
        return false;
    }
    vv_rocm_calls_begin(vv_rocm_trace_flush);
    __atomic_store_n(&is_prepared, true, __ATOMIC_RELEASE);
    return true;
}

bool vv_rocm_trace_start(char *out_why, size_t bytes)
{
    char said[160];
    pair_clocks();
    vv_rocp_result result = vv_rocp.start_context(context);
    if (result == VV_ROCP_SUCCESS)
        return true;
    vv_rocp_result_text(result, said, sizeof said);
    snprintf(out_why, bytes, "rocprofiler-sdk does not begin: %.150s", said);
    return false;
}

void vv_rocm_trace_stop(void)
{
    (void)vv_rocp.stop_context(context);
    vv_rocm_trace_flush();
}

void vv_rocm_trace_flush(void)
{
    pair_clocks();
    if (__atomic_load_n(&is_prepared, __ATOMIC_ACQUIRE))
        (void)vv_rocp.flush_buffer(buffer);
}
