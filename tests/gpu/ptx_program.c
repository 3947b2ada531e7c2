/* SPDX-License-Identifier: Apache-2.0 */
/* ptx_program.c — a program that works on a GPU by the driver alone, with a kernel from PTX that
 * the driver compiles: tests/gpu/run records it. Counts what it starts and prints the counts.
 *
 *     ptx_program work STEPS     each step: a copy in, a set, two kernels, a copy out, a wait
 *     ptx_program cost LAUNCHES  prints the ns that a launch takes the host
 *     ptx_program long KERNELS   kernels that move 1 GB each, one after the other
 *     ptx_program kill STEPS     as work, and dies by SIGKILL
 *     ptx_program threads STEPS  as work, on eight threads */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "varve/varve.h"

#define ELEMENTS (1u << 20)
#define BYTES (ELEMENTS * sizeof(float))
#define LONG_ELEMENTS (1u << 27)
#define BLOCK 256u
#define THREADS 8
#define NO_GPU 77 /* exit code */

VARVE_SITE(copy_site, "copy_in", VARVE_LAYER_OP);
VARVE_SITE(scale_site, "scale", VARVE_LAYER_OP);
VARVE_SITE(copy_back_site, "copy_out", VARVE_LAYER_OP);

/* y[i] = a * x[i], for i below n. The target is put in front. */
static const char *const targets[] = { "sm_50", "sm_75", "sm_90" };
static const char ptx[] =
    ".version 6.3\n.target %s\n.address_size 64\n"
    ".visible .entry varve_scale(.param .u64 px, .param .u64 py, .param .f32 pa, .param .u32 pn)\n"
    "{\n"
    ".reg .pred %%p; .reg .f32 %%f<3>; .reg .b32 %%r<6>; .reg .b64 %%d<6>;\n"
    "ld.param.u64 %%d0, [px]; ld.param.u64 %%d1, [py];\n"
    "ld.param.f32 %%f0, [pa]; ld.param.u32 %%r0, [pn];\n"
    "mov.u32 %%r1, %%ctaid.x; mov.u32 %%r2, %%ntid.x; mov.u32 %%r3, %%tid.x;\n"
    "mad.lo.s32 %%r4, %%r1, %%r2, %%r3;\n"
    "setp.ge.u32 %%p, %%r4, %%r0; @%%p bra done;\n"
    "cvta.to.global.u64 %%d0, %%d0; cvta.to.global.u64 %%d1, %%d1;\n"
    "mul.wide.u32 %%d2, %%r4, 4; add.s64 %%d3, %%d0, %%d2; add.s64 %%d4, %%d1, %%d2;\n"
    "ld.global.f32 %%f1, [%%d3]; mul.f32 %%f2, %%f1, %%f0; st.global.f32 [%%d4], %%f2;\n"
    "done: ret;\n}\n";

typedef uint64_t address;
#define FUNCTIONS(X)                                                                            \
    X(init, "cuInit", (unsigned))                                                               \
    X(device_name, "cuDeviceGetName", (char *, int, int))                                       \
    X(device, "cuDeviceGet", (int *, int))                                                      \
    X(retain, "cuDevicePrimaryCtxRetain", (void **, int))                                       \
    X(set_context, "cuCtxSetCurrent", (void *))                                                 \
    X(load, "cuModuleLoadData", (void **, const void *))                                        \
    X(function, "cuModuleGetFunction", (void **, void *, const char *))                         \
    X(allocate, "cuMemAlloc_v2", (address *, size_t))                                           \
    X(release, "cuMemFree_v2", (address))                                                       \
    X(copy_in, "cuMemcpyHtoDAsync_v2", (address, const void *, size_t, void *))                 \
    X(copy_out, "cuMemcpyDtoHAsync_v2", (void *, address, size_t, void *))                      \
    X(set, "cuMemsetD8Async", (address, unsigned char, size_t, void *))                         \
    X(stream, "cuStreamCreate", (void **, unsigned))                                            \
    X(wait, "cuStreamSynchronize", (void *))                                                    \
    X(launch, "cuLaunchKernel", (void *, unsigned, unsigned, unsigned, unsigned, unsigned,      \
                                 unsigned, unsigned, void *, void **, void **))
static struct {
#define MEMBER(name, symbol, parameters) int(*name) parameters;
    FUNCTIONS(MEMBER)
} cu;

static void *context, *kernel;
static long kernels, copies, sets; /* atomic                                                     */

static void check(int result, const char *what)
{
    if (result == 0)
        return;
    fprintf(stderr, "%s: error %d\n", what, result);
    exit(1);
}

static void find_functions(void)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW), *found;
    if (driver == NULL) {
        fprintf(stderr, "no NVIDIA driver: %s\n", dlerror());
        exit(NO_GPU);
    }
#define FIND(name, symbol, parameters)                  \
    found = dlsym(driver, symbol);                      \
    if (found == NULL)                                  \
        check(-1, symbol);                              \
    memcpy(&cu.name, &found, sizeof found);
    FUNCTIONS(FIND)
}

