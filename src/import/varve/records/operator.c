/* SPDX-License-Identifier: Apache-2.0 */
/* operator.c — reads varve.op, with inputs alone, and varve.operator, with outputs, formats and
 * identities. Operators with equal tensors share the model's rows. */
#include "import/varve/records/operator.h"

#include <endian.h>

#include "base/array.h"
#include "import/varve/records/open.h"

#define HEAD_WORDS (sizeof(struct vv_op_payload) / 8)
#define TENSOR_WORDS (sizeof(struct vv_operator_tensor) / 8)

static uint64_t word(const struct vv_record *record, size_t index)
{
    return le64toh(record->payload[index]);
}

static uint32_t low_half(uint64_t value)
{
    return (uint32_t)value;
}

static uint32_t high_half(uint64_t value)
{
    return (uint32_t)(value >> 32);
}

static uint32_t tensor_count(const struct vv_record *record)
{
    return low_half(word(record, HEAD_WORDS - 1));
}

/* The tensor whose first word is payload[at], and whose dims begin at payload[dims_at]. */
static enum varve_code add_tensor(struct vv_stream_reader *stream, const struct vv_record *record,
                                  size_t at, size_t dims_at, uint32_t *out_row,
                                  struct varve_error *error)
{
    uint32_t dtype = low_half(word(record, at)), rank = high_half(word(record, at));
    if (rank > UINT16_MAX)
        return vv_fail_at(error, VARVE_CORRUPT, record->offset + 8 * (at + 1),
                          "'%s': a tensor of rank %u", stream->path, rank);
    if (dtype > UINT16_MAX)
        dtype = UINT16_MAX;
    return vv_model_add_tensor(stream->process->model, dtype, rank,
                               (const int64_t *)(record->payload + dims_at), out_row, error);
}

/* ---- inputs alone ---- */

static enum varve_code add_inputs(struct vv_stream_reader *stream, const struct vv_record *record,
                                  struct vv_seen_place *made, struct varve_error *error)
{
    size_t at = HEAD_WORDS;
    made->tensor_count = tensor_count(record);
    made->output_count = 0;
    for (uint32_t i = 0, row; i < made->tensor_count; i++) {
        VV_TRY(add_tensor(stream, record, at, at + 1, &row, error));
        if (i == 0)
            made->first_tensor = row;
        at += 1 + high_half(word(record, at));
    }
    return vv_shapes_text(stream->process, record->payload + HEAD_WORDS, at - HEAD_WORDS,
                          &made->text, error);
}

/* ---- both sides ---- */

static bool is_output(const struct vv_record *record, size_t at)
{
    return low_half(word(record, at + 1)) == VV_TENSOR_OUTPUT;
}

static enum varve_code add_side(struct vv_stream_reader *stream, const struct vv_record *record,
                                enum vv_tensor_side side, struct vv_seen_place *made,
                                struct varve_error *error)
{
    struct vv_process_reader *process = stream->process;
    struct vv_tensors *tensors = &process->model->tensors;
    uint32_t *count = side == VV_TENSOR_OUTPUT ? &made->output_count : &made->tensor_count;
    size_t at = HEAD_WORDS;
    for (uint32_t i = 0, row; i < tensor_count(record); i++) {
        uint32_t rank = high_half(word(record, at)), format = high_half(word(record, at + 1));
        size_t dims_at = at + TENSOR_WORDS;
        if (is_output(record, at) == (side == VV_TENSOR_OUTPUT)) {
            VV_TRY(add_tensor(stream, record, at, dims_at, &row, error));
            tensors->side[row] = (uint8_t)side;
            tensors->identity[row] = word(record, at + 2);
            if (format != 0)
                VV_TRY(vv_process_string(process, format, &tensors->format[row], error));
            if (made->tensor_count + made->output_count == 0)
                made->first_tensor = row;
            if (side == VV_TENSOR_OUTPUT && made->output_count == 0)
                VV_TRY(vv_shape_arrow(process, error));
            VV_TRY(vv_shape_write(process, low_half(word(record, at)), rank,
                                  (const int64_t *)(record->payload + dims_at), error));
            (*count)++;
        }
        at = dims_at + rank;
    }
    return VARVE_OK;
}

static enum varve_code add_sides(struct vv_stream_reader *stream, const struct vv_record *record,
                                 struct vv_seen_place *made, struct varve_error *error)
{
    struct vv_process_reader *process = stream->process;
    made->tensor_count = made->output_count = 0;
    process->text.count = 0;
    VV_TRY(add_side(stream, record, VV_TENSOR_INPUT, made, error));
    VV_TRY(add_side(stream, record, VV_TENSOR_OUTPUT, made, error));
    return vv_model_add_text(process->model, process->text.items, process->text.count, &made->text,
                             error);
}

/* ---- the operator ---- */

typedef enum varve_code adds(struct vv_stream_reader *stream, const struct vv_record *record,
                             struct vv_seen_place *made, struct varve_error *error);

static enum varve_code read_tensors(struct vv_stream_reader *stream, const struct vv_record *record,
                                    struct vv_seen_words *seen, adds *add, uint32_t op,
                                    struct varve_error *error)
{
    struct vv_ops *ops = &stream->process->model->ops;
    const uint64_t *words = record->payload + HEAD_WORDS;
    size_t count = record->payload_words - HEAD_WORDS;
    struct vv_seen_place *made;
    bool is_known;
    VV_TRY(vv_seen_words_find(seen, words, count, &made, &is_known, error));
    if (!is_known) {
        VV_TRY(add(stream, record, made, error));
        vv_seen_words_keep(made, words, count);
    }
    ops->shapes[op] = made->text;
    ops->first_tensor[op] = made->first_tensor;
    ops->tensor_count[op] = made->tensor_count;
    ops->output_count[op] = made->output_count;
    return VARVE_OK;
}

static enum varve_code read_op(struct vv_stream_reader *stream, const struct vv_record *record,
                               struct vv_seen_words *seen, adds *add, struct varve_error *error)
{
    struct vv_model *model = stream->process->model;
    if (record->slice == VV_NONE)
        return VARVE_OK;
    uint32_t op, former = model->slices.op[record->slice];
    VV_TRY(vv_model_add_op(model, &op, error));
    if (former != VV_NONE) { /* it executes a node */
        model->ops.node[op] = model->ops.node[former];
        model->ops.execution[op] = model->ops.execution[former];
    }
    model->ops.flop[op] = word(record, 0);
    model->ops.bytes[op] = word(record, 1);
    model->ops.sequence[op] = (int64_t)word(record, 2);
    model->ops.forward_tid[op] = word(record, 3);
    model->slices.op[record->slice] = op;
    return tensor_count(record) == 0 ? VARVE_OK
                                     : read_tensors(stream, record, seen, add, op, error);
}

enum varve_code vv_op_read(struct vv_stream_reader *stream, const struct vv_record *record,
                           struct varve_error *error)
{
    return read_op(stream, record, &stream->process->shapes, add_inputs, error);
}

enum varve_code vv_operator_read(struct vv_stream_reader *stream, const struct vv_record *record,
                                 struct varve_error *error)
{
    return read_op(stream, record, &stream->process->operators, add_sides, error);
}
