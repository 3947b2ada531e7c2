/* SPDX-License-Identifier: Apache-2.0 */
/* torch_loop.c — what bench/torch_overhead.py switches and calls: observers of PyTorch, one at a
 * time, and operators in a tight loop of C. It has a recorder of its own, apart from any
 * libvarve.so in the process. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "collect/process/peek.h"
#include "collect/torch/record.h"
#include "torch_least.h"
#include "varve/varve.h"

#define SHOWN __attribute__((visibility("default")))
SHOWN const char *bench_open(const char *folder);
SHOWN void bench_mode(int wanted);
SHOWN double bench_loop(void *const tensors[4], int with_four, long count);
SHOWN double bench_operators(void *const tensors[4], int with_four);

enum mode {
    BARE,
    RECORD,
    RECORD_SHAPES,
    EMPTY,
    EMPTY_BOXED,
    LEAST_TIMES,
    LEAST_SHAPES,
    LEAST_TIMES_IN_NEW_PAGES,
    LEAST_SHAPES_IN_NEW_PAGES,
    RECORD_DATA
};

static struct vv_torch_api api;
static struct vv_torch_layout layout;
static enum mode mode;
static uint64_t handle; /* of the callback of any mode from EMPTY on */
static void *(*zero)(void **tensor);
static void *(*lerp)(void *const *from, void *const *to, void *const *weight, void **out_tensor);

static bool read_memory(void *state, const void *address, void *out, size_t bytes)
{
    (void)state;
    return vv_peek(address, out, bytes);
}

static void *empty_start(void **out_context, const void *guard)
{
    (void)guard;
    *out_context = NULL;
    return out_context;
}

static void empty_end(const void *guard, void *context)
{
    (void)guard;
    (void)context;
}

/* Records into `folder`. NULL, or what is missing. */
const char *bench_open(const char *folder)
{
    static struct varve_error error;
    const struct vv_torch_reader reader = { read_memory, NULL };
    struct varve_session_options options = VARVE_SESSION_OPTIONS_INIT;
    struct vv_module library;
    const char *missing;
    options.output = folder;
    if (!vv_module_find("libtorch_cpu.so", &library))
        return "libtorch_cpu.so";
    if (!vv_torch_api_find(&api, &library, &missing))
        return missing;
    vv_torch_layout_find(&api, &reader, &layout);
    void *symbols[] = { dlsym(api.library, "_ZN2at4_ops5zero_4callERNS_6TensorE"),
                        dlsym(api.library,
                              "_ZN2at4_ops15lerp_Tensor_out4callERKNS_6TensorES4_S4_RS2_") };
    memcpy(&zero, &symbols[0], sizeof zero);
    memcpy(&lerp, &symbols[1], sizeof lerp);
    if (symbols[0] == NULL || symbols[1] == NULL)
        return "zero_ or lerp.out";
    if (layout.rung < VV_TORCH_LISTS)
        return "a part of the layout";
    if (!bench_least_open(&layout, folder))
        return "memory";
    return varve_session_start(&options, &error) == VARVE_OK ? NULL : error.message;
}

static void observe(void)
{
    const bool of_shapes = mode == LEAST_SHAPES || mode == LEAST_SHAPES_IN_NEW_PAGES;
    struct vv_torch_callback callback = { empty_start, empty_end, 1.0,
                                          { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 },
                                          of_shapes || mode == EMPTY_BOXED, 0, 0 };
    if (mode >= LEAST_TIMES) {
        bench_least_use_new_pages(mode >= LEAST_TIMES_IN_NEW_PAGES);
        callback.start = of_shapes ? bench_least_shapes : bench_least_times;
        callback.end = bench_least_end;
    }
    handle = api.add(callback);
}

void bench_mode(int wanted)
{
    const bool was_data = mode == RECORD_DATA;
    if (mode >= EMPTY && !was_data)
        api.remove(handle);
    else if (mode != BARE)
        vv_torch_record_end();
    mode = (enum mode)wanted;
    const bool is_data = mode == RECORD_DATA;
    const struct vv_torch_wishes wishes = { .inputs = mode == RECORD_SHAPES || is_data,
                                            .data = is_data };
    if (mode >= EMPTY && !is_data)
        observe();
    else if (mode != BARE && !vv_torch_record_begin(&api, &layout, &wishes))
        mode = BARE;
}

/* How many operators one pass of bench_loop runs. */
double bench_operators(void *const tensors[4], int with_four)
{
    const long passes = 100;
    struct vv_torch_callback callback = { bench_least_count, empty_end, 1.0,
                                          { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 }, 0, 0, 0 };
    bench_least_counted = 0;
    handle = api.add(callback);
    bench_loop(tensors, with_four, passes);
    api.remove(handle);
    return (double)bench_least_counted / (double)passes;
}

/* Nanoseconds of thread time for one zero_ of `tensors[0]`, or one lerp.out of all four (TensorImpl
 * *). */
double bench_loop(void *const tensors[4], int with_four, long count)
{
    struct timespec begin, end;
    void *out = tensors[3], *first = tensors[0];
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    for (long i = 0; i < count; i++) {
        if (with_four)
            lerp(&tensors[0], &tensors[1], &tensors[2], &out);
        else
            zero(&first);
    }
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
    return ((double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec)) /
           (double)count;
}