static void make_kernel(void)
{
    char text[sizeof ptx + 16];
    void *module = NULL;
    int result = -1;
    for (size_t i = 0; i < sizeof targets / sizeof *targets && result != 0; i++) {
        snprintf(text, sizeof text, ptx, targets[i]);
        result = cu.load(&module, text);
    }
    check(result, "cuModuleLoadData");
    check(cu.function(&kernel, module, "varve_scale"), "cuModuleGetFunction");
}

static void open_device(void)
{
    char name[128] = "";
    int device = 0;
    if (cu.init(0) != 0 || cu.device(&device, 0) != 0) {
        fprintf(stderr, "no GPU\n");
        exit(NO_GPU);
    }
    (void)cu.device_name(name, sizeof name, device);
    fprintf(stderr, "device %s\n", name);
    check(cu.retain(&context, device), "cuDevicePrimaryCtxRetain");
    check(cu.set_context(context), "cuCtxSetCurrent");
    make_kernel();
}

static void launch_over(uint32_t count, address from, address to, void *stream)
{
    float factor = 2;
    void *parameters[] = { &from, &to, &factor, &count };
    check(cu.launch(kernel, count / BLOCK, 1, 1, BLOCK, 1, 1, 0, stream, parameters, NULL),
          "cuLaunchKernel");
    __atomic_add_fetch(&kernels, 1, __ATOMIC_RELAXED);
}

static void launch(address from, address to, void *stream)
{
    launch_over(ELEMENTS, from, to, stream);
}

/* Returns whether the numbers that come back are right: 4 * x. The stand-in driver moves none. */
static void work(long steps)
{
    float *values = malloc(BYTES);
    address from, to;
    void *stream;
    if (values == NULL)
        exit(1);
    for (uint32_t i = 0; i < ELEMENTS; i++)
        values[i] = (float)(i % 1000);
    check(cu.stream(&stream, 1), "cuStreamCreate");
    check(cu.allocate(&from, BYTES), "cuMemAlloc");
    check(cu.allocate(&to, BYTES), "cuMemAlloc");
    for (long step = 0; step < steps; step++) {
        varve_step_begin(step);
        varve_begin(&copy_site);
        check(cu.copy_in(from, values, BYTES, stream), "cuMemcpyHtoDAsync");
        check(cu.set(to, 0, BYTES, stream), "cuMemsetD8Async");
        varve_end();
        varve_begin(&scale_site);
        launch(from, to, stream);
        launch(to, from, stream);
        varve_end();
        varve_begin(&copy_back_site);
        check(cu.copy_out(values, from, BYTES, stream), "cuMemcpyDtoHAsync");
        check(cu.wait(stream), "cuStreamSynchronize");
        varve_end();
        varve_step_end();
        __atomic_add_fetch(&copies, 2, __ATOMIC_RELAXED);
        __atomic_add_fetch(&sets, 1, __ATOMIC_RELAXED);
    }
    check(cu.release(from), "cuMemFree");
    check(cu.release(to), "cuMemFree");
    free(values);
}

static void *work_on_thread(void *steps)
{
    check(cu.set_context(context), "cuCtxSetCurrent");
    work((long)(intptr_t)steps);
    return NULL;
}

static void on_threads(long steps)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        check(pthread_create(&threads[i], NULL, work_on_thread, (void *)(intptr_t)steps),
              "pthread_create");
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* The least of many rounds: what the host takes for a launch, while the device's queue has room. */
static void cost(long launches)
{
    const long round = 100;
    int64_t least = INT64_MAX;
    address from;
    void *stream;
    check(cu.stream(&stream, 1), "cuStreamCreate");
    check(cu.allocate(&from, BYTES), "cuMemAlloc");
    for (long done = 0; done < launches; done += round) {
        int64_t begin = now_ns();
        for (long i = 0; i < round; i++)
            launch(from, from, stream);
        int64_t taken = (now_ns() - begin) / round;
        least = taken < least ? taken : least;
        check(cu.wait(stream), "cuStreamSynchronize");
    }
    printf("launch_ns %lld\n", (long long)least);
}

/* Long enough that samples of hardware counters lie within a kernel. */
static void long_kernels(long count)
{
    address from, to;
    void *stream;
    check(cu.stream(&stream, 1), "cuStreamCreate");
    check(cu.allocate(&from, LONG_ELEMENTS * sizeof(float)), "cuMemAlloc");
    check(cu.allocate(&to, LONG_ELEMENTS * sizeof(float)), "cuMemAlloc");
    for (long i = 0; i < count; i++) {
        launch_over(LONG_ELEMENTS, from, to, stream);
        check(cu.wait(stream), "cuStreamSynchronize");
    }
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "work";
    long count = argc > 2 ? atol(argv[2]) : 10;
    find_functions();
    open_device();
    if (strcmp(mode, "cost") == 0)
        cost(count);
    else if (strcmp(mode, "long") == 0)
        long_kernels(count);
    else if (strcmp(mode, "threads") == 0)
        on_threads(count);
    else
        work(count);
    printf("kernels %ld copies %ld sets %ld\n", kernels, copies, sets);
    fflush(stdout);
    if (strcmp(mode, "kill") == 0)
        raise(SIGKILL);
    return 0;
}
