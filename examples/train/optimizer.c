/* SPDX-License-Identifier: Apache-2.0 */
/* optimizer.c — see optimizer.h. */
#include "optimizer.h"

#include <stdint.h>
#include <string.h>

#include <varve/varve.h>

#include "buffer.h"

bool optimizer_init(struct optimizer *optimizer, size_t count)
{
    *optimizer = (struct optimizer){ .rate = 0.02f, .momentum = 0.8f, .count = count };
    optimizer->velocity = buffer_create(count);
    if (optimizer->velocity == NULL)
        return false;
    memset(optimizer->velocity, 0, count * sizeof(*optimizer->velocity));
    return true;
}

void optimizer_deinit(struct optimizer *optimizer)
{
    buffer_destroy(optimizer->velocity);
    optimizer->velocity = NULL;
}

#define TENSORS_MAX (1 + 2 * NETWORK_LAYERS)

/* What the optimizer reads, or what it makes: the parameters of each layer lie one behind the
 * other, so a layer's are one tensor. */
struct side {
    int64_t dims[TENSORS_MAX];
    struct varve_tensor tensors[TENSORS_MAX];
    uint64_t ids[TENSORS_MAX];
    uint32_t count;
};

static void add(struct side *side, const float *data, size_t count)
{
    uint32_t index = side->count++;
    side->dims[index] = (int64_t)count;
    side->tensors[index] = (struct varve_tensor){ VARVE_F32, 1, &side->dims[index] };
    side->ids[index] = (uintptr_t)data;
}

static void describe(const struct optimizer *optimizer, const struct network *network)
{
    struct side inputs = { .count = 0 }, outputs = { .count = 0 };
    struct varve_op_info info = VARVE_OP_INFO_INIT;
    add(&inputs, optimizer->velocity, optimizer->count);
    add(&outputs, optimizer->velocity, optimizer->count);
    for (int i = 0; i < NETWORK_LAYERS; i++) {
        const struct layer *layer = &network->layers[i];
        size_t count = layer->weight_count + layer->bias_count;
        if (count == 0)
            continue;
        add(&inputs, layer->weight_gradient, count);
        add(&inputs, layer->weight, count);
        add(&outputs, layer->weight, count);
    }
    info.inputs = inputs.tensors;
    info.input_ids = inputs.ids;
    info.input_count = inputs.count;
    info.outputs = outputs.tensors;
    info.output_ids = outputs.ids;
    info.output_count = outputs.count;
    info.flop = 4 * optimizer->count;
    info.bytes = 5 * sizeof(float) * optimizer->count;
    varve_op(&info);
}

void optimizer_apply(struct optimizer *optimizer, struct network *network)
{
    VARVE_SCOPE("sgd_momentum");
    if (varve_layers() != 0)
        describe(optimizer, network);
    float *velocity = optimizer->velocity;
    for (size_t i = 0; i < optimizer->count; i++) {
        velocity[i] = optimizer->momentum * velocity[i] + network->gradients[i];
        network->parameters[i] -= optimizer->rate * velocity[i];
    }
}
