/* SPDX-License-Identifier: Apache-2.0 */
/* rerun.c — finds the length of the longest path again, with some times divided: eight cases in one
 * walk. */
#include <stdlib.h>
#include <string.h>

#include "analyse/critical/solve.h"

#define LANES VV_WHAT_IF_LANES

struct lanes {
    int64_t ns[LANES];
};

struct walk {
    const struct vv_critical_solution *solution;
    const struct vv_critical_graph *graph;
    struct vv_what_if *cases;   /* at most LANES cases                                           */
    size_t count;
    int launch_lane, comm_lane; /* -1: there is no such case                                     */
    uint8_t *lane_of_name;      /* string -> lane + 1; 0 = none                                  */
    struct lanes *at_chain;     /* chain -> values at the end of its last run                    */
    struct lanes *at_edge;      /* edge -> values at the node that it starts from                */
    struct lanes most;
};

static int64_t divided(int64_t weight_ns, double factor)
{
    return factor == 1.0 ? weight_ns : (int64_t)((double)weight_ns / factor);
}

/* Returns the lane in which a part of the weight is saved, and that part. Returns -1 if no lane
 * saves any. */
static int lane_of(const struct walk *walk, uint32_t owner, int64_t weight_ns, int64_t *out_cut_ns)
{
    uint32_t name = owner != VV_NONE ? vv_critical_name(walk->graph, owner) : 0;
    int lane = owner != VV_NONE ? walk->lane_of_name[name] - 1 : -1;
    if (lane >= 0)
        *out_cut_ns = weight_ns - divided(weight_ns, walk->cases[lane].factor);
    return lane;
}

static void add_edge(const struct walk *walk, uint32_t number, struct lanes *best)
{
    const struct vv_critical_edge *edge = &walk->graph->edges[number];
    const struct lanes *from = &walk->at_edge[number];
    int64_t cut_ns = 0, sums_ns[LANES];
    int lane =
        edge->link == VV_LINK_OWN ? lane_of(walk, edge->owner, edge->weight_ns, &cut_ns) : -1;
    bool is_meeting = edge->link == VV_LINK_MEET || walk->graph->event[edge->from] == VV_NONE;
    if (edge->link == VV_LINK_NONE)
        return;
    for (int i = 0; i < LANES; i++)
        sums_ns[i] = from->ns[i] + edge->weight_ns;
    if (lane >= 0)
        sums_ns[lane] -= cut_ns;
    if (edge->link == VV_LINK_LAUNCH && walk->launch_lane >= 0)
        sums_ns[walk->launch_lane] -= edge->weight_ns;
    if (is_meeting && walk->comm_lane >= 0) /* nobody waits for another rank */
        sums_ns[walk->comm_lane] = 0;
    for (int i = 0; i < LANES; i++)
        best->ns[i] = sums_ns[i] > best->ns[i] ? sums_ns[i] : best->ns[i];
}

/* Adds the edge from the node before. `now` holds the values of that node. */
static void add_link(const struct walk *walk, uint32_t node,
                     const struct vv_critical_latency *latency, struct lanes *now)
{
    const struct vv_critical_graph *graph = walk->graph;
    int64_t weight_ns = vv_critical_span(graph, node), cut_ns = 0;
    int lane = graph->link[node] == VV_LINK_OWN
                   ? lane_of(walk, graph->owner[node], weight_ns, &cut_ns)
                   : -1;
    for (int i = 0; i < LANES; i++)
        now->ns[i] += weight_ns;
    if (lane >= 0)
        now->ns[lane] -= cut_ns;
    if (latency != NULL && walk->comm_lane >= 0)
        now->ns[walk->comm_lane] += latency->pure_ns - weight_ns;
}

static void walk_run(struct walk *walk, const struct vv_critical_run *run)
{
    const struct vv_critical_graph *graph = walk->graph;
    const struct vv_critical_solution *solution = walk->solution;
    struct lanes now = walk->at_chain[run->chain];
    uint32_t in = run->in, out = run->out;
    size_t latency = vv_critical_latency_from(graph, run->first);
    while (out > solution->first_out[run->chain] &&
           graph->edges[solution->out[out - 1]].from >= run->first)
        out--;
    for (uint32_t node = run->first; node < run->last; node++) {
        bool is_timed = latency < graph->latency_count && graph->latencies[latency].node == node;
        if (graph->link[node] == VV_LINK_NONE)
            memset(&now, 0, sizeof now);
        else
            add_link(walk, node, is_timed ? &graph->latencies[latency] : NULL, &now);
        latency += is_timed;
        for (; in < graph->edge_count && graph->edges[in].to == node; in++)
            add_edge(walk, in, &now);
        for (; out < run->out && graph->edges[solution->out[out]].from == node; out++)
            walk->at_edge[solution->out[out]] = now;
        for (int i = 0; i < LANES; i++)
            walk->most.ns[i] = now.ns[i] > walk->most.ns[i] ? now.ns[i] : walk->most.ns[i];
    }
    walk->at_chain[run->chain] = now;
}

/* Takes as many cases as one walk can hold. No two of them have the same name. */
static void begin_walk(struct walk *walk, struct vv_what_if *cases, size_t count)
{
    walk->cases = cases;
    walk->launch_lane = walk->comm_lane = -1;
    memset(&walk->most, 0, sizeof walk->most);
    for (walk->count = 0; walk->count < count && walk->count < LANES; walk->count++) {
        const struct vv_what_if *wanted = &cases[walk->count];
        int *special = wanted->what == VV_WHAT_LAUNCH ? &walk->launch_lane : &walk->comm_lane;
        bool is_taken =
            wanted->what == VV_WHAT_NAME ? walk->lane_of_name[wanted->name] != 0 : *special >= 0;
        if (is_taken)
            break;
        if (wanted->what == VV_WHAT_NAME)
            walk->lane_of_name[wanted->name] = (uint8_t)(walk->count + 1);
        else
            *special = (int)walk->count;
    }
}

enum varve_code vv_critical_what_if(const struct vv_critical_solution *solution,
                                    struct vv_what_if *cases, size_t count,
                                    struct varve_error *error)
{
    const struct vv_critical_graph *graph = solution->graph;
    struct vv_scratch *scratch = graph->scratch;
    struct walk walk = { .solution = solution, .graph = graph };
    VV_TRY(VV_SCRATCH_ZEROS(scratch, &walk.lane_of_name, graph->model->strings.count, error));
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &walk.at_chain, graph->chain_count, error));
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &walk.at_edge, graph->edge_count, error));
    for (size_t done = 0; done < count; done += walk.count) {
        begin_walk(&walk, cases + done, count - done);
        for (size_t r = 0; r < solution->run_count; r++)
            walk_run(&walk, &solution->runs[r]);
        for (size_t i = 0; i < walk.count; i++) {
            walk.cases[i].length_ns = walk.most.ns[i];
            if (walk.cases[i].what == VV_WHAT_NAME)
                walk.lane_of_name[walk.cases[i].name] = 0;
        }
    }
    vv_scratch_release(scratch, walk.lane_of_name);
    vv_scratch_release(scratch, walk.at_chain);
    vv_scratch_release(scratch, walk.at_edge);
    return VARVE_OK;
}
