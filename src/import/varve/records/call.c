/* SPDX-License-Identifier: Apache-2.0 */
/* call.c — reads the arguments of a PyTorch operator (doc/format.md §6: varve.call). The model gets
 * them as from Kineto's traces, so that every table is the same: sizes and types become tensors,
 * plain values become the operator's scalars, and strides become an argument. As in PyTorch, a list
 * of tensors has no type, and other arguments have no sizes. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/array.h"
#include "import/rows/vocabulary.h"
#include "import/varve/records/call.h"
#include "varve/varve.h"

#define VALUE_TEXT_BYTES 28u    /* "-0.12345678901234567e-308, " */
#define ARGUMENT_TEXT_BYTES 8u

/* The arguments of one record. They have been checked. */
struct call {
    struct vv_process_reader *process;
    const uint64_t *words, *end;
    char *out; /* place in process->text, which has enough room                                 */
    struct vv_seen_place *made;
    uint32_t tensors; /* number so far: of arguments that are tensors, and of members of lists  */
};

/* The first member of a list that contains only tensors, or NULL; *out_behind is the word after the
 * list. */
static const uint64_t *tensors_of(const struct call *call, const uint64_t *word,
                                  const uint64_t **out_behind)
{
    struct vv_call_argument argument = vv_call_argument_at(word);
    *out_behind = vv_call_behind(word, call->end);
    if (argument.kind != VV_ARGUMENT_LIST || argument.value[1] == 0)
        return NULL;
    const uint64_t *first = word + 1 + argument.values;
    for (const uint64_t *at = first; at < *out_behind; at += 1 + argument.values) {
        argument = vv_call_argument_at(at);
        if (!vv_call_is_tensor(&argument))
            return NULL;
    }
    return first;
}

/* ---- are the words valid? ---- */

static bool has_its_values(const struct vv_call_argument *argument)
{
    switch (argument->kind) {
    case VV_ARGUMENT_NONE: case VV_ARGUMENT_TEXT: case VV_ARGUMENT_OPAQUE_TENSOR:
        return argument->values == 0;
    case VV_ARGUMENT_INT: case VV_ARGUMENT_REAL: case VV_ARGUMENT_BOOL: case VV_ARGUMENT_OTHER:
        return argument->values == 1;
    case VV_ARGUMENT_TENSOR:
        return argument->values <= UINT16_MAX;
    case VV_ARGUMENT_GROUP:
        return argument->values == 3;
    case VV_ARGUMENT_STRIDED_TENSOR:
        return argument->values % 2 == 1 && vv_call_rank(argument) <= UINT16_MAX;
    case VV_ARGUMENT_LIST:
        return argument->values == 2 && argument->value[1] >= 0 &&
               argument->value[1] <= argument->value[0] && argument->value[1] <= UINT32_MAX;
    default:
        return true;
    }
}

static enum varve_code check(const struct vv_stream_reader *stream, const struct vv_record *record,
                             struct varve_error *error)
{
    const uint64_t *word = record->payload + VV_CALL_HEAD_WORDS,
                   *end = record->payload + record->payload_words;
    uint64_t offset = record->offset + 8 * (1 + VV_CALL_HEAD_WORDS);
    for (const uint64_t *at = word; at < end; at += 1 + vv_call_argument_at(at).values) {
        struct vv_call_argument argument = vv_call_argument_at(at);
        if (!has_its_values(&argument))
            return vv_fail_at(error, VARVE_CORRUPT, offset + 8 * (uint64_t)(at - word),
                              "'%s': an argument of kind %u cannot have %u values", stream->path,
                              argument.kind, argument.values);
    }
    while (word != NULL && word < end)
        word = vv_call_behind(word, end);
    if (word == NULL)
        return vv_fail_at(error, VARVE_CORRUPT, offset,
                          "'%s': a list holds more arguments than follow it", stream->path);
    return VARVE_OK;
}

/* ---- tensors ---- */

