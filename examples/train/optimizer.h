/* SPDX-License-Identifier: Apache-2.0 */
/* optimizer.h — stochastic gradient descent with momentum. Thread-compatible. */
#ifndef TRAIN_OPTIMIZER_H
#define TRAIN_OPTIMIZER_H

#include <stdbool.h>
#include <stddef.h>

#include "network.h"

struct optimizer {
    float rate, momentum;
    float *velocity; /* buffer of count floats */
    size_t count;
};

/* At rest. False = no memory; then there is nothing to free. */
bool optimizer_init(struct optimizer *optimizer, size_t count);
void optimizer_deinit(struct optimizer *optimizer); /* idempotent */

/* velocity = momentum * velocity + gradients;  parameters -= rate * velocity. */
void optimizer_apply(struct optimizer *optimizer, struct network *network);

#endif
