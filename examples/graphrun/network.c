/* SPDX-License-Identifier: Apache-2.0 */
/* network.c — see network.h. */
#include "network.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <varve/varve.h>

#include "gradient.h"
#include "message.h"
#include "operators.h"

#define NUMBER_MAX 4096
#define WORD_BYTES 16

/* The words of a description. */
static const struct layer_word {
    const char *word;
    enum operator_id operator;
    bool has_features, has_side, has_parameters, has_distance;
} layer_words[] = {
    { "conv2d", OPERATOR_CONV2D, true, true, true, false },
    { "relu", OPERATOR_RELU, false, false, false, false },
    { "maxpool2d", OPERATOR_MAXPOOL2D, false, true, false, false },
    { "linear", OPERATOR_LINEAR, true, false, true, false },
    { "add", OPERATOR_ADD, false, false, false, true },
};
#define LAYER_WORDS (sizeof layer_words / sizeof layer_words[0])

struct builder {
    struct graph *graph;
    const char *rest;        /* of the description */
    int layers[LAYERS_MAX];  /* their outputs */
    int layer_count;
    int counts[LAYER_WORDS]; /* layers of each kind, for their names */
};

/* ---- reading ---- */

static const struct layer_word *read_word(struct builder *builder)
{
    char word[WORD_BYTES] = "";
    builder->rest += strspn(builder->rest, " ,");
    size_t length = strcspn(builder->rest, " ,");
    snprintf(word, sizeof word, "%.*s", (int)(length < 64 ? length : 64), builder->rest);
    for (size_t i = 0; i < LAYER_WORDS; i++) {
        if (strlen(layer_words[i].word) == length && strcmp(word, layer_words[i].word) == 0) {
            builder->rest += length;
            return &layer_words[i];
        }
    }
    refuse("the network's layer %d is '%s', and must be conv2d, relu, maxpool2d, linear or add",
           builder->layer_count, word);
    return NULL;
}

static bool read_number(struct builder *builder, const char *word, int64_t *out_number)
{
    char *end;
    builder->rest += strspn(builder->rest, " ,");
    long number = isdigit((unsigned char)*builder->rest) ? strtol(builder->rest, &end, 10) : 0;
    if (number < 1 || number > NUMBER_MAX)
        return refuse("the network's layer %d, %s, wants a number from 1 to %d, not '%.16s'",
                      builder->layer_count, word, NUMBER_MAX, builder->rest);
    builder->rest = end;
    *out_number = number;
    return true;
}

/* ---- building ---- */

/* The output is a new tensor. */
static struct node node_begin(struct graph *graph, enum operator_id id, const char *name)
{
    struct node node = { .operator = &operators[id], .phase = PHASE_FORWARD, .forward = NONE };
    snprintf(node.name, sizeof node.name, "%s", name);
    node.outputs[node.output_count++] = graph_add_tensor(graph, TENSOR_VALUE, name, ".output");
    return node;
}

static bool add_layer(struct builder *builder)
{
    struct graph *graph = builder->graph;
    const struct layer_word *word = read_word(builder);
    int64_t distance = 0;
    char name[NAME_BYTES];
    if (word == NULL)
        return false;
    if (builder->layer_count == LAYERS_MAX)
        return refuse("the network has more than %d layers", LAYERS_MAX);
    snprintf(name, sizeof name, "%s_%d", word->word, ++builder->counts[word - layer_words]);
    struct node node = node_begin(graph, word->operator, name);
    node.inputs[node.input_count++] = builder->layers[builder->layer_count - 1];
    if ((word->has_features && !read_number(builder, word->word, &node.features)) ||
        (word->has_side && !read_number(builder, word->word, &node.side)) ||
        (word->has_distance && !read_number(builder, word->word, &distance)))
        return false;
    if (word->has_parameters)
        node.inputs[node.input_count++] =
            graph_add_tensor(graph, TENSOR_PARAMETER, name, ".parameters");
    if (word->has_distance) {
        if (distance >= builder->layer_count)
            return refuse("%s: there are no %d layers before it", name, (int)distance);
        node.inputs[node.input_count++] = builder->layers[builder->layer_count - 1 - distance];
    }
    builder->layers[builder->layer_count++] = node.outputs[0];
    graph_add_node(graph, &node);
    return true;
}

