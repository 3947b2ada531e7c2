/* SPDX-License-Identifier: Apache-2.0 */
/* registration.c — see registration.h. */
#include "registration.h"

/* Who writes a tensor: its producer, or whoever updates it in place. A parameter that nobody
 * updates is the first reader's. */
static int writer_of(const struct graph *graph, int tensor)
{
    int reader = NONE;
    if (graph->tensors[tensor].producer != NONE)
        return graph->tensors[tensor].producer;
    for (int i = graph->node_count - 1; i >= 0; i--) {
        const struct node *node = &graph->nodes[i];
        for (int k = 0; k < node->input_count; k++) {
            if (node->inputs[k] != tensor)
                continue;
            if (node_updates(node, k))
                return i;
            reader = i;
        }
    }
    return reader;
}

static void register_placements(const struct graph *graph, uint32_t varve_graph, uint32_t device)
{
    struct varve_placement placements[TENSORS_MAX];
    for (int i = 0; i < graph->tensor_count; i++) {
        const struct tensor *tensor = &graph->tensors[i];
        placements[i] = (struct varve_placement)VARVE_PLACEMENT_INIT;
        placements[i].node = (uint32_t)writer_of(graph, i);
        placements[i].device = device;
        placements[i].offset = tensor->offset_bytes;
        placements[i].bytes = tensor->bytes;
        placements[i].first_use = (uint32_t)tensor->first_use;
        if (tensor->role == TENSOR_VALUE)
            placements[i].last_use = (uint32_t)tensor->last_use;
    }
    (void)varve_graph_place(varve_graph, placements, (size_t)graph->tensor_count, NULL);
}

uint32_t registration_of_graph(const struct graph *graph, const struct description *description,
                               uint32_t device)
{
    uint32_t number;
    if (varve_graph_register(&description->info, &number, NULL) != VARVE_OK)
        return 0;
    register_placements(graph, number, device);
    return number;
}

uint32_t registration_of_model(const struct graph *graph, uint32_t varve_graph)
{
    struct varve_model_info info = VARVE_MODEL_INFO_INIT;
    uint32_t number;
    info.graph = varve_graph;
    info.name = graph->name;
    info.model_id = graph->id;
    return varve_model_load_begin(&info, &number, NULL) == VARVE_OK ? number : 0;
}
