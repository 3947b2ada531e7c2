/* SPDX-License-Identifier: Apache-2.0 */
/* host_meetings.c — makes the parts of the graph that collectives of the host need.
 *
 * A collective that another thread asked for has no thread that works in it, or a thread of its
 * library. It begins after it was asked for. The thread that asked for it waits, if it has no
 * operator open when the collective ends. No event says so: a wait that is shorter than
 * WAIT_LEAST_NS may be Python between two operators. */
#include <stdlib.h>

#include "analyse/critical/graph.h"
#include "analyse/critical/meeting.h"
#include "base/binary_search.h"
#include "meaning/collective_name.h"
#include "numbers/pair_ids.h"

#define WAIT_LEAST_NS 10000

struct meetings {
    struct vv_critical_graph *graph;
    const struct vv_scope *scope;
    const struct vv_critical_windows *windows;
    const struct vv_host_collective **chosen; /* those of the window                            */
    size_t count;
};

/* What a thread of the window asked for counts, whenever it ran. */
static bool is_inside(const struct meetings *meetings, const struct vv_host_collective *one)
{
    const struct vv_critical_graph *graph = meetings->graph;
    const struct vv_critical_window *window =
        &meetings->windows->items[meetings->windows->of_process[one->process]];
    uint32_t track = graph->model->slices.track[one->run];
    if (one->asked != VV_NONE)
        return graph->start_of[one->asked] != 0;
    return graph->start_of[one->run] != 0 ||
           (graph->model->tracks.kind[track] == VV_TRACK_ASYNC &&
            one->begin_ns >= window->begin_ns && one->begin_ns < window->end_ns);
}

/* ---- nodes, and edges from and to the thread that asks ---- */

static enum varve_code add_nodes(struct vv_critical_graph *graph,
                                 const struct vv_host_collective *one, struct varve_error *error)
{
    if (graph->start_of[one->run] != 0)
        return VARVE_OK;
    VV_TRY(vv_critical_chain(graph, error));
    graph->start_of[one->run] =
        vv_critical_node(graph, one->begin_ns, one->run, VV_LINK_NONE, VV_NONE) + 1;
    graph->end_of[one->run] =
        vv_critical_node(graph, one->end_ns, one->run, VV_LINK_OWN, one->run) + 1;
    return VARVE_OK;
}

/* The nodes of the chain that `node` stands in end before this one. */
static uint32_t chain_end(const struct vv_critical_graph *graph, uint32_t node)
{
    uint32_t chain = VV_FIRST_NOT(i, 0, graph->chain_count, graph->chains[i] <= node);
    return chain < graph->chain_count ? graph->chains[chain] : graph->node_count;
}

/* The edge carries the time in which the asking operator still worked. */
static enum varve_code link_asked(struct vv_critical_graph *graph,
                                  const struct vv_host_collective *one, struct varve_error *error)
{
    uint32_t from = graph->start_of[one->asked] - 1, last = graph->end_of[one->asked] - 1,
             to = graph->start_of[one->run] - 1;
    int64_t begin_ns = graph->time_ns[to];
    if (graph->time_ns[from] > begin_ns)
        return VARVE_OK;
    from = VV_FIRST_NOT(i, from, last + 1, graph->time_ns[i] <= begin_ns) - 1;
    bool is_own = from < last && graph->link[from + 1] == VV_LINK_OWN;
    return vv_critical_edge(graph,
                            (struct vv_critical_edge){
                                is_own ? begin_ns - graph->time_ns[from] : 0, from, to,
                                is_own ? graph->owner[from + 1] : VV_NONE,
                                is_own ? VV_LINK_OWN : VV_LINK_HANDED },
                            error);
}

/* Of collectives that one wait waits for, the last one decides; `chosen` has it first. */
static enum varve_code link_wait(struct vv_critical_graph *graph,
                                 const struct vv_host_collective *one, struct varve_error *error)
{
    uint32_t first = graph->start_of[one->asked], from = graph->end_of[one->run] - 1,
             last = chain_end(graph, first - 1);
    int64_t end_ns = graph->time_ns[from];
    uint32_t node = VV_FIRST_NOT(i, first, last, graph->time_ns[i] < end_ns);
    if (node == last || from + 1 == node || end_ns - graph->time_ns[node - 1] < WAIT_LEAST_NS)
        return VARVE_OK;
    bool is_own = graph->link[node] == VV_LINK_OWN,
         asks = is_own && graph->owner[node] == one->asked;
    if (graph->link[node] != VV_LINK_WAITING && !asks && !vv_critical_may_wait(graph, node))
        return VARVE_OK;
    graph->link[node] = VV_LINK_WAITING;
    return vv_critical_edge(graph,
                            (struct vv_critical_edge){
                                is_own ? graph->time_ns[node] - end_ns : 0, from, node,
                                is_own ? graph->owner[node] : VV_NONE,
                                is_own ? VV_LINK_OWN : VV_LINK_HANDED },
                            error);
}

/* ---- meetings ---- */

static int by_node(const void *a, const void *b)
{
    const struct vv_critical_latency *left = a, *right = b;
    return (left->node > right->node) - (left->node < right->node);
}

