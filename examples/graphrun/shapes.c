/* SPDX-License-Identifier: Apache-2.0 */
/* shapes.c — see shapes.h. */
#include "shapes.h"

#include <inttypes.h>
#include <string.h>

#include <varve/varve.h>

#include "../train/digits.h"
#include "message.h"
#include "operators.h"

#define ELEMENTS_MAX (INT64_C(1) << 28) /* of a tensor: 1 GiB */

static struct tensor *input_of(struct graph *graph, const struct node *node, int index)
{
    return &graph->tensors[node->inputs[index]];
}

static struct tensor *output_of(struct graph *graph, const struct node *node, int index)
{
    return &graph->tensors[node->outputs[index]];
}

/* Height and width are 0 for what is no image. */
static void set_shape(struct tensor *tensor, int64_t first, int64_t second, int64_t height,
                      int64_t width)
{
    const int64_t dims[RANK_MAX] = { first, second, height, width };
    tensor->rank = height == 0 ? 2 : 4;
    memcpy(tensor->dims, dims, sizeof dims);
}

static void set_vector(struct tensor *tensor, int64_t count)
{
    tensor->rank = 1;
    tensor->dims[0] = count;
}

static void copy_shape(struct tensor *to, const struct tensor *from)
{
    to->rank = from->rank;
    memcpy(to->dims, from->dims, sizeof to->dims);
}

bool infer_batch(struct graph *graph, const struct node *node)
{
    set_shape(output_of(graph, node, 0), graph->batch, 1, DIGIT_SIDE, DIGIT_SIDE);
    set_vector(output_of(graph, node, 1), graph->batch);
    return true;
}

bool infer_like(struct graph *graph, const struct node *node)
{
    struct tensor *output = output_of(graph, node, 0);
    copy_shape(output, output->like == NONE ? input_of(graph, node, 0)
                                            : &graph->tensors[output->like]);
    return true;
}

bool infer_conv2d(struct graph *graph, const struct node *node)
{
    const struct tensor *image = input_of(graph, node, 0);
    if (image->rank != 4)
        return refuse("%s: a convolution wants images, and has vectors; put it before the linear "
                      "layers",
                      node->name);
    if (node->side % 2 == 0)
        return refuse("%s: filters of side %" PRId64 " have no centre; give an odd side",
                      node->name, node->side);
    set_shape(input_of(graph, node, 1), node->features,
              image->dims[1] * node->side * node->side + 1, 0, 0);
    set_shape(output_of(graph, node, 0), image->dims[0], node->features, image->dims[2],
              image->dims[3]);
    return true;
}

bool infer_maxpool2d(struct graph *graph, const struct node *node)
{
    const struct tensor *image = input_of(graph, node, 0);
    if (image->rank != 4)
        return refuse("%s: pooling wants images, and has vectors; put it before the linear "
                      "layers",
                      node->name);
    if (image->dims[2] < node->side || image->dims[3] < node->side)
        return refuse("%s: windows of side %" PRId64 " do not fit in images of %" PRId64
                      " x %" PRId64 "; give a smaller side",
                      node->name, node->side, image->dims[2], image->dims[3]);
    set_shape(output_of(graph, node, 0), image->dims[0], image->dims[1],
              image->dims[2] / node->side, image->dims[3] / node->side);
    return true;
}

bool infer_linear(struct graph *graph, const struct node *node)
{
    const struct tensor *rows = input_of(graph, node, 0);
    int64_t width = tensor_elements(rows) / rows->dims[0];
    set_shape(input_of(graph, node, 1), node->features, width + 1, 0, 0);
    set_shape(output_of(graph, node, 0), rows->dims[0], node->features, 0, 0);
    return true;
}

bool infer_add(struct graph *graph, const struct node *node)
{
    const struct tensor *a = input_of(graph, node, 0), *b = input_of(graph, node, 1);
    if (a->rank != b->rank || memcmp(a->dims, b->dims, a->rank * sizeof a->dims[0]) != 0)
        return refuse("%s: %s and %s have different shapes; add wants equal ones", node->name,
                      a->name, b->name);
    return infer_like(graph, node);
}

bool infer_cross_entropy(struct graph *graph, const struct node *node)
{
    const struct tensor *logits = input_of(graph, node, 0);
    if (logits->rank != 2 || logits->dims[1] != DIGIT_CLASSES)
        return refuse("the network ends in %s, and must end in %d classes; let its last layer be "
                      "'linear %d'",
                      logits->name, DIGIT_CLASSES, DIGIT_CLASSES);
    set_vector(output_of(graph, node, 0), logits->dims[0]);
    copy_shape(output_of(graph, node, 1), logits);
    return true;
}

bool infer_scalar(struct graph *graph, const struct node *node)
{
    output_of(graph, node, 0)->rank = 0;
    return true;
}

bool infer_state(struct graph *graph, const struct node *node)
{
    copy_shape(input_of(graph, node, 1), input_of(graph, node, 0));
    return true;
}

bool infer_nothing(struct graph *graph, const struct node *node)
{
    (void)graph, (void)node;
    return true;
}

bool shapes_infer(struct graph *graph)
{
    VARVE_SCOPE_LAYER("infer_shapes", VARVE_LAYER_HOST);
    for (int i = 0; i < graph->node_count; i++) {
        const struct node *node = &graph->nodes[i];
        VARVE_SCOPE_LAYER("infer_shape", VARVE_LAYER_HOST);
        if (!node->operator->infer(graph, node))
            return false;
        for (int k = 0; k < node->output_count; k++)
            if (tensor_elements(&graph->tensors[node->outputs[k]]) > ELEMENTS_MAX)
                return refuse("%s: its output has more than %" PRId64 " elements; try a smaller "
                              "--batch",
                              node->name, ELEMENTS_MAX);
    }
    return true;
}
