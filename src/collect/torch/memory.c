/* SPDX-License-Identifier: Apache-2.0 */
/* memory.c — records every block that PyTorch takes for tensors on the CPU, and those that its
 * caching allocator gives out on devices. This library defines c10::alloc_cpu and c10::free_cpu,
 * which all of PyTorch's libraries call through the dynamic linker; and
 * c10::reportMemoryUsageToProfiler, by which the allocators of devices tell of each block. That
 * works only if this library was loaded before them (LD_PRELOAD). Pinned and shared memory, NumPy's
 * buffers and oneDNN's scratch memory come from elsewhere.
 *
 * alloc_cpu throws if there is no memory. Nothing here has to be undone then. */
#include "collect/torch/memory.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocator_counters.h"
#include "base/device_kind.h"
#include "base/system/clock.h"
#include "collect/process/collector.h"
#include "collect/process/modules.h"
#include "record/stream/recorder.h"
#include "varve/device.h"
#include "varve/varve.h"

#define ALLOC _ZN3c109alloc_cpuEm
#define FREE _ZN3c108free_cpuEPv
#define REPORT _ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE
#define TEXT_OF(name) #name
#define TEXT(name) TEXT_OF(name)
#define DEVICES 64u
#define ALIGNMENT 64u /* the same as in c10                                                      */

VARVE_API void *ALLOC(size_t bytes);
VARVE_API void FREE(void *block);
/* A c10::Device is two bytes, which come in one register: its type, then its index. */
struct device { int8_t type, index; };
VARVE_API void REPORT(void *block, int64_t bytes, size_t allocated, size_t reserved,
                      struct device device);

static void *(*torch_alloc)(size_t bytes); /* both atomic; the first caller finds them */
static void (*torch_free)(void *block);
typedef void report_function(void *block, int64_t bytes, size_t allocated, size_t reserved,
                             struct device device);
static report_function *torch_report;      /* atomic */
static bool is_wanted;                     /* atomic */

static void find(void)
{
    struct vv_module library;
    void *handle = vv_module_find("libc10.so", &library) ? vv_module_open(&library) : NULL;
    if (handle == NULL)
        return;
    void *alloc = dlsym(handle, TEXT(ALLOC)), *release = dlsym(handle, TEXT(FREE)),
         *report = dlsym(handle, TEXT(REPORT));
    if (report == NULL)
        dlerror(); /* clears it: the program's next dlerror must not show it */
    __atomic_store(&torch_report, (report_function **)&report, __ATOMIC_RELEASE);
    if (alloc == NULL || release == NULL)
        return;
    __atomic_store(&torch_free, (void (**)(void *))&release, __ATOMIC_RELAXED);
    __atomic_store(&torch_alloc, (void *(**)(size_t))&alloc, __ATOMIC_RELEASE);
}

/* From now on every block is recorded, or no block is. */
static void want(bool wants)
{
    __atomic_store_n(&is_wanted, wants, __ATOMIC_RELAXED);
}

/* Tests whose `ALLOC` is first in the program's global scope, where the linker searches before
 * PyTorch's libraries. This function compares the files. RTLD_DEFAULT would not do: it finds this
 * library's `ALLOC` also when this library was loaded with local scope. The name `ALLOC` itself
 * would not do either: it may be bound to another library here. */
bool vv_torch_memory_is_between(void)
{
    Dl_info first, own;
    void *program = dlopen(NULL, RTLD_LAZY | RTLD_NOLOAD), *symbol = NULL;
    if (program != NULL) {
        symbol = dlsym(program, TEXT(ALLOC));
        dlclose(program);
    }
    if (symbol == NULL)
        dlerror(); /* clears it: the program's next dlerror must not show it */
    return symbol != NULL && dladdr(symbol, &first) != 0 && dladdr(&is_wanted, &own) != 0 &&
           first.dli_fbase == own.dli_fbase;
}

void *ALLOC(size_t bytes)
{
    void *(*alloc)(size_t) = __atomic_load_n(&torch_alloc, __ATOMIC_ACQUIRE);
    if (VARVE_UNLIKELY(alloc == NULL)) {
        find();
        alloc = __atomic_load_n(&torch_alloc, __ATOMIC_ACQUIRE);
    }
    void *block = NULL;
    if (VARVE_UNLIKELY(alloc == NULL)) /* just in case: only PyTorch calls this, and it has c10 */
        return posix_memalign(&block, ALIGNMENT, bytes) == 0 ? block : NULL;
    block = alloc(bytes);
    if (__atomic_load_n(&is_wanted, __ATOMIC_RELAXED) && bytes != 0)
        varve_alloc(block, bytes, VARVE_DEVICE_CPU);
    return block;
}

