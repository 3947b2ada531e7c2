/* SPDX-License-Identifier: Apache-2.0 */
/* kineto.c — arguments that have columns: those of operators, of calls and the device work they
 * start, of collectives, and of the allocator. rows/vocabulary.c says which category has which
 * arguments. An argument of an unexpected type stays an argument. */
#include <stdlib.h>

#include "base/device_kind.h"
#include "import/chrome/number.h"
#include "import/chrome/reader.h"
#include "import/rows/named_collective.h"
#include "varve/varve.h"

#define RUN_NAME "model_run"
#define MEMORY_NAME "[memory]"
#define COLLECTIVE_KEY "Collective name"

/* What the arguments of one event have given so far. */
struct gathering {
    struct vv_chrome_reader *reader;
    uint32_t slice, op, activity, collective; /* rows; or VV_NONE                               */
    const struct vv_chrome_value *dims, *types, *typed_shapes;
    bool is_consumed; /* the last argument has gone into a column                               */
};

/* ---- rows that are made on demand ---- */

static enum varve_code need_op(struct gathering *gathering, struct varve_error *error)
{
    if (gathering->op != VV_NONE)
        return VARVE_OK;
    struct vv_model *model = gathering->reader->model;
    VV_TRY(vv_model_add_op(model, &gathering->op, error));
    model->slices.op[gathering->slice] = gathering->op;
    return VARVE_OK;
}

static enum varve_code need_activity(struct gathering *gathering, struct varve_error *error)
{
    if (gathering->activity != VV_NONE)
        return VARVE_OK;
    struct vv_model *model = gathering->reader->model;
    const struct vv_dialect_class *class = gathering->reader->now.class;
    VV_TRY(vv_model_add_activity(model, &gathering->activity, error));
    model->activities.kind[gathering->activity] =
        class->activity == VV_NO_ACTIVITY ? VV_ACTIVITY_OTHER : class->activity;
    model->slices.activity[gathering->slice] = gathering->activity;
    return VARVE_OK;
}

/* "dtype" and "Seq" are about a collective only if the event also names one. */
static enum varve_code need_collective(struct gathering *gathering, struct varve_error *error)
{
    const struct vv_chrome_event *event = &gathering->reader->event;
    struct vv_model *model = gathering->reader->model;
    size_t i = 0;
    if (gathering->collective != VV_NONE)
        return VARVE_OK;
    while (i < event->arg_count &&
           !vv_text_is(event->args[i].key.at, event->args[i].key.length, COLLECTIVE_KEY))
        i++;
    if (i == event->arg_count)
        return VARVE_OK;
    VV_TRY(vv_model_add_collective(model, &gathering->collective, error));
    if (gathering->reader->now.class->activity != VV_NO_ACTIVITY) {
        VV_TRY(need_activity(gathering, error));
        model->activities.collective[gathering->activity] = gathering->collective;
        return VARVE_OK;
    }
    VV_TRY(need_op(gathering, error));
    model->ops.collective[gathering->op] = gathering->collective;
    if (model->slices.layer[gathering->slice] == VARVE_LAYER_OP)
        model->slices.layer[gathering->slice] = VARVE_LAYER_COMM;
    return VARVE_OK;
}

/* ---- values ---- */

/* An address that stands for a stream, "0x55…", is not the number of a stream. */
static bool small_number(const struct vv_chrome_value *value, int64_t *out_number)
{
    if (value->kind == VV_CHROME_STRING && value->length > 1 && (value->at[1] | 0x20) == 'x')
        return false;
    return vv_chrome_plain_integer(value, out_number);
}

static enum varve_code take_text(struct gathering *gathering, const struct vv_chrome_value *value,
                                 uint32_t *out_id, struct varve_error *error)
{
    gathering->is_consumed = value->kind == VV_CHROME_STRING;
    if (!gathering->is_consumed)
        return VARVE_OK;
    return vv_chrome_text_id(&gathering->reader->text, value, out_id, error);
}

static void take_number(struct gathering *gathering, const struct vv_chrome_value *value,
                        int64_t *out_number)
{
    int64_t number;
    gathering->is_consumed = small_number(value, &number);
    if (gathering->is_consumed)
        *out_number = number;
}

