/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/graph_bytes.h"

#include <string.h>

#include "exec/description.h"
#include "record/text_hash.h"
#include "varve/exec.h"

/* ---- writing: with `bytes` NULL, only counts ---- */

struct writer {
    uint8_t *bytes;
    size_t count, capacity;
    uint32_t graphs; /* how many have begun                                                     */
    uint32_t *node_counts; /* of node_count_room graphs */
    uint32_t node_count_room;
};

static inline void put_byte(struct writer *writer, uint8_t byte)
{
    if (writer->count < writer->capacity)
        writer->bytes[writer->count] = byte;
    writer->count++;
}

static inline void put_number(struct writer *writer, uint64_t number)
{
    for (; number > 0x7f; number >>= 7)
        put_byte(writer, (uint8_t)(number | 0x80));
    put_byte(writer, (uint8_t)number);
}

static inline void put_signed(struct writer *writer, int64_t number)
{
    put_number(writer, (uint64_t)number << 1 ^ -((uint64_t)number >> 63));
}

static void put_text(struct writer *writer, const char *text)
{
    uint32_t length = text == NULL ? 0 : vv_text_cut(text, VARVE_GRAPH_NAME_BYTES);
    if (writer->count + length <= writer->capacity && length > 0)
        memcpy(writer->bytes + writer->count, text, length);
    writer->count += length;
    put_byte(writer, 0);
}

static void put_tensor(struct writer *writer, const struct varve_graph_tensor *tensor)
{
    put_byte(writer, (uint8_t)tensor->side);
    put_byte(writer, (uint8_t)(tensor->dtype <= VARVE_BITS ? tensor->dtype : VARVE_DTYPE_UNKNOWN));
    put_byte(writer, (uint8_t)tensor->rank);
    put_text(writer, tensor->format);
    put_number(writer, tensor->identity);
    for (uint32_t d = 0; d < tensor->rank; d++)
        put_signed(writer, tensor->dims[d]);
}

static void put_node(struct writer *writer, const struct varve_graph_node *node)
{
    put_byte(writer, VV_ITEM_NODE);
    put_text(writer, node->name);
    put_text(writer, node->type);
    put_text(writer, node->framework_type);
    put_number(writer, node->task_type);
    put_number(writer, node->block_dim);
    put_number(writer, node->mix_block_dim);
    put_signed(writer, node->parent_input);
    put_signed(writer, node->stream);
    put_number(writer, node->flop);
    put_number(writer, node->bytes);
    put_number(writer, node->tensor_count);
    put_number(writer, node->origin_count);
    put_number(writer, node->context_count);
    for (uint32_t i = 0; i < node->tensor_count; i++)
        put_tensor(writer, &node->tensors[i]);
    for (uint32_t i = 0; i < node->origin_count; i++)
        put_text(writer, node->origins[i]);
    for (uint32_t i = 0; i < node->context_count; i++)
        put_number(writer, node->contexts[i]);
}

/* Outputs and inputs are one greater, so that VARVE_EDGE_CONTROL takes a byte. */
static void put_edge(struct writer *writer, const struct varve_graph_edge *edge)
{
    put_byte(writer, VV_ITEM_EDGE);
    put_number(writer, edge->from_node);
    put_number(writer, (uint32_t)(edge->from_output + 1));
    put_signed(writer, (int64_t)edge->to_node - edge->from_node);
    put_number(writer, (uint32_t)(edge->to_input + 1));
}

/* Recursive; description.c limits the depth. */
static void put_graph(struct writer *writer, const struct varve_graph_info *info, uint32_t parent,
                      uint32_t parent_node)
{
    uint32_t number = ++writer->graphs;
    if (number <= writer->node_count_room)
        writer->node_counts[number - 1] = info->node_count;
    put_byte(writer, VV_ITEM_GRAPH);
    put_text(writer, info->name);
    put_number(writer, parent);
    put_number(writer, parent_node);
    put_signed(writer, info->graph_id);
    put_number(writer, info->node_count);
    put_number(writer, info->edge_count);
    for (uint32_t n = 0; n < info->node_count; n++)
        put_node(writer, vv_described_node(info, n));
    for (uint64_t e = 0; e < info->edge_count; e++)
        put_edge(writer, vv_described_edge(info, e));
    for (uint32_t n = 0; n < info->node_count; n++) {
        const struct varve_graph_node *node = vv_described_node(info, n);
        for (uint32_t s = 0; s < node->subgraph_count; s++)
            put_graph(writer, node->subgraphs[s], number, n);
    }
}

