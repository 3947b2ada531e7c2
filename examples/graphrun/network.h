/* SPDX-License-Identifier: Apache-2.0 */
/* network.h — builds graphs from the description of a network: words such as
 *
 *     conv2d 16 5  relu  maxpool2d 2  linear 10
 *
 * Each layer takes the former one's output. `add N` adds the output of N layers before. */
#ifndef GRAPHRUN_NETWORK_H
#define GRAPHRUN_NETWORK_H

#include "graph.h"

/* The network of examples/train. */
#define NETWORK_OF_TRAIN                                                                  \
    "conv2d 16 5 relu maxpool2d 2 conv2d 32 5 relu maxpool2d 2 linear 128 relu linear 10"

struct network {
    const char *description;
    int64_t batch;        /* samples of this process */
    int64_t global_batch; /* of all */
    bool is_parallel;     /* other processes learn, too: gradients are summed */
};

/* From a batch to the logits, which go back to the host. False: a line on standard error says what
 * is wrong with the description. */
bool network_build_inference(const struct network *network, struct graph *out_graph);

/* One step of training, with its gradients and the optimizer; the loss goes back to the host. */
bool network_build_training(const struct network *network, struct graph *out_graph);

#endif
