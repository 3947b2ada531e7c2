/* SPDX-License-Identifier: Apache-2.0 */
/* graph.h — the graph of a window. Critical paths, slack and what-if are found in it
 * (doc/metrics.md §14).
 *
 * An event has two nodes, its begin and its end. A collective in which ranks meet has one node.
 * Nodes stand in chains. The chain of a host thread has the thread's points in order of time; the
 * chain of a stream has begin and end of each piece of work. The edge between two neighbours in a
 * chain is stored with the later node. All other edges are in `edges`, sorted by the node that they
 * lead to.
 *
 * Invariant: an edge leads forward in time, and weighs no more than the time that it bridges. So
 * the weight of any path = the time from its first node to its last, minus the time that its edges
 * do not explain. (In the graph of --compat hta each node has a chain of its own, and the invariant
 * does not hold: critical/hta.c.) Thread-compatible. */
#ifndef VV_ANALYSE_CRITICAL_GRAPH_H
#define VV_ANALYSE_CRITICAL_GRAPH_H

#include "analyse/critical/window.h"
#include "derive/devices/device_work.h"

enum vv_critical_link {
    VV_LINK_NONE,    /* no edge from the node before                                            */
    VV_LINK_OWN,     /* the owner's own time: weighs the whole time                             */
    VV_LINK_LAUNCH,  /* from the launching call's begin to the work, where the stream was empty:
                        weighs the whole time */
    VV_LINK_QUEUE,   /* from the end of one piece of work of a stream to the next: weighs the whole
                        time */
    VV_LINK_CAUSE,   /* from a launch to work that queued. This link and those below weigh
                        nothing */
    VV_LINK_WAIT,    /* from awaited work's end to the waiting call's end or waiting work       */
    VV_LINK_WAITING, /* inside a call or a collective that waits                                */
    VV_LINK_IDLE,    /* no slice is open on the thread                                          */
    VV_LINK_HANDED,  /* an arrow from one thread to another, or the way back                    */
    VV_LINK_MEET,    /* from a rank's begin of a collective to the meeting of all ranks         */
    VV_LINK_COUNT
};

static inline bool vv_link_weighs(enum vv_critical_link link)
{
    return link >= VV_LINK_OWN && link <= VV_LINK_QUEUE;
}

struct vv_critical_edge {
    int64_t weight_ns;
    uint32_t from, to;   /* nodes                                                              */
    uint32_t owner;      /* slice that the weight belongs to; or VV_NONE                       */
    uint8_t link;        /* enum vv_critical_link; NONE: left out, as it contradicted others */
};

/* A piece of communication, and the time that it takes when no rank is late. */
struct vv_critical_latency {
    uint32_t node;       /* end of the communication                                           */
    int64_t pure_ns;
};

/* A rank began a collective this long before the last one. Both are slices. */
struct vv_critical_waited {
    int64_t from_ns, waited_ns;
    uint32_t waits, late;
};

/* The last rank of a collective, for which others waited since from_ns. */
struct vv_critical_late {
    int64_t from_ns;
    uint32_t late, asked; /* slices: the collective itself, and what started it, or VV_NONE    */
};

struct vv_critical_graph {
    const struct vv_model *model;       /* borrowed                                            */
    struct vv_scratch *scratch;         /* memory of the graph                                 */
    struct vv_scratch *building;        /* ends when the graph is built                        */
    const bool *admitted;               /* borrowed from the scope. Decides which operators time is
                                           named after, not which nodes there are */
    uint32_t node_count, node_capacity;
    int64_t *time_ns;
    uint32_t *event;                    /* slice that begins or ends here; VV_NONE: ranks meet */
    uint32_t *owner;                    /* slice that owns the time since the node before */
    uint8_t *link;                      /* enum vv_critical_link from the node before          */
    uint32_t *start_of, *end_of;        /* slice -> node + 1; 0 = not in the graph             */
    uint32_t *chains;                   /* first node of each chain; chain_count + 1 items     */
    uint32_t chain_count, chain_capacity;
    struct vv_critical_edge *edges;
    size_t edge_count, edge_capacity;
    struct vv_critical_latency *latencies; /* ascending by node                                */
    size_t latency_count, latency_capacity;
    struct vv_critical_waited *waited;  /* of each meeting, all ranks but the last             */
    size_t waited_count, waited_capacity;
    struct vv_critical_late *lates;     /* of each meeting in which anybody waited             */
    size_t late_count, late_capacity;
    uint8_t *class_by_name;             /* for vv_device_class_of                              */
    int64_t begin_ns, end_ns;           /* of the window, which holds all nodes                */
    uint64_t serial_links;              /* edges within chains                                 */
    uint64_t early;                     /* pieces of work that begin before their launch: these have
                                           no launch edge */
    uint64_t contradictions;            /* edges left out because they contradicted others     */
    uint64_t met, unmet;                /* collectives matched across ranks; communication that was
                                           not matched */
    bool is_exact;                      /* false: made by another tool's rules, and the invariant
                                           may not hold */
};

