/* SPDX-License-Identifier: Apache-2.0 */
#include "derive/operators/block_list.h"

#include "model/steps/repeats.h"

#define DEPTH_MAX 24 /* the period of a block is at most a third of the length around it */

/* Adds the repeats in tokens [first, first + count) of the sequence, and the repeats inside one
 * period of each. */
static enum varve_code add_blocks(struct vv_block_list *list, const struct vv_sequences *sequences,
                                  const struct vv_block *outer, struct varve_error *error)
{
    const uint32_t *tokens =
        sequences->tokens + sequences->items[outer->sequence].first + outer->start;
    bool is_top = outer->total_times == 0;
    uint32_t parent = is_top ? VV_NONE : (uint32_t)(list->count - 1),
             count = is_top ? outer->length : outer->period;
    struct vv_repeats repeats;
    enum varve_code code = vv_repeats_find(tokens, count, &repeats, error);
    for (size_t i = 0; i < repeats.count && code == VARVE_OK; i++) {
        const struct vv_repeat *repeat = &repeats.items[i];
        struct vv_block block = {
            .sequence = outer->sequence,
            .parent = parent,
            .depth = is_top ? 0 : outer->depth + 1,
            .start = outer->start + repeat->start,
            .period = repeat->period,
            .length = repeat->length,
            .times = repeat->length / repeat->period,
        };
        block.total_times = block.times * (is_top ? 1 : outer->total_times);
        if (list->count == list->capacity)
            code = VV_SCRATCH_RESERVE(sequences->kinds.scratch, &list->items, &list->capacity,
                                      list->count + 1, error);
        if (code == VARVE_OK)
            list->items[list->count++] = block;
        if (code == VARVE_OK && block.depth + 1 < DEPTH_MAX)
            code = add_blocks(list, sequences, &block, error);
    }
    vv_repeats_deinit(&repeats);
    return code;
}

enum varve_code vv_block_list_init(struct vv_block_list *out_list,
                                   const struct vv_sequences *sequences, struct varve_error *error)
{
    *out_list = (struct vv_block_list){ 0 };
    for (uint32_t s = 0; s < sequences->sequence_count; s++) {
        size_t count = sequences->items[s].last - sequences->items[s].first;
        struct vv_block whole = { .sequence = s, .length = (uint32_t)count };
        VV_TRY(add_blocks(out_list, sequences, &whole, error));
    }
    return VARVE_OK;
}

size_t vv_block_time(const struct vv_block_list *list, const struct vv_block *block, uint32_t time)
{
    size_t token = block->start;
    for (;;) {
        token += (size_t)(time % block->times) * block->period;
        time /= block->times;
        if (block->parent == VV_NONE)
            return token;
        block = &list->items[block->parent];
    }
}
