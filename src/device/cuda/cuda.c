/* SPDX-License-Identifier: Apache-2.0 */
/* cuda.c — words of an event: the CUevent, its context, the number of the newest anchor.
 *
 * Devices whose primary context the program has not made are left alone: nothing runs there, and
 * making a context takes hundreds of megabytes. */
#include "device/cuda/cuda.h"

#include <pthread.h>

#include "base/error.h"
#include "base/system/clock.h"
#include "device/cuda/anchor.h"

static uint32_t device_count;

static CUevent event_of(const struct varve_device_event *event)
{
    return (CUevent)(uintptr_t)event->words[0];
}

static enum varve_code check_event(const struct varve_backend *backend,
                                   const struct varve_device_event *event,
                                   struct varve_error *error)
{
    if (event == NULL || event->backend != backend)
        VV_FAIL(error, VARVE_INVALID, "cuda: the event is another backend's");
    return VARVE_OK;
}

static int is_enabled(const struct varve_backend *backend)
{
    (void)backend;
    return device_count != 0;
}

static uint32_t count(const struct varve_backend *backend)
{
    (void)backend;
    return device_count;
}

/* ---- contexts ---- */

static enum varve_code push(CUcontext context, struct varve_error *error)
{
    VV_CUDA_TRY(cuCtxPushCurrent, context);
    return VARVE_OK;
}

static void pop(void)
{
    CUcontext unused;
    (void)vv_cu.cuCtxPopCurrent(&unused);
}

/* The primary context of a device, if the program has made it; else *out is NULL. */
static enum varve_code find_context(uint32_t device, CUcontext *out, struct varve_error *error)
{
    static CUcontext known[VARVE_BACKEND_DEVICES_MAX]; /* retained once; atomic                  */
    CUdevice handle;
    unsigned flags;
    int is_active = 0;
    if (device >= device_count)
        VV_FAIL(error, VARVE_NOT_FOUND, "cuda: there is no device %u, but %u", device,
                device_count);
    *out = __atomic_load_n(&known[device], __ATOMIC_ACQUIRE);
    if (*out != NULL)
        return VARVE_OK;
    VV_CUDA_TRY(cuDeviceGet, &handle, (int)device);
    VV_CUDA_TRY(cuDevicePrimaryCtxGetState, handle, &flags, &is_active);
    if (is_active == 0)
        return VARVE_OK;
    VV_CUDA_TRY(cuDevicePrimaryCtxRetain, out, handle);
    __atomic_store_n(&known[device], *out, __ATOMIC_RELEASE);
    return VARVE_OK;
}

/* The context in which an event of this place is recorded. */
static enum varve_code context_of(const struct varve_device_place *place, CUcontext *out,
                                  struct varve_error *error)
{
    if (place->stream != NULL) {
        VV_CUDA_TRY(cuStreamGetCtx, place->stream, out);
        return VARVE_OK;
    }
    if (place->device != VARVE_DEVICE_ANY)
        VV_TRY(find_context(place->device, out, error));
    else
        VV_CUDA_TRY(cuCtxGetCurrent, out);
    if (*out == NULL)
        VV_FAIL(error, VARVE_STATE, "cuda: the program has no context on this device (yet)");
    return VARVE_OK;
}

/* ---- events ---- */

static enum varve_code record_here(const struct varve_device_place *place,
                                   struct varve_device_event *out, struct varve_error *error)
{
    CUdevice device;
    CUevent event;
    uint64_t anchor;
    VV_CUDA_TRY(cuCtxGetDevice, &device);
    if ((uint32_t)device >= device_count ||
        (place->device != VARVE_DEVICE_ANY && place->device != (uint32_t)device))
        VV_FAIL(error, VARVE_INVALID, "cuda: the stream is of device %d", device);
    VV_TRY(vv_cuda_anchor((uint32_t)device, &anchor, error));
    VV_CUDA_TRY(cuEventCreate, &event, CU_EVENT_DEFAULT);
    CUresult result = vv_cu.cuEventRecord(event, place->stream);
    if (result != CUDA_SUCCESS) {
        (void)vv_cu.cuEventDestroy(event);
        return vv_cuda_fail("cuEventRecord", result, error);
    }
    out->device = (uint32_t)device;
    out->words[0] = (uintptr_t)event;
    out->words[2] = anchor;
    return VARVE_OK;
}

static enum varve_code record(const struct varve_backend *backend,
                              const struct varve_device_place *place,
                              struct varve_device_event *out_event, int64_t *out_host_ns,
                              struct varve_error *error)
{
    CUcontext context = NULL;
    struct varve_device_event event = { .backend = backend, .stream = place->stream };
    if (place->device != VARVE_DEVICE_ANY && place->device >= device_count)
        VV_FAIL(error, VARVE_NOT_FOUND, "cuda: there is no device %u, but %u", place->device,
                device_count);
    VV_TRY(context_of(place, &context, error));
    VV_TRY(push(context, error));
    int64_t now_ns = (int64_t)vv_clock_monotonic_ns();
    enum varve_code code = record_here(place, &event, error);
    pop();
    VV_TRY(code);
    event.words[1] = (uintptr_t)context;
    *out_event = event;
    if (out_host_ns != NULL)
        *out_host_ns = now_ns;
    return VARVE_OK;
}

