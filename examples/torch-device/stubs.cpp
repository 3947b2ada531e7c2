// SPDX-License-Identifier: Apache-2.0
// stubs.cpp — PyTorch's ProfilerStubs of the device PrivateUse1, served by a backend of Varve.
//
// This file is all that a device's extension needs for PyTorch's profiler once the device has a
// backend (include/varve/backend.h). The vtable of ProfilerStubs differs between versions of
// PyTorch, so this file is compiled with the extension, against the PyTorch that is installed.
#include "stubs.h"

#include <atomic>
#include <chrono>
#include <stdexcept>

#include <torch/csrc/profiler/stubs/base.h>

#include "varve/backend.h"

namespace {

uint32_t backend;
std::atomic<int64_t> elapsed_count, elapsed_ns;

void check(enum varve_code code, const struct varve_error &error)
{
    if (code != VARVE_OK)
        throw std::runtime_error(error.message);
}

struct EventDeleter {
    void operator()(void *pointer) const
    {
        auto *event = static_cast<struct varve_device_event *>(pointer);
        varve_event_release(event);
        delete event;
    }
};

struct VarveStubs final : torch::profiler::impl::ProfilerStubs {
    // All three are out parameters and may be null. `host_ns` is a time of the system's clock.
    void record(c10::DeviceIndex *device, torch::profiler::impl::ProfilerVoidEventStub *event,
                int64_t *host_ns) const override
    {
        struct varve_error error;
        const struct varve_device_place place = { VARVE_DEVICE_ANY, 0, nullptr };
        auto *recorded = new varve_device_event{};
        std::shared_ptr<void> owner(recorded, EventDeleter());
        if (host_ns != nullptr)
            *host_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(
                           std::chrono::system_clock::now().time_since_epoch())
                           .count();
        check(varve_event_record(backend, &place, recorded, nullptr, &error), error);
        if (device != nullptr)
            *device = static_cast<c10::DeviceIndex>(recorded->device);
        if (event != nullptr)
            *event = owner;
    }

    // Waits for both events; microseconds.
    float elapsed(const torch::profiler::impl::ProfilerVoidEventStub *from,
                  const torch::profiler::impl::ProfilerVoidEventStub *to) const override
    {
        struct varve_error error;
        int64_t ns = 0;
        if (*from == nullptr || *to == nullptr)
            return 0;
        check(varve_event_elapsed(static_cast<varve_device_event *>(from->get()),
                                  static_cast<varve_device_event *>(to->get()), &ns, &error),
              error);
        elapsed_count++;
        elapsed_ns += ns / 1000 * 1000; // PyTorch keeps whole microseconds
        return static_cast<float>(ns) / 1000;
    }

    void mark(const char *name) const override
    {
        struct varve_device_work work = VARVE_DEVICE_WORK_INIT;
        work.backend = backend;
        work.name = name;
        varve_device_mark(&work);
    }

    void rangePush(const char *name) const override
    {
        struct varve_device_work work = VARVE_DEVICE_WORK_INIT;
        work.backend = backend;
        work.name = name;
        varve_device_push(&work);
    }

    void rangePop() const override { varve_device_pop(); }

    bool enabled() const override
    {
        const struct varve_backend *table = varve_backend_table(backend);
        return table != nullptr && table->enabled(table) != 0;
    }

    void onEachDevice(std::function<void(int)> visit) const override
    {
        struct varve_error error;
        auto call = [](uint32_t device, void *function) {
            (*static_cast<std::function<void(int)> *>(function))(static_cast<int>(device));
        };
        check(varve_devices_each(backend, call, &visit, &error), error);
    }

    void synchronize() const override
    {
        struct varve_error error;
        check(varve_devices_synchronize(backend, &error), error);
    }
};

} // namespace

uint32_t varve_stubs_register(const char *name)
{
    static VarveStubs stubs; // PyTorch keeps the pointer
    struct varve_error error;
    check(varve_backend_open(name, &backend, &error), error);
    torch::profiler::impl::registerPrivateUse1Methods(&stubs);
    return backend;
}

std::pair<int64_t, int64_t> varve_stubs_elapsed()
{
    return { elapsed_count, elapsed_ns };
}