/* Records the free before the block is given back: another thread may get the block a moment
 * later. */
void FREE(void *block)
{
    void (*release)(void *) = __atomic_load_n(&torch_free, __ATOMIC_ACQUIRE);
    if (VARVE_UNLIKELY(release == NULL)) {
        find();
        release = __atomic_load_n(&torch_free, __ATOMIC_ACQUIRE);
    }
    if (__atomic_load_n(&is_wanted, __ATOMIC_RELAXED) && block != NULL)
        varve_free(block, VARVE_DEVICE_CPU);
    if (VARVE_UNLIKELY(release == NULL))
        free(block);
    else
        release(block);
}

/* ---- what the allocators of devices hold ---- */

/* By index: the first kind of device that has the index. */
static struct {
    uint32_t id;       /* of the device; 0 = none yet; atomic                                   */
    uint32_t track;    /* 0 = not added yet, or there is no room; atomic                        */
    uint64_t reserved; /* told of last; atomic                                                  */
    uint32_t epoch;    /* of the recording that was told; atomic                                */
} holders[DEVICES];

/* Where what it holds has changed: that, and what it has given out. */
static void tell_reserved(uint32_t id, uint64_t reserved_bytes, uint64_t allocated_bytes)
{
    uint32_t index = id & UINT16_MAX;
    const struct varve_track_info info = { sizeof info, VARVE_CLOCK_MONOTONIC, "caching allocator",
                                           id, 0, -1, -1 };
    uint32_t none = 0, track = 0;
    if (index >= DEVICES || (varve_layers() & VARVE_LAYER_DEVICE) == 0)
        return;
    if (__atomic_compare_exchange_n(&holders[index].id, &none, id, false, __ATOMIC_RELAXED,
                                    __ATOMIC_RELAXED) &&
        varve_track_add(&info, &track, NULL) == VARVE_OK)
        __atomic_store_n(&holders[index].track, track, __ATOMIC_RELEASE);
    track = __atomic_load_n(&holders[index].track, __ATOMIC_ACQUIRE);
    if (track == 0 || __atomic_load_n(&holders[index].id, __ATOMIC_RELAXED) != id)
        return;
    uint32_t epoch = vv_epoch();
    bool is_told = __atomic_exchange_n(&holders[index].epoch, epoch, __ATOMIC_RELAXED) == epoch;
    if (__atomic_exchange_n(&holders[index].reserved, reserved_bytes, __ATOMIC_RELAXED) ==
            reserved_bytes && is_told)
        return;
    struct varve_device_counter_info counter = {
        sizeof counter, track, VV_COUNTER_GIVEN_OUT, (int64_t)vv_clock_monotonic_ns(),
        (double)allocated_bytes
    };
    varve_device_counter(&counter);
    counter.name = VV_COUNTER_RESERVED;
    counter.value = (double)reserved_bytes;
    varve_device_counter(&counter);
}

/* `bytes` is negative where the block goes back to the allocator. Blocks on the CPU come here only
 * while PyTorch's profiler asks for them, and alloc_cpu has them already. */
void REPORT(void *block, int64_t bytes, size_t allocated, size_t reserved, struct device device)
{
    report_function *report = __atomic_load_n(&torch_report, __ATOMIC_ACQUIRE);
    if (VARVE_UNLIKELY(report == NULL)) {
        find();
        report = __atomic_load_n(&torch_report, __ATOMIC_ACQUIRE);
    }
    uint32_t kind = vv_device_kind_from_torch(device.type);
    uint32_t id = VARVE_DEVICE(kind, (uint32_t)(device.index > 0 ? device.index : 0));
    if (__atomic_load_n(&is_wanted, __ATOMIC_RELAXED) && block != NULL && bytes != 0 &&
        kind != VARVE_DEVICE_KIND_CPU) {
        if (bytes > 0)
            varve_alloc(block, (uint64_t)bytes, id);
        else
            varve_free(block, id);
        tell_reserved(id, reserved, allocated);
    }
    if (report != NULL)
        report(block, bytes, allocated, reserved, device);
}

extern const struct vv_collector vv_collector_memory;
const struct vv_collector vv_collector_memory = { .want = want };
