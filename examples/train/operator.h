/* SPDX-License-Identifier: Apache-2.0 */
/* operator.h — what the operators of network.c tell Varve about themselves: shapes, FLOP, bytes,
 * and which backward operator belongs to which forward one.
 *
 * Called inside the operator's range, and only while varve_layers() is not 0, so that a run that
 * nobody records does not even build the description. */
#ifndef TRAIN_OPERATOR_H
#define TRAIN_OPERATOR_H

#include <stdbool.h>

#include "network.h"

/* `index` is the layer's place in the network. */
void operator_describe_forward(const struct layer *layer, const struct pass *pass, int index);
void operator_describe_backward(const struct layer *layer, const struct pass *pass, int index);
void operator_describe_loss(const struct pass *pass, bool backward);

#endif
