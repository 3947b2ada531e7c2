/* SPDX-License-Identifier: Apache-2.0 */
#include "device/opencl/queues.h"

#include <pthread.h>
#include <time.h>

#include "base/error.h"
#include "base/system/clock.h"
#include "varve/backend.h"

#define QUEUES_MAX 256u
#define WAIT_NS UINT64_C(10000000000)

static cl_device_id devices[VARVE_BACKEND_DEVICES_MAX];
static cl_command_queue own_queues[VARVE_BACKEND_DEVICES_MAX];
static uint32_t device_count;

/* Known queues, each retained by us; holes are NULL. Read without the lock, atomically: a queue
 * that a caller has is not forgotten meanwhile. */
static cl_command_queue queues[QUEUES_MAX];
static uint32_t devices_of[QUEUES_MAX];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

enum varve_code vv_opencl_fail(const char *function, cl_int code, struct varve_error *error)
{
    VV_FAIL(error, VARVE_IO, "opencl: %s failed with %d", function, code);
}

/* ---- devices ---- */

enum varve_code vv_opencl_list_devices(uint64_t *out_resolution_ns, struct varve_error *error)
{
    cl_platform_id platforms[16];
    cl_uint platform_count = 0;
    size_t resolution = 0;
    cl_int code = vv_cl.clGetPlatformIDs(16, platforms, &platform_count);
    if (code != CL_SUCCESS || platform_count == 0)
        VV_FAIL(error, VARVE_UNSUPPORTED, "opencl: there is no platform (clGetPlatformIDs: %d)",
                code);
    for (cl_uint i = 0; i < platform_count && i < 16; i++) {
        cl_uint found = 0, room = VARVE_BACKEND_DEVICES_MAX - device_count;
        if (room == 0 || vv_cl.clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, room,
                                              devices + device_count, &found) != CL_SUCCESS)
            continue;
        device_count += found < room ? found : room;
    }
    *out_resolution_ns = 0;
    for (uint32_t i = 0; i < device_count; i++)
        if (vv_cl.clGetDeviceInfo(devices[i], CL_DEVICE_PROFILING_TIMER_RESOLUTION,
                                  sizeof resolution, &resolution, NULL) == CL_SUCCESS &&
            resolution > *out_resolution_ns)
            *out_resolution_ns = resolution;
    if (device_count == 0)
        VV_FAIL(error, VARVE_UNSUPPORTED, "opencl: there is no device");
    return VARVE_OK;
}

uint32_t vv_opencl_device_count(void)
{
    return device_count;
}

enum varve_code vv_opencl_device(uint32_t device, cl_device_id *out, struct varve_error *error)
{
    if (device == VARVE_DEVICE_ANY)
        device = 0;
    if (device >= device_count)
        VV_FAIL(error, VARVE_NOT_FOUND, "opencl: there is no device %u, but %u", device,
                device_count);
    *out = devices[device];
    return VARVE_OK;
}

static enum varve_code make_queue(uint32_t device, struct varve_error *error)
{
    cl_int code;
    cl_context context = vv_cl.clCreateContext(NULL, 1, &devices[device], NULL, NULL, &code);
    if (context == NULL)
        return vv_opencl_fail("clCreateContext", code, error);
    cl_command_queue queue = vv_cl.clCreateCommandQueue(context, devices[device],
                                                        CL_QUEUE_PROFILING_ENABLE, &code);
    if (queue == NULL)
        return vv_opencl_fail("clCreateCommandQueue", code, error);
    __atomic_store_n(&own_queues[device], queue, __ATOMIC_RELEASE);
    return VARVE_OK;
}

enum varve_code vv_opencl_own_queue(uint32_t device, cl_command_queue *out,
                                    struct varve_error *error)
{
    cl_device_id unused;
    enum varve_code code = VARVE_OK;
    VV_TRY(vv_opencl_device(device, &unused, error));
    if (device == VARVE_DEVICE_ANY)
        device = 0;
    *out = __atomic_load_n(&own_queues[device], __ATOMIC_ACQUIRE);
    if (*out != NULL)
        return VARVE_OK;
    pthread_mutex_lock(&lock);
    if (own_queues[device] == NULL)
        code = make_queue(device, error);
    *out = own_queues[device];
    pthread_mutex_unlock(&lock);
    return code;
}

/* ---- the program's queues ---- */

static bool find_queue(cl_command_queue queue, uint32_t *out_device)
{
    for (uint32_t i = 0; i < device_count; i++)
        if (__atomic_load_n(&own_queues[i], __ATOMIC_ACQUIRE) == queue) {
            *out_device = i;
            return true;
        }
    for (uint32_t i = 0; i < QUEUES_MAX; i++)
        if (__atomic_load_n(&queues[i], __ATOMIC_ACQUIRE) == queue) {
            *out_device = devices_of[i];
            return true;
        }
    return false;
}

static enum varve_code read_queue(cl_command_queue queue, uint32_t *out_device,
                                  struct varve_error *error)
{
    cl_device_id device = NULL;
    cl_ulong properties = 0;
    cl_int code =
        vv_cl.clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof device, &device, NULL);
    if (code == CL_SUCCESS)
        code = vv_cl.clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof properties,
                                           &properties, NULL);
    if (code != CL_SUCCESS)
        VV_FAIL(error, VARVE_INVALID, "opencl: the stream is no queue (clGetCommandQueueInfo: %d)",
                code);
    if ((properties & CL_QUEUE_PROFILING_ENABLE) == 0)
        VV_FAIL_SAID(error, VARVE_INVALID, "opencl: the queue was made without "
                                           "CL_QUEUE_PROFILING_ENABLE: make it with that property");
    for (uint32_t i = 0; i < device_count; i++)
        if (devices[i] == device) {
            *out_device = i;
            return VARVE_OK;
        }
    VV_FAIL(error, VARVE_NOT_FOUND, "opencl: the queue's device is none of those listed");
}

