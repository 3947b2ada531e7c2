/* SPDX-License-Identifier: Apache-2.0 */
/* layers.h — the arithmetic: each kind of layer, forward and backward, on arrays of floats.
 *
 * A batch is an array of images [sample][channel][row][column]; a vector is an image of 1 x 1.
 * Called by network.c, which owns the arrays, and by tests/examples/gradients.c, which compares
 * each backward function with differences of its forward one. Nothing here allocates or fails.
 *
 * For the trace a kind carries two call sites, and a layer its sizes and FLOP. */
#ifndef TRAIN_LAYERS_H
#define TRAIN_LAYERS_H

#include <stddef.h>
#include <stdint.h>

#include <varve/varve.h>

struct shape {
    size_t channels, height, width;
};

static inline size_t shape_count(struct shape shape)
{
    return shape.channels * shape.height * shape.width;
}

struct layer;

typedef void layer_forward(const struct layer *layer, size_t batch, const float *input,
                           float *out_output);
/* Adds to layer->weight_gradient and layer->bias_gradient. `out_input_gradient` is NULL where
 * nobody asks for it: in the first layer. */
typedef void layer_backward(const struct layer *layer, size_t batch, const float *input,
                            const float *output_gradient, float *out_input_gradient);

struct layer_kind {
    struct varve_site forward_site, backward_site;
    void (*setup)(struct layer *layer); /* from kind, input, channels, side: the sizes */
    layer_forward *forward;
    layer_backward *backward;
};

extern struct layer_kind layer_conv2d; /* side x side filters (odd), edges filled with 0 */
extern struct layer_kind layer_relu;
extern struct layer_kind layer_maxpool2d; /* side x side windows that do not overlap */
extern struct layer_kind layer_linear;

struct layer {
    struct layer_kind *kind;
    struct shape input, output; /* of one sample */
    size_t channels;            /* of the output; conv2d and linear */
    size_t side;                /* of a filter or window; 1 for linear */
    size_t weight_count, bias_count, workspace_count;
    uint64_t flop;        /* forward, for one sample; comparisons are not counted */
    float *weight, *bias; /* borrowed; weight[output][input][row][column] */
    float *weight_gradient, *bias_gradient; /* borrowed */
    float *workspace; /* borrowed while the layer runs; holds nothing between runs */
};

/* The mean over the batch of -log(softmax(logits)[label]). Sets [sample][class] of
 * out_probabilities. */
double cross_entropy(size_t batch, size_t classes, const float *logits, const int *labels,
                     float *out_probabilities);
void cross_entropy_backward(size_t batch, size_t classes, const float *probabilities,
                            const int *labels, float *out_logits_gradient);

#endif
