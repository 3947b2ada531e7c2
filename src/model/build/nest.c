/* SPDX-License-Identifier: Apache-2.0 */
/* nest.c — finds which slice lies in which, from begin and end alone: one pass over each track,
 * with two stacks.
 *
 * `containers` answers: which is the innermost slice that wholly holds this one? Its ends never
 * grow from bottom to top. A slice that ends after the top of the stack hides the top: every later
 * slice that lies in the hidden one lies in the new one too, so the hidden one is removed. `plain`
 * holds the ends of the open slices that are not flagged. A slice that crosses the top of `plain`
 * gets the flag VV_SLICE_OVERLAP and is not pushed. So any two slices without the flag nest or are
 * apart. Until one slice crosses another, both stacks hold the same, and `plain` is not kept. Self
 * time is the part of a slice that no direct child covers; if the children nest, that is the
 * duration minus the sum of theirs. Each slice is pushed and popped once: O(n). Tracks do not
 * depend on each other, so threads share them out. */
#include <stdlib.h>

#include "base/array.h"
#include "base/binary_search.h"
#include "base/workers.h"
#include "model/build/build.h"
#include "varve/varve.h"

struct container {
    int64_t end_ns;
    int64_t covered_ns; /* direct children cover it up to here, and nothing later                */
    uint32_t row;
    uint32_t phase;     /* innermost phase that is or holds this slice; or VV_NONE               */
    uint32_t depth;
    bool in_step;       /* it is a step, or lies in one                                          */
};

#define PIECES_MAX 64u
#define PIECE_ROWS 65536u /* smallest piece for a thread                                          */

struct nesting {
    struct container *containers;
    int64_t *plain;
    size_t container_count, container_capacity;
    size_t plain_count, plain_capacity;
    uint64_t overlaps, zero_length;
    bool has_phases; /* as in the model                                                         */
    bool is_parted;  /* the two stacks differ                                                   */
};

/* Slices [first, limit): all rows of some tracks. */
struct piece {
    uint32_t first, limit;
    uint64_t overlaps, zero_length;
    enum varve_code code;
};

struct pieces {
    struct vv_model *model;
    struct piece items[PIECES_MAX];
    size_t count;
};

static enum varve_code part_stacks(struct nesting *nesting, struct varve_error *error)
{
    VV_TRY(vv_array_reserve(&nesting->plain, &nesting->plain_capacity, nesting->container_count + 1,
                            sizeof *nesting->plain, error));
    for (size_t i = 0; i < nesting->container_count; i++)
        nesting->plain[i] = nesting->containers[i].end_ns;
    nesting->plain_count = nesting->container_count;
    nesting->is_parted = true;
    return VARVE_OK;
}

/* All slices in `containers` are still open. */
static enum varve_code mark_overlap(struct vv_model *model, struct nesting *nesting, uint32_t row,
                                    struct varve_error *error)
{
    int64_t begin = model->slices.begin_ns[row], end = begin + model->slices.duration_ns[row];
    while (nesting->plain_count > 0 && nesting->plain[nesting->plain_count - 1] <= begin)
        nesting->plain_count--;
    if (nesting->plain_count > 0 && nesting->plain[nesting->plain_count - 1] < end) {
        model->slices.flags[row] |= VV_SLICE_OVERLAP;
        /* A queue of a device begins work while former work runs out: nothing odd. */
        nesting->overlaps += model->tracks.kind[model->slices.track[row]] != VV_TRACK_DEVICE;
        return VARVE_OK;
    }
    nesting->is_parted = nesting->plain_count > 0 || nesting->container_count > 0;
    if (nesting->plain_count == nesting->plain_capacity)
        VV_TRY(vv_array_reserve(&nesting->plain, &nesting->plain_capacity, nesting->plain_count + 1,
                                sizeof *nesting->plain, error));
    nesting->plain[nesting->plain_count++] = end;
    return VARVE_OK;
}

/* Removes from the stack the slices that have ended, and those that this slice hides. The top is
 * then the innermost container of this slice. */
