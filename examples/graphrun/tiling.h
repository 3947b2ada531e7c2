/* SPDX-License-Identifier: Apache-2.0 */
/* tiling.h — splits each operator: into items, which a kernel makes one at a time, and blocks of
 * items, which the device's cores take one at a time. */
#ifndef GRAPHRUN_TILING_H
#define GRAPHRUN_TILING_H

#include "graph.h"

/* What a device says about blocks. */
struct tiling_rules {
    uint32_t blocks_max;      /* of one operator; 0 = any number */
    uint32_t items_per_block; /* 0 = any number */
};

/* Fills in the nodes' arguments but for where tensors lie, block_dim, flop and bytes. False: an
 * operator is too large; a line on standard error says which. */
bool tiling_choose(struct graph *graph, struct tiling_rules rules);

/* The items of block `block`: from *out_first to before *out_end. */
void tiling_block(uint32_t items, uint32_t block_dim, uint32_t block, uint32_t *out_first,
                  uint32_t *out_end);

#endif
