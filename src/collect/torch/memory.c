/* SPDX-License-Identifier: Apache-2.0 */
/* memory.c — every block that PyTorch takes for tensors on the CPU: we stand before c10::alloc_cpu and
 * c10::free_cpu, which all of its libraries call through the dynamic linker. Only where this library was loaded
 * before them (LD_PRELOAD). Pinned and shared memory, NumPy's buffers and oneDNN's scratch come from elsewhere.
 *
 * alloc_cpu throws where there is no memory: nothing here has to be undone then. */
#include "collect/torch/memory.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "collect/process/collector.h"
#include "collect/process/modules.h"
#include "varve/varve.h"

#define ALLOC _ZN3c109alloc_cpuEm
#define FREE _ZN3c108free_cpuEPv
#define TEXT_OF(name) #name
#define TEXT(name) TEXT_OF(name)
#define ALIGNMENT 64u /* c10's own                                                               */

VARVE_API void *ALLOC(size_t bytes);
VARVE_API void FREE(void *block);

static void *(*torch_alloc)(size_t bytes); /* atomic, both: found once, by whoever is first        */
static void (*torch_free)(void *block);
static bool is_wanted;                     /* atomic */

static void find(void)
{
    struct vv_module library;
    void *handle = vv_module_find("libc10.so", &library) ? vv_module_open(&library) : NULL;
    if (handle == NULL)
        return;
    void *alloc = dlsym(handle, TEXT(ALLOC)), *release = dlsym(handle, TEXT(FREE));
    if (alloc == NULL || release == NULL)
        return;
    __atomic_store(&torch_free, (void (**)(void *))&release, __ATOMIC_RELAXED);
    __atomic_store(&torch_alloc, (void *(**)(size_t))&alloc, __ATOMIC_RELEASE);
}

/* From now on each block is recorded, or none. */
static void want(bool wants)
{
    __atomic_store_n(&is_wanted, wants, __ATOMIC_RELAXED);
}

/* Whose `ALLOC` is the first in the program's own scope, where the linker looks before PyTorch's. By files: RTLD_DEFAULT
 * also finds ours where only those see it who asked for this library, and `ALLOC` here may be bound to another's. */
bool vv_torch_memory_is_between(void)
{
    Dl_info first, own;
    void *program = dlopen(NULL, RTLD_LAZY | RTLD_NOLOAD), *symbol = NULL;
    if (program != NULL) {
        symbol = dlsym(program, TEXT(ALLOC));
        dlclose(program);
    }
    if (symbol == NULL)
        dlerror(); /* the program's own next dlerror is not to tell of ours */
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
    if (VARVE_UNLIKELY(alloc == NULL)) /* nobody calls us but c10: only to be whole */
        return posix_memalign(&block, ALIGNMENT, bytes) == 0 ? block : NULL;
    block = alloc(bytes);
    if (__atomic_load_n(&is_wanted, __ATOMIC_RELAXED) && bytes != 0)
        varve_alloc(block, bytes, VARVE_DEVICE_CPU);
    return block;
}

/* Before the block is given back: another thread may have it a moment later. */
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

extern const struct vv_collector vv_collector_memory;
const struct vv_collector vv_collector_memory = { .want = want };
