/* SPDX-License-Identifier: Apache-2.0 */
/* standin_driver.c — stands in for NVIDIA's driver and runtime in programs that the collector
 * `cuda` records. As the driver does, cuInit loads the library that CUDA_INJECTION64_PATH names,
 * and calls its InitializeInjection. For tests. */
#include <dlfcn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "standin_cuda.h"

#pragma GCC visibility push(default)
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

enum { SUCCESS = 0, NOT_INITIALIZED = 3, DRIVER = 1, RUNTIME = 2, REPLAYED = 3 };

static const struct standin_tools *tools;
static int is_initialised;
static uint32_t context = 1;
static __thread uint32_t correlation; /* of the last call                                        */
static __thread const char *kernel;   /* that the call launches                                  */

standin_connect standin_driver_connect;
void standin_driver_connect(const struct standin_tools *of)
{
    __atomic_store_n(&tools, of, __ATOMIC_RELEASE);
}

/* A call, within which the device is given a piece of work. */
static int call(int domain, const char *function, const struct standin_piece *piece)
{
    const struct standin_tools *of = __atomic_load_n(&tools, __ATOMIC_ACQUIRE);
    uint64_t shared = 0;
    bool is_replayed = domain == REPLAYED;
    domain = is_replayed ? RUNTIME : domain;
    if (!is_initialised)
        return NOT_INITIALIZED;
    if (of == NULL)
        return SUCCESS;
    kernel = piece != NULL && piece->work == STANDIN_KERNEL ? piece->name : NULL;
    correlation = of->begin(domain, function, &shared);
    uint32_t own = correlation;
    if (domain == RUNTIME && piece != NULL && !is_replayed)
        call(DRIVER, "cuLaunchKernel", NULL); /* with a number of its own                        */
    if (piece != NULL)
        of->did(piece, own);
    of->end(domain, function, &shared, own);
    return SUCCESS;
}

int cuInit(unsigned flags)
{
    const char *path = getenv("CUDA_INJECTION64_PATH");
    (void)flags;
    if (is_initialised++ != 0 || path == NULL)
        return SUCCESS;
    void *library = dlopen(path, RTLD_LAZY), *found = NULL;
    int (*inject)(void);
    if (library != NULL)
        found = dlsym(library, "InitializeInjection");
    memcpy(&inject, &found, sizeof inject);
    if (found != NULL)
        (void)inject();
    const struct standin_piece piece = { .work = STANDIN_CONTEXT, .context = context };
    return call(DRIVER, "cuCtxCreate", &piece);
}

int cuDriverGetVersion(int *out)
{
    const char *said = getenv("STANDIN_DRIVER");
    const struct standin_tools *of = __atomic_load_n(&tools, __ATOMIC_ACQUIRE);
    uint64_t shared = 0;
    *out = said != NULL ? atoi(said) : 12090;
    if (of == NULL || !is_initialised)
        return SUCCESS;
    uint32_t own = of->begin(DRIVER, "cuDriverGetVersion", &shared);
    of->end(DRIVER, "cuDriverGetVersion", &shared, own);
    return SUCCESS;
}

int cuDeviceGetCount(int *out)
{
    *out = is_initialised ? 2 : 0;
    return is_initialised ? SUCCESS : NOT_INITIALIZED;
}

/* ---- what the test program calls: simpler than the driver's functions of these names ---- */

int standin_launch(int domain, const char *name, uint32_t stream)
{
    const struct standin_piece piece = {
        STANDIN_KERNEL, 0, context, stream, name, 0, 0
    };
    return call(domain, domain == RUNTIME ? "cudaLaunchKernel" : "cuLaunchKernel", &piece);
}

int standin_copy(uint64_t bytes, uint32_t sort, uint32_t stream)
{
    const struct standin_piece piece = { STANDIN_COPY, 0, context, stream, NULL, bytes, sort };
    return call(DRIVER, sort == 1 ? "cuMemcpyHtoDAsync_v2" : "cuMemcpyDtoHAsync_v2", &piece);
}

int standin_peer_copy(uint64_t bytes, uint32_t stream)
{
    const struct standin_piece piece = { STANDIN_PEER_COPY, 0, context, stream, NULL, bytes, 10 };
    return call(DRIVER, "cuMemcpyPeerAsync", &piece);
}

