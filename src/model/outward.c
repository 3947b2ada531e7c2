/* SPDX-License-Identifier: Apache-2.0 */
#include "model/outward.h"

#include <stdlib.h>


void vv_outward_destroy(struct vv_outward *outward)
{
    if (outward == NULL)
        return;
    free(outward->jumps);
    free(outward->operators);
    free(outward->workers);
    free(outward);
}

/* The jumps form a skew-binary list: if two jumps in a row have the same length, the next jump is
 * as long as both together plus one. */
static uint32_t jump_of(const struct vv_slices *slices, const uint32_t *jumps, uint32_t row)
{
    uint32_t parent = slices->parent[row];
    if (parent == VV_NONE)
        return row;
    uint32_t next = jumps[parent], after = jumps[next];
    bool is_even =
        slices->depth[parent] - slices->depth[next] == slices->depth[next] - slices->depth[after];
    return is_even ? after : parent;
}

/* Fills in order of rows: a parent's row comes before its children's. */
static void fill(const struct vv_slices *slices, struct vv_outward *outward)
{
    for (uint32_t row = 0; row < slices->table.count; row++) {
        uint32_t parent = slices->parent[row];
        bool is_op = (slices->layer[row] & VARVE_LAYER_OP) != 0;
        bool is_worker = is_op || (slices->layer[row] & VARVE_LAYER_COMM) != 0;
        outward->jumps[row] = jump_of(slices, outward->jumps, row);
        outward->operators[row] = is_op               ? row
                                  : parent != VV_NONE ? outward->operators[parent]
                                                      : VV_NONE;
        outward->workers[row] = is_worker           ? row
                                : parent != VV_NONE ? outward->workers[parent]
                                                    : VV_NONE;
    }
}

enum varve_code vv_build_outward(struct vv_model *model, struct varve_error *error)
{
    const struct vv_slices *slices = &model->slices;
    uint64_t count = slices->table.count;
    if (model->run.levels <= VV_LEVELS_FEW)
        return VARVE_OK;
    struct vv_outward *outward = calloc(1, sizeof *outward);
    if (outward != NULL)
        *outward =
            (struct vv_outward){ malloc(count * sizeof(uint32_t)), malloc(count * sizeof(uint32_t)),
                                 malloc(count * sizeof(uint32_t)) };
    if (outward == NULL || outward->jumps == NULL || outward->operators == NULL ||
        outward->workers == NULL) {
        vv_outward_destroy(outward);
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for %llu slices, some %llu levels deep",
                (unsigned long long)count, (unsigned long long)model->run.levels);
    }
    fill(slices, outward);
    model->outward = outward;
    return VARVE_OK;
}