/* Makes the graph. `question` chooses the window (critical/window.h), threads, ranks, devices, and
 * whose rules count (compat): critical/build.c */
enum varve_code vv_critical_graph_init(struct vv_critical_graph *graph,
                                       const struct vv_scope *scope,
                                       const struct vv_question *question,
                                       const struct vv_critical_windows *windows,
                                       const struct vv_host_collectives *collectives,
                                       struct varve_error *error);

/* ---- for the files that build the graph ---- */

/* Makes room for `nodes` nodes in all. Call before the first node is added. */
enum varve_code vv_critical_reserve(struct vv_critical_graph *graph, uint64_t nodes,
                                    struct varve_error *error);
enum varve_code vv_critical_chain(struct vv_critical_graph *graph, struct varve_error *error);
enum varve_code vv_critical_edge(struct vv_critical_graph *graph, struct vv_critical_edge edge,
                                 struct varve_error *error);

static inline uint32_t vv_critical_node(struct vv_critical_graph *graph, int64_t time_ns,
                                        uint32_t event, enum vv_critical_link link, uint32_t owner)
{
    uint32_t node = graph->node_count++;
    graph->time_ns[node] = time_ns;
    graph->event[node] = event;
    graph->link[node] = (uint8_t)link;
    graph->owner[node] = owner;
    graph->serial_links += link != VV_LINK_NONE;
    return node;
}

/* Weight of the edge from the node before. */
static inline int64_t vv_critical_span(const struct vv_critical_graph *graph, uint32_t node)
{
    return vv_link_weighs(graph->link[node]) ? graph->time_ns[node] - graph->time_ns[node - 1] : 0;
}

/* True if the thread may be waiting before the node, judged by its open slice. Steps, annotations
 * and Python do not show that a thread works. */
static inline bool vv_critical_may_wait(const struct vv_critical_graph *graph, uint32_t node)
{
    if (graph->link[node] == VV_LINK_IDLE)
        return true;
    return graph->link[node] == VV_LINK_OWN &&
           (graph->model->slices.layer[graph->owner[node]] &
            (VARVE_LAYER_STEP | VARVE_LAYER_API | VARVE_LAYER_PYTHON)) != 0;
}

/* The first latency at the node or at a later one; latency_count if there is none. */
size_t vv_critical_latency_from(const struct vv_critical_graph *graph, uint32_t node);

/* The parts of the exact graph: host threads; streams and the waits of their work; waits of host
 * calls; handovers between threads; meetings of ranks. */
struct vv_critical_streams;
enum varve_code vv_critical_host(struct vv_critical_graph *graph, const struct vv_scope *scope,
                                 const struct vv_critical_windows *windows,
                                 struct varve_error *error);
enum varve_code vv_critical_device(struct vv_critical_graph *graph,
                                   const struct vv_critical_streams *streams,
                                   struct varve_error *error);
enum varve_code vv_critical_waits(struct vv_critical_graph *graph, const struct vv_scope *scope,
                                  struct vv_critical_streams *streams, struct varve_error *error);
enum varve_code vv_critical_hands(struct vv_critical_graph *graph, const struct vv_scope *scope,
                                  struct varve_error *error);
enum varve_code vv_critical_meetings(struct vv_critical_graph *graph,
                                     const struct vv_critical_streams *streams,
                                     struct varve_error *error);
/* Collectives of the host: makes the chains of those that no thread waits in, the edges from what
 * asked for them and to the thread that waited, and the meetings of ranks. Comes after all other
 * parts. critical/host_meetings.c */
enum varve_code vv_critical_host_meetings(struct vv_critical_graph *graph,
                                          const struct vv_scope *scope,
                                          const struct vv_critical_windows *windows,
                                          const struct vv_host_collectives *collectives,
                                          struct varve_error *error);
/* Makes the graph by HTA's rules: critical/hta.c. */
enum varve_code vv_critical_hta(struct vv_critical_graph *graph, const struct vv_scope *scope,
                                const struct vv_critical_windows *windows,
                                struct varve_error *error);

#endif
