/* SPDX-License-Identifier: Apache-2.0 */
/* graph.h — the graphs that are registered. The table lasts as long as the process. A session that
 * uses a graph for the first time writes its records, as it does with strings and tracks.
 *
 * A graph has the row number % VARVE_GRAPHS_MAX, and numbers grow, so that a number which is not
 * registered any more is not taken for another graph. */
#ifndef VV_EXEC_GRAPH_H
#define VV_EXEC_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#include "record/stream/recorder.h"
#include "varve/exec.h"

/* For each row: the number of its graph and the serial of the session that has its records, number
 * << 32 | serial; or 0. NULL until there is a graph. Atomic, for the hot path. */
extern uint64_t *vv_graph_ready;

static inline bool vv_graph_is_ready(uint32_t graph)
{
    const uint64_t *ready = __atomic_load_n(&vv_graph_ready, __ATOMIC_ACQUIRE);
    uint32_t serial = __atomic_load_n(&vv_session.serial, __ATOMIC_RELAXED);
    return ready != NULL && __atomic_load_n(&ready[graph % VARVE_GRAPHS_MAX], __ATOMIC_ACQUIRE) ==
                                ((uint64_t)graph << 32 | serial);
}

/* Makes sure that the graph, if it is registered, has its records in this session. May take the
 * lock several times, so that other threads do not wait long. Does nothing in a signal handler that
 * came inside a call of Varve's. */
void vv_graph_meet(uint32_t graph);
/* Lock held. */
bool vv_graph_is_there(uint32_t graph);
/* The name of a graph that is there. Lock held. */
const char *vv_graph_name(uint32_t graph);

#endif
