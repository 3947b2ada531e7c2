/* SPDX-License-Identifier: Apache-2.0 */
/* profile.c — see profile.h. */
#include "profile.h"

#include <unistd.h>

#include <varve/device.h>

static const char *const stream_names[STREAM_COUNT] = {
    [STREAM_COMPUTE] = "compute",
    [STREAM_GRADIENT] = "gradients",
    [STREAM_COPY] = "copies",
    [STREAM_COLLECTIVE] = "collectives",
};

void profile_clock(const struct profile *profile, struct device *device)
{
    int64_t value = 0;
    uint64_t ticks = 0, uncertainty_ns = 0;
    if (profile->clock != 0 &&
        device->kind->read_clock(device, &value, &ticks, &uncertainty_ns))
        varve_clock_pair(profile->clock, value, ticks, uncertainty_ns);
}

void profile_open(struct profile *profile, struct device *device)
{
    int64_t value;
    uint64_t ticks, uncertainty_ns;
    *profile = (struct profile){ .device = VARVE_DEVICE(device->kind->varve_kind, 0) };
    if (device->kind->read_clock(device, &value, &ticks, &uncertainty_ns)) {
        struct varve_clock_info clock = { sizeof clock, 0, device->kind->name, 0, 1 };
        if (varve_clock_add(&clock, &profile->clock, NULL) == VARVE_OK)
            profile_clock(profile, device);
    }
    for (int stream = 0; stream < STREAM_COUNT; stream++) {
        struct varve_track_info track = {
            .struct_size = sizeof track,
            .clock = profile->clock != 0 ? profile->clock : VARVE_CLOCK_MONOTONIC,
            .name = stream_names[stream],
            .device = profile->device,
            .context = 0,
            .stream = stream,
        };
        if (varve_track_add(&track, &profile->tracks[stream], NULL) != VARVE_OK)
            profile->tracks[stream] = 0; /* its work is counted as lost */
    }
}

/* Backward operators have their forward one's number. */
static int64_t sequence_of(const struct graph *graph, int number, uint64_t run)
{
    const struct node *node = &graph->nodes[number];
    int64_t first = (int64_t)(run * NODES_MAX);
    if (node->forward != NONE)
        return first + node->forward;
    return node->phase == PHASE_FORWARD ? first + number : -1;
}

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

void profile_operator(const struct graph *graph, int number, uint64_t run)
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
    info.sequence = sequence_of(graph, number, run);
    info.forward_thread = node->forward != NONE ? (uint64_t)gettid() : 0;
    varve_op(&info);
}

void profile_task(const struct profile *profile, const struct task *task)
{
    if (task->kind == TASK_COLLECTIVE || task->kind == TASK_TRACE)
        return; /* a range of the thread that ran the collective says so */
    bool is_copy = task->kind != TASK_KERNEL;
    struct varve_activity_info info = {
        .struct_size = sizeof info,
        .track = profile->tracks[task->stream],
        .name = is_copy ? (task->kind == TASK_FETCH ? "Memcpy HtoD" : "Memcpy DtoH") : task->name,
        .kind = is_copy ? VARVE_ACTIVITY_COPY : VARVE_ACTIVITY_KERNEL,
        .begin = task->begin_ns,
        .end = task->end_ns,
        .correlation = task->correlation,
        .bytes = is_copy ? task->bytes : 0,
    };
    varve_activity(&info);
}
