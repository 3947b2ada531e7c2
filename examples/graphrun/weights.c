/* SPDX-License-Identifier: Apache-2.0 */
/* weights.c — see weights.h. Biases begin as 0. The weights' deviation is He's, which keeps the
 * size of what flows from layer to layer; the last layer's is smaller, so that training begins with
 * all classes about equally likely. */
#include "weights.h"

#include <math.h>
#include <stdlib.h>

#include "../train/rng.h"
#include "message.h"

static int next_parameter(const struct graph *graph, int tensor)
{
    while (++tensor < graph->tensor_count)
        if (graph->tensors[tensor].role == TENSOR_PARAMETER)
            return tensor;
    return NONE;
}

static void draw(const struct tensor *tensor, float scale, struct rng *rng, float *out_values)
{
    int64_t fan_in = tensor->dims[1] - 1;
    float deviation = scale * sqrtf(2.0f / (float)fan_in);
    for (int64_t feature = 0; feature < tensor->dims[0]; feature++) {
        for (int64_t i = 0; i < fan_in; i++)
            *out_values++ = deviation * rng_normal(rng);
        *out_values++ = 0.0f;
    }
}

bool weights_draw(struct model *model, uint64_t seed)
{
    struct rng rng = rng_stream(seed, UINT64_MAX);
    const struct graph *graph = model->graph;
    bool done = true;
    for (int i = next_parameter(graph, NONE); i != NONE && done; i = next_parameter(graph, i)) {
        const struct tensor *tensor = &graph->tensors[i];
        float *values = malloc(tensor->bytes);
        if (values == NULL)
            return refuse("out of memory");
        draw(tensor, next_parameter(graph, i) == NONE ? 0.1f : 1.0f, &rng, values);
        done = model_write(model, i, values);
        free(values);
    }
    return done;
}

bool weights_copy(struct model *from, struct model *to)
{
    int source = next_parameter(from->graph, NONE), target = next_parameter(to->graph, NONE);
    bool done = true;
    while (source != NONE && target != NONE && done) {
        float *values = malloc(from->graph->tensors[source].bytes);
        if (values == NULL)
            return refuse("out of memory");
        done = model_read(from, source, values) && model_write(to, target, values);
        free(values);
        source = next_parameter(from->graph, source);
        target = next_parameter(to->graph, target);
    }
    return done;
}