static enum varve_code unwind(struct vv_model *model, struct nesting *nesting, uint32_t row,
                               struct varve_error *error)
{
    int64_t begin = model->slices.begin_ns[row], end = begin + model->slices.duration_ns[row];
    const struct container *containers = nesting->containers;
    size_t count = nesting->container_count;
    while (count > 0 && containers[count - 1].end_ns <= begin)
        count--;
    nesting->container_count = count;
    bool is_crossed = count > 0 && containers[count - 1].end_ns < end;
    if (is_crossed && !nesting->is_parted)
        VV_TRY(part_stacks(nesting, error));
    if (nesting->is_parted)
        VV_TRY(mark_overlap(model, nesting, row, error));
    while (count > 0 && containers[count - 1].end_ns < end)
        count--;
    nesting->container_count = count;
    return VARVE_OK;
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
    struct container own = { .end_ns = end, .covered_ns = begin, .row = row, .phase = VV_NONE,
                             .in_step = (slices->flags[row] & VV_SLICE_STEP) != 0 };
    uint32_t parent_row = VV_NONE, phase = VV_NONE;
    if (slices->flags[row] & VV_SLICE_PHASE) /* from an importer that did not place the slice */
        slices->flags[row] &= (uint8_t)~VV_SLICE_PHASE;
    slices->self_ns[row] = slices->duration_ns[row];
    if (nesting->container_count > 0) {
        struct container *parent = &nesting->containers[nesting->container_count - 1];
        parent_row = parent->row;
        own.depth = parent->depth + 1;
        phase = own.phase = parent->phase;
        own.in_step = own.in_step || parent->in_step;
        take_from_parent(slices, parent, begin, end);
        if (slices->layer[row] == VARVE_LAYER_STEP && !(slices->flags[row] & VV_SLICE_STEP) &&
            parent->in_step) {
            slices->flags[row] |= VV_SLICE_PHASE;
            own.phase = row;
        }
    }
    slices->parent[row] = parent_row;
    slices->depth[row] = own.depth;
    if (phase != VV_NONE || nesting->has_phases) /* blank cells need no read: cells.h */
        slices->phase[row] = phase;
    if (nesting->container_count == nesting->container_capacity)
        VV_TRY(vv_array_reserve(&nesting->containers, &nesting->container_capacity,
                                nesting->container_count + 1, sizeof *nesting->containers, error));
    nesting->containers[nesting->container_count++] = own;
    return VARVE_OK;
}

/* The first placed run that begins at or after the row. */
static size_t find_placed(const struct vv_model *model, uint32_t row)
{
    return VV_FIRST_NOT(i, 0, model->placed_count, model->placed[i].first < row);
}

static enum varve_code nest_rows(struct vv_model *model, struct nesting *nesting, uint32_t first,
                                 uint32_t limit)
{
    uint32_t track = VV_NONE;
    size_t next = find_placed(model, first);
    for (uint32_t row = first; row < limit; row++) {
        while (next < model->placed_count && model->placed[next].first == row)
            row = model->placed[next++].limit;
        if (row >= limit)
            break;
        if (model->slices.track[row] != track) {
            track = model->slices.track[row];
            nesting->container_count = nesting->plain_count = 0;
            nesting->is_parted = false;
        }
        if (model->slices.duration_ns[row] == 0)
            nesting->zero_length++;
        VV_TRY(unwind(model, nesting, row, NULL));
        VV_TRY(place(model, nesting, row, NULL));
    }
    return VARVE_OK;
}

static void nest_piece(void *context, size_t number)
{
    struct pieces *pieces = context;
    struct piece *piece = &pieces->items[number];
    struct nesting nesting = { .has_phases = pieces->model->has_phases };
    piece->code = nest_rows(pieces->model, &nesting, piece->first, piece->limit);
    piece->overlaps = nesting.overlaps;
    piece->zero_length = nesting.zero_length;
    free(nesting.containers);
    free(nesting.plain);
}

/* Cuts the slices into about equal pieces, as far as whole tracks allow. */
static void cut(struct pieces *pieces)
{
    const uint32_t *track = pieces->model->slices.track;
    uint64_t count = pieces->model->slices.table.count, wanted = count / PIECES_MAX + 1;
    if (wanted < PIECE_ROWS)
        wanted = PIECE_ROWS;
    for (uint64_t first = 0, limit; first < count; first = limit) {
        limit = first + wanted < count ? first + wanted : count;
        while (limit < count && track[limit] == track[limit - 1])
            limit++;
        pieces->items[pieces->count++] =
            (struct piece){ .first = (uint32_t)first, .limit = (uint32_t)limit };
    }
}

enum varve_code vv_build_nest(struct vv_model *model, struct varve_error *error)
{
    struct pieces pieces = { .model = model };
    cut(&pieces);
    vv_workers_run(model->threads, pieces.count, nest_piece, &pieces);
    for (size_t i = 0; i < pieces.count; i++) {
        model->health.overlaps += pieces.items[i].overlaps;
        model->health.zero_length += pieces.items[i].zero_length;
        if (pieces.items[i].code != VARVE_OK)
            VV_FAIL(error, pieces.items[i].code, "no memory to nest %llu slices",
                    (unsigned long long)model->slices.table.count);
    }
    return VARVE_OK;
}
