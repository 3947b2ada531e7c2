/* SPDX-License-Identifier: Apache-2.0 */
/* launch.c — runs of a model (runtime.h): nodes become tasks of the device, which run later.
 *
 * In the trace an operator is a range of the thread that launches it. The device's call inside
 * carries the task's number, by which the device's work is found. */
#include <varve/varve.h>

#include "message.h"
#include "runtime.h"

/* The node's tasks wait for those of the nodes it waits for. */
static struct task task_of(struct model *model, const struct node *node)
{
    struct task task = {
        .name = node->operator->name,
        .kind = node->operator->task,
        .stream = node->operator->stream,
        .memory = model->memory,
        .arguments = &node->arguments,
        .block_dim = node->block_dim,
    };
    for (int stream = 0; stream < STREAM_COUNT; stream++)
        task.awaited[stream] =
            node->awaited[stream] == NONE ? NONE : model->tickets[node->awaited[stream]];
    return task;
}

/* The ticket, or NONE; so with all of these. */
static int launch_copy(struct model *model, const struct node *node, int tensor, void *host)
{
    struct task task = task_of(model, node);
    task.offset_bytes = model->graph->tensors[tensor].offset_bytes;
    task.bytes = model->graph->tensors[tensor].bytes;
    task.host = host;
    return device_submit(model->runtime->device, &task);
}

static int launch_fetch(struct model *model, const struct node *node)
{
    if (launch_copy(model, node, node->outputs[0], model->batch->pixels) == NONE)
        return NONE;
    return launch_copy(model, node, node->outputs[1], model->batch->labels);
}

static int launch_collective(struct model *model, const struct node *node)
{
    const struct tensor *tensors = model->graph->tensors;
    struct task task = task_of(model, node);
    task.offset_bytes = tensors[node->inputs[0]].offset_bytes;
    task.bytes = tensors[node->inputs[0]].bytes;
    task.result_offset_bytes = tensors[node->outputs[0]].offset_bytes;
    return device_submit(model->runtime->device, &task);
}

/* Where the node is a trace point its stream marks the time: before, when all is there that the
 * node waits for. */
static bool launch_marks(struct model *model, int number, bool is_after)
{
    struct point_tags tags = points_at(model->points, number, is_after);
    for (int i = 0; i < tags.count; i++) {
        struct task task = task_of(model, &model->graph->nodes[number]);
        task.kind = TASK_TRACE;
        task.block_dim = 1;
        task.tag = tags.tags[i];
        task.graph_id = model->graph->id;
        task.run = model->step;
        if (device_submit(model->runtime->device, &task) == NONE)
            return false;
    }
    return true;
}

static int launch_work(struct model *model, const struct node *node)
{
    struct task task = task_of(model, node);
    switch (node->operator->task) {
    case TASK_FETCH:
        return launch_fetch(model, node);
    case TASK_RESULT:
        return launch_copy(model, node, node->inputs[0], model->result);
    case TASK_COLLECTIVE:
        return launch_collective(model, node);
    case TASK_KERNEL:
    case TASK_TRACE:
        break;
    }
    return device_submit(model->runtime->device, &task);
}

static int launch_node(struct model *model, int number)
{
    const struct node *node = &model->graph->nodes[number];
    varve_execute_begin(model->varve_graph, (uint32_t)number);
    profile_operator(model->graph, number, model->runs, model->links);
    if (node->phase == PHASE_FORWARD)
        varve_backward_take(&model->links[number]);
    int ticket = launch_marks(model, number, false) ? launch_work(model, node) : NONE;
    if (ticket != NONE && !launch_marks(model, number, true))
        ticket = NONE;
    varve_execute_end(model->varve_graph, (uint32_t)number);
    return ticket;
}

void model_begin(struct model *model, int64_t step, const struct batch *batch)
{
    varve_model_begin(model->varve_model, step);
    model->batch = batch;
    model->step = step;
}

void model_end(struct model *model)
{
    varve_model_end(model->varve_model);
    model->batch = NULL;
}

bool model_launch(struct model *model, enum phase phase)
{
    VARVE_SCOPE_LAYER("model_launch", VARVE_LAYER_API);
    for (int i = 0; i < model->graph->node_count; i++) {
        if (model->graph->nodes[i].phase != phase)
            continue;
        model->tickets[i] = launch_node(model, i);
        if (model->tickets[i] == NONE)
            return refuse("node '%s' does not run", model->graph->nodes[i].name);
    }
    return true;
}

static void count_time(struct runtime *runtime, const struct task *task)
{
    if (task->kind == TASK_TRACE)
        return;
    const char *name = device_work_name(task);
    struct task_time *time = runtime->times;
    while (time->name != NULL && time->name != name)
        time++;
    time->name = name;
    time->count++;
    time->total_ns += task->end_ns - task->begin_ns;
}

bool model_wait(struct model *model)
{
    VARVE_SCOPE_LAYER("model_wait", VARVE_LAYER_API);
    struct runtime *runtime = model->runtime;
    int count;
    model->runs++;
    if (!device_synchronize(runtime->device, &count))
        return false;
    for (int i = 0; i < count; i++) {
        profile_task(runtime->device, &runtime->device->tasks[i]);
        count_time(runtime, &runtime->device->tasks[i]);
    }
    return true;
}
