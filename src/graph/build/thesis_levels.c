/* SPDX-License-Identifier: Apache-2.0 */
/* thesis_levels.c — the members of a level have a time in common, its core: an interval is parallel
 * to all of them if and only if it meets the core. Levels stand in order of the begin of their
 * first members, and of these, in order of creation. So each interval has its place among all
 * possible levels before it is known whether it becomes one: its place in order of (begin, number).
 * A tree over these places has the latest end and the earliest begin of the cores below each of its
 * nodes, and finds the first core that an interval meets.
 *
 * Such a node may promise too much: one of its cores is late enough and another one early enough.
 * If that happens again and again in one block of places, the block gets an exact answer: its cores
 * in order of begin, with the latest end up to each. Then no file can make it walk all places. */
#include "graph/build/thesis_levels.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/binary_search.h"
#include "base/radix.h"

#define BLOCK 512u     /* places of a block                                                      */
#define PATIENCE 4u    /* searches of a block, between two changes of it, before it is sorted    */

/* A block: `entries` searches of it since it has changed; above PATIENCE it is sorted. */
struct block { uint32_t entries, count; };

struct levels {
    const struct vv_interval *items;
    uint32_t count, size;       /* size: places, a power of two                                   */
    struct vv_keyed_row *by_begin;
    uint32_t *place_of;         /* item -> its place                                              */
    uint32_t *after;            /* item -> the first place of a later begin                       */
    struct vv_interval *tree;   /* node -> earliest begin and latest end; a leaf: the core        */
    uint32_t *joined;           /* item -> the place of its level                                 */
    struct block *blocks;
    struct vv_interval *sorted; /* of each block: begin of a core, latest end up to it            */
};

static const struct vv_interval nothing = { INT64_MAX, INT64_MIN };

static bool may_meet(const struct vv_interval *cores, const struct vv_interval *item)
{
    return cores->end_ns >= item->begin_ns && cores->begin_ns <= item->end_ns;
}

static void set_core(struct levels *levels, uint32_t place, struct vv_interval core)
{
    struct vv_interval *tree = levels->tree;
    uint32_t node = levels->size + place;
    levels->blocks[place / BLOCK].entries = 0;
    tree[node] = core;
    for (node /= 2; node > 0; node /= 2) {
        const struct vv_interval *left = &tree[2 * node], *right = &tree[2 * node + 1];
        tree[node] = (struct vv_interval){
            left->begin_ns < right->begin_ns ? left->begin_ns : right->begin_ns,
            left->end_ns > right->end_ns ? left->end_ns : right->end_ns,
        };
    }
}

/* The next node in the order of places that is not below this one; 0 = there is none. */
static uint32_t skip(uint32_t node)
{
    while ((node & 1) != 0)
        node /= 2;
    return node == 0 ? 0 : node + 1;
}

static int by_begin(const void *a, const void *b)
{
    const struct vv_interval *left = a, *right = b;
    return (left->begin_ns > right->begin_ns) - (left->begin_ns < right->begin_ns);
}

static void sort_block(struct levels *levels, uint32_t first, struct block *block)
{
    struct vv_interval *sorted = levels->sorted + first;
    block->count = 0;
    for (uint32_t place = first; place < first + BLOCK; place++)
        if (levels->tree[levels->size + place].begin_ns != INT64_MAX)
            sorted[block->count++] = levels->tree[levels->size + place];
    qsort(sorted, block->count, sizeof *sorted, by_begin);
    for (uint32_t i = 1; i < block->count; i++)
        if (sorted[i].end_ns < sorted[i - 1].end_ns)
            sorted[i].end_ns = sorted[i - 1].end_ns;
}

/* False: the node is a block, and no core of it meets the item. */
static bool holds_met(struct levels *levels, uint32_t node, const struct vv_interval *item)
{
    uint32_t blocks = levels->size / BLOCK;
    if (node < blocks || node >= 2 * blocks)
        return true;
    uint32_t first = (node - blocks) * BLOCK;
    struct block *block = &levels->blocks[node - blocks];
    if (block->entries <= PATIENCE && ++block->entries > PATIENCE)
        sort_block(levels, first, block);
    if (block->entries <= PATIENCE)
        return true;
    const struct vv_interval *sorted = levels->sorted + first;
    size_t after = VV_FIRST_NOT(i, 0, block->count, sorted[i].begin_ns <= item->end_ns);
    return after > 0 && sorted[after - 1].end_ns >= item->begin_ns;
}

/* The first level that the item meets, of those before `limit`; or `limit`. */
static uint32_t find_met(struct levels *levels, const struct vv_interval *item,
                         uint32_t limit)
{
    for (uint32_t node = 1; node != 0;) {
        if (!may_meet(&levels->tree[node], item) || !holds_met(levels, node, item)) {
            node = skip(node);
            if (node == 0)
                break;
            uint32_t first = node;
            while (first < levels->size)
                first *= 2;
            if (first - levels->size >= limit)
                break;
        } else if (node >= levels->size) {
            return node - levels->size < limit ? node - levels->size : limit;
        } else {
            node *= 2;
        }
    }
    return limit;
}

