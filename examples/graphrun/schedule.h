/* SPDX-License-Identifier: Apache-2.0 */
/* schedule.h — which nodes of other streams each node has to wait for.
 *
 * A stream runs its nodes in their order. Two nodes of different streams may run at the same time,
 * unless one writes bytes that the other reads or writes: bytes, not tensors, because the memory
 * plan lets tensors follow each other on the same bytes. */
#ifndef GRAPHRUN_SCHEDULE_H
#define GRAPHRUN_SCHEDULE_H

#include "graph.h"

/* Sets each node's `awaited`. The memory plan must be there. */
void schedule_streams(struct graph *graph);

#endif
