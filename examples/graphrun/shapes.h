/* SPDX-License-Identifier: Apache-2.0 */
/* shapes.h — which shapes a node's outputs have, from those of its inputs.
 *
 * A batch of images is [sample][channel][row][column], one of vectors [sample][element]. A layer's
 * parameters are [feature][weights and bias]. */
#ifndef GRAPHRUN_SHAPES_H
#define GRAPHRUN_SHAPES_H

#include "graph.h"

/* Infers all shapes, node by node. False: a line on standard error says which node and why. */
bool shapes_infer(struct graph *graph);

/* The rules of operators.c. */
bool infer_batch(struct graph *graph, const struct node *node);
bool infer_like(struct graph *graph, const struct node *node); /* its `like`, else input 0 */
bool infer_conv2d(struct graph *graph, const struct node *node);
bool infer_maxpool2d(struct graph *graph, const struct node *node);
bool infer_linear(struct graph *graph, const struct node *node);
bool infer_add(struct graph *graph, const struct node *node);
bool infer_cross_entropy(struct graph *graph, const struct node *node);
bool infer_scalar(struct graph *graph, const struct node *node);
bool infer_state(struct graph *graph, const struct node *node);
bool infer_nothing(struct graph *graph, const struct node *node);

#endif
