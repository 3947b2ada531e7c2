/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/memory/totals.h"

#include <stdlib.h>

#include "base/binary_search.h"
#include "base/radix.h"

static int compare_totals(const void *a, const void *b)
{
    const struct vv_memory_total *left = a, *right = b;
    if (left->time_ns != right->time_ns)
        return left->time_ns < right->time_ns ? -1 : 1;
    if (left->reserved_bytes != right->reserved_bytes)
        return left->reserved_bytes < right->reserved_bytes ? -1 : 1;
    return (left->allocated_bytes > right->allocated_bytes) -
           (left->allocated_bytes < right->allocated_bytes);
}

static void add_total(struct vv_memory_totals *totals, const struct vv_memory *memory,
                      uint32_t event)
{
    if (event == VV_NONE ||
        (memory->reserved_bytes[event] <= 0 && memory->fragmentation[event] < 0))
        return;
    totals->items[totals->count++] =
        (struct vv_memory_total){ memory->time_ns[event], memory->allocated_bytes[event],
                                  memory->reserved_bytes[event], memory->fragmentation[event] };
}

enum varve_code vv_memory_totals_init(struct vv_memory_totals *out,
                                      const struct vv_allocations *allocations,
                                      const struct vv_pool *pool, struct varve_error *error)
{
    size_t most = allocations->is_part ? 0 : (pool->last - pool->first) * 2;
    *out = (struct vv_memory_totals){ 0 };
    VV_TRY(VV_SCRATCH_ARRAY(allocations->scope->scratch, &out->items, most, error));
    for (size_t i = pool->first; i < pool->last && most > 0; i++) {
        add_total(out, &allocations->scope->model->memory, allocations->items[i].made);
        add_total(out, &allocations->scope->model->memory, allocations->items[i].freed);
    }
    qsort(out->items, out->count, sizeof *out->items, compare_totals);
    return VARVE_OK;
}

/* The number of totals up to the instant. */
static size_t count_until(const struct vv_memory_totals *totals, int64_t time_ns)
{
    return VV_FIRST_NOT(i, 0, totals->count, totals->items[i].time_ns <= time_ns);
}

const struct vv_memory_total *vv_memory_total_at(const struct vv_memory_totals *totals,
                                                 int64_t time_ns)
{
    size_t count = count_until(totals, time_ns);
    while (count > 0 && !vv_is_consistent(&totals->items[count - 1]))
        count--;
    return count > 0 ? &totals->items[count - 1] : NULL;
}

double vv_free_fragmentation_at(const struct vv_memory_totals *totals, int64_t time_ns)
{
    size_t count = count_until(totals, time_ns);
    while (count > 0 && totals->items[count - 1].free_fragmentation < 0)
        count--;
    return count > 0 ? totals->items[count - 1].free_fragmentation : -1;
}

/* Lists the items that are live, sorted by address; the row of a key is the item. False: not every
 * item has an address. */
static bool list_live(const struct vv_allocations *allocations, const struct vv_pool *pool,
                      int64_t time_ns, struct vv_keyed_row *keys, size_t *out_count)
{
    const uint64_t *address = allocations->scope->model->memory.address;
    *out_count = 0;
    for (size_t i = pool->first; i < pool->last; i++) {
        const struct vv_allocation *item = &allocations->items[i];
        if (item->begin_ns > time_ns || item->end_ns <= time_ns)
            continue;
        keys[*out_count] =
            (struct vv_keyed_row){ address[item->made != VV_NONE ? item->made : item->freed],
                                   (uint32_t)i };
        if (keys[(*out_count)++].key == 0)
            return false;
    }
    return pool->unnamed_bytes == 0;
}

enum varve_code vv_largest_hole(const struct vv_allocations *allocations,
                                const struct vv_pool *pool, const struct vv_memory_total *total,
                                int64_t time_ns, int64_t *out_bytes, struct varve_error *error)
{
    struct vv_keyed_row *keys;
    VV_TRY(VV_SCRATCH_ARRAY(allocations->scope->scratch, &keys, pool->last - pool->first, error));
    uint64_t idle_bytes = (uint64_t)(total->reserved_bytes - total->allocated_bytes),
             until = UINT64_MAX, hole_bytes = 0;
    size_t count;
    *out_bytes = -1;
    bool is_known = list_live(allocations, pool, time_ns, keys, &count);
    VV_TRY(vv_radix_sort(keys, is_known ? count : 0, error));
    for (size_t i = 0; i < count && is_known; i++) {
        uint64_t end = keys[i].key + (uint64_t)allocations->items[keys[i].row].bytes;
        if (keys[i].key > until && keys[i].key - until <= idle_bytes &&
            keys[i].key - until > hole_bytes)
            hole_bytes = keys[i].key - until;
        until = i == 0 || end > until ? end : until;
    }
    vv_scratch_release(allocations->scope->scratch, keys);
    if (is_known)
        *out_bytes = (int64_t)hole_bytes;
    return VARVE_OK;
}
