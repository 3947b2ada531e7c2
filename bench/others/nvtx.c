/* SPDX-License-Identifier: Apache-2.0 */
/* nvtx.c — NVTX push and pop with a tool attached that reads the clock and stores 16 bytes: the
 * price of the interface itself. The tool is this shared object. */
#include <dlfcn.h>
#include <nvtx3/nvToolsExt.h>
#include <stddef.h>
#include <stdlib.h>

#include "others/other.h"
#include "others/tool_ring.h"

static _Thread_local struct tool_ring ring;
static int is_attached;

static int on_push(const char *message)
{
    tool_ring_put(&ring, (uint64_t)(uintptr_t)message);
    return 0;
}

static int on_pop(void)
{
    tool_ring_put(&ring, 0);
    return 0;
}

/* NVTX calls it at the first push. */
__attribute__((visibility("default"))) int
InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_table);
int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_table)
{
    const NvtxExportTableCallbacks *callbacks = get_table(NVTX_ETID_CALLBACKS);
    NvtxFunctionTable table = NULL;
    unsigned int size = 0;
    if (callbacks == NULL ||
        !callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &table, &size) ||
        size <= NVTX_CBID_CORE_RangePop)
        return 0;
    *table[NVTX_CBID_CORE_RangePushA] = (NvtxFunctionPointer)on_push;
    *table[NVTX_CBID_CORE_RangePop] = (NvtxFunctionPointer)on_pop;
    is_attached = 1;
    return 1;
}

static const char *start(void)
{
    Dl_info self;
    if (dladdr((const void *)&bench_other, &self) == 0 || self.dli_fname == NULL)
        return "it does not find its own path";
    setenv("NVTX_INJECTION64_PATH", self.dli_fname, 1);
    nvtxRangePushA("work");
    nvtxRangePop();
    unsetenv("NVTX_INJECTION64_PATH");
    return is_attached ? NULL : "NVTX did not take the tool";
}

static void run(long count)
{
    for (long i = 0; i < count; i++) {
        nvtxRangePushA("work");
        __asm__ volatile("" ::: "memory");
        nvtxRangePop();
        __asm__ volatile("" ::: "memory");
    }
}

static void stop(void)
{
}

const struct bench_other bench_other = { "a tool of clock and 16 bytes", start, run, stop };
