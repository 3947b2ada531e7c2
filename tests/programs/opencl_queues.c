/* SPDX-License-Identifier: Apache-2.0 */
/* opencl_queues.c — a program with kernels on several OpenCL queues, which hands their events to
 * Varve and reads their times itself. tests/device compares the trace with what it prints.
 *
 * opencl_queues [ROUNDS] [kill | session | pairs]: in each round an operator on each of three
 * queues. For each kernel there is a line: kernel NAME QUEUE BEGIN END, in ns of the device's
 * clock. At the end: stats BEGUN RECORDED PENDING LOST. "pairs": events before and after each
 * kernel, instead of the kernel's own; then the lines bound the kernel's time. "kill": dies by
 * SIGKILL. "session": records itself, twice. Exits with 77 and a reason where there is no
 * OpenCL. */
#include <dlfcn.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "varve/backend.h"

#if __has_include(<CL/cl.h>)
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

enum { QUEUES = 3, ELEMENTS = 4096, ROUNDS_MAX = 1000 };

VARVE_SITE(scale_site, "scale operator", VARVE_LAYER_OP);
VARVE_SITE(sum_site, "sum operator", VARVE_LAYER_OP);

static const char source[] =
    "__kernel void scale(__global float *x) { x[get_global_id(0)] *= 1.5f; }\n"
    "__kernel void sum(__global float *x) {\n"
    "    float total = 0;\n"
    "    for (int i = 0; i < 512; i++) total += x[(get_global_id(0) + i) % 4096];\n"
    "    x[get_global_id(0)] = total / 512;\n"
    "}\n";

/* The functions of OpenCL, as the headers declare them, from the library. */
#define FUNCTIONS(X)                                                                               \
    X(clGetPlatformIDs) X(clGetDeviceIDs) X(clCreateContext) X(clCreateCommandQueue)               \
    X(clCreateBuffer) X(clCreateProgramWithSource) X(clBuildProgram) X(clCreateKernel)             \
    X(clSetKernelArg) X(clEnqueueNDRangeKernel) X(clFinish) X(clGetEventProfilingInfo)             \
    X(clReleaseEvent)
#define DECLARE(name) static __typeof__(&name) call_##name;
FUNCTIONS(DECLARE)

static struct {
    cl_command_queue queues[QUEUES];
    cl_kernel kernels[2];
    uint32_t backend;
} all;

static struct {
    cl_event event;
    int queue, kernel;
} done[ROUNDS_MAX * QUEUES];
static int done_count;

static int leave(const char *reason)
{
    puts(reason);
    return 77;
}

static int open_library(void)
{
    void *library = dlopen("libOpenCL.so.1", RTLD_NOW);
    if (library == NULL)
        return 0;
#define FIND(name)                                       \
    do {                                                 \
        void *found = dlsym(library, #name);             \
        memcpy(&call_##name, &found, sizeof found);      \
        if (found == NULL)                               \
            return 0;                                    \
    } while (0);
    FUNCTIONS(FIND)
    return 1;
}

static const char *open_device(void)
{
    cl_platform_id platform;
    cl_device_id device;
    cl_int code;
    const char *text = source;
    if (call_clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS ||
        call_clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) != CL_SUCCESS)
        return "no OpenCL device";
    cl_context context = call_clCreateContext(NULL, 1, &device, NULL, NULL, &code);
    cl_program program = call_clCreateProgramWithSource(context, 1, &text, NULL, &code);
    if (call_clBuildProgram(program, 1, &device, "", NULL, NULL) != CL_SUCCESS)
        return "OpenCL's compiler does not work";
    cl_mem memory = call_clCreateBuffer(context, CL_MEM_READ_WRITE, ELEMENTS * sizeof(float), NULL,
                                        &code);
    all.kernels[0] = call_clCreateKernel(program, "scale", &code);
    all.kernels[1] = call_clCreateKernel(program, "sum", &code);
    for (int i = 0; i < 2; i++)
        if (call_clSetKernelArg(all.kernels[i], 0, sizeof memory, &memory) != CL_SUCCESS)
            return "a kernel takes no memory";
    for (int i = 0; i < QUEUES; i++)
        all.queues[i] =
            call_clCreateCommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE, &code);
    return all.queues[QUEUES - 1] != NULL ? NULL : "no queue";
}

