/* SPDX-License-Identifier: Apache-2.0 */
/* nest.c — what lies in what, from begin and end alone: one pass over each track with two stacks.
 *
 * `containers` answers: which is the innermost slice that wholly holds this one? Its ends fall from
 * bottom to top, strictly or not. A slice that ends after the top of the stack hides it: whatever
 * lies in the hidden one from here on lies in the new one too, so the hidden one can go for good.
 * `plain` holds the ends of open slices that are not flagged; a slice that crosses its top is flagged
 * VV_SLICE_OVERLAP and stays out. So the slices without the flag nest in each other or are apart.
 * Self time is the part of a slice that no direct child covers; where children nest, that is duration
 * minus the sum of theirs. Each slice is pushed and popped once: O(n). */
#include <stdlib.h>

#include "base/array.h"
#include "model/build.h"
#include "varve/varve.h"

struct container {
    int64_t end_ns;
    int64_t covered_ns; /* direct children cover this much of it: nothing beyond is covered yet  */
    uint32_t row;
    uint32_t phase;     /* innermost phase from here outwards; VV_NONE                           */
    bool in_step;       /* a step lies around it, or it is one                                   */
};

struct nesting {
    struct container *containers;
    int64_t *plain;
    size_t container_count, container_capacity;
    size_t plain_count, plain_capacity;
};

static enum varve_code mark_overlap(struct vv_model *model, struct nesting *nesting, uint32_t row,
                                    struct varve_error *error)
{
    int64_t begin = model->slices.begin_ns[row], end = begin + model->slices.duration_ns[row];
    while (nesting->plain_count > 0 && nesting->plain[nesting->plain_count - 1] <= begin)
        nesting->plain_count--;
    if (nesting->plain_count > 0 && nesting->plain[nesting->plain_count - 1] < end) {
        model->slices.flags[row] |= VV_SLICE_OVERLAP;
        model->health.overlaps++;
        return VARVE_OK;
    }
    if (nesting->plain_count == nesting->plain_capacity)
        VV_TRY(vv_array_reserve(&nesting->plain, &nesting->plain_capacity, nesting->plain_count + 1,
                                sizeof *nesting->plain, error));
    nesting->plain[nesting->plain_count++] = end;
    return VARVE_OK;
}

/* The innermost container of [begin, end), or NULL; those that can hold no later slice are dropped. */
static struct container *find_container(struct nesting *nesting, int64_t begin, int64_t end)
{
    while (nesting->container_count > 0) {
        struct container *top = &nesting->containers[nesting->container_count - 1];
        if (top->end_ns > begin && top->end_ns >= end)
            return top;
        nesting->container_count--;
    }
    return NULL;
}

static void take_from_parent(struct vv_slices *slices, struct container *parent, int64_t begin,
                             int64_t end)
{
    int64_t from = begin > parent->covered_ns ? begin : parent->covered_ns;
    if (end > from) {
        slices->self_ns[parent->row] -= end - from;
        parent->covered_ns = end;
    }
}

static enum varve_code place(struct vv_model *model, struct nesting *nesting, uint32_t row,
                             struct varve_error *error)
{
    struct vv_slices *slices = &model->slices;
    int64_t begin = slices->begin_ns[row], end = begin + slices->duration_ns[row];
    struct container own = { end, begin, row, VV_NONE, (slices->flags[row] & VV_SLICE_STEP) != 0 };
    uint32_t phase = VV_NONE;
    if (slices->flags[row] & VV_SLICE_PHASE) /* an importer thought so that has not placed it */
        slices->flags[row] &= (uint8_t)~VV_SLICE_PHASE;
    slices->self_ns[row] = slices->duration_ns[row];
    slices->parent[row] = VV_NONE;
    slices->depth[row] = 0;
    struct container *parent = find_container(nesting, begin, end);
    if (parent != NULL) {
        slices->parent[row] = parent->row;
        slices->depth[row] = slices->depth[parent->row] + 1;
        phase = own.phase = parent->phase;
        own.in_step = own.in_step || parent->in_step;
        take_from_parent(slices, parent, begin, end);
        if (slices->layer[row] == VARVE_LAYER_STEP && !(slices->flags[row] & VV_SLICE_STEP) &&
            parent->in_step) {
            slices->flags[row] |= VV_SLICE_PHASE;
            own.phase = row;
        }
    }
    if (slices->phase[row] != phase) /* blank cells are better not written: cells.h */
        slices->phase[row] = phase;
    if (nesting->container_count == nesting->container_capacity)
        VV_TRY(vv_array_reserve(&nesting->containers, &nesting->container_capacity,
                                nesting->container_count + 1, sizeof *nesting->containers, error));
    nesting->containers[nesting->container_count++] = own;
    return VARVE_OK;
}

enum varve_code vv_build_nest(struct vv_model *model, struct varve_error *error)
{
    struct nesting nesting = { 0 };
    enum varve_code code = VARVE_OK;
    uint32_t track = VV_NONE;
    size_t next = 0;
    for (uint32_t row = 0; row < model->slices.table.count && code == VARVE_OK; row++) {
        while (next < model->placed_count && model->placed[next].first == row)
            row = model->placed[next++].limit;
        if (row >= model->slices.table.count)
            break;
        if (model->slices.track[row] != track) {
            track = model->slices.track[row];
            nesting.container_count = nesting.plain_count = 0;
        }
        if (model->slices.duration_ns[row] == 0)
            model->health.zero_length++;
        code = mark_overlap(model, &nesting, row, error);
        if (code == VARVE_OK)
            code = place(model, &nesting, row, error);
    }
    free(nesting.containers);
    free(nesting.plain);
    return code;
}
