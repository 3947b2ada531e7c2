/* SPDX-License-Identifier: Apache-2.0 */
/* opencl.c — an event is a marker, or the event of a command of the program's. The times are those
 * of clGetEventProfilingInfo. A marker's time is its end.
 * words: the cl_event, its queue. */
#include "device/opencl/opencl.h"

#include <pthread.h>

#include "base/error.h"
#include "base/system/clock.h"
#include "device/opencl/queues.h"

#define READINGS 8

static cl_event event_of(const struct varve_device_event *event)
{
    return (cl_event)(uintptr_t)event->words[0];
}

static cl_command_queue queue_of(const struct varve_device_event *event)
{
    return (cl_command_queue)(uintptr_t)event->words[1];
}

static enum varve_code check_event(const struct varve_backend *backend,
                                   const struct varve_device_event *event,
                                   struct varve_error *error)
{
    if (event == NULL || event->backend != backend)
        VV_FAIL(error, VARVE_INVALID, "opencl: the event is another backend's");
    return VARVE_OK;
}

static int is_enabled(const struct varve_backend *backend)
{
    (void)backend;
    return vv_opencl_device_count() != 0;
}

static uint32_t count(const struct varve_backend *backend)
{
    (void)backend;
    return vv_opencl_device_count();
}

/* ---- events ---- */

static enum varve_code find_queue(const struct varve_device_place *place,
                                  cl_command_queue *out_queue, uint32_t *out_device,
                                  struct varve_error *error)
{
    *out_queue = place->stream;
    *out_device = place->device == VARVE_DEVICE_ANY ? 0 : place->device;
    if (place->stream == NULL)
        return vv_opencl_own_queue(place->device, out_queue, error);
    if (place->device != VARVE_DEVICE_ANY && place->device >= vv_opencl_device_count())
        VV_FAIL(error, VARVE_NOT_FOUND, "opencl: there is no device %u", place->device);
    VV_TRY(vv_opencl_know_queue(place->stream, out_device, error));
    if (place->device != VARVE_DEVICE_ANY && place->device != *out_device)
        VV_FAIL(error, VARVE_INVALID, "opencl: the queue is of device %u, not of %u", *out_device,
                place->device);
    return VARVE_OK;
}

static enum varve_code record(const struct varve_backend *backend,
                              const struct varve_device_place *place,
                              struct varve_device_event *out_event, int64_t *out_host_ns,
                              struct varve_error *error)
{
    cl_command_queue queue;
    cl_event event;
    uint32_t device;
    VV_TRY(find_queue(place, &queue, &device, error));
    uint64_t now_ns = out_host_ns != NULL ? vv_clock_monotonic_ns() : 0;
    cl_int failure = vv_cl.clEnqueueMarkerWithWaitList(queue, 0, NULL, &event);
    if (failure != CL_SUCCESS)
        return vv_opencl_fail("clEnqueueMarkerWithWaitList", failure, error);
    *out_event = (struct varve_device_event){
        backend, device, 0, place->stream, { (uintptr_t)event, (uintptr_t)queue, 0, 0 }
    };
    if (out_host_ns != NULL)
        *out_host_ns = (int64_t)now_ns;
    return VARVE_OK;
}

static enum varve_code adopt(const struct varve_backend *backend, void *native_event,
                             struct varve_device_event *out_event, struct varve_error *error)
{
    cl_command_queue queue = NULL;
    uint32_t device;
    if (native_event == NULL)
        VV_FAIL(error, VARVE_INVALID, "opencl: the event is NULL");
    cl_int failure = vv_cl.clGetEventInfo(native_event, CL_EVENT_COMMAND_QUEUE, sizeof queue,
                                          &queue, NULL);
    if (failure != CL_SUCCESS || queue == NULL)
        VV_FAIL(error, VARVE_INVALID, "opencl: the event is of no queue (clGetEventInfo: %d)",
                failure);
    VV_TRY(vv_opencl_know_queue(queue, &device, error));
    failure = vv_cl.clRetainEvent(native_event);
    if (failure != CL_SUCCESS)
        return vv_opencl_fail("clRetainEvent", failure, error);
    *out_event = (struct varve_device_event){
        backend, device, 1, queue, { (uintptr_t)native_event, (uintptr_t)queue, 0, 0 }
    };
    return VARVE_OK;
}

static void release(const struct varve_backend *backend, struct varve_device_event *event)
{
    if (event->backend != backend)
        return;
    (void)vv_cl.clReleaseEvent(event_of(event));
    event->backend = NULL;
}

static enum varve_code query(const struct varve_backend *backend,
                             const struct varve_device_event *event, int *out_is_complete,
                             struct varve_error *error)
{
    VV_TRY(check_event(backend, event, error));
    return vv_opencl_is_complete(event_of(event), out_is_complete, error);
}

static enum varve_code read_time(cl_event event, cl_uint which, int64_t *out_ns,
                                 struct varve_error *error)
{
    cl_ulong value = 0;
    cl_int failure =
        vv_cl.clGetEventProfilingInfo(event, which, sizeof value, &value, NULL);
    if (failure != CL_SUCCESS)
        return vv_opencl_fail("clGetEventProfilingInfo", failure, error);
    *out_ns = (int64_t)value;
    return VARVE_OK;
}

