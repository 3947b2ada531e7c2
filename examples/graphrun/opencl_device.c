/* SPDX-License-Identifier: Apache-2.0 */
/* opencl_device.c — an OpenCL device (device.h): a queue a stream, an event a task.
 *
 * Varve's own backend reads the events, too (varve/backend.h): nothing here tells of kernels.
 *
 * A block is a work-group. OpenCL cannot sum over processes: a collective is a copy to the host,
 * the sum there, and a copy back, and the host waits for it. */
#include "device.h"

#include "message.h"

#ifdef GRAPHRUN_OPENCL
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdlib.h>
#include <string.h>

#include <varve/backend.h>

#include "kernels.h"

#define ITEMS_PER_GROUP 16
#define FIRST_DEVICE 0 /* of all platforms; Varve counts them in the same order */
#define KERNEL_NAME_BYTES 64

struct opencl_device {
    struct device base;
    cl_context context;
    cl_device_id id;
    cl_program program;
    cl_command_queue queues[STREAM_COUNT];
    cl_kernel kernels[OPERATOR_COUNT]; /* by their operators, once they were needed */
    cl_event events[TASKS_MAX];
    uint32_t backend; /* Varve's, which times what has an event; 0 = none */
    float *staging; /* of a collective, on the host */
    size_t staging_bytes;
};

static struct opencl_device *opencl_of(struct device *device)
{
    return (struct opencl_device *)device;
}

static bool failed(cl_int code, const char *call)
{
    if (code != CL_SUCCESS)
        refuse("%s failed: OpenCL's error %d", call, (int)code);
    return code != CL_SUCCESS;
}

/* ---- opening ---- */

static bool find_device(struct opencl_device *device)
{
    cl_platform_id platforms[8];
    cl_uint count = 0;
    if (clGetPlatformIDs(8, platforms, &count) == CL_SUCCESS)
        for (cl_uint i = 0; i < count && i < 8; i++)
            if (clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 1, &device->id, NULL) ==
                CL_SUCCESS)
                return true;
    return refuse("there is no OpenCL device; install one's driver, such as pocl-opencl-icd");
}

static bool build_program(struct opencl_device *device)
{
    char log[2048] = "";
    cl_int code;
    const char *texts[KERNEL_TEXTS];
    memcpy(texts, kernel_texts, sizeof texts);
    device->program = clCreateProgramWithSource(device->context, KERNEL_TEXTS, texts, NULL, &code);
    if (failed(code, "clCreateProgramWithSource"))
        return false;
    if (clBuildProgram(device->program, 1, &device->id, "", NULL, NULL) == CL_SUCCESS)
        return true;
    clGetProgramBuildInfo(device->program, device->id, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log,
                          NULL);
    return refuse("OpenCL's compiler refuses kernels.cl: %s", log);
}

static bool open_queues(struct opencl_device *device)
{
    cl_int code;
    device->context = clCreateContext(NULL, 1, &device->id, NULL, NULL, &code);
    if (failed(code, "clCreateContext") || !build_program(device))
        return false;
    for (int stream = 0; stream < STREAM_COUNT; stream++) {
        device->queues[stream] = clCreateCommandQueue(device->context, device->id,
                                                      CL_QUEUE_PROFILING_ENABLE, &code);
        if (failed(code, "clCreateCommandQueue"))
            return false;
    }
    return true;
}

static void opencl_close(struct device *base)
{
    struct opencl_device *device = opencl_of(base);
    for (int i = 0; i < OPERATOR_COUNT; i++)
        if (device->kernels[i] != NULL)
            clReleaseKernel(device->kernels[i]);
    for (int stream = 0; stream < STREAM_COUNT; stream++)
        if (device->queues[stream] != NULL)
            clReleaseCommandQueue(device->queues[stream]);
    if (device->program != NULL)
        clReleaseProgram(device->program);
    if (device->context != NULL)
        clReleaseContext(device->context);
    free(device->staging);
    free(device);
}

/* ---- memory ---- */

static void *opencl_allocate(struct device *base, size_t bytes)
{
    struct opencl_device *device = opencl_of(base);
    const float zero = 0.0f;
    cl_int code;
    cl_mem memory = clCreateBuffer(device->context, CL_MEM_READ_WRITE, bytes, NULL, &code);
    if (failed(code, "clCreateBuffer"))
        return NULL;
    varve_alloc(memory, bytes, VARVE_DEVICE(VARVE_DEVICE_KIND_OPENCL, 0));
    code = clEnqueueFillBuffer(device->queues[STREAM_COPY], memory, &zero, sizeof zero, 0, bytes, 0,
                               NULL, NULL);
    failed(code, "clEnqueueFillBuffer");
    clFinish(device->queues[STREAM_COPY]);
    return memory;
}

static void opencl_release(struct device *device, void *memory)
{
    (void)device;
    if (memory == NULL)
        return;
    varve_free(memory, VARVE_DEVICE(VARVE_DEVICE_KIND_OPENCL, 0));
    clReleaseMemObject(memory);
}

