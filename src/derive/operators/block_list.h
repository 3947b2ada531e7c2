/* SPDX-License-Identifier: Apache-2.0 */
/* block_list.h — what repeats itself, and inside one time of it what repeats itself again: doc/metrics.md §15.
 *
 * The j-th token of the k-th time of a block stands at vv_block_time(..., k) + j of the sequence. A block inside another
 * has its times in each of the outer one's. Thread-compatible. */
#ifndef VV_DERIVE_OPERATORS_BLOCK_LIST_H
#define VV_DERIVE_OPERATORS_BLOCK_LIST_H

#include "derive/operators/sequences.h"

struct vv_block {
    uint32_t sequence;    /* whose */
    uint32_t parent;      /* block around it; VV_NONE */
    uint32_t depth;
    uint32_t start;       /* token of the sequence: of its first time */
    uint32_t period;      /* tokens a time */
    uint32_t length;      /* tokens, the last time may be cut short */
    uint32_t times;       /* whole ones, in one time of the block around it */
    uint32_t total_times; /* in all */
};

struct vv_block_list {
    struct vv_block *items; /* by sequence; each after the one around it; else by start */
    size_t count, capacity;
};

/* De-initialise also after a failure. */
enum varve_code vv_block_list_init(struct vv_block_list *out_list, const struct vv_sequences *sequences,
                                   struct varve_error *error);
void vv_block_list_deinit(struct vv_block_list *list);

/* The token with which the block's time number `time` (of total_times) begins. */
size_t vv_block_time(const struct vv_block_list *list, const struct vv_block *block, uint32_t time);

#endif
