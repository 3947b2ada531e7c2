/* SPDX-License-Identifier: Apache-2.0 */
/* operator.c — see operator.h. Bytes are those that any implementation must move: each input read
 * once and each output written once. */
#include "operator.h"

#include <stdint.h>

#include <varve/varve.h>

#define RANK_MAX 4
#define SIDE_MAX 3 /* inputs, or outputs                                                         */

struct side {
    int64_t dims[SIDE_MAX][RANK_MAX];
    struct varve_tensor tensors[SIDE_MAX];
    uint64_t ids[SIDE_MAX];
    uint32_t count;
};

/* A description under construction. */
struct description {
    struct side inputs, outputs;
    struct varve_op_info info;
};

/* `data` NULL: this is not known, or not read. */
static void add(struct side *side, const float *data, size_t first, struct shape rest)
{
    uint32_t index = side->count++;
    int64_t *dims = side->dims[index];
    dims[0] = (int64_t)first;
    dims[1] = (int64_t)rest.channels;
    dims[2] = (int64_t)rest.height;
    dims[3] = (int64_t)rest.width;
    bool vector = rest.height == 1 && rest.width == 1;
    side->tensors[index] = (struct varve_tensor){ VARVE_F32, vector ? 2 : RANK_MAX, dims };
    side->ids[index] = (uintptr_t)data;
}

static void add_weight(struct side *side, const struct layer *layer, const float *data)
{
    if (layer->weight_count > 0)
        add(side, data, layer->channels,
            (struct shape){ layer->input.channels, layer->side, layer->side });
}

static void tell(struct description *description)
{
    struct varve_op_info *info = &description->info;
    info->inputs = description->inputs.tensors;
    info->input_ids = description->inputs.ids;
    info->input_count = description->inputs.count;
    info->outputs = description->outputs.tensors;
    info->output_ids = description->outputs.ids;
    info->output_count = description->outputs.count;
    varve_op(info);
}

static const float *input_of(const struct pass *pass, int index)
{
    return index == 0 ? pass->batch->pixels : pass->outputs[index - 1];
}

void operator_describe_forward(const struct layer *layer, const struct pass *pass, int index)
{
    struct description description = { .info = VARVE_OP_INFO_INIT };
    size_t batch = pass->batch->count;
    add(&description.inputs, input_of(pass, index), batch, layer->input);
    add_weight(&description.inputs, layer, layer->weight);
    add(&description.outputs, pass->outputs[index], batch, layer->output);
    description.info.flop = batch * layer->flop;
    description.info.bytes =
        sizeof(float) * (batch * (shape_count(layer->input) + shape_count(layer->output)) +
                         layer->weight_count + layer->bias_count);
    description.info.sequence = pass->sequence + index;
    tell(&description);
}

/* A layer with weights does the forward work twice, once for the gradient by its weights and once
 * for the one by its input; the first layer's input is data and has none. */
void operator_describe_backward(const struct layer *layer, const struct pass *pass, int index,
                                const float *gradient, const float *input_gradient)
{
    struct description description = { .info = VARVE_OP_INFO_INIT };
    size_t batch = pass->batch->count;
    size_t image_reads = shape_count(layer->input) + shape_count(layer->output);
    size_t image_writes = index > 0 ? shape_count(layer->input) : 0;
    size_t weight_reads = index > 0 ? layer->weight_count : 0;
    add(&description.inputs, gradient, batch, layer->output);
    add(&description.inputs, input_of(pass, index), batch, layer->input);
    add_weight(&description.inputs, layer, index > 0 ? layer->weight : NULL);
    if (input_gradient != NULL)
        add(&description.outputs, input_gradient, batch, layer->input);
    add_weight(&description.outputs, layer, layer->weight_gradient);
    description.info.flop = batch * layer->flop * (index > 0 ? 2 : 1);
    description.info.bytes = sizeof(float) * (batch * (image_reads + image_writes) + weight_reads +
                                              layer->weight_count + layer->bias_count);
    description.info.sequence = pass->sequence + index;
    description.info.forward_thread = pass->thread;
    tell(&description);
}

static void describe_loss(const struct pass *pass, const float *from, const float *to,
                          uint64_t forward_thread)
{
    static const struct shape classes = { DIGIT_CLASSES, 1, 1 };
    struct description description = { .info = VARVE_OP_INFO_INIT };
    size_t samples = pass->batch->count;
    add(&description.inputs, from, samples, classes);
    add(&description.outputs, to, samples, classes);
    description.info.bytes =
        samples * (2 * sizeof(float) * DIGIT_CLASSES + sizeof(*pass->batch->labels));
    description.info.sequence = pass->sequence + NETWORK_LAYERS;
    description.info.forward_thread = forward_thread;
    tell(&description);
}

void operator_describe_loss(const struct pass *pass)
{
    describe_loss(pass, pass->outputs[NETWORK_LAYERS - 1], pass->probabilities, 0);
}

void operator_describe_loss_backward(const struct pass *pass, const float *gradient)
{
    describe_loss(pass, pass->probabilities, gradient, pass->thread);
}