static void release(const struct varve_backend *backend, struct varve_device_event *event)
{
    if (event->backend != backend)
        return;
    (void)vv_cu.cuEventDestroy(event_of(event));
    event->backend = NULL;
}

static enum varve_code query(const struct varve_backend *backend,
                             const struct varve_device_event *event, int *out_is_complete,
                             struct varve_error *error)
{
    VV_TRY(check_event(backend, event, error));
    CUresult result = vv_cu.cuEventQuery(event_of(event));
    if (result != CUDA_SUCCESS && result != CUDA_ERROR_NOT_READY)
        return vv_cuda_fail("cuEventQuery", result, error);
    *out_is_complete = result == CUDA_SUCCESS;
    return VARVE_OK;
}

static enum varve_code elapsed(const struct varve_backend *backend,
                               const struct varve_device_event *from,
                               const struct varve_device_event *to, int64_t *out_ns,
                               struct varve_error *error)
{
    float ms;
    VV_TRY(check_event(backend, from, error));
    VV_TRY(check_event(backend, to, error));
    if (from->words[1] != to->words[1])
        VV_FAIL(error, VARVE_INVALID, "cuda: the events are of two contexts");
    VV_CUDA_TRY(cuEventSynchronize, event_of(from));
    VV_CUDA_TRY(cuEventSynchronize, event_of(to));
    VV_CUDA_TRY(cuEventElapsedTime, &ms, event_of(from), event_of(to));
    *out_ns = vv_cuda_ns(ms);
    return VARVE_OK;
}

static enum varve_code instant(const struct varve_backend *backend,
                               const struct varve_device_event *event, int64_t *out_begin,
                               int64_t *out_end, struct varve_error *error)
{
    int is_complete;
    int64_t ns;
    VV_TRY(query(backend, event, &is_complete, error));
    if (is_complete == 0)
        VV_FAIL(error, VARVE_STATE, "cuda: the event is not complete");
    VV_TRY(vv_cuda_instant(event->device, event->words[2], event_of(event), &ns, error));
    *out_begin = *out_end = ns;
    return VARVE_OK;
}

/* ---- devices ---- */

static enum varve_code wait_here(struct varve_error *error)
{
    VV_CUDA_TRY(cuCtxSynchronize);
    return VARVE_OK;
}

static enum varve_code synchronize(const struct varve_backend *backend, uint32_t device,
                                   struct varve_error *error)
{
    (void)backend;
    CUcontext context;
    VV_TRY(find_context(device, &context, error));
    if (context == NULL)
        return VARVE_OK;
    VV_TRY(push(context, error));
    enum varve_code code = wait_here(error);
    pop();
    return code;
}

static enum varve_code on_each_device(const struct varve_backend *backend,
                                      void (*visit)(uint32_t device, void *argument),
                                      void *argument, struct varve_error *error)
{
    (void)backend;
    for (uint32_t i = 0; i < device_count; i++) {
        CUcontext context;
        VV_TRY(find_context(i, &context, error));
        if (context != NULL)
            VV_TRY(push(context, error));
        visit(i, argument);
        if (context != NULL)
            pop();
    }
    return VARVE_OK;
}

/* Where nothing runs yet, the clock is that of the anchors: CLOCK_MONOTONIC. */
static enum varve_code read_clock(const struct varve_backend *backend, uint32_t device,
                                  struct varve_clock_reading *out_reading,
                                  struct varve_error *error)
{
    (void)backend;
    CUcontext context;
    VV_TRY(find_context(device, &context, error));
    if (context == NULL) {
        uint64_t before_ns = vv_clock_monotonic_ns(), ticks = vv_clock_ticks(),
                 after_ns = vv_clock_monotonic_ns();
        *out_reading = (struct varve_clock_reading){
            (int64_t)(before_ns + (after_ns - before_ns) / 2), ticks,
            (after_ns - before_ns) / 2 + 1
        };
        return VARVE_OK;
    }
    VV_TRY(push(context, error));
    enum varve_code code = vv_cuda_anchor_now(device, out_reading, error);
    pop();
    return code;
}

static const struct varve_backend cuda = {
    .struct_size = sizeof cuda,
    .device_kind = VARVE_DEVICE_KIND_CUDA,
    .name = "cuda",
    .resolution_ns = 500, /* as the driver's manual states of cuEventElapsedTime                 */
    .enabled = is_enabled,
    .count = count,
    .record = record,
    .query = query,
    .elapsed = elapsed,
    .instant = instant,
    .release = release,
    .synchronize = synchronize,
    .on_each_device = on_each_device,
    .read_clock = read_clock,
};

enum varve_code vv_cuda_open(const struct varve_backend **out_backend, struct varve_error *error)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    enum varve_code code = VARVE_OK;
    int found = 0;
    pthread_mutex_lock(&lock);
    if (device_count == 0)
        code = vv_cuda_load(error);
    if (code == VARVE_OK && device_count == 0) {
        (void)vv_cu.cuDeviceGetCount(&found);
        device_count = (uint32_t)found < VARVE_BACKEND_DEVICES_MAX ? (uint32_t)found
                                                                   : VARVE_BACKEND_DEVICES_MAX;
    }
    pthread_mutex_unlock(&lock);
    if (code == VARVE_OK)
        *out_backend = &cuda;
    return code;
}