int standin_set(uint64_t bytes, uint32_t stream)
{
    const struct standin_piece piece = { STANDIN_SET, 0, context, stream, NULL, bytes, 0 };
    return call(DRIVER, "cuMemsetD8Async", &piece);
}

int standin_event(uint32_t stream)
{
    const struct standin_piece piece = { STANDIN_EVENT, 0, context, stream, NULL, 0, 0 };
    return call(DRIVER, "cuEventRecord", &piece);
}

/* `sort` as CUPTI counts: 2 a stream waits for the last event, 3 the host for a stream. */
int standin_wait(uint32_t sort, uint32_t stream)
{
    const struct standin_piece piece = { STANDIN_WAIT, 0, context, stream, NULL, 0, sort };
    return call(DRIVER, sort == 2 ? "cuStreamWaitEvent" : "cuStreamSynchronize", &piece);
}

int standin_memory(uint64_t bytes, int takes)
{
    const struct standin_piece piece = { STANDIN_MEMORY, 0, context, 0, NULL, bytes,
                                         takes ? 1 : 2 };
    return call(DRIVER, takes ? "cuMemAlloc_v2" : "cuMemFree_v2", &piece);
}

int standin_graph(uint32_t kernels, uint32_t stream)
{
    const struct standin_piece piece = { STANDIN_GRAPH, 0, context, stream, NULL, 0, kernels };
    return call(DRIVER, "cuGraphLaunch", &piece);
}

int standin_reset(void)
{
    int result = call(DRIVER, "cuDevicePrimaryCtxReset_v2", NULL);
    const struct standin_piece piece = { .work = STANDIN_CONTEXT, .context = ++context };
    return result != SUCCESS ? result : call(DRIVER, "cuCtxCreate", &piece);
}

/* `sort` as CUPTI counts: 4 << 16 is a module that is loaded. */
int standin_overhead(uint32_t sort)
{
    const struct standin_piece piece = { STANDIN_OVERHEAD, 0, context, 0, NULL, 0, sort };
    return call(DRIVER, "cuCtxGetDevice", &piece);
}

/* A page of unified memory moves, or is missed: `sort` as CUPTI counts. */
int standin_unified(uint64_t bytes, uint32_t sort)
{
    const struct standin_piece piece = { STANDIN_UNIFIED, 0, context, 0, NULL, bytes, sort };
    return call(DRIVER, "cuCtxGetDevice", &piece);
}

/* `sort`: 1 a pool of memory is made, 2 given up, 3 cut. */
int standin_pool(uint64_t bytes, uint32_t sort)
{
    const struct standin_piece piece = { STANDIN_POOL, 0, context, 0, NULL, bytes, sort };
    return call(DRIVER, "cuCtxGetDevice", &piece);
}

/* NVTX names a context (4) or a stream (5). */
int standin_name(const char *name, uint32_t sort, uint32_t stream)
{
    const struct standin_piece piece = { STANDIN_NAME, 0, context, stream, name, 0, sort };
    return call(DRIVER, "cuCtxGetDevice", &piece);
}

/* A function that the collector is told of only if it is asked for every call. */
int standin_query(void)
{
    return call(DRIVER, "cuCtxGetDevice", NULL);
}

/* Asked by CUPTI's stand-in, on the thread that launches. */
const char *standin_kernel(void)
{
    return kernel;
}

uint32_t standin_correlation(void)
{
    return correlation;
}

/* A call and its work as another trace has them: `work` counts as enum standin_work does. */
int standin_replay(const char *function, uint32_t number, const struct standin_piece *piece)
{
    const struct standin_tools *of = __atomic_load_n(&tools, __ATOMIC_ACQUIRE);
    if (of != NULL)
        of->number_next(number);
    return call(strncmp(function, "cuda", 4) == 0 ? REPLAYED : DRIVER, function, piece);
}

/* ---- the driver's own functions, for tests/gpu/ptx_program.c: nothing is computed ---- */

static uint32_t number_of(const void *stream)
{
    return (uint32_t)(uintptr_t)stream;
}

static int work(const char *function, enum standin_work kind, const void *stream, uint64_t bytes,
                uint32_t sort)
{
    const struct standin_piece piece = { kind, 0, context, number_of(stream), "varve_scale", bytes,
                                         sort };
    return call(DRIVER, function, &piece);
}

