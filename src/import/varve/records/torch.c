/* SPDX-License-Identifier: Apache-2.0 */
/* torch.c — finds by their names what ranges are in a process that runs PyTorch: steps of its
 * profiler, collectives, operators.
 *
 * If a backend ran a collective on a thread of its own ("gloo:all_reduce"), that range is the
 * collective, as in Kineto's traces, and the operator that started it is an ordinary one. If there
 * is no such range, the operator ("c10d::allreduce_") stands for the collective. */
#include <stdlib.h>

#include "import/rows/named_collective.h"
#include "import/rows/row_map.h"
#include "import/rows/vocabulary.h"
#include "import/varve/records/call.h"
#include "varve/varve.h"

/* ---- collectives ---- */

struct operand {
    int64_t elements;
    uint32_t dtype, tensors; /* dtype: of the first tensor; tensors: their number               */
};

/* Counts all tensors between the words, also those in lists. */
static struct operand operand_of(const uint64_t *word, const uint64_t *end)
{
    struct operand operand = { 0 };
    struct vv_call_argument argument;
    for (; word < end; word += 1 + argument.values) {
        argument = vv_call_argument_at(word);
        if (!vv_call_is_tensor(&argument))
            continue;
        if (operand.tensors++ == 0)
            operand.dtype = argument.dtype;
        int64_t elements = vv_elements(argument.value, vv_call_rank(&argument));
        if (__builtin_add_overflow(operand.elements, elements, &operand.elements))
            operand.elements = 0;
    }
    return operand;
}

/* If there are two operands, the collective writes into the first. */
static enum varve_code fill_dispatch(struct vv_dispatch *dispatch,
                                     struct vv_process_reader *process,
                                     const struct vv_record *record, struct varve_error *error)
{
    const uint64_t *end = record->payload + record->payload_words, *next;
    unsigned operands = 0;
    for (const uint64_t *word = record->payload + VV_CALL_HEAD_WORDS; word < end; word = next) {
        struct vv_call_argument argument = vv_call_argument_at(word);
        next = vv_call_behind(word, end);
        if (argument.kind == VV_ARGUMENT_GROUP) {
            if (argument.value[0] != 0)
                VV_TRY(vv_process_string(process, (uint64_t)argument.value[0], &dispatch->group,
                                         error));
            dispatch->group_size = argument.value[1];
            vv_group_say(process, argument.value[1], argument.value[2]);
        }
        struct operand operand = operand_of(word, next);
        if (operand.tensors == 0 || operands == 2)
            continue;
        if (operands++ == 0) {
            dispatch->out_elements = operand.elements;
            dispatch->dtype = operand.dtype;
        }
        dispatch->in_elements = operand.elements;
    }
    return VARVE_OK;
}

enum varve_code vv_torch_call(struct vv_process_reader *process, uint32_t slice,
                              const struct vv_record *record, bool is_user,
                              struct varve_error *error)
{
    struct vv_model *model = process->model;
    const char *name = vv_intern_text(&model->strings, model->slices.name[slice]);
    struct vv_dispatch dispatch = { .slice = slice };
    uint16_t layer = model->slices.layer[slice];
    uint32_t row;
    if (is_user && (layer & (VARVE_LAYER_API | VARVE_LAYER_COMM)) != 0) {
        const char *word = vv_dialect_collective(name);
        if (word == NULL)
            return VARVE_OK;
        process->has_backend = true;
        return vv_named_collective_add(model, slice, word, strlen(word), &row, error);
    }
    if (is_user || layer != VARVE_LAYER_COMM || strncmp(name, "c10d::", 6) != 0)
        return VARVE_OK;
    dispatch.begin_ns = model->slices.begin_ns[slice];
    VV_TRY(fill_dispatch(&dispatch, process, record, error));
    VV_PUSH(&process->dispatches, dispatch, error);
    return VARVE_OK;
}

static int by_begin(const void *a, const void *b)
{
    const struct vv_dispatch *left = a, *right = b;
    if (left->begin_ns != right->begin_ns)
        return left->begin_ns < right->begin_ns ? -1 : 1;
    return (left->slice > right->slice) - (left->slice < right->slice);
}

/* False for what one rank sends to another: such an operation does not involve all ranks of a
 * group. */
static bool is_of_all(const char *word)
{
    return strncmp(word, "send", 4) != 0 && strncmp(word, "recv", 4) != 0;
}

/* Adds "c10d::allreduce_" as an "allreduce", the next one of its group. *numbers counts by
 * group. */
