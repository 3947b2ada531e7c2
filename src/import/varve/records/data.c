/* SPDX-License-Identifier: Apache-2.0 */
/* data.c — which data the operators of PyTorch read and make (doc/format.md §6: varve.identities,
 * varve.outputs).
 *
 * Operators with equal arguments share rows of tensors until they get identities. An operator's
 * rows are one behind the other, so they are copied where others came in between. */
#include "import/varve/records/data.h"

#include <endian.h>
#include <string.h>

#include "import/varve/records/call.h"

#define OUTPUT_WORDS (sizeof(struct vv_output_tensor) / 8)

static uint64_t word(const struct vv_record *record, size_t index)
{
    return le64toh(record->payload[index]);
}

/* Appends a copy of the operator's inputs, which becomes its inputs, unless they are the last rows
 * and `may_stay`. */
static enum varve_code take_rows(struct vv_model *model, uint32_t op, bool may_stay,
                                 struct varve_error *error)
{
    struct vv_tensors *tensors = &model->tensors;
    struct vv_ops *ops = &model->ops;
    uint32_t first = ops->first_tensor[op], count = ops->tensor_count[op];
    uint32_t begin = (uint32_t)tensors->table.count;
    ops->output_count[op] = 0;
    if (may_stay && first + count == begin)
        return VARVE_OK;
    for (uint32_t i = 0, row; i < count; i++) {
        VV_TRY(vv_model_add_tensor(model, tensors->dtype[first + i], 0, NULL, &row, error));
        tensors->rank[row] = tensors->rank[first + i];
        tensors->first_dim[row] = tensors->first_dim[first + i];
        tensors->format[row] = tensors->format[first + i];
        tensors->identity[row] = tensors->identity[first + i];
    }
    ops->first_tensor[op] = begin;
    return VARVE_OK;
}

/* Does the operator write its first argument? So PyTorch names it: "aten::add_", not "__and__". */
static bool is_in_place(const struct vv_model *model, uint32_t slice)
{
    const char *name = vv_intern_text(&model->strings, model->slices.name[slice]);
    size_t length = strlen(name);
    return length > 1 && name[length - 1] == '_' && name[length - 2] != '_';
}

static enum varve_code add_output(struct vv_model *model, uint32_t op, uint64_t identity,
                                  const struct vv_output_tensor *tensor, const int64_t *dims,
                                  struct varve_error *error)
{
    uint32_t row;
    VV_TRY(vv_model_add_tensor(model, tensor->dtype, tensor->rank, dims, &row, error));
    model->tensors.side[row] = VV_TENSOR_OUTPUT;
    model->tensors.identity[row] = identity;
    if (model->ops.tensor_count[op] + model->ops.output_count[op] == 0)
        model->ops.first_tensor[op] = row;
    model->ops.output_count[op]++;
    return VARVE_OK;
}

/* What an operator writes in place, it makes. */
static enum varve_code add_written(struct vv_model *model, uint32_t op, uint32_t count,
                                   struct varve_error *error)
{
    const struct vv_tensors *tensors = &model->tensors;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t row = model->ops.first_tensor[op] + i;
        const struct vv_output_tensor tensor = { tensors->dtype[row], 0, 0 };
        VV_TRY(add_output(model, op, tensors->identity[row], &tensor, NULL, error));
        uint32_t output = (uint32_t)tensors->table.count - 1;
        tensors->rank[output] = tensors->rank[row];
        tensors->first_dim[output] = tensors->first_dim[row];
    }
    return VARVE_OK;
}

enum varve_code vv_identities_read(struct vv_stream_reader *stream, const struct vv_record *record,
                                   struct varve_error *error)
{
    struct vv_model *model = stream->process->model;
    const struct vv_last_call *call = &stream->last_call;
    uint32_t slice = record->slice, count = (uint32_t)word(record, 0);
    if (slice == VV_NONE || call->slice != slice || call->op == VV_NONE)
        return VARVE_OK;
    VV_TRY(take_rows(model, call->op, false, error));
    uint32_t first = model->ops.first_tensor[call->op], row = 0;
    for (uint32_t i = 0; i < count && i < 64; i++) {
        if ((call->has_row >> i & 1) == 0)
            continue;
        while (row < 64 && (call->is_tensor >> row & 1) == 0)
            row++;
        if (row >= model->ops.tensor_count[call->op])
            break;
        model->tensors.identity[first + row++] = word(record, 1 + i);
    }
    return is_in_place(model, slice) ? add_written(model, call->op, call->first_rows, error)
                                     : VARVE_OK;
}

static bool reads(const struct vv_model *model, uint32_t op, uint64_t identity)
{
    for (uint32_t i = 0; i < model->ops.tensor_count[op]; i++)
        if (model->tensors.identity[model->ops.first_tensor[op] + i] == identity)
            return true;
    return false;
}

/* What an operator gives back of its inputs, it has not made: a view, or the input itself. */
enum varve_code vv_outputs_read(struct vv_stream_reader *stream, const struct vv_record *record,
                                struct varve_error *error)
{
    struct vv_model *model = stream->process->model;
    uint32_t op, count = (uint32_t)word(record, 0);
    if (record->slice == VV_NONE || is_in_place(model, record->slice))
        return VARVE_OK;
    op = model->slices.op[record->slice];
    if (op == VV_NONE)
        VV_TRY(vv_model_add_op(model, &op, error));
    model->slices.op[record->slice] = op;
    VV_TRY(take_rows(model, op, true, error));
    const uint64_t *words = record->payload + 1;
    for (uint32_t i = 0; i < count; i++) {
        struct vv_output_tensor tensor;
        memcpy(&tensor, words, sizeof tensor);
        tensor.dtype = le32toh(tensor.dtype);
        tensor.rank = le32toh(tensor.rank);
        uint64_t identity = le64toh(tensor.identity);
        if (tensor.rank > UINT16_MAX)
            return vv_fail_at(error, VARVE_CORRUPT, record->offset + 8,
                              "'%s': a tensor of rank %u", stream->path, tensor.rank);
        if (tensor.dtype > UINT16_MAX)
            tensor.dtype = UINT16_MAX;
        VV_TRY(add_output(model, op, reads(model, op, identity) ? 0 : identity, &tensor,
                          (const int64_t *)(words + OUTPUT_WORDS), error));
        words += OUTPUT_WORDS + tensor.rank;
    }
    return VARVE_OK;
}