static bool opencl_write(struct device *base, void *memory, const struct task *copy)
{
    cl_int code =
        clEnqueueWriteBuffer(opencl_of(base)->queues[STREAM_COPY], memory, CL_TRUE,
                             copy->offset_bytes, copy->bytes, copy->host, 0, NULL, NULL);
    return !failed(code, "clEnqueueWriteBuffer");
}

static bool opencl_read(struct device *base, void *memory, const struct task *copy)
{
    cl_int code = clEnqueueReadBuffer(opencl_of(base)->queues[STREAM_COPY], memory, CL_TRUE,
                                      copy->offset_bytes, copy->bytes, copy->host, 0, NULL, NULL);
    return !failed(code, "clEnqueueReadBuffer");
}

/* ---- tasks ---- */

static struct varve_site calls[] = {
    [TASK_KERNEL] = VARVE_SITE_INIT("clEnqueueNDRangeKernel", VARVE_LAYER_RUNTIME),
    [TASK_FETCH] = VARVE_SITE_INIT("clEnqueueWriteBuffer", VARVE_LAYER_RUNTIME),
    [TASK_RESULT] = VARVE_SITE_INIT("clEnqueueReadBuffer", VARVE_LAYER_RUNTIME),
    [TASK_TRACE] = VARVE_SITE_INIT("clEnqueueMarkerWithWaitList", VARVE_LAYER_RUNTIME_L1),
};

/* The kernel of the task's operator; NULL = a line on standard error says why not. */
static cl_kernel kernel_of(struct opencl_device *device, const char *name)
{
    char entry[KERNEL_NAME_BYTES] = "run_";
    int id = OPERATOR_NONE + 1;
    while (id < OPERATOR_COUNT && strcmp(operators[id].name, name) != 0)
        id++;
    if (device->kernels[id] == NULL) {
        cl_int code;
        strncat(entry, name, sizeof entry - sizeof "run_");
        device->kernels[id] = clCreateKernel(device->program, entry, &code);
        failed(code, entry);
    }
    return device->kernels[id];
}

static bool enqueue_kernel(struct opencl_device *device, const struct task *task,
                           const cl_event *awaited, cl_uint awaited_count, cl_event *out_event)
{
    cl_kernel compiled = kernel_of(device, task->name);
    size_t group = ITEMS_PER_GROUP, items = (size_t)task->block_dim * group;
    if (compiled == NULL)
        return false;
    cl_int code = clSetKernelArg(compiled, 0, sizeof *task->arguments, task->arguments);
    if (code == CL_SUCCESS)
        code = clSetKernelArg(compiled, 1, sizeof(cl_mem), &task->memory);
    if (code == CL_SUCCESS)
        code = clEnqueueNDRangeKernel(device->queues[task->stream], compiled, 1, NULL, &items,
                                      &group, awaited_count, awaited, out_event);
    return !failed(code, task->name);
}

static bool enqueue_call(struct opencl_device *device, const struct task *task,
                         const cl_event *awaited, cl_uint awaited_count, cl_event *out_event)
{
    cl_command_queue queue = device->queues[task->stream];
    if (task->kind == TASK_KERNEL)
        return enqueue_kernel(device, task, awaited, awaited_count, out_event);
    if (task->kind == TASK_TRACE)
        return !failed(clEnqueueMarkerWithWaitList(queue, awaited_count, awaited, out_event),
                       "clEnqueueMarkerWithWaitList");
    cl_int code = task->kind == TASK_FETCH
                      ? clEnqueueWriteBuffer(queue, task->memory, CL_FALSE, task->offset_bytes,
                                             task->bytes, task->host, awaited_count, awaited,
                                             out_event)
                      : clEnqueueReadBuffer(queue, task->memory, CL_FALSE, task->offset_bytes,
                                            task->bytes, task->host, awaited_count, awaited,
                                            out_event);
    return !failed(code, task->name);
}

/* Varve reads the event's times once the device knows them. */
static void tell(const struct opencl_device *device, const struct task *task, cl_event event)
{
    struct varve_device_work work = VARVE_DEVICE_WORK_INIT;
    work.backend = device->backend;
    work.kind = task->kind == TASK_KERNEL ? VARVE_ACTIVITY_KERNEL : VARVE_ACTIVITY_COPY;
    work.stream = device->queues[task->stream];
    work.name = device_work_name(task);
    work.bytes = task->kind == TASK_KERNEL ? 0 : task->bytes;
    varve_device_work_event(&work, event);
}

/* A kernel, a copy, or a mark. */
static bool enqueue(struct opencl_device *device, int ticket)
{
    const struct task *task = &device->base.tasks[ticket];
    cl_command_queue queue = device->queues[task->stream];
    cl_event awaited[STREAM_COUNT], *event = &device->events[ticket];
    cl_uint count = 0;
    for (int stream = 0; stream < STREAM_COUNT; stream++)
        if (task->awaited[stream] != NONE)
            awaited[count++] = device->events[task->awaited[stream]];
    const cl_event *list = count > 0 ? awaited : NULL;
    varve_begin(&calls[task->kind]);
    bool done = enqueue_call(device, task, list, count, event);
    if (done && task->kind != TASK_TRACE)
        tell(device, task, *event);
    varve_end();
    return done && !failed(clFlush(queue), "clFlush");
}

