/* SPDX-License-Identifier: Apache-2.0 */
/* network.h — the layers in their order, and their ways forward and back.
 *
 * Every layer that runs is one operator in the trace: its call site, what it works on, and what it
 * allocates. Thread-compatible. */
#ifndef TRAIN_NETWORK_H
#define TRAIN_NETWORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "digits.h"
#include "layers.h"

#define NETWORK_LAYERS 9

struct network {
    struct layer layers[NETWORK_LAYERS];
    float *parameters, *gradients; /* buffers of parameter_count; the layers' weights lie in them */
    size_t parameter_count;
    int64_t next_sequence; /* of the next operator; links forward with backward in the trace */
};

/* Weights from `seed`. False = no memory; then there is nothing to free. */
bool network_init(struct network *network, uint64_t seed);
void network_deinit(struct network *network); /* idempotent */

/* Prints the edges of the data of a step, "conv2d 0 -> relu 1", one a line. What the optimizer
 * makes is read in the next step. */
void network_print_graph(const struct network *network);

/* What one batch leaves behind on its way forward, for its way back. */
struct pass {
    const struct batch *batch;      /* borrowed */
    float *outputs[NETWORK_LAYERS]; /* buffers; the last one holds the logits */
    float *probabilities;           /* buffer, once pass_loss was called */
    int64_t sequence;               /* of the first layer's operator; the others follow */
    uint64_t thread;                /* the kernel's id of the thread that went forward */
};

/* Fills *out_pass, which the caller frees with pass_deinit. False = no memory; nothing to free. */
bool network_forward(struct network *network, const struct batch *batch, struct pass *out_pass);
/* The loss of a pass. False = no memory. */
bool pass_loss(struct pass *pass, double *out_loss);
/* Sets network->gradients; needs pass_loss before, and frees the pass's buffers as it goes.
 * False = no memory. */
bool network_backward(struct network *network, struct pass *pass);
/* How many samples of the pass have the greatest logit at their label. */
int pass_correct(const struct pass *pass);
void pass_deinit(struct pass *pass); /* idempotent */

#endif
