/* SPDX-License-Identifier: Apache-2.0 */
/* graph_bytes.h — a graph as it is kept: its description in few bytes, in the order of its records.
 *
 * Numbers are varints (seven bits a byte, lowest first), signed ones folded; texts end with NUL. So
 * a node takes about a hundred bytes, and a million nodes are written in a fraction of a second.
 * The items of a graph are: the graph, its nodes, its edges; then those of its subgraphs, in the
 * order of nodes. The description must have been checked (description.h). Thread-safe. */
#ifndef VV_EXEC_GRAPH_BYTES_H
#define VV_EXEC_GRAPH_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/must_use.h"
#include "varve/graph.h"

/* The number of bytes that the graph and its subgraphs take; *out_graphs is how many they are. */
size_t vv_graph_bytes_count(const struct varve_graph_info *info, uint32_t *out_graphs);
/* Writes them, and the number of nodes of each of the `graphs` graphs. False: there are more,
 * because the description has changed. */
VV_MUST_USE bool vv_graph_bytes_write(const struct varve_graph_info *info, uint8_t *bytes,
                                      size_t capacity, uint32_t *node_counts, uint32_t graphs);

enum vv_graph_item_kind { VV_ITEM_END, VV_ITEM_GRAPH, VV_ITEM_NODE, VV_ITEM_EDGE };

struct vv_item_graph {
    const char *name;
    uint32_t parent, parent_node; /* parent: 0, or 1 + the number of the graph in the tree      */
    int64_t graph_id;
    uint64_t node_count, edge_count;
};

/* Tensors, origins and contexts are read by the functions below, in this order and all of them. */
struct vv_item_node {
    const char *name, *type, *framework_type;
    uint32_t task_type, block_dim, mix_block_dim;
    int64_t parent_input, stream;
    uint64_t flop, bytes;
    uint32_t tensor_count, origin_count, context_count;
};

struct vv_item_tensor {
    uint32_t side, dtype, rank;
    const char *format;
    uint64_t identity;
    int64_t dims[16];
};

struct vv_item_edge {
    uint32_t from_node, from_output, to_node, to_input;
};

/* Reads the items from bytes[at] on. */
struct vv_graph_cursor {
    const uint8_t *bytes;
    size_t at;
};

enum vv_graph_item_kind vv_graph_next(struct vv_graph_cursor *cursor);
void vv_graph_read_graph(struct vv_graph_cursor *cursor, struct vv_item_graph *out_graph);
void vv_graph_read_node(struct vv_graph_cursor *cursor, struct vv_item_node *out_node);
void vv_graph_read_tensor(struct vv_graph_cursor *cursor, struct vv_item_tensor *out_tensor);
void vv_graph_read_edge(struct vv_graph_cursor *cursor, struct vv_item_edge *out_edge);
uint64_t vv_graph_read_number(struct vv_graph_cursor *cursor);
const char *vv_graph_read_text(struct vv_graph_cursor *cursor);

#endif
