/* SPDX-License-Identifier: Apache-2.0 */
/* weights.h — a model's parameters: the first ones, and those of another model. */
#ifndef GRAPHRUN_WEIGHTS_H
#define GRAPHRUN_WEIGHTS_H

#include "runtime.h"

/* Draws the parameters that examples/train begins with, from the same seed. False: a line on
 * standard error says why not. */
bool weights_draw(struct model *model, uint64_t seed);

/* Copies the parameters of a model with the same layers. */
bool weights_copy(struct model *from, struct model *to);

#endif
