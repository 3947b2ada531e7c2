/* SPDX-License-Identifier: Apache-2.0 */
/* network.c — see network.h. The marks for Varve are here, once for all layers: begin, say what the
 * operator works on (only while somebody records), do the work, end. */
#include "network.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "buffer.h"
#include "operator.h"
#include "rng.h"

static const struct {
    struct layer_kind *kind;
    size_t channels, side;
} plan[NETWORK_LAYERS] = {
    { &layer_conv2d, 16, 5 },  { &layer_relu, 0, 0 }, { &layer_maxpool2d, 0, 2 },
    { &layer_conv2d, 32, 5 },  { &layer_relu, 0, 0 }, { &layer_maxpool2d, 0, 2 },
    { &layer_linear, 128, 0 }, { &layer_relu, 0, 0 }, { &layer_linear, DIGIT_CLASSES, 0 },
};

/* Sizes every layer; returns the number of parameters. */
static size_t lay_out(struct network *network)
{
    struct shape shape = { 1, DIGIT_SIDE, DIGIT_SIDE };
    size_t parameter_count = 0;
    for (int i = 0; i < NETWORK_LAYERS; i++) {
        struct layer *layer = &network->layers[i];
        *layer = (struct layer){
            .kind = plan[i].kind, .input = shape, .channels = plan[i].channels, .side = plan[i].side
        };
        layer->kind->setup(layer);
        parameter_count += layer->weight_count + layer->bias_count;
        shape = layer->output;
    }
    return parameter_count;
}

/* Gives every layer its part of the parameters, and random weights. Their deviation is He's, which
 * keeps the size of what flows from layer to layer; the last layer's is smaller, so that training
 * begins with all classes about equally likely, at a loss of about log(10). */
static void fill_layers(struct network *network, uint64_t seed)
{
    struct rng rng = rng_stream(seed, UINT64_MAX);
    memset(network->parameters, 0, network->parameter_count * sizeof(*network->parameters));
    size_t offset = 0;
    for (int i = 0; i < NETWORK_LAYERS; i++) {
        struct layer *layer = &network->layers[i];
        layer->weight = network->parameters + offset;
        layer->weight_gradient = network->gradients + offset;
        offset += layer->weight_count;
        layer->bias = network->parameters + offset;
        layer->bias_gradient = network->gradients + offset;
        offset += layer->bias_count;
        if (layer->weight_count == 0)
            continue;
        size_t fan_in = layer->weight_count / layer->bias_count;
        float deviation = sqrtf(2.0f / (float)fan_in) * (i == NETWORK_LAYERS - 1 ? 0.1f : 1.0f);
        for (size_t k = 0; k < layer->weight_count; k++)
            layer->weight[k] = deviation * rng_normal(&rng);
    }
}

bool network_init(struct network *network, uint64_t seed)
{
    memset(network, 0, sizeof(*network));
    network->parameter_count = lay_out(network);
    network->parameters = buffer_create(network->parameter_count);
    network->gradients = buffer_create(network->parameter_count);
    if (network->parameters == NULL || network->gradients == NULL) {
        network_deinit(network);
        return false;
    }
    fill_layers(network, seed);
    return true;
}

void network_deinit(struct network *network)
{
    buffer_destroy(network->parameters);
    buffer_destroy(network->gradients);
    memset(network, 0, sizeof(*network));
}

static const float *layer_input(const struct pass *pass, int index)
{
    return index == 0 ? pass->batch->pixels : pass->outputs[index - 1];
}

/* A buffer for the layer to work in while it runs, if it wants one. False = no memory. */
static bool workspace_create(struct layer *layer)
{
    if (layer->workspace_count == 0)
        return true;
    layer->workspace = buffer_create(layer->workspace_count);
    return layer->workspace != NULL;
}

static void workspace_destroy(struct layer *layer)
{
    buffer_destroy(layer->workspace);
    layer->workspace = NULL;
}

static bool run_forward(struct layer *layer, struct pass *pass, int index)
{
    size_t batch = pass->batch->count;
    pass->outputs[index] = buffer_create(batch * shape_count(layer->output));
    if (varve_layers() != 0)
        operator_describe_forward(layer, pass, index);
    bool ready = pass->outputs[index] != NULL && workspace_create(layer);
    if (ready)
        layer->kind->forward(layer, batch, layer_input(pass, index), pass->outputs[index]);
    workspace_destroy(layer);
    return ready;
}

bool network_forward(struct network *network, const struct batch *batch, struct pass *out_pass)
{
    *out_pass = (struct pass){ .batch = batch,
                               .sequence = network->next_sequence,
                               .thread = (uint64_t)gettid() };
    network->next_sequence += NETWORK_LAYERS + 1; /* the loss is an operator too */
    for (int i = 0; i < NETWORK_LAYERS; i++) {
        struct layer *layer = &network->layers[i];
        varve_begin(&layer->kind->forward_site);
        bool ran = run_forward(layer, out_pass, i);
        varve_end();
        if (!ran) {
            pass_deinit(out_pass);
            return false;
        }
    }
    return true;
}