size_t vv_graph_bytes_count(const struct varve_graph_info *info, uint32_t *out_graphs)
{
    struct writer writer = { 0 };
    put_graph(&writer, info, 0, 0);
    *out_graphs = writer.graphs;
    return writer.count + 1; /* VV_ITEM_END */
}

bool vv_graph_bytes_write(const struct varve_graph_info *info, uint8_t *bytes, size_t capacity,
                          uint32_t *node_counts, uint32_t graphs)
{
    struct writer writer = { .bytes = bytes, .capacity = capacity, .node_counts = node_counts,
                             .node_count_room = graphs };
    put_graph(&writer, info, 0, 0);
    put_byte(&writer, VV_ITEM_END);
    return writer.count == capacity && writer.graphs == graphs;
}

/* ---- reading ---- */

static uint8_t read_byte(struct vv_graph_cursor *cursor)
{
    return cursor->bytes[cursor->at++];
}

uint64_t vv_graph_read_number(struct vv_graph_cursor *cursor)
{
    uint64_t number = 0;
    unsigned shift = 0;
    uint8_t byte;
    do {
        byte = read_byte(cursor);
        number |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
    } while (byte > 0x7f);
    return number;
}

static int64_t read_signed(struct vv_graph_cursor *cursor)
{
    uint64_t number = vv_graph_read_number(cursor);
    return (int64_t)(number >> 1 ^ -(number & 1));
}

static uint32_t read_small(struct vv_graph_cursor *cursor)
{
    return (uint32_t)vv_graph_read_number(cursor);
}

const char *vv_graph_read_text(struct vv_graph_cursor *cursor)
{
    const char *text = (const char *)cursor->bytes + cursor->at;
    cursor->at += strlen(text) + 1;
    return text;
}

enum vv_graph_item_kind vv_graph_next(struct vv_graph_cursor *cursor)
{
    return (enum vv_graph_item_kind)read_byte(cursor);
}

void vv_graph_read_graph(struct vv_graph_cursor *cursor, struct vv_item_graph *out_graph)
{
    out_graph->name = vv_graph_read_text(cursor);
    out_graph->parent = read_small(cursor);
    out_graph->parent_node = read_small(cursor);
    out_graph->graph_id = read_signed(cursor);
    out_graph->node_count = vv_graph_read_number(cursor);
    out_graph->edge_count = vv_graph_read_number(cursor);
}

void vv_graph_read_node(struct vv_graph_cursor *cursor, struct vv_item_node *out_node)
{
    out_node->name = vv_graph_read_text(cursor);
    out_node->type = vv_graph_read_text(cursor);
    out_node->framework_type = vv_graph_read_text(cursor);
    out_node->task_type = read_small(cursor);
    out_node->block_dim = read_small(cursor);
    out_node->mix_block_dim = read_small(cursor);
    out_node->parent_input = read_signed(cursor);
    out_node->stream = read_signed(cursor);
    out_node->flop = vv_graph_read_number(cursor);
    out_node->bytes = vv_graph_read_number(cursor);
    out_node->tensor_count = read_small(cursor);
    out_node->origin_count = read_small(cursor);
    out_node->context_count = read_small(cursor);
}

void vv_graph_read_tensor(struct vv_graph_cursor *cursor, struct vv_item_tensor *out_tensor)
{
    out_tensor->side = read_byte(cursor);
    out_tensor->dtype = read_byte(cursor);
    out_tensor->rank = read_byte(cursor);
    out_tensor->format = vv_graph_read_text(cursor);
    out_tensor->identity = vv_graph_read_number(cursor);
    for (uint32_t d = 0; d < out_tensor->rank; d++)
        out_tensor->dims[d] = read_signed(cursor);
}

void vv_graph_read_edge(struct vv_graph_cursor *cursor, struct vv_item_edge *out_edge)
{
    out_edge->from_node = read_small(cursor);
    out_edge->from_output = read_small(cursor) - 1;
    out_edge->to_node = (uint32_t)(read_signed(cursor) + out_edge->from_node);
    out_edge->to_input = read_small(cursor) - 1;
}
