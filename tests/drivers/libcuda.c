/* SPDX-License-Identifier: Apache-2.0 */
/* libcuda.c — stands in for NVIDIA's driver: the calls that src/device/cuda uses, of two devices
 * whose streams are simulated. The test says which call fails, and holds streams, by the functions
 * stand_in_…. With LACKS_STREAM_CONTEXT it has no cuStreamGetCtx, as an old driver. */
#include <stddef.h>
#include <string.h>

#include "simulated_stream.h"

#pragma GCC visibility push(default)
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

#define DEVICES 2
#define STREAMS 3 /* of each device; the first is the standard stream                            */
#define OWN 8     /* that cuStreamCreate makes                                                   */
#define DEPTH 16
#define DEVICE(context) ((int)((context) - contexts))

typedef int CUresult, CUdevice;
enum { SUCCESS = 0, INVALID_VALUE = 1, NO_DEVICE = 100, NOT_READY = 600, GONE = 709, FAILED = 719 };

struct context { struct sim_stream streams[STREAMS]; };
struct event {
    struct sim_event *at;
    struct sim_stream *stream;
    int is_own;
};

static struct context contexts[DEVICES];
static struct sim_stream own_streams[OWN];
static int own_count, live_events, is_gone;
static const char *failing; /* name of the call that fails                                       */
static __thread struct context *stack[DEPTH];
static __thread int depth;

static CUresult result_of(const char *call)
{
    const char *name = __atomic_load_n(&failing, __ATOMIC_RELAXED);
    if (__atomic_load_n(&is_gone, __ATOMIC_RELAXED))
        return GONE;
    return name != NULL && strcmp(name, call) == 0 ? FAILED : SUCCESS;
}

#define ENTER                            \
    do {                                 \
        CUresult code = result_of(__func__); \
        if (code != SUCCESS)             \
            return code;                 \
    } while (0)

__attribute__((constructor))
static void number_streams(void)
{
    for (unsigned i = 0; i < DEVICES * STREAMS; i++)
        contexts[i / STREAMS].streams[i % STREAMS].device = i / STREAMS;
}

/* ---- for the test ---- */

void stand_in_fail(const char *call)
{
    __atomic_store_n(&failing, call, __ATOMIC_RELAXED);
}

void stand_in_go_away(int gone)
{
    __atomic_store_n(&is_gone, gone, __ATOMIC_RELAXED);
}

void *stand_in_stream(unsigned device, unsigned index)
{
    return &contexts[device].streams[1 + index];
}

void stand_in_work(void *stream, int64_t ns)
{
    sim_enqueue(stream, ns, false, NULL);
}

void stand_in_hold(void *stream)
{
    sim_hold(stream);
}

void stand_in_let_go(void *stream)
{
    sim_let_go(stream);
}

int stand_in_live_events(void)
{
    return __atomic_load_n(&live_events, __ATOMIC_RELAXED);
}

unsigned stand_in_current(void)
{
    return depth > 0 ? (unsigned)DEVICE(stack[depth - 1]) : 0;
}

/* ---- devices and contexts ---- */

CUresult cuInit(unsigned flags)
{
    (void)flags;
    ENTER;
    return SUCCESS;
}

CUresult cuGetErrorName(CUresult code, const char **out)
{
    *out = code == FAILED ? "CUDA_ERROR_LAUNCH_FAILED"
           : code == GONE ? "CUDA_ERROR_CONTEXT_IS_DESTROYED"
                          : NULL;
    return *out != NULL ? SUCCESS : INVALID_VALUE;
}

CUresult cuDeviceGetCount(int *out)
{
    ENTER;
    *out = DEVICES;
    return SUCCESS;
}

CUresult cuDeviceGet(CUdevice *out, int ordinal)
{
    ENTER;
    *out = ordinal;
    return ordinal < DEVICES ? SUCCESS : NO_DEVICE;
}

