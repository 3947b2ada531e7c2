/* SPDX-License-Identifier: Apache-2.0 */
/* arguments.h — the inputs of an operator as the argument list of a varve.call record (doc/format.md §6). Reads
 * PyTorch's objects where the self-test has found what they hold; calls nothing of PyTorch's, which for some tensors
 * would run Python. Thread-safe. */
#ifndef VV_COLLECT_TORCH_ARGUMENTS_H
#define VV_COLLECT_TORCH_ARGUMENTS_H

#include "collect/torch/layout.h"

struct vv_torch_arguments {
    uint64_t *words;   /* where they go                                                         */
    size_t word_count, word_limit;
    uint32_t count;    /* arguments, members of lists included                                  */
    uint32_t string;   /* of a group that is named there; 0: none is                            */
};

/* Adds as many of the values as there is room for. `undefined` is the TensorImpl of undefined tensors. */
void vv_torch_arguments_add(struct vv_torch_arguments *arguments, const struct vv_torch_layout *layout,
                            const struct vv_torch_value *values, size_t count, const void *undefined,
                            bool with_strides);

#endif