/* Some producers write a negative id for none. */
static void take_id(struct gathering *gathering, const struct vv_chrome_value *value,
                    uint64_t *out_id)
{
    uint64_t id;
    bool is_negative = value->is_negative ||
                       (value->kind == VV_CHROME_STRING && value->length > 0 && *value->at == '-');
    gathering->is_consumed = !is_negative && vv_chrome_id(value, &id);
    if (gathering->is_consumed)
        *out_id = id;
}

/* ---- operators ---- */

static enum varve_code take_op(struct gathering *gathering, enum vv_dialect_role role,
                               const struct vv_chrome_value *value, struct varve_error *error)
{
    struct vv_ops *ops = &gathering->reader->model->ops;
    int64_t number;
    VV_TRY(need_op(gathering, error));
    uint32_t op = gathering->op;
    gathering->is_consumed = true;
    switch (role) {
    case VV_ROLE_EXTERNAL:
        take_id(gathering, value, &ops->external[op]);
        return VARVE_OK;
    case VV_ROLE_SEQUENCE:
        take_number(gathering, value, &ops->sequence[op]);
        return VARVE_OK;
    case VV_ROLE_FORWARD_TID:
        gathering->is_consumed = small_number(value, &number);
        if (gathering->is_consumed)
            ops->forward_tid[op] = (uint64_t)number;
        return VARVE_OK;
    case VV_ROLE_STACK:
        return take_text(gathering, value, &ops->stack[op], error);
    case VV_ROLE_MODULE:
        return take_text(gathering, value, &ops->module[op], error);
    case VV_ROLE_SCALARS:
        gathering->is_consumed = value->kind == VV_CHROME_ARRAY;
        return gathering->is_consumed
                   ? vv_chrome_nested_id(&gathering->reader->text, value, &ops->scalars[op], error)
                   : VARVE_OK;
    case VV_ROLE_DIMS:
        gathering->dims = value;
        break;
    case VV_ROLE_TYPES:
        gathering->types = value;
        break;
    default:
        gathering->typed_shapes = value;
        break;
    }
    gathering->is_consumed = value->kind == VV_CHROME_ARRAY;
    return VARVE_OK;
}

static enum varve_code add_tensors(struct gathering *gathering, struct varve_error *error)
{
    struct vv_chrome_reader *reader = gathering->reader;
    struct vv_ops *ops = &reader->model->ops;
    const struct vv_kineto_shape *shape;
    if (gathering->typed_shapes != NULL)
        VV_TRY(vv_kineto_typed_shape(&reader->shapes, &reader->text, gathering->typed_shapes,
                                     &shape, error));
    else
        VV_TRY(vv_kineto_shape(&reader->shapes, &reader->text, gathering->dims, gathering->types,
                               &shape, error));
    ops->shapes[gathering->op] = shape->text;
    ops->first_tensor[gathering->op] = shape->first_tensor;
    ops->tensor_count[gathering->op] = shape->tensor_count;
    return VARVE_OK;
}

/* ---- calls and device work ---- */

static enum varve_code take_activity(struct gathering *gathering, enum vv_dialect_role role,
                                     const struct vv_chrome_value *value, struct varve_error *error)
{
    struct vv_chrome_reader *reader = gathering->reader;
    struct vv_activities *activities = &reader->model->activities;
    int64_t device = -1;
    VV_TRY(need_activity(gathering, error));
    uint32_t row = gathering->activity;
    switch (role) {
    case VV_ROLE_EXTERNAL:
        take_id(gathering, value, &activities->external[row]);
        return VARVE_OK;
    case VV_ROLE_CORRELATION:
        take_id(gathering, value, &activities->correlation[row]);
        return VARVE_OK;
    case VV_ROLE_CONTEXT:
        take_number(gathering, value, &activities->context[row]);
        return VARVE_OK;
    case VV_ROLE_STREAM: case VV_ROLE_STREAM_ID:
        take_number(gathering, value, &activities->stream[row]);
        return VARVE_OK;
    case VV_ROLE_BYTES:
        take_id(gathering, value, &activities->bytes[row]);
        return VARVE_OK;
    default:
        break;
    }
    take_number(gathering, value, &device);
    gathering->is_consumed = device >= 0 && device <= UINT16_MAX;
    if (gathering->is_consumed)
        activities->device[row] = VARVE_DEVICE(reader->now.class->device_kind, device);
    return VARVE_OK;
}

