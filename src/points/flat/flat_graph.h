/* SPDX-License-Identifier: Apache-2.0 */
/* flat_graph.h — a graph with all its bodies as one list of nodes, with edges from both sides.
 * Whatever walks a program's graph uses this, and so knows that the graph is whole.
 *
 * Node `id` counts through all graphs: those of the root first, then those of each body. Borrows
 * the program's graph; the arrays are its own. Thread-compatible. */
#ifndef VV_GRAPHS_FLAT_GRAPH_H
#define VV_GRAPHS_FLAT_GRAPH_H

#include "base/array.h"
#include "varve/graph.h"

#define VV_FLAT_NONE UINT32_MAX
#define VV_FLAT_NODES_MAX (UINT32_C(1) << 26) /* bodies included                                */
#define VV_FLAT_GRAPHS_MAX (UINT32_C(1) << 16)
#define VV_FLAT_DEPTH_MAX 64u

struct vv_flat_body {
    const struct varve_graph_info *graph;
    uint32_t first;  /* id of its first node                                                    */
    uint32_t owner;  /* id of the node whose body it is; VV_FLAT_NONE = the root                */
    uint32_t number; /* 0, 1 … among the owner's bodies                                         */
    uint32_t depth;  /* 0 = the root                                                            */
};

struct vv_flat_edge {
    uint32_t node;           /* id of the other end                                             */
    uint32_t output, input;  /* VARVE_EDGE_CONTROL in both: waits alone                         */
};

struct vv_flat_graph {
    VV_ARRAY_OF(struct vv_flat_body) bodies; /* [0] is the root                                 */
    uint32_t node_count;
    uint32_t *body_of;       /* id -> index in bodies                                           */
    uint32_t *first_body;    /* id -> index of its first body, others follow; or VV_FLAT_NONE   */
    uint32_t *position;      /* id -> place in the order of running: a node, then its bodies    */
    uint32_t *by_position;   /* place -> id                                                     */
    uint64_t *outs, *ins;    /* id -> first of its edges; node_count + 1 entries                */
    struct vv_flat_edge *out_edges, *in_edges;
};

/* VARVE_INVALID: a struct is too small, a name or an array is missing, an edge leads nowhere.
 * VARVE_LIMIT: too many nodes or bodies, or bodies inside each other. The message names the
 * node. On failure *out_flat is empty. */
enum varve_code vv_flat_graph_make(struct vv_flat_graph *out_flat,
                                   const struct varve_graph_info *graph,
                                   struct varve_error *error);
void vv_flat_graph_deinit(struct vv_flat_graph *flat); /* idempotent */

/* VARVE_INVALID: nodes wait for each other; the message names them. */
enum varve_code vv_flat_graph_check_acyclic(const struct vv_flat_graph *flat,
                                            struct varve_error *error);

static inline const struct varve_graph_node *vv_graph_node_at(const struct varve_graph_info *graph,
                                                              uint32_t index)
{
    return (const struct varve_graph_node *)(const void *)((const char *)graph->nodes +
                                                           (size_t)index * graph->node_size);
}

static inline const struct vv_flat_body *vv_flat_body(const struct vv_flat_graph *flat,
                                                      uint32_t id)
{
    return &flat->bodies.items[flat->body_of[id]];
}

static inline const struct varve_graph_node *vv_flat_node(const struct vv_flat_graph *flat,
                                                          uint32_t id)
{
    const struct vv_flat_body *body = vv_flat_body(flat, id);
    return vv_graph_node_at(body->graph, id - body->first);
}

/* The type, which is the name where none is given. */
static inline const char *vv_graph_node_type(const struct varve_graph_node *node)
{
    return node->type != NULL && *node->type != '\0' ? node->type : node->name;
}

#endif
