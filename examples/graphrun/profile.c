/* SPDX-License-Identifier: Apache-2.0 */
/* profile.c — see profile.h. */
#include "profile.h"

#include <varve/trace_points.h>

/* One side of an operator. */
struct side {
    struct varve_tensor tensors[KERNEL_INPUTS_MAX];
    uint64_t ids[KERNEL_INPUTS_MAX];
    const char *formats[KERNEL_INPUTS_MAX];
};

/* A tensor of another run is other data. */
static void describe_side(struct side *side, const struct graph *graph, const int *numbers,
                          int count, uint64_t run)
{
    for (int i = 0; i < count; i++) {
        const struct tensor *tensor = &graph->tensors[numbers[i]];
        side->tensors[i] = (struct varve_tensor){ tensor->dtype, tensor->rank, tensor->dims };
        side->ids[i] = run * TENSORS_MAX + (uint64_t)numbers[i] + 1;
        side->formats[i] = tensor_format(tensor);
    }
}

void profile_operator(const struct graph *graph, int number, uint64_t run,
                      const struct varve_backward *links)
{
    const struct node *node = &graph->nodes[number];
    struct side inputs, outputs;
    struct varve_op_info info = VARVE_OP_INFO_INIT;
    if (varve_layers() == 0)
        return;
    describe_side(&inputs, graph, node->inputs, node->input_count, run);
    describe_side(&outputs, graph, node->outputs, node->output_count, run);
    info.inputs = inputs.tensors;
    info.input_ids = inputs.ids;
    info.input_formats = inputs.formats;
    info.input_count = (uint32_t)node->input_count;
    info.outputs = outputs.tensors;
    info.output_ids = outputs.ids;
    info.output_formats = outputs.formats;
    info.output_count = (uint32_t)node->output_count;
    info.flop = node->flop;
    info.bytes = node->bytes;
    if (node->forward != NONE)
        varve_op_backward(&info, &links[node->forward]);
    else if (node->phase == PHASE_FORWARD && graph->loss != NONE)
        varve_op_forward(&info);
    varve_op(&info);
}

/* A stream has come to a trace point. */
static void mark(struct device *device, const struct task *task)
{
    struct varve_mark_info info = VARVE_MARK_INFO_INIT;
    info.track = device->kind->track(device, task->stream);
    info.tag = task->tag;
    info.time = task->end_ns;
    info.model = (uint64_t)task->graph_id;
    info.iteration = task->run;
    info.stream = task->stream;
    varve_trace_mark(&info);
}

void profile_task(struct device *device, const struct task *task)
{
    bool is_copy = task->kind == TASK_FETCH || task->kind == TASK_RESULT;
    if (task->kind == TASK_TRACE)
        mark(device, task);
    if (device->kind->tells_its_work || (task->kind != TASK_KERNEL && !is_copy))
        return;
    struct varve_activity_info info = {
        .struct_size = sizeof info,
        .track = device->kind->track(device, task->stream),
        .name = device_work_name(task),
        .kind = is_copy ? VARVE_ACTIVITY_COPY : VARVE_ACTIVITY_KERNEL,
        .begin = task->begin_ns,
        .end = task->end_ns,
        .correlation = task->correlation,
        .bytes = is_copy ? task->bytes : 0,
    };
    varve_activity(&info);
}
