/* SPDX-License-Identifier: Apache-2.0 */
/* operators.h — what an operator is: who runs it, its shapes, its gradients, its work. One table.
 *
 * The operators' arithmetic is in kernels.cl. */
#ifndef GRAPHRUN_OPERATORS_H
#define GRAPHRUN_OPERATORS_H

#include "graph.h"

enum operator_id {
    OPERATOR_NONE,
    OPERATOR_GET_NEXT,
    OPERATOR_CONV2D,
    OPERATOR_CONV2D_BACKWARD_INPUT,
    OPERATOR_CONV2D_BACKWARD_PARAMETERS,
    OPERATOR_RELU,
    OPERATOR_RELU_BACKWARD,
    OPERATOR_MAXPOOL2D,
    OPERATOR_MAXPOOL2D_BACKWARD,
    OPERATOR_LINEAR,
    OPERATOR_LINEAR_BACKWARD_INPUT,
    OPERATOR_LINEAR_BACKWARD_PARAMETERS,
    OPERATOR_ADD,
    OPERATOR_CROSS_ENTROPY,
    OPERATOR_CROSS_ENTROPY_BACKWARD,
    OPERATOR_MEAN,
    OPERATOR_MEAN_BACKWARD,
    OPERATOR_ALL_REDUCE,
    OPERATOR_SGD_MOMENTUM,
    OPERATOR_NET_OUTPUT,
    OPERATOR_COUNT
};

enum task_kind {
    TASK_KERNEL,    /* the kernel of the operator's name */
    TASK_FETCH,     /* copies the batch to the device */
    TASK_RESULT,    /* copies the node's input back */
    TASK_COLLECTIVE, /* sums its input over all processes */
    TASK_TRACE       /* no operator's: the stream has come to a trace point */
};

/* A tensor, seen from the node whose gradient is asked for. */
enum operand { OF_GRADIENT, OF_INPUT_0, OF_INPUT_1, OF_OUTPUT_0, OF_OUTPUT_1 };

/* How the gradient by one input comes from that by the first output. */
struct gradient_rule {
    enum operator_id operator; /* which makes it; OPERATOR_NONE = there is none */
    bool is_same;              /* it is the output's gradient itself */
    int operand_count;
    enum operand operands[KERNEL_INPUTS_MAX];
};

struct operator {
    const char *name; /* "conv2d"; its kernel's too */
    const char *type; /* "Conv2D" */
    enum task_kind task;
    enum stream stream;
    unsigned updates;   /* bit i: input i is written in place */
    bool ends_graph;    /* it waits for all nodes before it */
    enum operand image; /* whose shape is the layer's image: OF_INPUT_… or OF_OUTPUT_0 */
    /* Sets the shapes of a node's outputs, and of its parameters. False: a line says why not. */
    bool (*infer)(struct graph *graph, const struct node *node);
    /* From the node's arguments: how many items it has, and its floating-point operations. */
    uint64_t (*items)(const struct kernel_arguments *arguments);
    uint64_t (*flop)(const struct kernel_arguments *arguments);
    struct gradient_rule gradients[KERNEL_INPUTS_MAX];
};

extern const struct operator operators[OPERATOR_COUNT];

#endif