static uint64_t bit(uint32_t index)
{
    return index < 64 ? UINT64_C(1) << index : 0;
}

/* Numbers the tensors in the order of the arguments: varve.identities counts them so. */
static void number_tensor(struct call *call, const struct vv_call_argument *argument, bool has_row)
{
    if (!vv_call_is_tensor(argument) && argument->kind != VV_ARGUMENT_OPAQUE_TENSOR)
        return;
    if (has_row) {
        call->made->has_row |= bit(call->tensors);
        call->made->is_tensor |= bit(call->made->tensor_count);
    }
    call->tensors++;
}

/* The members of a list that has no rows for them. */
static void number_members(struct call *call, const uint64_t *word, const uint64_t *behind)
{
    while (word < behind) {
        struct vv_call_argument argument = vv_call_argument_at(word);
        number_tensor(call, &argument, false);
        word += 1 + argument.values;
    }
}

static enum varve_code add_tensor(struct call *call, const struct vv_call_argument *argument,
                                  bool is_member, struct varve_error *error)
{
    uint32_t rank = vv_call_is_tensor(argument) ? vv_call_rank(argument) : 0, row;
    uint32_t dtype =
        vv_call_is_tensor(argument) && !is_member ? argument->dtype : VARVE_DTYPE_UNKNOWN;
    VV_TRY(vv_shape_write(call->process, dtype, rank, argument->value, error));
    number_tensor(call, argument, true);
    VV_TRY(vv_model_add_tensor(call->process->model, dtype, rank, argument->value, &row, error));
    if (call->made->tensor_count++ == 0)
        call->made->first_tensor = row;
    return VARVE_OK;
}

static enum varve_code add_tensors(struct call *call, struct varve_error *error)
{
    struct vv_process_reader *process = call->process;
    process->text.count = 0;
    for (const uint64_t *word = call->words, *next; word < call->end; word = next) {
        struct vv_call_argument argument = vv_call_argument_at(word);
        const uint64_t *member = tensors_of(call, word, &next);
        if (member == NULL) {
            VV_TRY(add_tensor(call, &argument, false, error));
            number_members(call, word + 1 + argument.values, next);
        }
        for (; member != NULL && member < next; member += 1 + argument.values) {
            argument = vv_call_argument_at(member);
            VV_TRY(add_tensor(call, &argument, true, error));
        }
        if (word == call->words)
            call->made->first_rows = call->made->tensor_count;
    }
    return vv_model_add_text(process->model, process->text.items, process->text.count,
                             &call->made->text, error);
}

/* ---- plain values, as c10::IValue prints itself ---- */

static char *write_real(char *out, double value)
{
    if (isfinite(value) && fabs(value) < 1e10 && value == trunc(value))
        return out + sprintf(out, "%.0f.", value);
    return out + sprintf(out, "%.17g", value);
}

static char *write_value(char *out, uint32_t kind, int64_t value)
{
    double real;
    switch (kind) {
    case VV_ARGUMENT_REAL: case VV_ARGUMENT_REALS:
        memcpy(&real, &value, sizeof real);
        return write_real(out, real);
    case VV_ARGUMENT_BOOL: case VV_ARGUMENT_BOOLS:
        return out + sprintf(out, "%s", value != 0 ? "True" : "False");
    default:
        return out + sprintf(out, "%" PRId64, value);
    }
}

static char *write_scalar(char *out, const struct vv_call_argument *argument)
{
    /* An empty list has no type; most empty lists are of numbers. */
    bool is_empty = argument->kind == VV_ARGUMENT_LIST && argument->value[0] == 0;
    bool is_list = argument->kind >= VV_ARGUMENT_INTS && argument->kind <= VV_ARGUMENT_BOOLS;
    bool is_scalar = argument->kind >= VV_ARGUMENT_INT && argument->kind <= VV_ARGUMENT_BOOL;
    uint32_t values = is_list || is_scalar ? argument->values : 0;
    out += sprintf(out, is_list || is_empty ? "\"[" : "\"");
    for (uint32_t i = 0; i < values; i++) {
        out += sprintf(out, i == 0 ? "" : ", ");
        out = write_value(out, argument->kind, argument->value[i]);
    }
    return out + sprintf(out, is_list || is_empty ? "]\"" : "\"");
}