/* The whole network, from the batch to the logits, whose tensor is *out_logits. */
static bool add_layers(const struct network *network, struct graph *graph, int *out_logits,
                       int *out_labels)
{
    struct builder builder = { .graph = graph, .rest = network->description };
    *graph = (struct graph){ .batch = network->batch, .global_batch = network->global_batch };
    struct node fetch = node_begin(graph, OPERATOR_GET_NEXT, "get_next");
    fetch.phase = PHASE_DATA;
    *out_labels = fetch.outputs[fetch.output_count++] =
        graph_add_tensor(graph, TENSOR_VALUE, "get_next", ".labels");
    graph->tensors[*out_labels].dtype = VARVE_I32;
    graph_add_node(graph, &fetch);
    builder.layers[builder.layer_count++] = fetch.outputs[0];
    while (builder.rest[strspn(builder.rest, " ,")] != '\0')
        if (!add_layer(&builder))
            return false;
    if (builder.layer_count == 1)
        return refuse("the network has no layers");
    *out_logits = builder.layers[builder.layer_count - 1];
    return true;
}

static void add_output(struct graph *graph, int tensor, enum phase phase)
{
    struct node node = { .operator = &operators[OPERATOR_NET_OUTPUT],
                         .name = "net_output",
                         .phase = phase,
                         .forward = NONE,
                         .inputs = { tensor },
                         .input_count = 1 };
    graph_add_node(graph, &node);
}

bool network_build_inference(const struct network *network, struct graph *out_graph)
{
    VARVE_SCOPE_LAYER("build_graph", VARVE_LAYER_HOST);
    int logits, labels;
    if (!add_layers(network, out_graph, &logits, &labels))
        return false;
    out_graph->name = "inference";
    out_graph->id = 2;
    out_graph->loss = NONE;
    add_output(out_graph, logits, PHASE_FORWARD);
    return true;
}

static int add_loss(struct graph *graph, int logits, int labels)
{
    struct node losses = node_begin(graph, OPERATOR_CROSS_ENTROPY, "cross_entropy");
    losses.inputs[losses.input_count++] = logits;
    losses.inputs[losses.input_count++] = labels;
    losses.outputs[losses.output_count++] =
        graph_add_tensor(graph, TENSOR_VALUE, "cross_entropy", ".probabilities");
    graph_add_node(graph, &losses);
    struct node mean = node_begin(graph, OPERATOR_MEAN, "mean");
    mean.inputs[mean.input_count++] = losses.outputs[0];
    graph_add_node(graph, &mean);
    return mean.outputs[0];
}

/* The sum of the tensor over all processes: itself, if this is the only one. */
static int add_all_reduce(struct graph *graph, int tensor)
{
    char name[NAME_BYTES];
    snprintf(name, sizeof name, "all_reduce.%.40s", graph->tensors[tensor].name);
    struct node node = node_begin(graph, OPERATOR_ALL_REDUCE, name);
    node.phase = PHASE_BACKWARD;
    node.inputs[node.input_count++] = tensor;
    graph_add_node(graph, &node);
    return node.outputs[0];
}

static void add_optimizer(struct graph *graph, int parameters, int gradient)
{
    char name[NAME_BYTES];
    const char *layer = graph->tensors[parameters].name;
    snprintf(name, sizeof name, "sgd.%.40s", layer);
    struct node node = { .operator = &operators[OPERATOR_SGD_MOMENTUM],
                         .phase = PHASE_OPTIMIZER,
                         .forward = NONE,
                         .inputs = { parameters,
                                     graph_add_tensor(graph, TENSOR_STATE, layer, ".velocity"),
                                     gradient },
                         .input_count = 3 };
    memcpy(node.name, name, sizeof name);
    graph_add_node(graph, &node);
}

bool network_build_training(const struct network *network, struct graph *out_graph)
{
    VARVE_SCOPE_LAYER("build_graph", VARVE_LAYER_HOST);
    int gradients[TENSORS_MAX], logits, labels;
    if (!add_layers(network, out_graph, &logits, &labels))
        return false;
    out_graph->name = "training";
    out_graph->id = 1;
    out_graph->loss = add_loss(out_graph, logits, labels);
    int tensor_count = out_graph->tensor_count;
    gradient_derive(out_graph, out_graph->loss, gradients);
    for (int i = tensor_count - 1; i >= 0; i--) {
        if (out_graph->tensors[i].role != TENSOR_PARAMETER)
            continue;
        int gradient = gradients[i];
        if (network->is_parallel)
            gradient = add_all_reduce(out_graph, gradient);
        add_optimizer(out_graph, i, gradient);
    }
    if (network->is_parallel)
        out_graph->loss = add_all_reduce(out_graph, out_graph->loss);
    add_output(out_graph, out_graph->loss, PHASE_OPTIMIZER);
    return true;
}