bool pass_loss(struct pass *pass, double *out_loss)
{
    VARVE_SCOPE("cross_entropy");
    pass->probabilities = buffer_create(pass->batch->count * DIGIT_CLASSES);
    if (varve_layers() != 0)
        operator_describe_loss(pass);
    if (pass->probabilities == NULL)
        return false;
    *out_loss = cross_entropy(pass->batch->count, DIGIT_CLASSES, pass->outputs[NETWORK_LAYERS - 1],
                              pass->batch->labels, pass->probabilities);
    return true;
}

/* The gradient of the loss by the logits, in a new buffer; NULL = no memory. */
static float *run_loss_backward(const struct pass *pass)
{
    VARVE_SCOPE("cross_entropy_backward");
    float *gradient = buffer_create(pass->batch->count * DIGIT_CLASSES);
    if (varve_layers() != 0)
        operator_describe_loss_backward(pass, gradient);
    if (gradient != NULL)
        cross_entropy_backward(pass->batch->count, DIGIT_CLASSES, pass->probabilities,
                               pass->batch->labels, gradient);
    return gradient;
}

/* Replaces *gradient, by the layer's output, with the gradient by its input (NULL for the first
 * layer, whose input is the data), and frees what no other layer needs. */
static bool run_backward(struct layer *layer, struct pass *pass, int index, float **gradient)
{
    size_t batch = pass->batch->count;
    float *input_gradient = NULL;
    bool ready = workspace_create(layer);
    if (ready && index > 0) {
        input_gradient = buffer_create(batch * shape_count(layer->input));
        ready = input_gradient != NULL;
    }
    if (varve_layers() != 0)
        operator_describe_backward(layer, pass, index, *gradient, input_gradient);
    if (ready)
        layer->kind->backward(layer, batch, layer_input(pass, index), *gradient, input_gradient);
    workspace_destroy(layer);
    buffer_destroy(pass->outputs[index]);
    pass->outputs[index] = NULL;
    buffer_destroy(*gradient);
    *gradient = input_gradient;
    return ready;
}

bool network_backward(struct network *network, struct pass *pass)
{
    memset(network->gradients, 0, network->parameter_count * sizeof(*network->gradients));
    float *gradient = run_loss_backward(pass);
    bool running = gradient != NULL;
    for (int i = NETWORK_LAYERS - 1; i >= 0 && running; i--) {
        struct layer *layer = &network->layers[i];
        varve_begin(&layer->kind->backward_site);
        running = run_backward(layer, pass, i, &gradient);
        varve_end();
    }
    buffer_destroy(gradient);
    return running;
}

/* ---- which operator reads what another one makes ---- */

enum { FORWARD, BACKWARD, SIDES };

/* The text of a node: "relu 1", "cross_entropy_backward". The loss is behind the last layer. */
struct node_text { char text[64]; };

static struct node_text node_text(const struct network *network, int side, int index)
{
    static const char *const losses[SIDES] = { "cross_entropy", "cross_entropy_backward" };
    struct node_text node;
    if (index == NETWORK_LAYERS) {
        snprintf(node.text, sizeof(node.text), "%s", losses[side]);
        return node;
    }
    const struct layer_kind *kind = network->layers[index].kind;
    snprintf(node.text, sizeof(node.text), "%s %d",
             side == FORWARD ? kind->forward_site.name : kind->backward_site.name, index);
    return node;
}

static void print_edge(struct node_text from, struct node_text to)
{
    printf("%s -> %s\n", from.text, to.text);
}

void network_print_graph(const struct network *network)
{
    static const struct node_text loader = { "draw_batch" }, optimizer = { "sgd_momentum" };
    print_edge(loader, node_text(network, FORWARD, 0));
    print_edge(loader, node_text(network, BACKWARD, 0));
    for (int i = 0; i <= NETWORK_LAYERS; i++) {
        struct node_text forward = node_text(network, FORWARD, i);
        struct node_text backward = node_text(network, BACKWARD, i);
        bool has_weight = i < NETWORK_LAYERS && network->layers[i].weight_count > 0;
        if (i > 0) {
            print_edge(node_text(network, FORWARD, i - 1), forward);
            print_edge(backward, node_text(network, BACKWARD, i - 1));
        }
        if (i > 0 && i < NETWORK_LAYERS) /* it needs its input again */
            print_edge(node_text(network, FORWARD, i - 1), backward);
        if (has_weight) {
            print_edge(optimizer, forward);
            print_edge(backward, optimizer);
        }
        if (has_weight && i > 0)
            print_edge(optimizer, backward);
    }
    print_edge(node_text(network, FORWARD, NETWORK_LAYERS),
               node_text(network, BACKWARD, NETWORK_LAYERS));
    print_edge(optimizer, optimizer);
}

int pass_correct(const struct pass *pass)
{
    const float *logits = pass->outputs[NETWORK_LAYERS - 1];
    int correct = 0;
    for (size_t sample = 0; sample < pass->batch->count; sample++, logits += DIGIT_CLASSES) {
        int best = 0;
        for (int i = 1; i < DIGIT_CLASSES; i++)
            if (logits[i] > logits[best])
                best = i;
        correct += best == pass->batch->labels[sample];
    }
    return correct;
}

void pass_deinit(struct pass *pass)
{
    for (int i = 0; i < NETWORK_LAYERS; i++)
        buffer_destroy(pass->outputs[i]);
    buffer_destroy(pass->probabilities);
    memset(pass, 0, sizeof(*pass));
}
