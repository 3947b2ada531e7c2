/* SPDX-License-Identifier: Apache-2.0 */
/* profile.h — what this runtime tells Varve of its operators, and of what its device did.
 *
 * Ranges of the runtime's own functions are where the functions are. */
#ifndef GRAPHRUN_PROFILE_H
#define GRAPHRUN_PROFILE_H

#include <varve/values.h>

#include "device.h"

/* In the operator's range: what the node works on. `run` counts the graph's runs. links[node] is
 * what was taken where a forward operator was launched. */
void profile_operator(const struct graph *graph, int node, uint64_t run,
                      const struct varve_backward *links);

/* A task has run. */
void profile_task(struct device *device, const struct task *task);

#endif
