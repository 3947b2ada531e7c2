/* SPDX-License-Identifier: Apache-2.0 */
/* cycle.c — finds a circle in a graph, in O(nodes + edges).
 *
 * Nodes that wait for nobody are taken away until there are none. Each node that is left waits for
 * another that is left, so that going from node to node backwards ends in a circle. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/system/os.h"
#include "exec/description.h"

#define SHOWN_NODES 8u
#define SHOWN_BYTES 40u /* of a node's name                                                     */

struct search {
    const struct varve_graph_info *info;
    uint32_t *first;   /* where each node's followers begin in `followers`                      */
    uint32_t *waits;   /* for so many nodes that are not taken away                             */
    uint32_t *ready;   /* nodes that were taken away, in order                                  */
    uint32_t *followers;
    uint32_t taken;
};

static void count_edges(struct search *search)
{
    const struct varve_graph_info *info = search->info;
    for (uint64_t e = 0; e < info->edge_count; e++) {
        const struct varve_graph_edge *edge = vv_described_edge(info, e);
        search->first[edge->from_node + 1]++;
        search->waits[edge->to_node]++;
    }
    for (uint32_t n = 0; n < info->node_count; n++)
        search->first[n + 1] += search->first[n];
    /* `first` moves to where the followers end, and back with the second loop. */
    for (uint64_t e = 0; e < info->edge_count; e++) {
        const struct varve_graph_edge *edge = vv_described_edge(info, e);
        search->followers[search->first[edge->from_node]++] = edge->to_node;
    }
    for (uint32_t n = info->node_count; n > 0; n--)
        search->first[n] = search->first[n - 1];
    search->first[0] = 0;
}

static void take_away(struct search *search)
{
    uint32_t count = search->info->node_count;
    for (uint32_t n = 0; n < count; n++)
        if (search->waits[n] == 0)
            search->ready[search->taken++] = n;
    for (uint32_t at = 0; at < search->taken; at++) {
        uint32_t node = search->ready[at];
        for (uint32_t f = search->first[node]; f < search->first[node + 1]; f++)
            if (--search->waits[search->followers[f]] == 0)
                search->ready[search->taken++] = search->followers[f];
    }
}

/* Fills `before` of nodes that are left with a node that is left and that they wait for. */
static void find_before(const struct search *search, uint32_t *before)
{
    const struct varve_graph_info *info = search->info;
    for (uint64_t e = 0; e < info->edge_count; e++) {
        const struct varve_graph_edge *edge = vv_described_edge(info, e);
        if (search->waits[edge->from_node] > 0)
            before[edge->to_node] = edge->from_node;
    }
}

/* Names the circle in the order of its edges. The arrays `first` and `ready` are free for use. */
static enum varve_code name_circle(struct search *search, struct varve_error *error)
{
    const struct varve_graph_info *info = search->info;
    uint32_t *before = search->ready, *place = search->first, node = 0, length = 0;
    char text[SHOWN_NODES * (SHOWN_BYTES + 8)];
    size_t used = 0;
    while (search->waits[node] == 0)
        node++;
    find_before(search, before);
    memset(place, 0, (size_t)info->node_count * sizeof *place);
    while (place[node] == 0) { /* go back until a node comes again */
        place[node] = ++length;
        node = before[node];
    }
    length -= place[node] - 1;
    /* `followers` has an item for each node of the circle, since each of them has an edge. */
    for (uint32_t i = length; i > 0; i--, node = before[node])
        search->followers[i - 1] = node;
    for (uint32_t i = 0; i < length && i < SHOWN_NODES; i++) {
        const char *name = vv_described_node(info, search->followers[i])->name;
        int written = snprintf(text + used, sizeof text - used, "%.*s -> ", (int)SHOWN_BYTES, name);
        used += written > 0 ? (size_t)written : 0;
    }
    VV_FAIL(error, VARVE_INVALID, "graph '%.80s' has a circle of %u nodes: %s%s%.40s",
            info->name != NULL ? info->name : "(unnamed)", length, text,
            length > SHOWN_NODES ? "... -> " : "",
            vv_described_node(info, search->followers[0])->name);
}

enum varve_code vv_description_check_cycle(const struct varve_graph_info *info,
                                           struct varve_error *error)
{
    size_t count = info->node_count;
    if (info->edge_count == 0)
        return VARVE_OK;
    if (info->edge_count > UINT32_MAX)
        VV_FAIL(error, VARVE_LIMIT, "more than %u edges", UINT32_MAX);
    size_t bytes = (3 * (count + 1) + info->edge_count) * sizeof(uint32_t);
    uint32_t *memory = vv_os_reserve(bytes);
    if (memory == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory to look for circles in %zu nodes", count);
    struct search search = { .info = info, .first = memory, .waits = memory + count + 1,
                             .ready = memory + 2 * (count + 1),
                             .followers = memory + 3 * (count + 1) };
    count_edges(&search);
    take_away(&search);
    enum varve_code code =
        search.taken == info->node_count ? VARVE_OK : name_circle(&search, error);
    vv_os_unmap(memory, bytes);
    return code;
}
