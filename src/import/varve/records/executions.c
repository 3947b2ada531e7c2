/* SPDX-License-Identifier: Apache-2.0 */
/* executions.c — the records of threads that load and execute models, and that execute nodes. */
#include <endian.h>
#include <stdio.h>

#include "import/varve/records/graphs.h"
#include "import/varve/records/open.h"
#include "varve/graph.h"
#include "varve/varve.h"

static uint64_t word(const struct vv_record *record, size_t index)
{
    return le64toh(record->payload[index]);
}

/* ---- models ---- */

static enum varve_code name_of_model(struct vv_process_reader *process, uint32_t model,
                                     uint32_t number, bool is_load, uint32_t *out_name,
                                     struct varve_error *error)
{
    char text[VV_NAME_BYTES_MAX + 16];
    const struct vv_model *tables = process->model;
    if (model != VV_NONE && !is_load) {
        *out_name = tables->loaded_models.name[model];
        return VARVE_OK;
    }
    if (model != VV_NONE)
        snprintf(text, sizeof text, "load %.*s", (int)VV_NAME_BYTES_MAX,
                 vv_intern_text(&tables->strings, tables->loaded_models.name[model]));
    else
        snprintf(text, sizeof text, "%smodel %u", is_load ? "load " : "", number);
    return vv_model_text(process->model, text, out_name, error);
}

/* Gives the innermost range, which has just begun, a row in ops for this execution. */
static enum varve_code mark_range(struct vv_stream_reader *stream, uint32_t execution,
                                  struct varve_error *error)
{
    struct vv_model *model = stream->process->model;
    struct vv_execution_begun begun = { execution,
                                        stream->open.items[stream->open.count - 1].slice };
    uint32_t op;
    VV_TRY(vv_model_add_op(model, &op, error));
    model->ops.execution[op] = execution;
    model->slices.op[begun.slice] = op;
    VV_PUSH(&stream->process->graphs.executions, begun, error);
    return VARVE_OK;
}

enum varve_code vv_model_event_read(struct vv_stream_reader *stream,
                                    const struct vv_record *record, struct varve_error *error)
{
    static const uint8_t kinds[] = { [VV_MODEL_LOAD] = VV_EXECUTION_LOAD,
                                     [VV_MODEL_EXECUTION] = VV_EXECUTION_RUN,
                                     [VV_MODEL_UNLOAD] = VV_EXECUTION_UNLOAD };
    struct vv_process_reader *process = stream->process;
    struct vv_executions *executions = &process->model->executions;
    uint32_t number = (uint32_t)word(record, 0), event = (uint32_t)(word(record, 0) >> 32), row,
             track, model = vv_model_at(process, number);
    struct vv_range range = { .layer = VARVE_LAYER_RUNTIME };
    if (event > VV_MODEL_UNLOAD)
        return VARVE_OK;
    VV_TRY(vv_stream_track(stream, &track, error));
    if (event != VV_MODEL_UNLOAD) {
        VV_TRY(name_of_model(process, model, number, event == VV_MODEL_LOAD, &range.name, error));
        VV_TRY(vv_range_begin(stream, &range, error));
    }
    if (model == VV_NONE)
        return VARVE_OK;
    VV_TRY(vv_model_add_execution(process->model, &row, error));
    executions->model[row] = model;
    executions->kind[row] = kinds[event];
    executions->begin_ns[row] = stream->time_ns;
    executions->track[row] = track;
    executions->step[row] = (int64_t)word(record, 1);
    return event == VV_MODEL_UNLOAD ? VARVE_OK : mark_range(stream, row, error);
}

void vv_executions_join(struct vv_process_reader *process)
{
    struct vv_model *model = process->model;
    for (size_t i = 0; i < process->graphs.executions.count; i++) {
        const struct vv_execution_begun *begun = &process->graphs.executions.items[i];
        model->executions.duration_ns[begun->execution] = model->slices.duration_ns[begun->slice];
        model->executions.is_unfinished[begun->execution] =
            (model->slices.flags[begun->slice] & VV_SLICE_UNFINISHED) != 0;
    }
}