CUresult cuDevicePrimaryCtxRetain(void **out, CUdevice device)
{
    ENTER;
    *out = &contexts[device];
    return SUCCESS;
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags, int *out_is_active)
{
    ENTER;
    *flags = 0;
    *out_is_active = device < DEVICES;
    return SUCCESS;
}

CUresult cuCtxGetCurrent(void **out)
{
    ENTER;
    *out = depth > 0 ? stack[depth - 1] : NULL;
    return SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice *out)
{
    ENTER;
    *out = (int)stand_in_current();
    return SUCCESS;
}

CUresult cuCtxPushCurrent_v2(void *context)
{
    ENTER;
    if (depth == DEPTH)
        return INVALID_VALUE;
    stack[depth++] = context;
    return SUCCESS;
}

CUresult cuCtxPopCurrent_v2(void **out)
{
    if (depth == 0)
        return INVALID_VALUE;
    *out = stack[--depth];
    return result_of(__func__);
}

CUresult cuCtxSynchronize(void)
{
    ENTER;
    for (int i = 0; i < STREAMS; i++)
        while (!sim_is_idle(&stack[depth - 1]->streams[i]))
            sim_nap();
    return SUCCESS;
}

/* ---- streams and events ---- */

CUresult cuStreamCreate(void **out, unsigned flags)
{
    (void)flags;
    ENTER;
    int index = __atomic_fetch_add(&own_count, 1, __ATOMIC_RELAXED);
    if (index >= OWN)
        return INVALID_VALUE;
    own_streams[index].device = stand_in_current();
    *out = &own_streams[index];
    return SUCCESS;
}

#ifndef LACKS_STREAM_CONTEXT
CUresult cuStreamGetCtx(void *stream, void **out)
{
    ENTER;
    *out = &contexts[((struct sim_stream *)stream)->device];
    return SUCCESS;
}
#endif

CUresult cuEventCreate(void **out, unsigned flags)
{
    (void)flags;
    ENTER;
    struct event *event = calloc(1, sizeof *event);
    if (event == NULL)
        abort();
    event->at = sim_event_new();
    __atomic_fetch_add(&live_events, 1, __ATOMIC_RELAXED);
    *out = event;
    return SUCCESS;
}

/* Those on streams that the caller made are the caller's own for good, and are not counted. */
CUresult cuEventRecord(void *handle, void *stream)
{
    ENTER;
    struct event *event = handle;
    event->stream = stream != NULL ? stream : &contexts[stand_in_current()].streams[0];
    if (event->stream >= own_streams && event->stream < own_streams + OWN && !event->is_own) {
        event->is_own = 1;
        __atomic_fetch_sub(&live_events, 1, __ATOMIC_RELAXED);
    }
    sim_event_record(event->at, event->stream);
    return SUCCESS;
}

CUresult cuEventQuery(void *handle)
{
    ENTER;
    struct event *event = handle;
    int64_t unused;
    return sim_event_is_done(event->at, event->stream, &unused) ? SUCCESS : NOT_READY;
}

CUresult cuEventSynchronize(void *handle)
{
    ENTER;
    struct event *event = handle;
    int64_t unused;
    while (!sim_event_is_done(event->at, event->stream, &unused))
        sim_nap();
    return SUCCESS;
}

CUresult cuEventElapsedTime(float *out_ms, void *from, void *to)
{
    ENTER;
    struct event *begin = from, *end = to;
    int64_t begin_ns, end_ns;
    if (!sim_event_is_done(begin->at, begin->stream, &begin_ns) ||
        !sim_event_is_done(end->at, end->stream, &end_ns))
        return NOT_READY;
    *out_ms = (float)((double)(end_ns - begin_ns) / 1e6);
    return SUCCESS;
}

CUresult cuEventDestroy_v2(void *handle)
{
    struct event *event = handle;
    if (!event->is_own)
        __atomic_fetch_sub(&live_events, 1, __ATOMIC_RELAXED);
    sim_event_free(event->at);
    free(event);
    return result_of(__func__);
}