static enum varve_code instant(const struct varve_backend *backend,
                               const struct varve_device_event *event, int64_t *out_begin,
                               int64_t *out_end, struct varve_error *error)
{
    int is_complete;
    int64_t begin = 0, end = 0;
    VV_TRY(query(backend, event, &is_complete, error));
    if (is_complete == 0)
        VV_FAIL(error, VARVE_STATE, "opencl: the event is not complete");
    VV_TRY(read_time(event_of(event), CL_PROFILING_COMMAND_END, &end, error));
    begin = end;
    if (event->is_work != 0)
        VV_TRY(read_time(event_of(event), CL_PROFILING_COMMAND_START, &begin, error));
    *out_begin = begin;
    *out_end = end;
    return VARVE_OK;
}

static enum varve_code elapsed(const struct varve_backend *backend,
                               const struct varve_device_event *from,
                               const struct varve_device_event *to, int64_t *out_ns,
                               struct varve_error *error)
{
    int64_t begin = 0, end = 0;
    VV_TRY(check_event(backend, from, error));
    VV_TRY(check_event(backend, to, error));
    if (from->device != to->device)
        VV_FAIL(error, VARVE_INVALID, "opencl: the events lie on devices %u and %u, which have no "
                                      "common clock",
                from->device, to->device);
    VV_TRY(vv_opencl_wait(queue_of(from), event_of(from), error));
    VV_TRY(vv_opencl_wait(queue_of(to), event_of(to), error));
    VV_TRY(read_time(event_of(from), CL_PROFILING_COMMAND_END, &begin, error));
    VV_TRY(read_time(event_of(to), CL_PROFILING_COMMAND_END, &end, error));
    *out_ns = end - begin;
    return VARVE_OK;
}

/* ---- devices ---- */

static enum varve_code synchronize(const struct varve_backend *backend, uint32_t device,
                                   struct varve_error *error)
{
    (void)backend;
    return vv_opencl_wait_for_queues(device, error);
}

/* No device is current in OpenCL. */
static enum varve_code on_each_device(const struct varve_backend *backend,
                                      void (*visit)(uint32_t device, void *argument),
                                      void *argument, struct varve_error *error)
{
    (void)backend;
    (void)error;
    for (uint32_t i = 0; i < vv_opencl_device_count(); i++)
        visit(i, argument);
    return VARVE_OK;
}

/* The device's timer, if it can be asked; otherwise the instant at which a marker was queued in our
 * own queue, which is read once the marker is complete. */
static enum varve_code read_once(uint32_t device, struct varve_clock_reading *out,
                                 struct varve_error *error)
{
    cl_device_id id;
    cl_command_queue queue;
    cl_event event = NULL;
    cl_ulong timer = 0, host_timer = 0;
    VV_TRY(vv_opencl_device(device, &id, error));
    VV_TRY(vv_opencl_own_queue(device, &queue, error));
    uint64_t before_ns = vv_clock_monotonic_ns(), before = vv_clock_ticks();
    bool is_read = vv_cl.clGetDeviceAndHostTimer != NULL &&
                   vv_cl.clGetDeviceAndHostTimer(id, &timer, &host_timer) == CL_SUCCESS;
    if (!is_read) {
        before_ns = vv_clock_monotonic_ns();
        before = vv_clock_ticks();
        cl_int failure = vv_cl.clEnqueueMarkerWithWaitList(queue, 0, NULL, &event);
        if (failure != CL_SUCCESS)
            return vv_opencl_fail("clEnqueueMarkerWithWaitList", failure, error);
    }
    uint64_t after = vv_clock_ticks(), after_ns = vv_clock_monotonic_ns();
    *out = (struct varve_clock_reading){ (int64_t)timer, before + (after - before) / 2,
                                         (after_ns - before_ns) / 2 + 1 };
    if (is_read)
        return VARVE_OK;
    enum varve_code code = vv_opencl_wait(queue, event, error);
    if (code == VARVE_OK)
        code = read_time(event, CL_PROFILING_COMMAND_QUEUED, &out->value, error);
    (void)vv_cl.clReleaseEvent(event);
    return code;
}

static enum varve_code read_clock(const struct varve_backend *backend, uint32_t device,
                                  struct varve_clock_reading *out_reading,
                                  struct varve_error *error)
{
    (void)backend;
    struct varve_clock_reading best = { 0, 0, UINT64_MAX }, reading = best;
    for (int i = 0; i < READINGS; i++) {
        VV_TRY(read_once(device, &reading, error));
        if (reading.uncertainty_ns < best.uncertainty_ns)
            best = reading;
    }
    *out_reading = best;
    return VARVE_OK;
}

/* ---- opening ---- */

static struct varve_backend opencl = {
    .struct_size = sizeof opencl,
    .device_kind = VARVE_DEVICE_KIND_OPENCL,
    .name = "opencl",
    .enabled = is_enabled,
    .count = count,
    .record = record,
    .adopt = adopt,
    .query = query,
    .elapsed = elapsed,
    .instant = instant,
    .release = release,
    .synchronize = synchronize,
    .on_each_device = on_each_device,
    .read_clock = read_clock,
};

enum varve_code vv_opencl_open(const struct varve_backend **out_backend, struct varve_error *error)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static bool is_open;
    enum varve_code code = VARVE_OK;
    pthread_mutex_lock(&lock);
    if (!is_open) {
        code = vv_opencl_load(error);
        if (code == VARVE_OK)
            code = vv_opencl_list_devices(&opencl.resolution_ns, error);
        is_open = code == VARVE_OK;
    }
    pthread_mutex_unlock(&lock);
    if (code == VARVE_OK)
        *out_backend = &opencl;
    return code;
}
