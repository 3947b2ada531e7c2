/* SPDX-License-Identifier: Apache-2.0 */
/* profile.h — what this runtime tells Varve of its devices and operators.
 *
 * Ranges of the runtime's own functions are where the functions are. */
#ifndef GRAPHRUN_PROFILE_H
#define GRAPHRUN_PROFILE_H

#include "device.h"

struct profile {
    uint32_t device;               /* VARVE_DEVICE(…) */
    uint32_t clock;                /* of the device; 0 = it is CLOCK_MONOTONIC */
    uint32_t tracks[STREAM_COUNT];
};

/* Tells of the device's clock and streams. */
void profile_open(struct profile *profile, struct device *device);

/* Pairs the device's clock with ours; now and then, while nothing runs. */
void profile_clock(const struct profile *profile, struct device *device);

/* In the operator's range: what the node works on. `run` counts the graph's runs. */
void profile_operator(const struct graph *graph, int node, uint64_t run);

/* A task has run. */
void profile_task(const struct profile *profile, const struct task *task);

#endif
