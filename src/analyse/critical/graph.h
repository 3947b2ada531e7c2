/* SPDX-License-Identifier: Apache-2.0 */
/* graph.h — the graph of a window that critical paths, slack and what-if are found in (doc/metrics.md §14).
 *
 * Two nodes an event, its start and its end, and one for every collective that ranks meet in. Nodes stand in chains: the
 * points of a host thread in order of time, or of a stream start and end of each piece of work. What links a node with
 * the one before it in its chain is stored with the node; every other edge is in `edges`, sorted by where it leads.
 *
 * Invariant: an edge leads forward in time, and weighs no more than the time that it bridges; so the weight of any path
 * = the time from its first node to its last, less the time that its edges do not explain. (The graph that compat hta
 * makes has each node in a chain of its own, and keeps neither: critical/hta.c.) Thread-compatible. */
#ifndef VV_ANALYSE_CRITICAL_GRAPH_H
#define VV_ANALYSE_CRITICAL_GRAPH_H

#include "analyse/critical/window.h"
#include "derive/devices/device_work.h"

enum vv_critical_link {
    VV_LINK_NONE,    /* no edge from the node before                                            */
    VV_LINK_OWN,     /* the owner's own time: weighs all of it                                  */
    VV_LINK_LAUNCH,  /* from the launching call's begin to the work, where the stream was empty: weighs all of it */
    VV_LINK_QUEUE,   /* from the end of one piece of work of a stream to the next: weighs all of it */
    VV_LINK_CAUSE,   /* weighs nothing, from here on: a launch, before the queued work          */
    VV_LINK_WAIT,    /* awaited work's end, before the waiting call's end or the waiting work   */
    VV_LINK_WAITING, /* inside a call or a collective that waits                                */
    VV_LINK_IDLE,    /* no slice is open on the thread                                          */
    VV_LINK_HANDED,  /* an arrow from one thread to another, or the return from it              */
    VV_LINK_MEET,    /* a rank's begin of a collective, before all begin together               */
    VV_LINK_COUNT
};

static inline bool vv_link_weighs(enum vv_critical_link link)
{
    return link >= VV_LINK_OWN && link <= VV_LINK_QUEUE;
}

struct vv_critical_edge {
    int64_t weight_ns;
    uint32_t from, to;   /* nodes                                                              */
    uint32_t owner;      /* slice that the weight belongs to; VV_NONE                          */
    uint8_t link;        /* enum vv_critical_link; NONE: it contradicted others and is left out */
};

/* A piece of communication: how long it takes when nobody is late. */
struct vv_critical_latency {
    uint32_t node;       /* its end                                                            */
    int64_t pure_ns;
};

struct vv_critical_graph {
    const struct vv_model *model;       /* borrowed                                            */
    const bool *admitted;               /* borrowed: the scope's; it names time, and chooses no nodes */
    uint32_t node_count, node_capacity;
    int64_t *time_ns;
    uint32_t *event;                    /* slice that begins or ends here; VV_NONE: ranks meet */
    uint32_t *owner;                    /* slice that the time since the node before belongs to */
    uint8_t *link;                      /* enum vv_critical_link from the node before          */
    uint32_t *start_of, *end_of;        /* slice -> node + 1; 0 = not in the graph             */
    uint32_t *chains;                   /* first node of each; chain_count + 1                 */
    uint32_t chain_count, chain_capacity;
    struct vv_critical_edge *edges;
    size_t edge_count, edge_capacity;
    struct vv_critical_latency *latencies; /* ascending by node                                */
    size_t latency_count, latency_capacity;
    uint8_t *class_by_name;             /* for vv_device_class_of                              */
    int64_t begin_ns, end_ns;           /* of the window: the first node to the last, or more  */
    uint64_t serial_links;              /* edges within chains                                 */
    uint64_t early;                     /* work that begins before its launch does: not linked  */
    uint64_t contradictions;            /* edges left out                                      */
    uint64_t met, unmet;                /* collectives matched across ranks; communication that was not */
    bool is_exact;                      /* not made as another tool does: the invariant holds   */
};

/* The graph of what the question asks for. `question` chooses the window (critical/window.h), threads, ranks and
 * devices, and whose rules count (compat). De-initialise also after a failure. critical/build.c */
enum varve_code vv_critical_graph_init(struct vv_critical_graph *graph, const struct vv_scope *scope,
                                       const struct vv_question *question,
                                       const struct vv_critical_windows *windows, struct varve_error *error);
void vv_critical_graph_deinit(struct vv_critical_graph *graph);

/* ---- for those who build it ---- */

/* Room for so many nodes in all, before any is added. */
enum varve_code vv_critical_reserve(struct vv_critical_graph *graph, uint64_t nodes, struct varve_error *error);
enum varve_code vv_critical_chain(struct vv_critical_graph *graph, struct varve_error *error);
enum varve_code vv_critical_edge(struct vv_critical_graph *graph, struct vv_critical_edge edge,
                                 struct varve_error *error);

static inline uint32_t vv_critical_node(struct vv_critical_graph *graph, int64_t time_ns, uint32_t event,
                                        enum vv_critical_link link, uint32_t owner)
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

/* The first of the latencies at the node or at a later one; latency_count if there is none. */
size_t vv_critical_latency_from(const struct vv_critical_graph *graph, uint32_t node);

/* The parts of the exact graph: host threads; streams and what their work waits for; what host calls wait for; what one
 * thread hands to another; where ranks meet. */
struct vv_critical_streams;
enum varve_code vv_critical_host(struct vv_critical_graph *graph, const struct vv_scope *scope,
                                 const struct vv_critical_windows *windows, struct varve_error *error);
enum varve_code vv_critical_device(struct vv_critical_graph *graph, const struct vv_critical_streams *streams,
                                   struct varve_error *error);
enum varve_code vv_critical_waits(struct vv_critical_graph *graph, const struct vv_scope *scope,
                                  struct vv_critical_streams *streams, struct varve_error *error);
enum varve_code vv_critical_hands(struct vv_critical_graph *graph, const struct vv_scope *scope,
                                  struct varve_error *error);
enum varve_code vv_critical_meetings(struct vv_critical_graph *graph, const struct vv_critical_streams *streams,
                                     struct varve_error *error);
/* The graph that HTA makes of it: critical/hta.c. */
enum varve_code vv_critical_hta(struct vv_critical_graph *graph, const struct vv_scope *scope,
                                const struct vv_critical_windows *windows, struct varve_error *error);

#endif