static enum varve_code add_dispatched(struct vv_model *model, const struct vv_dispatch *dispatch,
                                      struct vv_row_map *numbers, struct varve_error *error)
{
    const char *word = vv_intern_text(&model->strings, model->slices.name[dispatch->slice]) + 6;
    size_t length = strlen(word);
    uint32_t row;
    length -= length > 1 && word[length - 1] == '_';
    VV_TRY(vv_named_collective_add(model, dispatch->slice, word, length, &row, error));
    model->collectives.in_elements[row] = dispatch->in_elements;
    model->collectives.out_elements[row] = dispatch->out_elements;
    model->collectives.group[row] = dispatch->group;
    model->collectives.group_size[row] = dispatch->group_size;
    if (dispatch->group != 0 && is_of_all(word)) {
        bool is_first;
        uint32_t *number;
        VV_TRY(vv_row_map_at(numbers, &(struct vv_row_key){ { dispatch->group } }, &number,
                             &is_first, error));
        *number = is_first ? 0 : *number + 1;
        model->collectives.sequence[row] = *number;
    }
    return vv_model_text(model, vv_dialect_scalar_type(dispatch->dtype),
                         &model->collectives.dtype[row], error);
}

/* ---- steps ---- */

static enum varve_code add_step(struct vv_model *model, uint32_t slice, int64_t index,
                                struct varve_error *error)
{
    uint32_t row;
    VV_TRY(vv_model_add_step(model, &row, error));
    model->steps.index[row] = index;
    model->steps.begin_ns[row] = model->slices.begin_ns[slice];
    model->steps.duration_ns[row] = model->slices.duration_ns[slice];
    model->steps.track[row] = model->slices.track[slice];
    model->slices.flags[slice] |= VV_SLICE_STEP;
    model->slices.layer[slice] = VARVE_LAYER_STEP;
    return VARVE_OK;
}

static enum varve_code find_steps(struct vv_model *model, uint32_t first_slice, size_t first_placed,
                                  struct varve_error *error)
{
    for (uint32_t slice = first_slice; slice < model->slices.table.count; slice++) {
        int64_t index;
        if ((model->slices.layer[slice] & (VARVE_LAYER_API | VARVE_LAYER_OP)) == 0 ||
            !vv_dialect_step(vv_intern_text(&model->strings, model->slices.name[slice]), &index))
            continue;
        VV_TRY(add_step(model, slice, index, error));
        model->placed_count = first_placed; /* finish must find the phases in the step          */
    }
    return VARVE_OK;
}

/* ---- operators ---- */

/* An operator without arguments and without a number has no record of its own, only its range. */
static enum varve_code name_categories(struct vv_model *model, uint32_t first_slice,
                                       struct varve_error *error)
{
    uint32_t category;
    VV_TRY(vv_model_text(model, "cpu_op", &category, error));
    for (uint32_t slice = first_slice; slice < model->slices.table.count; slice++)
        if (model->slices.category[slice] == 0 &&
            (model->slices.layer[slice] & (VARVE_LAYER_OP | VARVE_LAYER_COMM)) != 0)
            model->slices.category[slice] = category;
    return VARVE_OK;
}

static enum varve_code add_all_dispatched(struct vv_process_reader *process,
                                          struct varve_error *error)
{
    struct vv_row_map numbers = { 0 };
    enum varve_code code = VARVE_OK;
    if (process->dispatches.count > 0)
        qsort(process->dispatches.items, process->dispatches.count,
              sizeof *process->dispatches.items, by_begin);
    for (size_t i = 0; i < process->dispatches.count && code == VARVE_OK; i++)
        code = add_dispatched(process->model, &process->dispatches.items[i], &numbers, error);
    vv_row_map_deinit(&numbers);
    return code;
}

enum varve_code vv_torch_finish(struct vv_process_reader *process, uint32_t first_slice,
                                uint32_t first_step, size_t first_placed, struct varve_error *error)
{
    struct vv_model *model = process->model;
    for (size_t i = 0; i < process->dispatches.count && process->has_backend; i++)
        model->slices.layer[process->dispatches.items[i].slice] = VARVE_LAYER_OP;
    if (!process->has_backend)
        VV_TRY(add_all_dispatched(process, error));
    if (process->has_calls)
        VV_TRY(name_categories(model, first_slice, error));
    /* varve_step_begin was used */
    if (model->steps.table.count > first_step || !process->has_step_names)
        return VARVE_OK;
    return find_steps(model, first_slice, first_placed, error);
}
