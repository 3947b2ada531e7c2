/* SPDX-License-Identifier: Apache-2.0 */
/* gradient.c — see gradient.h. */
#include "gradient.h"

#include <assert.h>
#include <stdio.h>

#include <varve/varve.h>

#include "operators.h"

struct derivation {
    struct graph *graph;
    int *gradients;           /* of each tensor, or NONE */
    bool wanted[TENSORS_MAX]; /* it is a parameter, or comes from one */
};

/* Which tensors have parameters behind them: the gradients by the others are nobody's. */
static void find_wanted(struct derivation *derivation)
{
    const struct graph *graph = derivation->graph;
    for (int i = 0; i < graph->tensor_count; i++)
        derivation->wanted[i] = graph->tensors[i].role == TENSOR_PARAMETER;
    for (int i = 0; i < graph->node_count; i++) {
        const struct node *node = &graph->nodes[i];
        for (int k = 0; k < node->input_count; k++)
            if (derivation->wanted[node->inputs[k]])
                derivation->wanted[node->outputs[0]] = true;
    }
}

static int operand_of(const struct derivation *derivation, int number, enum operand operand)
{
    const struct node *node = &derivation->graph->nodes[number];
    switch (operand) {
    case OF_GRADIENT:
        return derivation->gradients[node->outputs[0]];
    case OF_INPUT_0:
    case OF_INPUT_1:
        return node->inputs[operand - OF_INPUT_0];
    case OF_OUTPUT_0:
    case OF_OUTPUT_1:
        break;
    }
    return node->outputs[operand - OF_OUTPUT_0];
}

/* The node of a rule, with a new tensor that has the shape of `tensor`. */
static int add_backward_node(struct derivation *derivation, int forward, enum operator_id id,
                             int tensor)
{
    struct graph *graph = derivation->graph;
    const struct node *origin = &graph->nodes[forward];
    struct node node = { .operator = &operators[id],
                         .phase = PHASE_BACKWARD,
                         .forward = forward,
                         .features = origin->features,
                         .side = origin->side,
                         .output_count = 1 };
    const char *what = id == OPERATOR_ADD                                  ? "sum"
                       : graph->tensors[tensor].role == TENSOR_PARAMETER ? "parameters"
                                                                          : "input";
    snprintf(node.name, sizeof node.name, "%.40s.backward_%s", origin->name, what);
    node.outputs[0] = graph_add_tensor(graph, TENSOR_VALUE, node.name, "");
    graph->tensors[node.outputs[0]].like = tensor;
    return graph_add_node(graph, &node);
}

/* The tensor has one more gradient: the first stays alone, later ones are added to it. */
static void accumulate(struct derivation *derivation, int forward, int tensor, int gradient)
{
    struct graph *graph = derivation->graph;
    int *sum = &derivation->gradients[tensor];
    if (*sum == NONE) {
        *sum = gradient;
        return;
    }
    struct node *node =
        &graph->nodes[add_backward_node(derivation, forward, OPERATOR_ADD, tensor)];
    node->inputs[node->input_count++] = *sum;
    node->inputs[node->input_count++] = gradient;
    *sum = node->outputs[0];
}

static void derive_node(struct derivation *derivation, int number)
{
    struct graph *graph = derivation->graph;
    const struct node *origin = &graph->nodes[number];
    for (int i = 0; i < origin->input_count; i++) {
        const struct gradient_rule *rule = &origin->operator->gradients[i];
        int tensor = origin->inputs[i];
        if (!derivation->wanted[tensor])
            continue;
        if (rule->is_same) {
            accumulate(derivation, number, tensor, derivation->gradients[origin->outputs[0]]);
            continue;
        }
        assert(rule->operator!= OPERATOR_NONE);
        struct node *node =
            &graph->nodes[add_backward_node(derivation, number, rule->operator, tensor)];
        for (int k = 0; k < rule->operand_count; k++)
            node->inputs[node->input_count++] =
                operand_of(derivation, number, rule->operands[k]);
        accumulate(derivation, number, tensor, node->outputs[0]);
    }
}

void gradient_derive(struct graph *graph, int loss, int out_gradients[TENSORS_MAX])
{
    VARVE_SCOPE_LAYER("derive_gradients", VARVE_LAYER_HOST);
    struct derivation derivation = { .graph = graph, .gradients = out_gradients };
    for (int i = 0; i < TENSORS_MAX; i++)
        out_gradients[i] = NONE;
    find_wanted(&derivation);
    /* The loss's own gradient is 1: mean_backward, the first rule, does without it. */
    for (int i = graph->node_count - 1; i >= 0; i--) {
        int output = graph->nodes[i].output_count > 0 ? graph->nodes[i].outputs[0] : NONE;
        if (output == loss || (output != NONE && out_gradients[output] != NONE))
            derive_node(&derivation, i);
    }
}