int cuDeviceGet(int *out, int index)
{
    *out = index;
    return is_initialised ? SUCCESS : NOT_INITIALIZED;
}

int cuDeviceGetName(char *out, int bytes, int device)
{
    const char *name = getenv("STANDIN_NAME");
    (void)device;
    return snprintf(out, (size_t)bytes, "%s", name != NULL ? name : "a stand-in") > 0
               ? SUCCESS : NOT_INITIALIZED;
}

/* An H100's, as its driver tells; another compute capability with STANDIN_CAPABILITY. */
int cuDeviceGetAttribute(int *out, int attribute, int device)
{
    const char *capability = getenv("STANDIN_CAPABILITY");
    const int major = capability != NULL ? atoi(capability) : 9;
    static const struct { int attribute, value; } values[] = {
        { 13, 1980000 }, { 16, 132 }, { 36, 2619000 }, { 37, 5120 }, { 76, 0 }
    };
    (void)device;
    *out = attribute == 75 ? major : 0;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        if (values[i].attribute == attribute)
            *out = values[i].value;
    return call(DRIVER, "cuDeviceGetAttribute", NULL);
}

int cuDeviceTotalMem_v2(size_t *out, int device)
{
    (void)device;
    *out = 85520809984;
    return SUCCESS;
}

int cuDeviceGetUuid_v2(unsigned char *out, int device)
{
    const char *gpus = getenv("STANDIN_GPUS");
    const unsigned char known[16] = { 1, 0xd5, 0xcb, 0xa7 };
    for (int i = 0; i < 16; i++)
        out[i] = (unsigned char)(i + 16 * device);
    if (gpus != NULL && device < (int)strlen(gpus)) {
        memcpy(out, known, sizeof known);
        out[0] = (unsigned char)(1 + 16 * (gpus[device] - '0'));
    }
    return SUCCESS;
}

int cuCtxGetDevice(int *out)
{
    *out = 0;
    return SUCCESS;
}

int cuDevicePrimaryCtxRetain(void **out, int device)
{
    (void)device;
    *out = &context;
    return SUCCESS;
}

int cuCtxSetCurrent(void *of)
{
    (void)of;
    return SUCCESS;
}

int cuModuleLoadData(void **out, const void *image)
{
    *out = &context;
    return strstr(image, ".entry") != NULL ? SUCCESS : NOT_INITIALIZED;
}

int cuModuleGetFunction(void **out, void *module, const char *name)
{
    *out = module;
    return strcmp(name, "varve_scale") == 0 ? SUCCESS : NOT_INITIALIZED;
}

int cuMemAlloc_v2(uint64_t *out, size_t bytes)
{
    *out = 0x7f0000000000;
    return work("cuMemAlloc_v2", STANDIN_MEMORY, NULL, bytes, 1);
}

int cuMemFree_v2(uint64_t address)
{
    (void)address;
    return work("cuMemFree_v2", STANDIN_MEMORY, NULL, 4 << 20, 2);
}

int cuStreamCreate(void **out, unsigned flags)
{
    static uintptr_t streams = 12;
    (void)flags;
    *out = (void *)__atomic_add_fetch(&streams, 1, __ATOMIC_RELAXED);
    return SUCCESS;
}

int cuStreamSynchronize(void *stream)
{
    return work("cuStreamSynchronize", STANDIN_WAIT, stream, 0, 3);
}

int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, void *stream)
{
    (void)to;
    (void)from;
    return work("cuMemcpyHtoDAsync_v2", STANDIN_COPY, stream, bytes, 1);
}

int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, void *stream)
{
    (void)to;
    (void)from;
    return work("cuMemcpyDtoHAsync_v2", STANDIN_COPY, stream, bytes, 2);
}

int cuMemsetD8Async(uint64_t to, unsigned char value, size_t bytes, void *stream)
{
    (void)to;
    (void)value;
    return work("cuMemsetD8Async", STANDIN_SET, stream, bytes, 0);
}

/* Six sizes, the shared memory, and the stream; then what is not looked at. */
int cuLaunchKernel(void *function, ...)
{
    va_list rest;
    void *stream;
    (void)function;
    va_start(rest, function);
    for (int i = 0; i < 7; i++)
        (void)va_arg(rest, unsigned);
    stream = va_arg(rest, void *);
    va_end(rest);
    return work("cuLaunchKernel", STANDIN_KERNEL, stream, 0, 0);
}
