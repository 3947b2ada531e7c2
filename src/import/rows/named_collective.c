/* SPDX-License-Identifier: Apache-2.0 */
#include "import/rows/named_collective.h"

#include "varve/varve.h"

int64_t vv_elements(const int64_t *dims, uint32_t rank)
{
    int64_t elements = 1;
    for (uint32_t d = 0; d < rank; d++)
        if (__builtin_mul_overflow(elements, dims[d], &elements))
            return 0;
    return elements;
}

/* The number of elements in all inputs of an operator; 0 if it does not fit into int64_t. */
static int64_t input_elements(const struct vv_model *model, uint32_t op)
{
    int64_t sum = 0;
    for (uint32_t t = 0; t < model->ops.tensor_count[op]; t++) {
        uint32_t tensor = model->ops.first_tensor[op] + t, rank = model->tensors.rank[tensor];
        const int64_t *dims = rank > 0 ? model->dims.size + model->tensors.first_dim[tensor] : NULL;
        if (__builtin_add_overflow(sum, vv_elements(dims, rank), &sum))
            return 0;
    }
    return sum;
}

enum varve_code vv_named_collective_add(struct vv_model *model, uint32_t slice, const char *word,
                                        size_t length, uint32_t *out_row, struct varve_error *error)
{
    uint32_t op = model->slices.op[slice];
    VV_TRY(vv_model_add_collective(model, out_row, error));
    VV_TRY(vv_model_add_text(model, word, length, &model->collectives.name[*out_row], error));
    model->collectives.in_elements[*out_row] = input_elements(model, op);
    model->ops.collective[op] = *out_row;
    model->slices.layer[slice] = VARVE_LAYER_COMM;
    return VARVE_OK;
}
