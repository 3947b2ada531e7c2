// SPDX-License-Identifier: Apache-2.0
// device.cpp — a device for PyTorch that computes with the processor's kernels in the host's
// memory: the least that makes `torch.randn(4, 4, device="varve")` work.
//
// Each kernel that runs is told to Varve, as a device's runtime would tell it: between two events,
// on the device's stream. So `varve record` sees the kernels without PyTorch's profiler.
#include <cstdlib>
#include <cstring>
#include <new>

#include <ATen/EmptyTensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/view_native.h>
#include <c10/core/Allocator.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <torch/csrc/utils/pybind.h>
#include <torch/library.h>

#include "stubs.h"
#include "varve/backend.h"

namespace {

constexpr auto kDevice = c10::DeviceType::PrivateUse1;
uint32_t backend;

// ---- memory ----

void free_block(void *block)
{
    std::free(block);
}

struct Allocator final : c10::Allocator {
    c10::DataPtr allocate(size_t bytes) override
    {
        void *block = bytes != 0 ? std::aligned_alloc(64, (bytes + 63) / 64 * 64) : nullptr;
        if (bytes != 0 && block == nullptr)
            throw std::bad_alloc();
        return { block, block, free_block, c10::Device(kDevice, 0) };
    }
    c10::DeleterFnPtr raw_deleter() const override { return free_block; }
    void copy_data(void *to, const void *from, size_t bytes) const override
    {
        std::memcpy(to, from, bytes);
    }
};

Allocator allocator;
REGISTER_ALLOCATOR(kDevice, &allocator);

// ---- the device: one, with one stream ----

struct Guard final : c10::impl::DeviceGuardImplInterface {
    c10::DeviceType type() const override { return kDevice; }
    c10::Device exchangeDevice(c10::Device) const override { return c10::Device(kDevice, 0); }
    c10::Device getDevice() const override { return c10::Device(kDevice, 0); }
    void setDevice(c10::Device) const override {}
    void uncheckedSetDevice(c10::Device) const noexcept override {}
    c10::Stream getStream(c10::Device device) const override
    {
        return c10::Stream(c10::Stream::DEFAULT, device);
    }
    c10::Stream exchangeStream(c10::Stream stream) const override { return stream; }
    c10::DeviceIndex deviceCount() const noexcept override { return 1; }
};

C10_REGISTER_GUARD_IMPL(PrivateUse1, Guard);

// ---- work that is told to Varve ----

class Work {
public:
    Work(const char *name, uint32_t kind, uint64_t bytes = 0)
    {
        struct varve_device_work work = VARVE_DEVICE_WORK_INIT;
        work.backend = backend;
        work.kind = kind;
        work.name = name;
        work.bytes = bytes;
        number = varve_device_begin(&work);
    }
    ~Work() { varve_device_end(number); }
    Work(const Work &) = delete;
    Work &operator=(const Work &) = delete;

private:
    uint64_t number;
};

// ---- tensors ----

at::Tensor empty(c10::IntArrayRef size, std::optional<at::ScalarType> type,
                 std::optional<at::Layout>, std::optional<at::Device>, std::optional<bool>,
                 std::optional<at::MemoryFormat> format)
{
    return at::detail::empty_generic(size, &allocator,
                                     c10::DispatchKeySet(c10::DispatchKey::PrivateUse1),
                                     c10::dtype_or_default(type), format);
}

at::Tensor empty_strided(c10::IntArrayRef size, c10::IntArrayRef stride,
                         std::optional<at::ScalarType> type, std::optional<at::Layout>,
                         std::optional<at::Device>, std::optional<bool>)
{
    return at::detail::empty_strided_generic(size, stride, &allocator,
                                             c10::DispatchKeySet(c10::DispatchKey::PrivateUse1),
                                             c10::dtype_or_default(type));
}

at::Tensor as_strided(const at::Tensor &self, c10::IntArrayRef size, c10::IntArrayRef stride,
                      std::optional<int64_t> offset)
{
    return at::native::as_strided_tensorimpl(self, size, stride, offset);
}

// The processor's view of a tensor's memory.
at::Tensor on_host(const at::Tensor &tensor)
{
    if (!tensor.defined() || tensor.device().type() != kDevice)
        return tensor;
    return at::from_blob(tensor.data_ptr(), tensor.sizes(), tensor.strides(),
                         tensor.options().device(c10::kCPU));
}

// A tensor of the device in the memory of one of the processor's.
at::Tensor on_device(const at::Tensor &tensor)
{
    if (!tensor.defined() || tensor.device().type() == kDevice)
        return tensor;
    return at::for_blob(tensor.data_ptr(), tensor.sizes())
        .strides(tensor.strides())
        .deleter([tensor](void *) {})
        .options(tensor.options().device(kDevice, 0))
        .target_device(c10::Device(kDevice, 0))
        .make_tensor();
}

at::Tensor copy_from(const at::Tensor &self, const at::Tensor &to, bool)
{
    Work work("copy", VARVE_ACTIVITY_COPY, to.nbytes());
    on_host(to).copy_(on_host(self));
    return to;
}

at::Tensor copy_from_and_resize(const at::Tensor &self, const at::Tensor &to)
{
    if (to.sizes() != self.sizes())
        to.resize_(self.sizes());
    return copy_from(self, to, false);
}

const at::Tensor &resize(const at::Tensor &self, c10::IntArrayRef size,
                         std::optional<at::MemoryFormat>)
{
    auto *tensor = self.unsafeGetTensorImpl();
    tensor->set_sizes_contiguous(size);
    size_t bytes = self.nbytes() + tensor->storage_offset() * self.itemsize();
    if (tensor->storage().nbytes() < bytes) {
        c10::DataPtr larger = allocator.allocate(bytes);
        std::memcpy(larger.get(), tensor->storage().data(), tensor->storage().nbytes());
        tensor->storage().set_data_ptr_noswap(std::move(larger));
        tensor->storage().set_nbytes(bytes);
    }
    return self;
}

at::Scalar local_scalar(const at::Tensor &self)
{
    return on_host(self).item();
}

// ---- kernels: the processor's, in the same memory ----

c10::IValue convert(const c10::IValue &value, at::Tensor (*to)(const at::Tensor &))
{
    if (value.isTensor())
        return to(value.toTensor());
    if (value.isTensorList()) {
        c10::List<at::Tensor> list;
        for (const at::Tensor &tensor : value.toTensorVector())
            list.push_back(to(tensor));
        return list;
    }
    if (value.isOptionalTensorList()) {
        c10::List<std::optional<at::Tensor>> list;
        for (const std::optional<at::Tensor> &tensor : value.toOptionalTensorVector())
            list.push_back(tensor.has_value() ? std::optional<at::Tensor>(to(*tensor))
                                              : std::nullopt);
        return list;
    }
    if (value.isDevice() && to == on_host)
        return c10::Device(c10::kCPU);
    return value;
}

// What an operator returns is one of its arguments if its schema says so, else a new tensor.
c10::IValue result_of(const c10::Argument &returned, const c10::IValue &value,
                      const c10::FunctionSchema &schema, const std::vector<c10::IValue> &arguments)
{
    const auto *alias = returned.alias_info();
    for (size_t i = 0; alias != nullptr && i < schema.arguments().size(); i++) {
        const auto *other = schema.arguments()[i].alias_info();
        if (other != nullptr && *other == *alias)
            return arguments[i];
    }
    return convert(value, on_device);
}

void run_kernel(const c10::OperatorHandle &op, torch::jit::Stack *stack)
{
    const auto &schema = op.schema();
    size_t count = schema.arguments().size(), first = stack->size() - count;
    std::vector<c10::IValue> arguments(stack->begin() + static_cast<std::ptrdiff_t>(first),
                                       stack->end());
    for (size_t i = first; i < stack->size(); i++)
        (*stack)[i] = convert((*stack)[i], on_host);
    {
        Work work(schema.name().c_str(), VARVE_ACTIVITY_KERNEL);
        op.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::CPU), stack);
    }
    size_t results = schema.returns().size(), at = stack->size() - results;
    for (size_t i = 0; i < results; i++)
        (*stack)[at + i] = result_of(schema.returns()[i], (*stack)[at + i], schema, arguments);
}

} // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m)
{
    m.impl("empty.memory_format", empty);
    m.impl("empty_strided", empty_strided);
    m.impl("as_strided", as_strided);
    m.impl("view", at::native::view);
    m.impl("resize_", resize);
    m.impl("_copy_from", copy_from);
    m.impl("_copy_from_and_resize", copy_from_and_resize);
    m.impl("_local_scalar_dense", local_scalar);
}

TORCH_LIBRARY_IMPL(_, PrivateUse1, m)
{
    m.fallback(torch::CppFunction::makeFromBoxedFunction<&run_kernel>());
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m)
{
    m.def("open", [](const char *name) { backend = varve_stubs_register(name); },
          "Serves PyTorch's profiler by this backend of Varve.");
    m.def("elapsed", varve_stubs_elapsed,
          "How many times between two events PyTorch asked for, and their sum in ns.");
    m.def("told", [] {
        struct varve_backend_stats stats = {};
        stats.struct_size = sizeof stats;
        if (varve_backend_stats_read(backend, &stats, nullptr) != VARVE_OK)
            return std::pair<uint64_t, uint64_t>(0, 0);
        return std::pair<uint64_t, uint64_t>(stats.recorded, stats.total_ns);
    }, "How many kernels and copies Varve's trace was told of, and their time in ns.");
}
