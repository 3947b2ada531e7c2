/* SPDX-License-Identifier: Apache-2.0 */
#include "points/flat/flat_graph.h"

#include <stdlib.h>
#include <string.h>

static const char *name_of(const struct varve_graph_info *graph)
{
    return graph->name != NULL && *graph->name != '\0' ? graph->name : "(unnamed)";
}

static const struct varve_graph_edge *edge_at(const struct varve_graph_info *graph, uint64_t index)
{
    return (const struct varve_graph_edge *)(const void *)((const char *)graph->edges +
                                                           (size_t)index * graph->edge_size);
}

/* ---- what a program hands over ---- */

static enum varve_code check_info(const struct varve_graph_info *graph, struct varve_error *error)
{
    if (graph == NULL)
        VV_FAIL(error, VARVE_INVALID, "the graph is NULL");
    if (graph->struct_size < sizeof *graph || graph->node_size < sizeof(struct varve_graph_node) ||
        graph->node_size % 8 != 0 || graph->edge_size < sizeof(struct varve_graph_edge) ||
        graph->edge_size % 4 != 0)
        VV_FAIL(error, VARVE_INVALID,
                "struct_size %u, node_size %u or edge_size %u is of an unknown version: begin with "
                "VARVE_GRAPH_INFO_INIT",
                graph->struct_size, graph->node_size, graph->edge_size);
    if ((graph->node_count > 0 && graph->nodes == NULL) ||
        (graph->edge_count > 0 && graph->edges == NULL))
        VV_FAIL(error, VARVE_INVALID, "graph '%.80s' has %u nodes and %llu edges, but an array is "
                "NULL", name_of(graph), graph->node_count, (unsigned long long)graph->edge_count);
    return VARVE_OK;
}

static enum varve_code check_node(const struct varve_graph_info *graph, uint32_t index,
                                  struct varve_error *error)
{
    const struct varve_graph_node *node = vv_graph_node_at(graph, index);
    if (node->name == NULL || *node->name == '\0')
        VV_FAIL(error, VARVE_INVALID, "node %u of graph '%.80s' has no name", index,
                name_of(graph));
    bool lacks = (node->origin_count > 0 && node->origins == NULL) ||
                 (node->subgraph_count > 0 && node->subgraphs == NULL);
    for (uint32_t i = 0; i < node->origin_count && !lacks; i++)
        lacks = node->origins[i] == NULL;
    if (lacks)
        VV_FAIL(error, VARVE_INVALID, "node '%.80s' of graph '%.80s' counts origins or subgraphs "
                "that are NULL", node->name, name_of(graph));
    return VARVE_OK;
}

static enum varve_code check_edges(const struct varve_graph_info *graph, struct varve_error *error)
{
    for (uint64_t i = 0; i < graph->edge_count; i++) {
        const struct varve_graph_edge *edge = edge_at(graph, i);
        if (edge->from_node >= graph->node_count || edge->to_node >= graph->node_count)
            VV_FAIL(error, VARVE_INVALID,
                    "edge %llu of graph '%.80s' leads from node %u to node %u, but there are %u",
                    (unsigned long long)i, name_of(graph), edge->from_node, edge->to_node,
                    graph->node_count);
        if ((edge->from_output == VARVE_EDGE_CONTROL) != (edge->to_input == VARVE_EDGE_CONTROL))
            VV_FAIL(error, VARVE_INVALID,
                    "edge %llu of graph '%.80s', from '%.80s', is a control edge at one end only",
                    (unsigned long long)i, name_of(graph),
                    vv_graph_node_at(graph, edge->from_node)->name);
    }
    return VARVE_OK;
}

/* Adds a graph and checks it; its bodies come later. */
static enum varve_code add_graph(struct vv_flat_graph *flat, const struct vv_flat_body *body,
                                 struct varve_error *error)
{
    VV_TRY(check_info(body->graph, error));
    if (body->depth > VV_FLAT_DEPTH_MAX)
        VV_FAIL(error, VARVE_LIMIT, "graph '%.80s' lies in more than %u others, or in itself",
                name_of(body->graph), VV_FLAT_DEPTH_MAX);
    if (flat->bodies.count >= VV_FLAT_GRAPHS_MAX ||
        body->graph->node_count > VV_FLAT_NODES_MAX - flat->node_count)
        VV_FAIL(error, VARVE_LIMIT,
                "at most %u graphs with %u nodes in all; graph '%.80s' has %u more",
                VV_FLAT_GRAPHS_MAX, VV_FLAT_NODES_MAX, name_of(body->graph),
                body->graph->node_count);
    for (uint32_t i = 0; i < body->graph->node_count; i++)
        VV_TRY(check_node(body->graph, i, error));
    VV_TRY(check_edges(body->graph, error));
    VV_TRY(vv_array_reserve(&flat->bodies.items, &flat->bodies.capacity, flat->bodies.count + 1,
                            sizeof *flat->bodies.items, error));
    flat->bodies.items[flat->bodies.count++] = *body;
    flat->node_count += body->graph->node_count;
    return VARVE_OK;
}

static enum varve_code add_bodies_of(struct vv_flat_graph *flat, size_t index,
                                     struct varve_error *error)
{
    const struct vv_flat_body outer = flat->bodies.items[index];
    for (uint32_t n = 0; n < outer.graph->node_count; n++) {
        const struct varve_graph_node *node = vv_graph_node_at(outer.graph, n);
        for (uint32_t s = 0; s < node->subgraph_count; s++) {
            struct vv_flat_body body = { node->subgraphs[s], flat->node_count, outer.first + n, s,
                                         outer.depth + 1 };
            VV_TRY_NOTE(add_graph(flat, &body, error), error, "body %u of node '%.80s'", s,
                        node->name);
        }
    }
    return VARVE_OK;
}

