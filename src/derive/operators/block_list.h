/* SPDX-License-Identifier: Apache-2.0 */
/* block_list.h — repeats in the sequences, and the repeats inside one period of a repeat:
 * doc/metrics.md §15.
 *
 * A block is a repeat. Token j of the block's period number k is token vv_block_time(..., k) + j of
 * the sequence. A block inside another block occurs in each period of the outer one.
 * Thread-compatible. */
#ifndef VV_DERIVE_OPERATORS_BLOCK_LIST_H
#define VV_DERIVE_OPERATORS_BLOCK_LIST_H

#include "derive/operators/sequences.h"

struct vv_block {
    uint32_t sequence;    /* the sequence that the block is in */
    uint32_t parent;      /* block around it; VV_NONE */
    uint32_t depth;
    uint32_t start;       /* first token of the first period, in the sequence */
    uint32_t period;      /* tokens of one period */
    uint32_t length;      /* tokens in all; the last period may be cut short */
    uint32_t times;       /* whole periods, within one period of the block around it */
    uint32_t total_times; /* `times`, multiplied by those of the blocks around it */
};

struct vv_block_list {
    struct vv_block *items; /* by sequence; a block comes after the one around it; otherwise by
                               start */
    size_t count, capacity;
};

enum varve_code vv_block_list_init(struct vv_block_list *out_list,
                                   const struct vv_sequences *sequences, struct varve_error *error);

/* The first token of the block's period number `time`, which is below total_times. */
size_t vv_block_time(const struct vv_block_list *list, const struct vv_block *block, uint32_t time);

#endif