/* In Kineto, the pid is the index of a device, and the tid is the number of a stream. */
static void complete_activity(struct gathering *gathering)
{
    struct vv_chrome_reader *reader = gathering->reader;
    struct vv_activities *activities = &reader->model->activities;
    const struct vv_chrome_place *place = &reader->now.place;
    uint32_t row = gathering->activity;
    if (!(reader->now.class->flags & VV_DIALECT_ON_DEVICE))
        return;
    if (activities->stream[row] < 0 && place->tid.kind == VV_IDENT_NUMBER &&
        activities->kind[row] == VV_ACTIVITY_ANNOTATION)
        activities->stream[row] = place->tid.number;
    if (activities->device[row] == VV_NONE && place->pid.kind == VV_IDENT_NUMBER &&
        place->pid.number >= 0 && place->pid.number <= UINT16_MAX)
        activities->device[row] = VARVE_DEVICE(reader->now.class->device_kind, place->pid.number);
    if (activities->device[row] != VV_NONE)
        vv_chrome_track(&reader->places, place->row)->device = activities->device[row];
}

/* ---- collectives ---- */

static enum varve_code take_collective(struct gathering *gathering, enum vv_dialect_role role,
                                       const struct vv_chrome_value *value,
                                       struct varve_error *error)
{
    struct vv_collectives *collectives = &gathering->reader->model->collectives;
    VV_TRY(need_collective(gathering, error));
    uint32_t row = gathering->collective;
    if (row == VV_NONE)
        return VARVE_OK;
    switch (role) {
    case VV_ROLE_COLLECTIVE:
        return take_text(gathering, value, &collectives->name[row], error);
    case VV_ROLE_GROUP:
        return take_text(gathering, value, &collectives->group[row], error);
    case VV_ROLE_RANKS:
        if (value->kind == VV_CHROME_ARRAY) {
            gathering->is_consumed = true;
            return vv_chrome_nested_id(&gathering->reader->text, value, &collectives->ranks[row],
                                       error);
        }
        return take_text(gathering, value, &collectives->ranks[row], error);
    case VV_ROLE_DTYPE:
        return take_text(gathering, value, &collectives->dtype[row], error);
    case VV_ROLE_GROUP_SIZE:
        take_number(gathering, value, &collectives->group_size[row]);
        return VARVE_OK;
    case VV_ROLE_IN_ELEMENTS:
        take_number(gathering, value, &collectives->in_elements[row]);
        return VARVE_OK;
    case VV_ROLE_OUT_ELEMENTS:
        take_number(gathering, value, &collectives->out_elements[row]);
        return VARVE_OK;
    default:
        take_number(gathering, value, &collectives->sequence[row]);
        return VARVE_OK;
    }
}

/* ---- one argument ---- */

/* Handles the arguments that all classes take. The order is also kept as an argument. */
static void take_common(struct gathering *gathering, enum vv_dialect_role role,
                        const struct vv_chrome_value *value)
{
    struct vv_slices *slices = &gathering->reader->model->slices;
    int64_t number;
    if (role == VV_ROLE_EVENT_INDEX) {
        if (vv_chrome_plain_integer(value, &number) && number >= 0 && number <= INT32_MAX)
            slices->order[gathering->slice] = (uint32_t)number;
        return;
    }
    uint16_t layer =
        value->kind == VV_CHROME_STRING ? vv_dialect_layer(value->at, value->length) : 0;
    gathering->is_consumed = layer != 0;
    if (layer != 0)
        slices->layer[gathering->slice] = layer;
}

static bool may_have_activity(const struct vv_chrome_reader *reader)
{
    return reader->now.class->activity != VV_NO_ACTIVITY ||
           (reader->now.class->flags & VV_DIALECT_LATER);
}

static enum varve_code take(struct gathering *gathering, enum vv_dialect_role role,
                            const struct vv_chrome_value *value, struct varve_error *error)
{
    if (role >= VV_ROLE_EVENT_INDEX) {
        take_common(gathering, role, value);
        return VARVE_OK;
    }
    if (role >= VV_ROLE_COLLECTIVE)
        return take_collective(gathering, role, value, error);
    if (may_have_activity(gathering->reader))
        return take_activity(gathering, role, value, error);
    return take_op(gathering, role, value, error);
}

