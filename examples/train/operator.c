/* SPDX-License-Identifier: Apache-2.0 */
/* operator.c — see operator.h. Bytes are those that any implementation must move: each input read
 * once and each output written once. */
#include "operator.h"

#include <varve/varve.h>

#define RANK_MAX 4
#define INPUTS_MAX 3

/* A description under construction; `info` points into the other two. */
struct description {
    int64_t dims[INPUTS_MAX][RANK_MAX];
    struct varve_tensor inputs[INPUTS_MAX];
    struct varve_op_info info;
};

static void add_input(struct description *description, size_t first, struct shape rest)
{
    uint32_t index = description->info.input_count++;
    int64_t *dims = description->dims[index];
    dims[0] = (int64_t)first;
    dims[1] = (int64_t)rest.channels;
    dims[2] = (int64_t)rest.height;
    dims[3] = (int64_t)rest.width;
    bool vector = rest.height == 1 && rest.width == 1;
    description->inputs[index] = (struct varve_tensor){ VARVE_F32, vector ? 2 : RANK_MAX, dims };
    description->info.inputs = description->inputs;
}

static void add_weight(struct description *description, const struct layer *layer)
{
    if (layer->weight_count > 0)
        add_input(description, layer->channels,
                  (struct shape){ layer->input.channels, layer->side, layer->side });
}

void operator_describe_forward(const struct layer *layer, const struct pass *pass, int index)
{
    struct description description = { .info = VARVE_OP_INFO_INIT };
    size_t batch = pass->batch->count;
    add_input(&description, batch, layer->input);
    add_weight(&description, layer);
    description.info.flop = batch * layer->flop;
    description.info.bytes =
        sizeof(float) * (batch * (shape_count(layer->input) + shape_count(layer->output)) +
                         layer->weight_count + layer->bias_count);
    description.info.sequence = pass->sequence + index;
    varve_op(&description.info);
}

/* A layer with weights does the forward work twice, once for the gradient by its weights and once
 * for the one by its input; the first layer's input is data and has none. */
void operator_describe_backward(const struct layer *layer, const struct pass *pass, int index)
{
    struct description description = { .info = VARVE_OP_INFO_INIT };
    size_t batch = pass->batch->count;
    size_t image_reads = shape_count(layer->input) + shape_count(layer->output);
    size_t image_writes = index > 0 ? shape_count(layer->input) : 0;
    size_t weight_reads = index > 0 ? layer->weight_count : 0;
    add_input(&description, batch, layer->output);
    add_input(&description, batch, layer->input);
    add_weight(&description, layer);
    description.info.flop = batch * layer->flop * (index > 0 ? 2 : 1);
    description.info.bytes = sizeof(float) * (batch * (image_reads + image_writes) + weight_reads +
                                              layer->weight_count + layer->bias_count);
    description.info.sequence = pass->sequence + index;
    description.info.forward_thread = pass->thread;
    varve_op(&description.info);
}

void operator_describe_loss(const struct pass *pass, bool backward)
{
    struct description description = { .info = VARVE_OP_INFO_INIT };
    size_t samples = pass->batch->count;
    add_input(&description, pass->batch->count, (struct shape){ DIGIT_CLASSES, 1, 1 });
    description.info.bytes =
        samples * (2 * sizeof(float) * DIGIT_CLASSES + sizeof(*pass->batch->labels));
    description.info.sequence = pass->sequence + NETWORK_LAYERS;
    description.info.forward_thread = backward ? pass->thread : 0;
    varve_op(&description.info);
}