/* Forgets the queues that only we keep. Lock held. */
static void forget_queues(void)
{
    for (uint32_t i = 0; i < QUEUES_MAX; i++) {
        cl_uint references = 0;
        if (queues[i] == NULL ||
            vv_cl.clGetCommandQueueInfo(queues[i], CL_QUEUE_REFERENCE_COUNT, sizeof references,
                                        &references, NULL) != CL_SUCCESS ||
            references != 1)
            continue;
        cl_command_queue gone = queues[i];
        __atomic_store_n(&queues[i], NULL, __ATOMIC_RELEASE);
        (void)vv_cl.clReleaseCommandQueue(gone);
    }
}

/* Where there is no room, windows do not wait for the queue. Lock held. */
static void add_queue(cl_command_queue queue, uint32_t device)
{
    uint32_t unused;
    if (find_queue(queue, &unused))
        return;
    forget_queues();
    for (uint32_t i = 0; i < QUEUES_MAX; i++)
        if (queues[i] == NULL && vv_cl.clRetainCommandQueue(queue) == CL_SUCCESS) {
            devices_of[i] = device;
            __atomic_store_n(&queues[i], queue, __ATOMIC_RELEASE);
            return;
        }
}

enum varve_code vv_opencl_know_queue(cl_command_queue queue, uint32_t *out_device,
                                     struct varve_error *error)
{
    if (find_queue(queue, out_device))
        return VARVE_OK;
    VV_TRY(read_queue(queue, out_device, error));
    pthread_mutex_lock(&lock);
    add_queue(queue, *out_device);
    pthread_mutex_unlock(&lock);
    return VARVE_OK;
}

/* ---- waiting ---- */

enum varve_code vv_opencl_is_complete(cl_event event, int *out_is_complete,
                                      struct varve_error *error)
{
    cl_int status = 1;
    cl_int code = vv_cl.clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status,
                                       &status, NULL);
    if (code != CL_SUCCESS)
        return vv_opencl_fail("clGetEventInfo", code, error);
    if (status < 0)
        VV_FAIL(error, VARVE_IO, "opencl: the command failed with %d", status);
    *out_is_complete = status == CL_COMPLETE;
    return VARVE_OK;
}

/* Asks again and again, and sleeps between: clWaitForEvents would wait for ever if the event waits
 * for something that this thread does later. */
enum varve_code vv_opencl_wait(cl_command_queue queue, cl_event event, struct varve_error *error)
{
    int is_complete = 0;
    uint64_t until_ns = vv_clock_monotonic_ns() + WAIT_NS;
    struct timespec pause = { 0, 2000 };
    VV_TRY(vv_opencl_is_complete(event, &is_complete, error));
    if (is_complete != 0)
        return VARVE_OK;
    (void)vv_cl.clFlush(queue);
    while (vv_clock_monotonic_ns() < until_ns) {
        VV_TRY(vv_opencl_is_complete(event, &is_complete, error));
        if (is_complete != 0)
            return VARVE_OK;
        nanosleep(&pause, NULL);
        if (pause.tv_nsec < 1000000)
            pause.tv_nsec *= 2;
    }
    VV_FAIL(error, VARVE_LIMIT, "opencl: a queue did not finish in 10 s");
}

static enum varve_code wait_for_queue(cl_command_queue queue, struct varve_error *error)
{
    cl_event last;
    cl_int failure = vv_cl.clEnqueueMarkerWithWaitList(queue, 0, NULL, &last);
    if (failure != CL_SUCCESS)
        return vv_opencl_fail("clEnqueueMarkerWithWaitList", failure, error);
    enum varve_code code = vv_opencl_wait(queue, last, error);
    (void)vv_cl.clReleaseEvent(last);
    return code;
}

static uint32_t list_queues(uint32_t device, cl_command_queue list[QUEUES_MAX + 1])
{
    uint32_t count = 0;
    pthread_mutex_lock(&lock);
    forget_queues();
    for (uint32_t i = 0; i < QUEUES_MAX; i++)
        if (queues[i] != NULL && devices_of[i] == device)
            list[count++] = queues[i];
    if (own_queues[device] != NULL)
        list[count++] = own_queues[device];
    for (uint32_t i = 0; i < count; i++)
        (void)vv_cl.clRetainCommandQueue(list[i]);
    pthread_mutex_unlock(&lock);
    return count;
}

enum varve_code vv_opencl_wait_for_queues(uint32_t device, struct varve_error *error)
{
    cl_command_queue list[QUEUES_MAX + 1];
    cl_device_id unused;
    enum varve_code code = VARVE_OK;
    VV_TRY(vv_opencl_device(device, &unused, error));
    uint32_t count = list_queues(device == VARVE_DEVICE_ANY ? 0 : device, list);
    for (uint32_t i = 0; i < count; i++) {
        if (code == VARVE_OK)
            code = wait_for_queue(list[i], error);
        (void)vv_cl.clReleaseCommandQueue(list[i]);
    }
    return code;
}
