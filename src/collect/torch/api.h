/* SPDX-License-Identifier: Apache-2.0 */
/* api.h — the functions of PyTorch that Varve calls, by their C++ names. The names are the same
 * from 1.13 to 2.15. The declarations are Varve's own, without a header of PyTorch.
 *
 * An at::Tensor is one pointer, to its TensorImpl. Where C++ returns a tensor, the caller passes
 * the place for it as a hidden first argument. That is the System V ABI of x86-64 only: AArch64
 * passes the place in x8. */
#ifndef VV_COLLECT_TORCH_API_H
#define VV_COLLECT_TORCH_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collect/process/modules.h"

#define VV_TORCH_SCOPES 10

/* at::RecordFunctionCallback. */
struct vv_torch_callback {
    /* Returns a unique_ptr: sets *out_context to NULL, and returns `out_context`. */
    void *(*start)(void **out_context, const void *guard);
    void (*end)(const void *guard, void *context);
    double probability;
    uint8_t scopes[VV_TORCH_SCOPES];
    uint8_t needs_inputs, needs_outputs, needs_ids;
};
_Static_assert(sizeof(struct vv_torch_callback) == 40, "at::RecordFunctionCallback");

/* std::variant<std::string_view, std::reference_wrapper<const FunctionSchema>>, passed on the
 * stack. */
struct vv_torch_name {
    size_t length;
    const char *text;
    uint64_t which;
};

struct vv_torch_api {
    void *library;  /* libtorch_cpu.so                                                           */
    char version[40]; /* "2.15.0"; "" = not known                                                */

    /* Without these nothing is recorded. */
    uint64_t (*add)(struct vv_torch_callback callback);
    void (*remove)(uint64_t handle);
    const char *(*name)(const void *guard);
    size_t (*num_inputs)(const void *guard);
    uint64_t (*current_thread)(void);

    bool (*is_async)(const void *guard);
    bool (*is_profiled)(void); /* does torch.profiler record this thread? NULL = absent */

    /* For the self-test; NULL = absent. */
    void (*construct)(void *guard, uint8_t scope);
    void (*destroy)(void *guard);
    void (*end)(void *guard);
    void (*set_async)(void *guard);
    void (*before_text)(void *guard, const char *text, int64_t sequence);      /* to 2.6 */
    void (*before_name)(void *guard, struct vv_torch_name name, int64_t sequence); /* from 2.9 */
    int32_t (*empty_strided)(int64_t rank, const int64_t *sizes, const int64_t *strides,
                             int32_t dtype,
                             /* from 2.2 */
                             int32_t device, int32_t device_index, void **out_tensor);
    int32_t (*delete_tensor)(void *tensor);
    void (*empty_strided_1)(void **out_tensor, const int64_t *sizes, size_t rank,
                            const int64_t *strides, size_t stride_count, uint64_t dtype,
                            uint64_t layout, uint64_t device, uint64_t pinned); /* 1.13 */
    void *(*copy)(void **to, void *const *from, bool non_blocking);
    void (*diagonal)(void **out_tensor, void *const *tensor, int64_t offset, int64_t dim1,
                     int64_t dim2);
    void (*stack)(void **out_tensor, void *const *tensors, size_t count, int64_t dim);
    void (*dropout)(void **out_tensor, void *const *tensor, double probability, bool train);
    void (*permute)(void **out_tensor, void *const *tensor, const int64_t *dims, size_t count);
    void *(*operator_new)(size_t bytes);
    const void *undefined; /* TensorImpl of undefined tensors                                    */
};

/* Finds the functions in the library. False: a function that is needed is missing; *out_missing is
 * its name. */
VV_MUST_USE bool vv_torch_api_find(struct vv_torch_api *out_api, const struct vv_module *library,
                                   const char **out_missing);

#endif
