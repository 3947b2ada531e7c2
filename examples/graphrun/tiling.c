/* SPDX-License-Identifier: Apache-2.0 */
/* tiling.c — see tiling.h. */
#include "tiling.h"

#include <varve/varve.h>

#include "message.h"
#include "operators.h"

#define LEARNING_RATE 0.02f
#define MOMENTUM 0.8f

/* A block of less work than this costs more to hand out than it saves: some 10 us of one core. */
#define BLOCK_WORK 20000

static uint64_t bytes_of(const struct graph *graph, const struct node *node)
{
    uint64_t bytes = 0;
    for (int i = 0; i < node->input_count; i++)
        bytes += (node_updates(node, i) ? 8 : 4) *
                 (uint64_t)tensor_elements(&graph->tensors[node->inputs[i]]);
    for (int i = 0; i < node->output_count; i++)
        bytes += 4 * (uint64_t)tensor_elements(&graph->tensors[node->outputs[i]]);
    return bytes;
}

static const struct tensor *image_of(const struct graph *graph, const struct node *node)
{
    enum operand image = node->operator->image;
    return &graph->tensors[image == OF_OUTPUT_0 ? node->outputs[0]
                                                : node->inputs[image - OF_INPUT_0]];
}

static struct kernel_arguments arguments_of(const struct graph *graph, const struct node *node)
{
    const struct tensor *image = image_of(graph, node);
    const struct tensor *whole =
        &graph->tensors[node->output_count > 0 ? node->outputs[0] : node->inputs[0]];
    unsigned dims[RANK_MAX] = { 1, 1, 1, 1 };
    for (uint32_t i = 0; i < image->rank; i++)
        dims[i] = (unsigned)image->dims[i];
    return (struct kernel_arguments){
        .count = (unsigned)tensor_elements(whole),
        .batch = dims[0],
        .channels = dims[1],
        .height = dims[2],
        .width = dims[3],
        .features = node->features != 0 ? (unsigned)node->features : dims[1],
        .side = (unsigned)node->side,
        .scale = 1.0f / (float)graph->global_batch,
        .rate = LEARNING_RATE,
        .momentum = MOMENTUM,
    };
}

static uint32_t blocks_of(const struct node *node, struct tiling_rules rules)
{
    uint32_t items = node->arguments.items;
    if (node->operator->task != TASK_KERNEL)
        return 1;
    if (rules.items_per_block != 0)
        return (items + rules.items_per_block - 1) / rules.items_per_block;
    uint64_t blocks = (node->flop + node->bytes) / BLOCK_WORK;
    if (blocks > rules.blocks_max)
        blocks = rules.blocks_max;
    if (blocks > items)
        blocks = items;
    return blocks == 0 ? 1 : (uint32_t)blocks;
}

bool tiling_choose(struct graph *graph, struct tiling_rules rules)
{
    VARVE_SCOPE_LAYER("tiling", VARVE_LAYER_HOST);
    for (int i = 0; i < graph->node_count; i++) {
        struct node *node = &graph->nodes[i];
        node->arguments = arguments_of(graph, node);
        uint64_t items = node->operator->items(&node->arguments);
        if (items > UINT32_MAX / 2)
            return refuse("%s: too many items; try a smaller --batch", node->name);
        node->arguments.items = (unsigned)items;
        node->flop = node->operator->flop(&node->arguments);
        node->bytes = bytes_of(graph, node);
        node->block_dim = blocks_of(node, rules);
    }
    return true;
}

void tiling_block(uint32_t items, uint32_t block_dim, uint32_t block, uint32_t *out_first,
                  uint32_t *out_end)
{
    *out_first = (uint32_t)((uint64_t)items * block / block_dim);
    *out_end = (uint32_t)((uint64_t)items * (block + 1) / block_dim);
}