static void write_scalars(struct call *call)
{
    for (const uint64_t *word = call->words; word < call->end;
         word = vv_call_behind(word, call->end)) {
        struct vv_call_argument argument = vv_call_argument_at(word);
        *call->out++ = word == call->words ? '[' : ',';
        call->out = write_scalar(call->out, &argument);
    }
}

/* ---- "Input Strides" ---- */

static char *write_stride(char *out, const struct vv_call_argument *argument)
{
    uint32_t rank = argument->kind == VV_ARGUMENT_STRIDED_TENSOR ? vv_call_rank(argument) : 0;
    *out++ = '[';
    for (uint32_t i = 0; i < rank; i++)
        out += sprintf(out, i == 0 ? "%" PRId64 : ",%" PRId64, argument->value[rank + i]);
    *out++ = ']';
    return out;
}

static void write_strides(struct call *call)
{
    for (const uint64_t *word = call->words, *next; word < call->end; word = next) {
        struct vv_call_argument argument = vv_call_argument_at(word);
        const uint64_t *member = tensors_of(call, word, &next);
        *call->out++ = word == call->words ? '[' : ',';
        if (member == NULL)
            call->out = write_stride(call->out, &argument);
        for (bool is_first = true; member != NULL && member < next; is_first = false) {
            argument = vv_call_argument_at(member);
            *call->out++ = is_first ? '[' : ',';
            call->out = write_stride(call->out, &argument);
            member += 1 + argument.values;
            if (member >= next)
                *call->out++ = ']';
        }
    }
}

static bool has_strides(const struct call *call)
{
    bool has = false;
    for (const uint64_t *at = call->words; at < call->end && !has;
         at += 1 + vv_call_argument_at(at).values)
        has = vv_call_argument_at(at).kind == VV_ARGUMENT_STRIDED_TENSOR;
    return has;
}

/* ---- all arguments ---- */

static enum varve_code write_text(struct call *call, void (*write)(struct call *call),
                                  uint32_t *out_text, struct varve_error *error)
{
    struct vv_process_reader *process = call->process;
    size_t room = (size_t)(call->end - call->words) * (VALUE_TEXT_BYTES + ARGUMENT_TEXT_BYTES) + 2;
    VV_TRY(vv_array_reserve(&process->text.items, &process->text.capacity, room, 1, error));
    call->out = process->text.items;
    write(call);
    *call->out++ = ']';
    return vv_model_add_text(process->model, process->text.items,
                             (size_t)(call->out - process->text.items), out_text, error);
}

static enum varve_code add_strides(struct call *call, struct varve_error *error)
{
    struct vv_model *model = call->process->model;
    uint32_t row, text;
    VV_TRY(write_text(call, write_strides, &text, error));
    VV_TRY(vv_model_add_arg(model, &row, error));
    VV_TRY(vv_model_text(model, "Input Strides", &model->args.key[row], error));
    model->args.kind[row] = VV_ARG_JSON;
    model->args.value[row] = text;
    call->made->first_arg = row;
    call->made->arg_count = 1;
    return VARVE_OK;
}

static enum varve_code make(struct call *call, struct varve_error *error)
{
    call->made->tensor_count = call->made->arg_count = 0;
    call->made->is_tensor = call->made->has_row = call->made->first_rows = 0;
    VV_TRY(add_tensors(call, error));
    VV_TRY(write_text(call, write_scalars, &call->made->scalars, error));
    return has_strides(call) ? add_strides(call, error) : VARVE_OK;
}

