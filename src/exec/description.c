/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/description.h"

#include <stdbool.h>

#include "base/error.h"
#include "varve/exec.h"

#define RANK_MAX 16u
/* A graph may be named in an error by so many bytes, and a node likewise. */
#define SHOWN "%.80s"

static const char *name_of(const struct varve_graph_info *info)
{
    return info->name != NULL ? info->name : "(unnamed)";
}

static enum varve_code check_tensors(const struct varve_graph_node *node, const char *graph,
                                     struct varve_error *error)
{
    if (node->tensor_count > VARVE_NODE_TENSORS_MAX)
        VV_FAIL(error, VARVE_LIMIT, "graph '" SHOWN "', node '" SHOWN "': %u tensors, at most %u",
                graph, node->name, node->tensor_count, VARVE_NODE_TENSORS_MAX);
    if (node->tensor_count > 0 && node->tensors == NULL)
        VV_FAIL(error, VARVE_INVALID,
                "graph '" SHOWN "', node '" SHOWN "': no tensors at the pointer", graph,
                node->name);
    for (uint32_t i = 0; i < node->tensor_count; i++) {
        const struct varve_graph_tensor *tensor = &node->tensors[i];
        if (tensor->side > VARVE_OUTPUT)
            VV_FAIL(error, VARVE_INVALID,
                    "graph '" SHOWN "', node '" SHOWN "': tensor %u has side %u, neither input (0) "
                    "nor output (1)", graph, node->name, i, tensor->side);
        if (tensor->rank > RANK_MAX || (tensor->rank > 0 && tensor->dims == NULL))
            VV_FAIL(error, VARVE_INVALID,
                    "graph '" SHOWN "', node '" SHOWN "': tensor %u has rank %u, %s", graph,
                    node->name, i, tensor->rank,
                    tensor->rank > RANK_MAX ? "at most 16" : "and no dims");
    }
    return VARVE_OK;
}

static enum varve_code check_node(const struct varve_graph_info *info, uint32_t number,
                                  struct varve_error *error)
{
    const struct varve_graph_node *node = vv_described_node(info, number);
    const char *graph = name_of(info);
    if (node->name == NULL || *node->name == '\0')
        VV_FAIL(error, VARVE_INVALID, "graph '" SHOWN "': node %u has no name", graph, number);
    if (node->task_type >= VARVE_TASK_TYPE_COUNT)
        VV_FAIL(error, VARVE_INVALID,
                "graph '" SHOWN "', node '" SHOWN "': task type %u is not known", graph,
                node->name, node->task_type);
    if (node->context_count > VARVE_NODE_CONTEXTS_MAX)
        VV_FAIL(error, VARVE_LIMIT, "graph '" SHOWN "', node '" SHOWN "': %u contexts, at most %u",
                graph, node->name, node->context_count, VARVE_NODE_CONTEXTS_MAX);
    bool lacks_array = (node->context_count > 0 && node->contexts == NULL) ||
                       (node->origin_count > 0 && node->origins == NULL) ||
                       (node->subgraph_count > 0 && node->subgraphs == NULL);
    for (uint32_t i = 0; i < node->origin_count && !lacks_array; i++)
        lacks_array = node->origins[i] == NULL;
    if (lacks_array)
        VV_FAIL(error, VARVE_INVALID,
                "graph '" SHOWN "', node '" SHOWN "': a count of contexts, origins or subgraphs, "
                "and NULL where they should be", graph, node->name);
    return check_tensors(node, graph, error);
}

static enum varve_code check_edges(const struct varve_graph_info *info, struct varve_error *error)
{
    for (uint64_t e = 0; e < info->edge_count; e++) {
        const struct varve_graph_edge *edge = vv_described_edge(info, e);
        uint32_t node = edge->from_node >= info->node_count ? edge->from_node : edge->to_node;
        if (node >= info->node_count)
            VV_FAIL(error, VARVE_INVALID, "graph '" SHOWN "': edge %llu names node %u, of %u nodes",
                    name_of(info), (unsigned long long)e, node, info->node_count);
        if ((edge->from_output == VARVE_EDGE_CONTROL) != (edge->to_input == VARVE_EDGE_CONTROL))
            VV_FAIL(error, VARVE_INVALID,
                    "graph '" SHOWN "': edge %llu, from '" SHOWN "' to '" SHOWN "', is of control "
                    "at one end only", name_of(info), (unsigned long long)e,
                    vv_described_node(info, edge->from_node)->name,
                    vv_described_node(info, edge->to_node)->name);
    }
    return VARVE_OK;
}

/* Recursive, to VARVE_GRAPH_DEPTH_MAX. *graphs counts all that were seen. */
static enum varve_code check_graph(const struct varve_graph_info *info, uint32_t depth,
                                   uint32_t *graphs, struct varve_error *error)
{
    if (info == NULL || info->struct_size < sizeof *info ||
        info->node_size < sizeof(struct varve_graph_node) ||
        info->edge_size < sizeof(struct varve_graph_edge))
        VV_FAIL(error, VARVE_INVALID,
                "a graph is NULL, or struct_size, node_size or edge_size is 0 or of an unknown "
                "version");
    if ((info->node_count > 0 && info->nodes == NULL) ||
        (info->edge_count > 0 && info->edges == NULL))
        VV_FAIL(error, VARVE_INVALID, "graph '" SHOWN "': a count of nodes or edges, and no array",
                name_of(info));
    if (depth > VARVE_GRAPH_DEPTH_MAX || ++*graphs > VARVE_GRAPHS_MAX)
        VV_FAIL(error, VARVE_LIMIT, "graph '" SHOWN "': more than %u levels of subgraphs, or more "
                "than %u graphs", name_of(info), VARVE_GRAPH_DEPTH_MAX, VARVE_GRAPHS_MAX);
    for (uint32_t n = 0; n < info->node_count; n++)
        VV_TRY(check_node(info, n, error));
    VV_TRY(check_edges(info, error));
    VV_TRY(vv_description_check_cycle(info, error));
    for (uint32_t n = 0; n < info->node_count; n++) {
        const struct varve_graph_node *node = vv_described_node(info, n);
        for (uint32_t s = 0; s < node->subgraph_count; s++)
            VV_TRY(check_graph(node->subgraphs[s], depth + 1, graphs, error));
    }
    return VARVE_OK;
}

enum varve_code vv_description_check(const struct varve_graph_info *info,
                                     struct varve_error *error)
{
    uint32_t graphs = 0;
    VV_TRY_NOTE(check_graph(info, 1, &graphs, error), error, "varve_graph_register");
    return VARVE_OK;
}