/* ---- nodes ---- */

/* Writes the shapes of the node's tensors of one side; *out_count is their number. */
static enum varve_code write_side(struct vv_process_reader *process, uint32_t node, uint8_t side,
                                  uint32_t *out_count, struct varve_error *error)
{
    const struct vv_model *model = process->model;
    const struct vv_tensors *tensors = &model->tensors;
    uint32_t first = model->nodes.first_tensor[node], count = model->nodes.tensor_count[node];
    *out_count = 0;
    for (uint32_t tensor = first; tensor < first + count; tensor++) {
        uint32_t rank = tensors->rank[tensor];
        if (tensors->side[tensor] != side)
            continue;
        if (side == VARVE_OUTPUT && *out_count == 0)
            VV_TRY(vv_shape_arrow(process, error));
        VV_TRY(vv_shape_write(process, tensors->dtype[tensor], rank,
                              rank > 0 ? model->dims.size + tensors->first_dim[tensor] : NULL,
                              error));
        ++*out_count;
    }
    return VARVE_OK;
}

/* Fills the operator's tensors from the node's. They are the node's own rows if its inputs come
 * before its outputs, as they mostly do; else only their shapes are known. */
static enum varve_code fill_tensors(struct vv_process_reader *process, uint32_t node, uint32_t op,
                                    struct varve_error *error)
{
    struct vv_model *model = process->model;
    uint32_t first = model->nodes.first_tensor[node], count = model->nodes.tensor_count[node],
             inputs, outputs;
    process->text.count = 0;
    VV_TRY(write_side(process, node, VARVE_INPUT, &inputs, error));
    VV_TRY(write_side(process, node, VARVE_OUTPUT, &outputs, error));
    if (count == 0)
        return VARVE_OK;
    bool in_order = true;
    for (uint32_t i = 0; i < count; i++)
        in_order = in_order && (model->tensors.side[first + i] == VARVE_OUTPUT) == (i >= inputs);
    if (in_order) {
        model->ops.first_tensor[op] = first;
        model->ops.tensor_count[op] = inputs;
        model->ops.output_count[op] = outputs;
    }
    return vv_model_add_text(model, process->text.items, process->text.count,
                             &model->ops.shapes[op], error);
}

/* The row in ops that all executions of a node share. */
static enum varve_code op_of(struct vv_process_reader *process, uint32_t node, uint32_t *out_op,
                             struct varve_error *error)
{
    struct vv_model *model = process->model;
    *out_op = model->nodes.op[node];
    if (*out_op != VV_NONE)
        return VARVE_OK;
    VV_TRY(vv_model_add_op(model, out_op, error));
    model->nodes.op[node] = *out_op;
    model->ops.node[*out_op] = node;
    model->ops.flop[*out_op] = model->nodes.flop[node];
    model->ops.bytes[*out_op] = model->nodes.bytes[node];
    return fill_tensors(process, node, *out_op, error);
}

enum varve_code vv_execute_read(struct vv_stream_reader *stream, const struct vv_record *record,
                                struct varve_error *error)
{
    struct vv_process_reader *process = stream->process;
    uint32_t graph = (uint32_t)word(record, 0), number = (uint32_t)(word(record, 0) >> 32), op,
             node = vv_node_at(process, graph, number);
    struct vv_range range = { .layer = VARVE_LAYER_OP };
    if (node == VV_NONE) {
        char text[64];
        snprintf(text, sizeof text, "node %u of graph %u", number, graph);
        VV_TRY(vv_model_text(process->model, text, &range.name, error));
        return vv_range_begin(stream, &range, error);
    }
    range.name = process->model->nodes.name[node];
    VV_TRY(vv_range_begin(stream, &range, error));
    VV_TRY(op_of(process, node, &op, error));
    process->model->slices.op[stream->open.items[stream->open.count - 1].slice] = op;
    return VARVE_OK;
}
