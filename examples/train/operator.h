/* SPDX-License-Identifier: Apache-2.0 */
/* operator.h — what the operators of network.c tell Varve about themselves: shapes, FLOP, bytes,
 * which data they read and make, and which backward operator belongs to which forward one.
 *
 * Data is known by its address: every buffer that is read was made by an operator before.
 * Called inside the operator's range, and only while varve_layers() is not 0, so that a run that
 * nobody records does not even build the description. */
#ifndef TRAIN_OPERATOR_H
#define TRAIN_OPERATOR_H

#include <stdbool.h>

#include "network.h"

/* `index` is the layer's place in the network. */
void operator_describe_forward(const struct layer *layer, const struct pass *pass, int index);
/* `gradient` is that by the layer's output, `input_gradient` that by its input, or NULL. */
void operator_describe_backward(const struct layer *layer, const struct pass *pass, int index,
                                const float *gradient, const float *input_gradient);
void operator_describe_loss(const struct pass *pass);
void operator_describe_loss_backward(const struct pass *pass, const float *gradient);

#endif
