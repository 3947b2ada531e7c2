/* SPDX-License-Identifier: Apache-2.0 */
/* opencl.c — steps of a host and an OpenCL device. Calls of OpenCL are marked by their names, and
 * the device tells of its kernels. What a plant does is in the comment of its function. Exits with
 * 77 and a reason where there is no OpenCL. */
#include <stdio.h>
#include <stdlib.h>

#if __has_include(<CL/cl.h>)
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <dlfcn.h>

#include "varve/backend.h"

#include "turns.h"

VARVE_SITE(prepare_site, "prepare_inputs", VARVE_LAYER_OP);
VARVE_SITE(layer_site, "dense_layer", VARVE_LAYER_OP);
VARVE_SITE(enqueue_site, "clEnqueueNDRangeKernel", VARVE_LAYER_RUNTIME);
VARVE_SITE(read_site, "clEnqueueReadBuffer", VARVE_LAYER_RUNTIME);
VARVE_SITE(finish_site, "clFinish", VARVE_LAYER_RUNTIME);
VARVE_SITE(build_site, "clBuildProgram", VARVE_LAYER_RUNTIME);

/* The functions of OpenCL, as the headers declare them, from the library. */
#define FUNCTIONS(X)                                                                               \
    X(clGetPlatformIDs) X(clGetDeviceIDs) X(clCreateContext) X(clCreateCommandQueue)               \
    X(clCreateBuffer) X(clCreateProgramWithSource) X(clBuildProgram) X(clCreateKernel)             \
    X(clSetKernelArg) X(clEnqueueNDRangeKernel) X(clEnqueueReadBuffer) X(clFlush) X(clFinish)      \
    X(clReleaseEvent) X(clReleaseKernel) X(clReleaseProgram)
#define DECLARE(name) static __typeof__(&name) call_##name;
FUNCTIONS(DECLARE)

#define ROWS 256

static const char source[] =
    "__kernel void dense(__global float *x, int rounds) {\n"
    "    float y = x[get_global_id(0)];\n"
    "    for (int i = 0; i < rounds; i++) y = y * 0.999f + 0.001f;\n"
    "    x[get_global_id(0)] = y;\n"
    "}\n";

static struct {
    cl_context context;
    cl_device_id device;
    cl_command_queue queue;
    cl_mem rows;
    uint32_t backend;
} cl;

static void check(cl_int code)
{
    if (code != CL_SUCCESS)
        exit(98);
}