/* The first level at this place or a later one; `size` if there is none. */
static uint32_t next_level(const struct levels *levels, uint32_t place)
{
    uint32_t node = levels->size + place;
    if (place >= levels->size)
        return levels->size;
    while (node != 0 && levels->tree[node].begin_ns == INT64_MAX)
        node = skip(node);
    while (node != 0 && node < levels->size)
        node = 2 * node + (levels->tree[2 * node].begin_ns == INT64_MAX);
    return node != 0 ? node - levels->size : levels->size;
}

static void put(struct levels *levels, uint32_t item)
{
    const struct vv_interval *interval = &levels->items[item];
    uint32_t stop = next_level(levels, levels->after[item]);
    uint32_t limit = stop < levels->size ? stop + 1 : stop,
             place = find_met(levels, interval, limit);
    struct vv_interval core = *interval;
    if (place == limit) {
        place = levels->place_of[item];
    } else {
        const struct vv_interval *former = &levels->tree[levels->size + place];
        core.begin_ns = former->begin_ns > core.begin_ns ? former->begin_ns : core.begin_ns;
        core.end_ns = former->end_ns < core.end_ns ? former->end_ns : core.end_ns;
    }
    levels->joined[item] = place;
    set_core(levels, place, core);
}

static enum varve_code find_places(struct levels *levels, struct vv_scratch *scratch,
                                   struct varve_error *error)
{
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &levels->by_begin, levels->count, error));
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &levels->place_of, levels->count, error));
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &levels->after, levels->count, error));
    for (uint32_t i = 0; i < levels->count; i++) /* keeps the order of signed numbers */
        levels->by_begin[i] =
            (struct vv_keyed_row){ (uint64_t)levels->items[i].begin_ns ^ UINT64_C(1) << 63, i };
    VV_TRY(vv_radix_sort(levels->by_begin, levels->count, error));
    for (uint32_t place = levels->count, after = levels->count; place > 0; place--) {
        if (place < levels->count && levels->by_begin[place].key != levels->by_begin[place - 1].key)
            after = place;
        levels->place_of[levels->by_begin[place - 1].row] = place - 1;
        levels->after[levels->by_begin[place - 1].row] = after;
    }
    return VARVE_OK;
}

/* Counts the levels, and sorts the items by level, in the order in which they came. */
static enum varve_code number(struct levels *levels, uint32_t *out_level, uint32_t *out_parent,
                              struct varve_error *error)
{
    struct vv_keyed_row *members = levels->by_begin;
    for (uint32_t i = 0; i < levels->count; i++)
        members[i] = (struct vv_keyed_row){ levels->joined[i], i };
    VV_TRY(vv_radix_sort(members, levels->count, error));
    uint32_t level = 0, first = 0, former = 0; /* where the level and the one before it begin */
    for (uint32_t i = 0; i < levels->count; i++) {
        if (i > 0 && members[i].key != members[i - 1].key) {
            former = first;
            first = i;
            level++;
        }
        uint32_t at = former + (i - first);
        out_level[members[i].row] = level;
        out_parent[members[i].row] =
            level == 0 ? UINT32_MAX : members[at < first ? at : first - 1].row;
    }
    return VARVE_OK;
}

static enum varve_code put_all(struct levels *levels, struct vv_scratch *scratch,
                               uint32_t *out_level, uint32_t *out_parent,
                               struct varve_error *error)
{
    VV_TRY(find_places(levels, scratch, error));
    for (levels->size = 1; levels->size < levels->count; levels->size *= 2)
        ;
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &levels->joined, levels->count, error));
    VV_TRY(VV_SCRATCH_ZEROS(scratch, &levels->blocks, levels->size / BLOCK + 1, error));
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &levels->sorted, levels->size, error));
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &levels->tree, 2 * (size_t)levels->size, error));
    for (size_t node = 0; node < 2 * (size_t)levels->size; node++)
        levels->tree[node] = nothing;
    for (uint32_t i = 0; i < levels->count; i++)
        put(levels, i);
    return number(levels, out_level, out_parent, error);
}

enum varve_code vv_thesis_levels(const struct vv_interval *items, size_t count,
                                 uint32_t *out_level, uint32_t *out_parent,
                                 struct varve_error *error)
{
    struct vv_scratch scratch = { 0 };
    struct levels levels = { .items = items, .count = (uint32_t)count };
    if (count == 0)
        return VARVE_OK;
    if (count > UINT32_MAX / 4)
        VV_FAIL(error, VARVE_LIMIT, "more than %u executions in one graph", UINT32_MAX / 4);
    enum varve_code code = put_all(&levels, &scratch, out_level, out_parent, error);
    vv_scratch_deinit(&scratch);
    return code;
}
