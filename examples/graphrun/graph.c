/* SPDX-License-Identifier: Apache-2.0 */
/* graph.c — see graph.h. A layer makes so few nodes and tensors that arrays of a fixed size hold
 * those of LAYERS_MAX layers. */
#include "graph.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <varve/varve.h>

#include "operators.h"

int graph_add_tensor(struct graph *graph, enum tensor_role role, const char *base,
                     const char *suffix)
{
    assert(graph->tensor_count < TENSORS_MAX);
    struct tensor *tensor = &graph->tensors[graph->tensor_count];
    *tensor =
        (struct tensor){ .role = role, .dtype = VARVE_F32, .producer = NONE, .like = NONE };
    snprintf(tensor->name, sizeof tensor->name, "%.40s%.20s", base, suffix);
    return graph->tensor_count++;
}

int graph_add_node(struct graph *graph, const struct node *node)
{
    assert(graph->node_count < NODES_MAX);
    int number = graph->node_count++;
    graph->nodes[number] = *node;
    for (int i = 0; i < node->output_count; i++)
        graph->tensors[node->outputs[i]].producer = number;
    return number;
}

int64_t tensor_elements(const struct tensor *tensor)
{
    int64_t elements = 1;
    for (uint32_t i = 0; i < tensor->rank; i++)
        elements *= tensor->dims[i];
    return elements;
}

const char *tensor_format(const struct tensor *tensor)
{
    return tensor->rank == 4 ? "NCHW" : "ND";
}

bool node_updates(const struct node *node, int input)
{
    return (node->operator->updates >> input & 1) != 0;
}

static bool takes(const struct node *node, int tensor)
{
    for (int i = 0; i < node->input_count; i++)
        if (node->inputs[i] == tensor)
            return true;
    return false;
}

/* Whether `later` must run behind `earlier`. */
static bool must_follow(const struct graph *graph, int later, int earlier)
{
    const struct node *node = &graph->nodes[later];
    if (later == earlier || node->operator->ends_graph)
        return later != earlier;
    for (int i = 0; i < node->input_count; i++) {
        if (graph->tensors[node->inputs[i]].producer == earlier)
            return true;
        if (node_updates(node, i) && takes(&graph->nodes[earlier], node->inputs[i]))
            return true;
    }
    return false;
}

/* The node to run next of those that are not placed and wait for nobody. */
static int next_node(const struct graph *graph, const bool *placed)
{
    int best = NONE;
    for (int i = 0; i < graph->node_count; i++) {
        bool ready = !placed[i];
        for (int other = 0; other < graph->node_count && ready; other++)
            ready = placed[other] || !must_follow(graph, i, other);
        if (ready && graph->nodes[i].operator->task == TASK_COLLECTIVE)
            return i;
        if (ready && best == NONE)
            best = i;
    }
    return best;
}

void graph_sort(struct graph *graph)
{
    VARVE_SCOPE_LAYER("topological_order", VARVE_LAYER_HOST);
    static struct node nodes[NODES_MAX];
    bool placed[NODES_MAX] = { false };
    int place_of[NODES_MAX];
    for (int place = 0; place < graph->node_count; place++) {
        int node = next_node(graph, placed);
        assert(node != NONE); /* no node is built before what it takes: there is no cycle */
        placed[node] = true;
        place_of[node] = place;
        nodes[place] = graph->nodes[node];
    }
    for (int i = 0; i < graph->node_count; i++) {
        graph->nodes[i] = nodes[i];
        if (nodes[i].forward != NONE)
            graph->nodes[i].forward = place_of[nodes[i].forward];
    }
    for (int i = 0; i < graph->tensor_count; i++)
        if (graph->tensors[i].producer != NONE)
            graph->tensors[i].producer = place_of[graph->tensors[i].producer];
}
