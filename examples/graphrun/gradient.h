/* SPDX-License-Identifier: Apache-2.0 */
/* gradient.h — derives the backward pass: each operator's gradient rule (operators.c), from the
 * loss back to the parameters. */
#ifndef GRAPHRUN_GRADIENT_H
#define GRAPHRUN_GRADIENT_H

#include "graph.h"

/* Adds the nodes that make the gradients of `loss` by all parameters it depends on. Where a tensor
 * is taken by several nodes, their gradients are added. out_gradients[tensor] is its gradient's
 * tensor, or NONE. */
void gradient_derive(struct graph *graph, int loss, int out_gradients[TENSORS_MAX]);

#endif