/* For "gloo:all_reduce": its inputs are what it sends. */
static enum varve_code add_named_collective(struct gathering *gathering, struct varve_error *error)
{
    struct vv_model *model = gathering->reader->model;
    uint32_t row;
    if (!(gathering->reader->now.class->flags & VV_DIALECT_STEPS) ||
        gathering->collective != VV_NONE ||
        model->slices.layer[gathering->slice] != VARVE_LAYER_API)
        return VARVE_OK;
    const char *word =
        vv_dialect_collective(vv_intern_text(&model->strings, gathering->reader->now.name));
    if (word == NULL)
        return VARVE_OK;
    VV_TRY(need_op(gathering, error));
    return vv_named_collective_add(model, gathering->slice, word, strlen(word), &row, error);
}

/* Only numbers and short texts: the reader finds out what is wrong with other values when it keeps
 * them. Texts of device work may be XLA's names of operations, whatever their key. */
static bool is_unasked(const struct vv_chrome_reader *reader, enum vv_dialect_role role,
                       const struct vv_chrome_value *value)
{
    if (role != VV_ROLE_UNASKED && role != VV_ROLE_EVENT_INDEX)
        return false;
    return value->kind == VV_CHROME_NUMBER ||
           (value->kind == VV_CHROME_STRING && value->length <= VV_CHROME_TEXT_BYTES_MAX &&
            !may_have_activity(reader));
}

static enum varve_code take_all(struct gathering *gathering, struct varve_error *error)
{
    struct vv_chrome_reader *reader = gathering->reader;
    const struct vv_chrome_event *event = &reader->event;
    uint32_t takes = reader->now.class->takes;
    bool is_passing = reader->job->options->is_without_args;
    for (size_t i = 0; i < event->arg_count; i++) {
        const struct vv_chrome_arg *arg = &event->args[i];
        struct vv_chrome_key key;
        VV_TRY(vv_chrome_find_key(reader, i, &key, error));
        gathering->is_consumed = false;
        if (key.role < VV_ROLE_UNASKED && takes >> key.role & 1)
            VV_TRY(take(gathering, key.role, &arg->value, error));
        if (!gathering->is_consumed && !(is_passing && is_unasked(reader, key.role, &arg->value)))
            VV_TRY(vv_chrome_add_arg(reader, key.id, &arg->value, error));
    }
    bool is_usual = reader->now.phase == 'X' && event->present >> (VV_FIELD_DUR + 1) == 0 &&
                    vv_chrome_has(event, VV_FIELD_DUR);
    return is_usual ? VARVE_OK : vv_chrome_add_field_args(reader, error);
}

enum varve_code vv_kineto_slice_args(struct vv_chrome_reader *reader, uint32_t slice,
                                     struct varve_error *error)
{
    struct vv_slices *slices = &reader->model->slices;
    struct gathering gathering = { .reader = reader, .slice = slice, .op = VV_NONE,
                                   .activity = VV_NONE, .collective = VV_NONE };
    uint64_t first = reader->model->args.table.count;
    VV_TRY(vv_chrome_bound_args(reader, error));
    if (reader->now.class->activity != VV_NO_ACTIVITY)
        VV_TRY(need_activity(&gathering, error));
    VV_TRY(take_all(&gathering, error));
    uint64_t count = reader->model->args.table.count - first;
    if (count > 0) {
        slices->first_arg[slice] = (uint32_t)first;
        slices->arg_count[slice] = (uint16_t)count;
    }
    if (gathering.activity != VV_NONE)
        complete_activity(&gathering);
    if (gathering.dims != NULL || gathering.types != NULL || gathering.typed_shapes != NULL)
        VV_TRY(add_tensors(&gathering, error));
    return add_named_collective(&gathering, error);
}

/* ---- steps ---- */