/* Gives an operator its arguments. Operators with equal arguments share the model's rows. */
static enum varve_code take_arguments(struct vv_stream_reader *stream,
                                      const struct vv_record *record, uint32_t slice, uint32_t op,
                                      struct varve_error *error)
{
    struct vv_process_reader *process = stream->process;
    struct vv_model *model = process->model;
    struct call call = { process, record->payload + VV_CALL_HEAD_WORDS,
                         record->payload + record->payload_words, NULL, NULL, 0 };
    size_t count = (size_t)(call.end - call.words);
    bool is_known;
    VV_TRY(vv_seen_words_find(&process->calls, call.words, count, &call.made, &is_known, error));
    if (!is_known) {
        VV_TRY(check(stream, record, error));
        VV_TRY(make(&call, error));
        vv_seen_words_keep(call.made, call.words, count);
    }
    model->ops.shapes[op] = call.made->text;
    model->ops.scalars[op] = call.made->scalars;
    model->ops.first_tensor[op] = call.made->first_tensor;
    model->ops.tensor_count[op] = call.made->tensor_count;
    stream->last_call = (struct vv_last_call){ call.made->is_tensor, call.made->has_row, slice, op,
                                               call.made->first_rows };
    if (call.made->arg_count > 0) {
        model->slices.first_arg[slice] = call.made->first_arg;
        model->slices.arg_count[slice] = call.made->arg_count;
    }
    return VARVE_OK;
}

/* An AccumulateGrad has a forward thread but no number, and belongs to no forward operator. */
static enum varve_code set_numbers(struct vv_model *model, uint32_t slice, int64_t sequence,
                                   uint64_t forward_tid, struct varve_error *error)
{
    uint32_t op = model->slices.op[slice];
    if (op == VV_NONE)
        VV_TRY(vv_model_add_op(model, &op, error));
    model->slices.op[slice] = op;
    model->ops.sequence[op] = sequence;
    model->ops.forward_tid[op] = sequence >= 0 ? forward_tid : 0;
    return VARVE_OK;
}

/* The engine's own range around a backward operator has no numbers. PyTorch's profiler gives it the
 * numbers of the operator inside, so this reader does the same. */
static bool is_engine_around(const struct vv_model *model, uint32_t slice, uint32_t *out_slice)
{
    static const char engine[] = "autograd::engine::";
    *out_slice = model->slices.parent[slice];
    if (*out_slice == VV_NONE)
        return false;
    const char *name = vv_intern_text(&model->strings, model->slices.name[*out_slice]);
    return model->slices.op[*out_slice] == VV_NONE && strncmp(name, engine, sizeof engine - 1) == 0;
}

enum varve_code vv_call_read(struct vv_stream_reader *stream, const struct vv_record *record,
                             struct varve_error *error)
{
    struct vv_model *model = stream->process->model;
    struct vv_call_payload head;
    uint32_t engine;
    uint32_t slice = record->slice;
    if (slice == VV_NONE)
        return VARVE_OK;
    stream->process->has_calls = true;
    stream->last_call.slice = VV_NONE;
    memcpy(&head, record->payload, sizeof head);
    int64_t sequence = (int64_t)le64toh((uint64_t)head.sequence);
    bool is_user = le32toh(head.scope) == VV_SCOPE_USER;
    VV_TRY(set_numbers(model, slice, sequence, le64toh(head.forward_tid), error));
    if (le32toh(head.scope) == VV_SCOPE_BACKWARD_FUNCTION &&
        is_engine_around(model, slice, &engine))
        VV_TRY(set_numbers(model, engine, sequence, le64toh(head.forward_tid), error));
    VV_TRY(vv_model_text(model, is_user ? "user_annotation" : "cpu_op",
                         &model->slices.category[slice], error));
    if (record->payload_words > VV_CALL_HEAD_WORDS)
        VV_TRY(take_arguments(stream, record, slice, model->slices.op[slice], error));
    return vv_torch_call(stream->process, slice, record, is_user, error);
}
