/* SPDX-License-Identifier: Apache-2.0 */
/* describe.c — see describe.h. Where a node waits for another without taking anything from it there
 * is an edge of control. */
#include "describe.h"

#include "operators.h"

static uint32_t task_type_of(const struct node *node, bool is_accelerator)
{
    switch (node->operator->task) {
    case TASK_KERNEL:
        return is_accelerator ? VARVE_TASK_GPU : VARVE_TASK_CPU;
    case TASK_FETCH:
    case TASK_RESULT:
        return VARVE_TASK_COPY;
    case TASK_COLLECTIVE:
    case TASK_TRACE:
        break;
    }
    return VARVE_TASK_CPU;
}

static struct varve_graph_tensor describe_tensor(const struct graph *graph, int number,
                                                 uint32_t side)
{
    const struct tensor *tensor = &graph->tensors[number];
    return (struct varve_graph_tensor){
        .side = side,
        .dtype = tensor->dtype,
        .rank = tensor->rank,
        .dims = tensor->dims,
        .format = tensor_format(tensor),
        .identity = (uint64_t)number + 1,
    };
}

static void describe_node(struct description *description, const struct graph *graph, int number,
                          bool is_accelerator)
{
    const struct node *node = &graph->nodes[number];
    struct varve_graph_tensor *tensors = &description->tensors[number * NODE_TENSORS_MAX];
    for (int i = 0; i < node->input_count; i++)
        tensors[i] = describe_tensor(graph, node->inputs[i], VARVE_INPUT);
    for (int i = 0; i < node->output_count; i++)
        tensors[node->input_count + i] = describe_tensor(graph, node->outputs[i], VARVE_OUTPUT);
    description->nodes[number] = (struct varve_graph_node){
        .name = node->name,
        .type = node->operator->type,
        .task_type = task_type_of(node, is_accelerator),
        .block_dim = node->block_dim,
        .stream = node->operator->stream,
        .flop = node->flop,
        .bytes = node->bytes,
        .tensors = tensors,
        .tensor_count = (uint32_t)(node->input_count + node->output_count),
        .parent_input = -1,
    };
}

static void add_edge(struct description *description, uint32_t from, uint32_t output, uint32_t to,
                     uint32_t input)
{
    description->edges[description->info.edge_count++] =
        (struct varve_graph_edge){ from, output, to, input };
}

/* The edges that lead to a node: from those that make what it takes, and from others that it waits
 * for. */
static void describe_edges(struct description *description, const struct graph *graph, int number)
{
    const struct node *node = &graph->nodes[number];
    bool has_edge[NODES_MAX] = { false };
    for (int i = 0; i < node->input_count; i++) {
        int producer = graph->tensors[node->inputs[i]].producer;
        if (producer == NONE)
            continue;
        bool is_first = graph->nodes[producer].outputs[0] == node->inputs[i];
        add_edge(description, (uint32_t)producer, is_first ? 0 : 1, (uint32_t)number, (uint32_t)i);
        has_edge[producer] = true;
    }
    for (int stream = 0; stream < STREAM_COUNT; stream++)
        if (node->awaited[stream] != NONE && !has_edge[node->awaited[stream]])
            add_edge(description, (uint32_t)node->awaited[stream], VARVE_EDGE_CONTROL,
                     (uint32_t)number, VARVE_EDGE_CONTROL);
}

void describe_graph(const struct graph *graph, bool is_accelerator,
                    struct description *out_description)
{
    out_description->info = (struct varve_graph_info)VARVE_GRAPH_INFO_INIT;
    out_description->info.name = graph->name;
    out_description->info.nodes = out_description->nodes;
    out_description->info.edges = out_description->edges;
    out_description->info.node_count = (uint32_t)graph->node_count;
    out_description->info.graph_id = graph->id;
    for (int i = 0; i < graph->node_count; i++) {
        describe_node(out_description, graph, i, is_accelerator);
        describe_edges(out_description, graph, i);
    }
}