/* A collective with other slices inside has no latency: their time counts anyway. */
static enum varve_code note_latencies(const struct meetings *meetings, struct varve_error *error)
{
    struct vv_critical_graph *graph = meetings->graph;
    VV_TRY(VV_SCRATCH_RESERVE(graph->scratch, &graph->latencies, &graph->latency_capacity,
                              graph->latency_count + meetings->count, error));
    for (size_t i = 0; i < meetings->count; i++) {
        const struct vv_host_collective *one = meetings->chosen[i];
        uint32_t start = graph->start_of[one->run] - 1, end = graph->end_of[one->run] - 1;
        if (end == start + 1)
            graph->latencies[graph->latency_count++] =
                (struct vv_critical_latency){ end, graph->time_ns[end] - graph->time_ns[start] };
    }
    qsort(graph->latencies, graph->latency_count, sizeof *graph->latencies, by_node);
    return VARVE_OK;
}

static enum varve_code meet(const struct meetings *meetings, struct varve_error *error)
{
    struct vv_critical_graph *graph = meetings->graph;
    struct vv_groups groups = { .scratch = graph->building };
    struct vv_critical_piece *pieces;
    bool are_groups_known = true, are_several = false;
    VV_TRY(VV_SCRATCH_ARRAY(graph->building, &pieces, meetings->count, error));
    for (size_t i = 0; i < meetings->count; i++)
        are_groups_known &= meetings->chosen[i]->group != 0;
    for (size_t i = 0; i < meetings->count; i++) {
        const struct vv_host_collective *one = meetings->chosen[i];
        const struct vv_slices *slices = &graph->model->slices;
        bool is_asked = one->asked != VV_NONE;
        pieces[i] = (struct vv_critical_piece){
            .order_ns = is_asked ? slices->begin_ns[one->asked] : one->begin_ns,
            .begin_ns = graph->time_ns[graph->start_of[one->run] - 1],
            .end_ns = graph->time_ns[graph->end_of[one->run] - 1],
            .tie = one->run,
            .rank = meetings->windows->of_process[one->process],
            .slice = one->run,
            .asked = is_asked ? one->asked : one->run,
            .number = one->number,
            .all_wait = vv_all_ranks_wait(one->operation),
        };
        are_several |= pieces[i].rank != pieces[0].rank;
        VV_TRY(vv_groups_add(&groups, are_groups_known ? one->group : 0,
                             one->ranks != 0 ? one->ranks : one->operation, &pieces[i].group,
                             error));
    }
    return are_several ? vv_critical_meet(graph, pieces, meetings->count, error) : VARVE_OK;
}

/* The pieces of a collective that lie between slices inside it wait too; so do sends and receives
 * inside it, if the program says that they are. */
static enum varve_code mark_waits(struct vv_critical_graph *graph,
                                  const struct meetings *meetings, struct varve_error *error)
{
    bool *waits;
    VV_TRY(VV_SCRATCH_ZEROS(graph->building, &waits, graph->model->slices.table.count, error));
    for (size_t i = 0; i < meetings->count; i++) {
        uint32_t run = meetings->chosen[i]->run, end = graph->end_of[run] - 1;
        waits[run] = graph->link[end] == VV_LINK_WAITING && graph->owner[end] == run;
    }
    for (uint32_t slice = 0; slice < graph->model->slices.table.count; slice++) {
        uint32_t parent = graph->model->slices.parent[slice];
        waits[slice] |= parent != VV_NONE && waits[parent] &&
                        vv_told_collective(graph->model, slice) != VV_NONE;
    }
    for (uint32_t node = 0; node < graph->node_count; node++)
        if (graph->link[node] == VV_LINK_OWN && waits[graph->owner[node]])
            graph->link[node] = VV_LINK_WAITING;
    return VARVE_OK;
}

/* ---- all together ---- */

static int last_end_first(const void *a, const void *b)
{
    const struct vv_host_collective *left = *(const struct vv_host_collective *const *)a,
                                    *right = *(const struct vv_host_collective *const *)b;
    if (left->end_ns != right->end_ns)
        return left->end_ns > right->end_ns ? -1 : 1;
    return (left->run > right->run) - (left->run < right->run);
}

enum varve_code vv_critical_host_meetings(struct vv_critical_graph *graph,
                                          const struct vv_scope *scope,
                                          const struct vv_critical_windows *windows,
                                          const struct vv_host_collectives *collectives,
                                          struct varve_error *error)
{
    struct meetings meetings = { .graph = graph, .scope = scope, .windows = windows };
    VV_TRY(VV_SCRATCH_ARRAY(graph->building, &meetings.chosen, collectives->count, error));
    for (size_t i = 0; i < collectives->count; i++)
        if (is_inside(&meetings, &collectives->items[i]))
            meetings.chosen[meetings.count++] = &collectives->items[i];
    if (meetings.count == 0)
        return VARVE_OK;
    qsort(meetings.chosen, meetings.count, sizeof *meetings.chosen, last_end_first);
    for (size_t i = 0; i < meetings.count; i++)
        VV_TRY(add_nodes(graph, meetings.chosen[i], error));
    VV_TRY(note_latencies(&meetings, error));
    for (size_t i = 0; i < meetings.count; i++) {
        if (meetings.chosen[i]->asked == VV_NONE)
            continue;
        VV_TRY(link_asked(graph, meetings.chosen[i], error));
        VV_TRY(link_wait(graph, meetings.chosen[i], error));
    }
    VV_TRY(meet(&meetings, error));
    return mark_waits(graph, &meetings, error);
}
