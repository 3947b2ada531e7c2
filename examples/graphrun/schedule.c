/* SPDX-License-Identifier: Apache-2.0 */
/* schedule.c — see schedule.h. */
#include "schedule.h"

#include <varve/varve.h>

#include "operators.h"

#define PLACES_MAX (KERNEL_INPUTS_MAX + KERNEL_OUTPUTS_MAX)

/* The bytes that a node uses. */
struct use {
    size_t begin, end;
    bool is_written;
};

static int uses_of(const struct graph *graph, const struct node *node, struct use *out_uses)
{
    int count = 0;
    for (int i = 0; i < node->input_count + node->output_count; i++) {
        bool is_input = i < node->input_count;
        const struct tensor *tensor =
            &graph->tensors[is_input ? node->inputs[i] : node->outputs[i - node->input_count]];
        out_uses[count++] = (struct use){
            .begin = tensor->offset_bytes,
            .end = tensor->offset_bytes + tensor->bytes,
            .is_written = !is_input || node_updates(node, i),
        };
    }
    return count;
}

static bool is_in_the_way(const struct graph *graph, int a, int b)
{
    struct use uses[PLACES_MAX], others[PLACES_MAX];
    int count = uses_of(graph, &graph->nodes[a], uses);
    int other_count = uses_of(graph, &graph->nodes[b], others);
    for (int i = 0; i < count; i++)
        for (int k = 0; k < other_count; k++)
            if ((uses[i].is_written || others[k].is_written) && uses[i].begin < others[k].end &&
                others[k].begin < uses[i].end)
                return true;
    return false;
}

void schedule_streams(struct graph *graph)
{
    VARVE_SCOPE_LAYER("schedule_streams", VARVE_LAYER_HOST);
    for (int i = 0; i < graph->node_count; i++) {
        struct node *node = &graph->nodes[i];
        for (int stream = 0; stream < STREAM_COUNT; stream++)
            node->awaited[stream] = NONE;
        for (int earlier = 0; earlier < i; earlier++) {
            enum stream stream = graph->nodes[earlier].operator->stream;
            if (stream == node->operator->stream)
                continue;
            if (node->operator->ends_graph || is_in_the_way(graph, i, earlier))
                node->awaited[stream] = earlier;
        }
    }
}