static void run_kernel(int queue, int kernel, int is_pair)
{
    static const char *names[] = { "scale", "sum" };
    const size_t size = ELEMENTS;
    struct varve_device_work work = VARVE_DEVICE_WORK_INIT;
    cl_event event;
    work.backend = all.backend;
    work.stream = all.queues[queue];
    work.name = names[kernel];
    varve_begin(kernel == 0 ? &scale_site : &sum_site);
    uint64_t piece = is_pair ? varve_device_begin(&work) : 0;
    if (call_clEnqueueNDRangeKernel(all.queues[queue], all.kernels[kernel], 1, NULL, &size, NULL, 0,
                                    NULL, &event) != CL_SUCCESS)
        exit(98);
    varve_device_end(piece);
    if (!is_pair)
        varve_device_work_event(&work, event);
    varve_end();
    done[done_count].event = event;
    done[done_count].queue = queue;
    done[done_count++].kernel = kernel;
}

static void print_times(void)
{
    for (int i = 0; i < done_count; i++) {
        cl_ulong begin = 0, end = 0;
        call_clGetEventProfilingInfo(done[i].event, CL_PROFILING_COMMAND_START, sizeof begin,
                                     &begin, NULL);
        call_clGetEventProfilingInfo(done[i].event, CL_PROFILING_COMMAND_END, sizeof end, &end,
                                     NULL);
        printf("kernel %s %d %" PRIu64 " %" PRIu64 "\n", done[i].kernel == 0 ? "scale" : "sum",
               done[i].queue, (uint64_t)begin, (uint64_t)end);
        call_clReleaseEvent(done[i].event);
    }
    done_count = 0;
}

static void run(int rounds, int is_pair)
{
    for (int i = 0; i < rounds; i++) {
        varve_step_begin(i);
        for (int queue = 0; queue < QUEUES; queue++)
            run_kernel(queue, (i + queue) % 2, is_pair);
        varve_step_end();
    }
    for (int queue = 0; queue < QUEUES; queue++)
        call_clFinish(all.queues[queue]);
    print_times();
}

static void print_stats(void)
{
    struct varve_backend_stats stats = { .struct_size = sizeof stats };
    if (varve_backend_stats_read(all.backend, &stats, NULL) == VARVE_OK)
        printf("stats %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", stats.begun,
               stats.recorded, stats.pending, stats.lost);
}

static void run_session(const char *output, int rounds)
{
    struct varve_session_options options = VARVE_SESSION_OPTIONS_INIT;
    options.output = output;
    if (varve_session_start(&options, NULL) != VARVE_OK)
        exit(97);
    run(rounds, 0);
    if (varve_session_stop(NULL) != VARVE_OK)
        exit(96);
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 10;
    const char *how = argc > 2 ? argv[2] : "";
    struct varve_error error;
    if (rounds < 1 || rounds > ROUNDS_MAX)
        return 2;
    if (!open_library())
        return leave("no libOpenCL.so.1 of OpenCL 1.2");
    const char *reason = open_device();
    if (reason != NULL)
        return leave(reason);
    if (varve_backend_open("opencl", &all.backend, &error) != VARVE_OK)
        return leave(error.message);
    if (strcmp(how, "session") == 0) {
        run_session("first.varve", rounds);
        run_session("second.varve", rounds);
    } else {
        run(rounds, strcmp(how, "pairs") == 0);
        (void)varve_device_flush(0, NULL);
    }
    print_stats();
    fflush(stdout);
    if (strcmp(how, "kill") == 0)
        raise(SIGKILL);
    return 0;
}

#else

int main(void)
{
    puts("built without OpenCL's headers");
    return 77;
}

#endif
