// SPDX-License-Identifier: Apache-2.0
// record_function.cc — PyTorch's RecordFunction with a callback that reads the clock and stores 16
// bytes at begin
// and at end: what an operator pays for being observed, before any profiler does its work.
#include <ATen/record_function.h>

#include <memory>

#include "others/other.h"
#include "others/tool_ring.h"

static thread_local tool_ring ring;
static at::CallbackHandle handle;

static std::unique_ptr<at::ObserverContext> on_begin(const at::RecordFunction &function)
{
    tool_ring_put(&ring, reinterpret_cast<uintptr_t>(function.name()));
    return nullptr;
}

static void on_end(const at::RecordFunction &, at::ObserverContext *)
{
    tool_ring_put(&ring, 0);
}

static const char *start()
{
    handle = at::addGlobalCallback(at::RecordFunctionCallback(on_begin, on_end));
    return nullptr;
}

static void run(long count)
{
    for (long i = 0; i < count; i++) {
        RECORD_FUNCTION("work", {});
        __asm__ volatile("" ::: "memory");
    }
}

static void stop()
{
    at::removeCallback(handle);
}

extern "C" const struct bench_other bench_other = { "a callback of clock and 16 bytes", start, run,
                                                    stop };