/* ---- the arrays ---- */

static enum varve_code array(void *out_items, size_t count, size_t item_bytes,
                             struct varve_error *error)
{
    void *items = calloc(count > 0 ? count : 1, item_bytes);
    if (items == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for a graph of %zu parts", count);
    memcpy(out_items, &items, sizeof items);
    return VARVE_OK;
}

static void place_bodies(struct vv_flat_graph *flat)
{
    memset(flat->first_body, 0xff, flat->node_count * sizeof *flat->first_body);
    for (size_t b = flat->bodies.count; b-- > 0;) {
        const struct vv_flat_body *body = &flat->bodies.items[b];
        for (uint32_t n = 0; n < body->graph->node_count; n++)
            flat->body_of[body->first + n] = (uint32_t)b;
        if (body->owner != VV_FLAT_NONE)
            flat->first_body[body->owner] = (uint32_t)b;
    }
}

/* Depth first, with a stack of a body and the next node in it for each level. */
static void place_nodes(struct vv_flat_graph *flat)
{
    struct { size_t body; uint32_t next; } stack[VV_FLAT_DEPTH_MAX + 1];
    uint32_t position = 0, depth = 0;
    stack[0].body = 0;
    stack[0].next = 0;
    for (;;) {
        const struct vv_flat_body *body = &flat->bodies.items[stack[depth].body];
        if (stack[depth].next == body->graph->node_count) {
            size_t sibling = stack[depth].body + 1;
            if (depth == 0)
                return;
            if (sibling < flat->bodies.count && flat->bodies.items[sibling].owner == body->owner) {
                stack[depth].body = sibling;
                stack[depth].next = 0;
            } else {
                depth--;
            }
            continue;
        }
        uint32_t id = body->first + stack[depth].next++;
        flat->by_position[position] = id;
        flat->position[id] = position++;
        if (flat->first_body[id] != VV_FLAT_NONE) {
            stack[++depth].body = flat->first_body[id];
            stack[depth].next = 0;
        }
    }
}

/* Counts, then stores: each node's edges lie side by side, in the order of the program's array. */
static void place_edges(struct vv_flat_graph *flat)
{
    for (int pass = 0; pass < 2; pass++) {
        for (size_t b = 0; b < flat->bodies.count; b++) {
            const struct vv_flat_body *body = &flat->bodies.items[b];
            for (uint64_t i = 0; i < body->graph->edge_count; i++) {
                const struct varve_graph_edge *edge = edge_at(body->graph, i);
                uint32_t from = body->first + edge->from_node, to = body->first + edge->to_node;
                if (pass == 1) {
                    flat->out_edges[flat->outs[from]] =
                        (struct vv_flat_edge){ to, edge->from_output, edge->to_input };
                    flat->in_edges[flat->ins[to]] =
                        (struct vv_flat_edge){ from, edge->from_output, edge->to_input };
                }
                flat->outs[from]++;
                flat->ins[to]++;
            }
        }
        /* Counts become firsts; after the second pass each is the next node's first. */
        uint64_t outs = 0, ins = 0;
        for (uint32_t id = 0; id <= flat->node_count; id++) {
            uint64_t out = flat->outs[id], in = flat->ins[id];
            flat->outs[id] = outs;
            flat->ins[id] = ins;
            outs = pass == 0 ? outs + out : out;
            ins = pass == 0 ? ins + in : in;
        }
    }
}

static enum varve_code make(struct vv_flat_graph *flat, const struct varve_graph_info *graph,
                            struct varve_error *error)
{
    const struct vv_flat_body root = { graph, 0, VV_FLAT_NONE, 0, 0 };
    uint64_t edges = 0;
    VV_TRY(add_graph(flat, &root, error));
    for (size_t i = 0; i < flat->bodies.count; i++)
        VV_TRY(add_bodies_of(flat, i, error));
    for (size_t i = 0; i < flat->bodies.count; i++)
        edges += flat->bodies.items[i].graph->edge_count;
    size_t nodes = flat->node_count;
    VV_TRY(array(&flat->body_of, nodes, sizeof *flat->body_of, error));
    VV_TRY(array(&flat->first_body, nodes, sizeof *flat->first_body, error));
    VV_TRY(array(&flat->position, nodes, sizeof *flat->position, error));
    VV_TRY(array(&flat->by_position, nodes, sizeof *flat->by_position, error));
    VV_TRY(array(&flat->outs, nodes + 1, sizeof *flat->outs, error));
    VV_TRY(array(&flat->ins, nodes + 1, sizeof *flat->ins, error));
    VV_TRY(array(&flat->out_edges, edges, sizeof *flat->out_edges, error));
    VV_TRY(array(&flat->in_edges, edges, sizeof *flat->in_edges, error));
    place_bodies(flat);
    place_nodes(flat);
    place_edges(flat);
    return VARVE_OK;
}

enum varve_code vv_flat_graph_make(struct vv_flat_graph *out_flat,
                                   const struct varve_graph_info *graph, struct varve_error *error)
{
    *out_flat = (struct vv_flat_graph){ 0 };
    enum varve_code code = make(out_flat, graph, error);
    if (code != VARVE_OK)
        vv_flat_graph_deinit(out_flat);
    return code;
}

void vv_flat_graph_deinit(struct vv_flat_graph *flat)
{
    free(flat->bodies.items);
    free(flat->body_of);
    free(flat->first_body);
    free(flat->position);
    free(flat->by_position);
    free(flat->outs);
    free(flat->ins);
    free(flat->out_edges);
    free(flat->in_edges);
    *flat = (struct vv_flat_graph){ 0 };
}