static bool wait_for(struct opencl_device *device, int ticket)
{
    VARVE_SCOPE_LAYER("clWaitForEvents", VARVE_LAYER_RUNTIME);
    return !failed(clWaitForEvents(1, &device->events[ticket]), "clWaitForEvents");
}

/* The copies have tickets of their own; the second one stands for the collective. */
static bool run_collective(struct opencl_device *device, int ticket)
{
    struct device *base = &device->base;
    struct task *to_host = &base->tasks[ticket];
    size_t result_offset_bytes = to_host->result_offset_bytes;
    if (to_host->bytes > device->staging_bytes) {
        free(device->staging);
        device->staging = malloc(2 * to_host->bytes);
        device->staging_bytes = device->staging == NULL ? 0 : to_host->bytes;
        if (device->staging == NULL)
            return refuse("out of memory");
    }
    to_host->kind = TASK_RESULT;
    to_host->host = device->staging;
    if (!enqueue(device, ticket) || !wait_for(device, ticket))
        return false;
    float *sums = device->staging + device->staging_bytes / sizeof(float);
    if (!communicator_sum(base->communicator, device->staging, sums,
                          to_host->bytes / sizeof(float)))
        return false;
    int back = base->task_count++;
    base->tasks[back] = *to_host;
    base->tasks[back].correlation = ++base->correlations;
    base->tasks[back].kind = TASK_FETCH;
    base->tasks[back].host = sums;
    base->tasks[back].offset_bytes = result_offset_bytes;
    return enqueue(device, back) && wait_for(device, back);
}

static bool opencl_submit(struct device *base, int ticket)
{
    if (base->tasks[ticket].kind == TASK_COLLECTIVE)
        return run_collective(opencl_of(base), ticket);
    return enqueue(opencl_of(base), ticket);
}

static bool opencl_synchronize(struct device *base)
{
    struct opencl_device *device = opencl_of(base);
    bool done = true;
    for (int stream = 0; stream < STREAM_COUNT; stream++) {
        VARVE_SCOPE_LAYER("clFinish", VARVE_LAYER_RUNTIME);
        done &= !failed(clFinish(device->queues[stream]), "clFinish");
    }
    varve_device_poll();
    for (int i = 0; i < base->task_count; i++) {
        cl_ulong begin = 0, end = 0;
        if (device->events[i] == NULL)
            continue;
        clGetEventProfilingInfo(device->events[i], CL_PROFILING_COMMAND_START, sizeof begin, &begin,
                                NULL);
        clGetEventProfilingInfo(device->events[i], CL_PROFILING_COMMAND_END, sizeof end, &end,
                                NULL);
        base->tasks[i].begin_ns = (int64_t)begin;
        base->tasks[i].end_ns = (int64_t)end;
        clReleaseEvent(device->events[i]);
        device->events[i] = NULL;
    }
    return done;
}

/* ---- opening it ---- */

static uint32_t opencl_track(struct device *base, enum stream stream)
{
    struct opencl_device *device = opencl_of(base);
    struct varve_device_place place = { FIRST_DEVICE, 0, device->queues[stream] };
    uint32_t track;
    return varve_backend_track(device->backend, &place, device_stream_name(stream), &track,
                               NULL) == VARVE_OK
               ? track
               : 0;
}

/* Lets Varve's own backend time the work, and gives the streams their names. */
static void add_tracks(struct opencl_device *device)
{
    if (varve_backend_open("opencl", &device->backend, NULL) != VARVE_OK) {
        device->backend = 0;
        return;
    }
    for (int stream = 0; stream < STREAM_COUNT; stream++)
        opencl_track(&device->base, (enum stream)stream);
}

static const struct device_kind opencl = {
    .name = "opencl",
    .varve_kind = VARVE_DEVICE_KIND_OPENCL,
    .close = opencl_close,
    .allocate = opencl_allocate,
    .release = opencl_release,
    .write = opencl_write,
    .read = opencl_read,
    .submit = opencl_submit,
    .synchronize = opencl_synchronize,
    .track = opencl_track,
    .tells_its_work = true,
};

struct device *opencl_device_open(struct communicator *communicator)
{
    struct opencl_device *device = calloc(1, sizeof *device);
    if (device == NULL) {
        refuse("out of memory");
        return NULL;
    }
    device->base.kind = &opencl;
    device->base.communicator = communicator;
    device->base.tiling = (struct tiling_rules){ .items_per_block = ITEMS_PER_GROUP };
    if (!find_device(device) || !open_queues(device)) {
        opencl_close(&device->base);
        return NULL;
    }
    add_tracks(device);
    return &device->base;
}

#else

struct device *opencl_device_open(struct communicator *communicator)
{
    (void)communicator;
    refuse("built without OpenCL: install ocl-icd-opencl-dev and opencl-headers, and build again");
    return NULL;
}

#endif
