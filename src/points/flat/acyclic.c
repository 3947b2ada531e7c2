/* SPDX-License-Identifier: Apache-2.0 */
/* acyclic.c — finds nodes that wait for each other: takes away, again and again, the nodes that
 * wait for none. What is left has a cycle, and from any of its nodes the way back leads into it. */
#include <stdlib.h>

#include "points/flat/flat_graph.h"

#define NAMES_SHOWN 8u

/* Lowers waits[id] to 0 for every node that can run. Returns how many can. */
static uint32_t run_all(const struct vv_flat_graph *flat, uint64_t *waits, uint32_t *ready)
{
    uint32_t count = 0;
    for (uint32_t id = 0; id < flat->node_count; id++) {
        waits[id] = flat->ins[id + 1] - flat->ins[id];
        if (waits[id] == 0)
            ready[count++] = id;
    }
    for (uint32_t i = 0; i < count; i++)
        for (uint64_t e = flat->outs[ready[i]]; e < flat->outs[ready[i] + 1]; e++)
            if (--waits[flat->out_edges[e].node] == 0)
                ready[count++] = flat->out_edges[e].node;
    return count;
}

static uint32_t producer_that_waits(const struct vv_flat_graph *flat, const uint64_t *waits,
                                    uint32_t id)
{
    for (uint64_t e = flat->ins[id]; e < flat->ins[id + 1]; e++)
        if (waits[flat->in_edges[e].node] > 0)
            return flat->in_edges[e].node;
    return id;
}

/* The cycle backwards into `way`, each node once. Returns its length. */
static uint32_t find_cycle(const struct vv_flat_graph *flat, uint64_t *waits, uint32_t *way)
{
    uint32_t id = 0, count = 0;
    while (waits[id] == 0)
        id++;
    for (uint32_t i = 0; i < flat->node_count; i++) /* after so many steps it is in the cycle */
        id = producer_that_waits(flat, waits, id);
    for (uint32_t at = id; count == 0 || at != id; at = producer_that_waits(flat, waits, at))
        way[count++] = at;
    return count;
}

/* Begins with the node that the program gave first. */
static enum varve_code refuse(const struct vv_flat_graph *flat, const uint32_t *way, uint32_t count,
                              struct varve_error *error)
{
    uint32_t first = 0;
    for (uint32_t i = 1; i < count; i++)
        if (way[i] < way[first])
            first = i;
    enum varve_code code = vv_fail(error, VARVE_INVALID, "the graph has a cycle of %u node%s: ",
                                   count, count == 1 ? "" : "s");
    for (uint32_t i = 0; i < count && i < NAMES_SHOWN; i++)
        vv_error_add(error, "'%.30s' -> ",
                     vv_flat_node(flat, way[(first + count - i) % count])->name);
    if (count > NAMES_SHOWN)
        vv_error_add(error, "%u more -> ", count - NAMES_SHOWN);
    vv_error_add(error, "'%.30s'", vv_flat_node(flat, way[first])->name);
    return code;
}

enum varve_code vv_flat_graph_check_acyclic(const struct vv_flat_graph *flat,
                                            struct varve_error *error)
{
    size_t room = (size_t)flat->node_count + 1;
    uint64_t *waits = malloc(room * sizeof *waits);
    uint32_t *ready = malloc(room * sizeof *ready);
    enum varve_code code = VARVE_OK;
    if (waits == NULL || ready == NULL)
        code = vv_fail(error, VARVE_NO_MEMORY, "no memory to look for cycles among %u nodes",
                       flat->node_count);
    else if (run_all(flat, waits, ready) < flat->node_count)
        code = refuse(flat, ready, find_cycle(flat, waits, ready), error);
    free(waits);
    free(ready);
    return code;
}