static int open_library(void)
{
    void *library = dlopen("libOpenCL.so.1", RTLD_NOW);
    if (library == NULL)
        return 0;
#define FIND(name)                                  \
    do {                                            \
        void *found = dlsym(library, #name);        \
        memcpy(&call_##name, &found, sizeof found); \
        if (found == NULL)                          \
            return 0;                               \
    } while (0);
    FUNCTIONS(FIND)
    return 1;
}

/* A reason why there is no OpenCL, or NULL. */
static const char *open_device(void)
{
    cl_platform_id platform;
    cl_int code;
    struct varve_error error;
    if (!open_library())
        return "no libOpenCL.so.1 of OpenCL 1.2";
    if (call_clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS ||
        call_clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &cl.device, NULL) != CL_SUCCESS)
        return "no OpenCL device";
    if (varve_backend_open("opencl", &cl.backend, &error) != VARVE_OK) {
        fprintf(stderr, "no backend for OpenCL: %s\n", error.message);
        exit(1);
    }
    cl.context = call_clCreateContext(NULL, 1, &cl.device, NULL, NULL, &code);
    check(code);
    cl.queue = call_clCreateCommandQueue(cl.context, cl.device, CL_QUEUE_PROFILING_ENABLE, &code);
    check(code);
    cl.rows = call_clCreateBuffer(cl.context, CL_MEM_READ_WRITE, ROWS * sizeof(float), NULL, &code);
    check(code);
    return NULL;
}

/* ---- calls of OpenCL, as a program makes them ---- */

static void tell(const char *name, uint32_t kind, cl_event event)
{
    struct varve_device_work work = VARVE_DEVICE_WORK_INIT;
    work.backend = cl.backend;
    work.stream = cl.queue;
    work.name = name;
    work.kind = kind;
    varve_device_work_event(&work, event);
    call_clReleaseEvent(event);
}

static cl_kernel build(void)
{
    const char *text = source;
    cl_int code;
    cl_program program = call_clCreateProgramWithSource(cl.context, 1, &text, NULL, &code);
    check(code);
    varve_begin(&build_site);
    check(call_clBuildProgram(program, 1, &cl.device, "", NULL, NULL));
    cl_kernel kernel = call_clCreateKernel(program, "dense", &code);
    varve_end();
    check(code);
    call_clReleaseProgram(program); /* the kernel keeps it */
    return kernel;
}

static void enqueue(cl_kernel kernel, size_t rows, int rounds)
{
    cl_event event;
    varve_begin(&layer_site);
    check(call_clSetKernelArg(kernel, 0, sizeof cl.rows, &cl.rows));
    check(call_clSetKernelArg(kernel, 1, sizeof rounds, &rounds));
    varve_begin(&enqueue_site);
    check(call_clEnqueueNDRangeKernel(cl.queue, kernel, 1, NULL, &rows, NULL, 0, NULL, &event));
    tell("dense", VARVE_ACTIVITY_KERNEL, event);
    varve_end();
    varve_end();
}

static void read_rows(void)
{
    float rows[ROWS];
    cl_event event;
    varve_begin(&read_site);
    check(call_clEnqueueReadBuffer(cl.queue, cl.rows, CL_TRUE, 0, sizeof rows, rows, 0, NULL,
                                   &event));
    tell("read rows", VARVE_ACTIVITY_COPY, event);
    varve_end();
}

static void finish(void)
{
    varve_begin(&finish_site);
    check(call_clFinish(cl.queue));
    varve_end();
}

/* What a host does between kernels: it waits for a disk, mostly. */
static void prepare(int64_t us)
{
    varve_begin(&prepare_site);
    sleep_us(us);
    varve_end();
}

struct state {
    cl_kernel kernel;
    int is_mended;
};

static void *begin(int is_mended)
{
    struct state *state = begin_block(sizeof *state);
    state->is_mended = is_mended;
    state->kernel = build();
    enqueue(state->kernel, ROWS, 1); /* the first kernel of a program is compiled for its device */
    finish();
    return state;
}

/* ---- reads: each layer's rows are read at once, and the device stands still while the host
 *      prepares the next layer. Mended: they are read at the end of the step. ---- */

#define LAYERS 5
#define LAYER_ROUNDS 10000
#define PREPARE_US 3000

static void step_of_reads(void *argument, int number)
{
    struct state *state = argument;
    (void)number;
    for (int layer = 0; layer < LAYERS; layer++) {
        prepare(PREPARE_US);
        enqueue(state->kernel, ROWS, LAYER_ROUNDS);
        if (state->is_mended)
            call_clFlush(cl.queue);
        else
            read_rows();
    }
    read_rows();
}

/* ---- built: each step builds the program anew. Mended: it is built once. ---- */

static void step_of_built(void *argument, int number)
{
    struct state *state = argument;
    (void)number;
    if (!state->is_mended) {
        call_clReleaseKernel(state->kernel);
        state->kernel = build();
    }
    enqueue(state->kernel, ROWS, LAYER_ROUNDS);
    finish();
}

/* ---- small: a kernel for each row, four times. Mended: one for all rows. ---- */

static void step_of_small(void *argument, int number)
{
    struct state *state = argument;
    (void)number;
    prepare(2000);
    for (int piece = 0; piece < (state->is_mended ? 1 : 4 * ROWS); piece++)
        enqueue(state->kernel, state->is_mended ? ROWS : 1, state->is_mended ? 40 : 10);
    finish();
}

int main(int argc, char **argv)
{
    static const struct plant plants[] = {
        { "reads", begin, step_of_reads },
        { "built", begin, step_of_built },
        { "small", begin, step_of_small },
    };
    const char *reason = open_device();
    if (reason != NULL) {
        puts(reason);
        return 77;
    }
    int code = take_turns(argc, argv, plants, sizeof plants / sizeof *plants);
    varve_device_flush(0, NULL);
    return code;
}

#else

int main(void)
{
    puts("built without OpenCL's headers");
    return 77;
}

#endif
