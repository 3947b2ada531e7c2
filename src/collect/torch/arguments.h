/* SPDX-License-Identifier: Apache-2.0 */
/* arguments.h — writes the inputs of an operator as the argument list of a varve.call record
 * (doc/format.md §6). This file reads PyTorch's objects at the places that the self-test has found.
 * No function of PyTorch is called, since for some tensors that would run Python. Thread-safe. */
#ifndef VV_COLLECT_TORCH_ARGUMENTS_H
#define VV_COLLECT_TORCH_ARGUMENTS_H

#include "collect/torch/layout.h"

struct vv_torch_arguments {
    uint64_t *words;   /* place for the arguments                                               */
    size_t word_count, word_limit;
    uint32_t count;    /* number of arguments, with members of lists                            */
    uint32_t string;   /* string id of a group's name there; 0 = none                           */
};

/* Adds as many of the values as fit. `undefined` is the TensorImpl of undefined tensors. */
void vv_torch_arguments_add(struct vv_torch_arguments *arguments,
                            const struct vv_torch_layout *layout,
                            const struct vv_torch_value *values, size_t count,
                            const void *undefined, bool with_strides);

/* Writes which data the tensors among the values are, also those in lists, in their order: as many
 * as `limit` allows. Returns how many. The layout's data are known. */
size_t vv_torch_identities(const struct vv_torch_layout *layout,
                           const struct vv_torch_value *values, size_t count,
                           const void *undefined, uint64_t *out_identities, size_t limit);

/* Tensors as members of a varve.outputs. */
struct vv_torch_outputs {
    uint64_t *words;
    size_t word_count, word_limit;
    uint32_t count; /* of tensors; at most VV_OUTPUTS_MAX                                       */
};

/* Adds as many of the tensors among the values as fit. */
void vv_torch_outputs_add(struct vv_torch_outputs *outputs, const struct vv_torch_layout *layout,
                          const struct vv_torch_value *values, size_t count,
                          const void *undefined);

#endif