enum varve_code vv_chrome_add_step(struct vv_chrome_reader *reader, uint32_t slice, int64_t index,
                                   struct varve_error *error)
{
    struct vv_steps *steps = &reader->model->steps;
    struct vv_slices *slices = &reader->model->slices;
    uint32_t row;
    VV_TRY(vv_model_add_step(reader->model, &row, error));
    steps->index[row] = index;
    steps->begin_ns[row] = slices->begin_ns[slice];
    steps->duration_ns[row] = slices->duration_ns[slice];
    steps->track[row] = slices->track[slice];
    slices->flags[slice] |= VV_SLICE_STEP;
    slices->layer[slice] = VARVE_LAYER_STEP;
    VV_CHROME_PUSH(&reader->step_slices, slice, error);
    return VARVE_OK;
}

enum varve_code vv_kineto_step(struct vv_chrome_reader *reader, uint32_t slice,
                               struct varve_error *error)
{
    const char *name = vv_intern_text(&reader->model->strings, reader->now.name);
    if (reader->now.class->flags & VV_DIALECT_RUNS) {
        if (strcmp(name, RUN_NAME) != 0)
            return VARVE_OK;
        VV_CHROME_PUSH(&reader->runs, (uint32_t)reader->model->steps.table.count, error);
        return vv_chrome_add_step(reader, slice, 0, error);
    }
    int64_t index;
    return vv_dialect_step(name, &index) ? vv_chrome_add_step(reader, slice, index, error)
                                         : VARVE_OK;
}

/* ---- the allocator ---- */

struct memory_words {
    uint64_t address;
    int64_t bytes, allocated, reserved, device_type, device_id;
    bool has_bytes, has_others;
};

static enum varve_code read_memory(struct vv_chrome_reader *reader, struct memory_words *words,
                                   struct varve_error *error)
{
    const struct vv_chrome_event *event = &reader->event;
    for (size_t i = 0; i < event->arg_count; i++) {
        const struct vv_chrome_value *value = &event->args[i].value;
        struct vv_chrome_key key;
        bool is_read = true;
        VV_TRY(vv_chrome_find_key(reader, i, &key, error));
        enum vv_dialect_role role = key.role;
        if (role == VV_ROLE_ADDRESS)
            is_read = vv_chrome_id(value, &words->address);
        else if (role == VV_ROLE_SIGNED_BYTES)
            is_read = words->has_bytes = vv_chrome_plain_integer(value, &words->bytes);
        else if (role == VV_ROLE_TOTAL_ALLOCATED)
            is_read = vv_chrome_plain_integer(value, &words->allocated);
        else if (role == VV_ROLE_TOTAL_RESERVED)
            is_read = vv_chrome_plain_integer(value, &words->reserved);
        else if (role == VV_ROLE_DEVICE_TYPE)
            is_read = vv_chrome_plain_integer(value, &words->device_type);
        else if (role == VV_ROLE_DEVICE_ID)
            is_read = vv_chrome_plain_integer(value, &words->device_id);
        else
            is_read = role == VV_ROLE_EVENT_INDEX ||
                      strcmp(vv_intern_text(&reader->model->strings, key.id), "finished") == 0;
        words->has_others = words->has_others || !is_read;
    }
    return VARVE_OK;
}

enum varve_code vv_kineto_memory(struct vv_chrome_reader *reader, bool *out_done,
                                 struct varve_error *error)
{
    struct memory_words words = { .allocated = -1, .reserved = -1 };
    struct vv_memory *memory = &reader->model->memory;
    uint32_t row;
    *out_done = false;
    if (strcmp(vv_intern_text(&reader->model->strings, reader->now.name), MEMORY_NAME) != 0)
        return VARVE_OK;
    VV_TRY(read_memory(reader, &words, error));
    if (!words.has_bytes)
        return VARVE_OK;
    VV_TRY(vv_model_add_memory(reader->model, &row, error));
    memory->time_ns[row] = reader->now.time_ns;
    memory->address[row] = words.address;
    memory->bytes[row] = words.bytes;
    memory->allocated_bytes[row] = words.allocated;
    memory->reserved_bytes[row] = words.reserved;
    memory->device[row] = VARVE_DEVICE(vv_device_kind_from_torch(words.device_type),
                                       words.device_id < 0 ? 0 : words.device_id);
    memory->track[row] = reader->now.place.row;
    *out_done = !words.has_others; /* data without a column makes it a mark as well            */
    return VARVE_OK;
}
