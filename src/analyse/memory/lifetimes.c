/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/memory/lifetimes.h"

#include <stdlib.h>
#include <string.h>

#include "base/binary_search.h"
#include "base/radix.h"
#include "derive/devices/device_work.h"
#include "model/once.h"
#include "model/outward.h"
#include "numbers/pair_ids.h"

struct pairing {
    struct vv_allocations *out;
    struct vv_allocation *items; /* those of the allocations, and their pools                   */
    struct vv_pool *pools;
    struct vv_scratch *scratch; /* memory of the pairing alone                                  */
    struct vv_keyed_row *rows;  /* rows of memory                                               */
    size_t count;
    uint32_t *pool_of;          /* row of memory -> pool; VV_NONE: not chosen                   */
    size_t *open;               /* allocations of one key that are live                         */
    size_t open_count;
    struct vv_groups rows_of;   /* scope or owner, and device -> row in pools, in order of
                                   appearance */
    size_t pool_capacity;
};

/* ---- pools ---- */

static enum varve_code pool_row(struct pairing *pairing, const struct vv_pool *wanted,
                                uint32_t *out_row, struct varve_error *error)
{
    struct vv_allocations *out = pairing->out;
    uint32_t whose = vv_device_whose(wanted->scope, wanted->owner);
    VV_TRY(vv_groups_add(&pairing->rows_of, whose, wanted->device, out_row, error));
    if (*out_row < out->pool_count)
        return VARVE_OK;
    VV_TRY(VV_SCRATCH_RESERVE(out->scope->scratch, &pairing->pools, &pairing->pool_capacity,
                              out->pool_count + 1, error));
    pairing->pools[out->pool_count++] = *wanted;
    return VARVE_OK;
}

static enum varve_code find_pools(struct pairing *pairing, const char *device,
                                  struct varve_error *error)
{
    const struct vv_scope *scope = pairing->out->scope;
    const struct vv_model *model = scope->model;
    const struct vv_memory *memory = &model->memory;
    for (uint32_t row = 0; row < memory->table.count; row++) {
        uint32_t track = memory->track[row];
        uint32_t process = track != VV_NONE ? model->tracks.process[track] : VV_NONE;
        struct vv_pool pool = {
            .scope = process != VV_NONE ? model->processes.scope[process] : 0,
            .device = memory->device[row],
            .owner = process != VV_NONE ? model->processes.id_family[process] : 0,
            .rank = process != VV_NONE ? scope->ranks[process] : -1,
        };
        pairing->pool_of[row] = VV_NONE;
        if ((process != VV_NONE && !scope->processes[process]) ||
            (device != NULL && !vv_device_is_called(pool.device, device)))
            continue;
        VV_TRY(pool_row(pairing, &pool, &pairing->pool_of[row], error));
        pairing->rows[pairing->count++].row = row;
    }
    return VARVE_OK;
}

/* True if the sum of all sizes and the producer's totals fit in an int64. */
static bool sizes_add_up(const struct pairing *pairing)
{
    const struct vv_memory *memory = &pairing->out->scope->model->memory;
    int64_t sum_bytes = 0, total_bytes = 0;
    for (size_t i = 0; i < pairing->count; i++) {
        uint32_t row = pairing->rows[i].row;
        int64_t bytes = memory->bytes[row], said_bytes = memory->allocated_bytes[row];
        if (bytes == INT64_MIN || __builtin_add_overflow(sum_bytes, llabs(bytes), &sum_bytes))
            return false;
        total_bytes = said_bytes > total_bytes ? said_bytes : total_bytes;
    }
    return !__builtin_mul_overflow(total_bytes, (int64_t)pairing->out->pool_count, &total_bytes) &&
           !__builtin_add_overflow(sum_bytes, total_bytes, &sum_bytes);
}

/* ---- pairs ---- */

/* Sorts rows by pool, then by address, or size if there is no address, then by time. */
static enum varve_code order_rows(struct pairing *pairing, struct varve_error *error)
{
    const struct vv_memory *memory = &pairing->out->scope->model->memory;
    struct vv_keyed_row *rows = pairing->rows;
    int64_t first_ns = INT64_MAX;
    for (size_t i = 0; i < pairing->count; i++)
        first_ns =
            memory->time_ns[rows[i].row] < first_ns ? memory->time_ns[rows[i].row] : first_ns;
    for (size_t i = 0; i < pairing->count; i++)
        rows[i].key = (uint64_t)(memory->time_ns[rows[i].row] - first_ns);
    VV_TRY(vv_radix_sort(rows, pairing->count, error));
    for (size_t i = 0; i < pairing->count; i++) {
        int64_t bytes = memory->bytes[rows[i].row];
        uint64_t address = memory->address[rows[i].row];
        rows[i].key = address != 0 ? address : (uint64_t)(bytes < 0 ? -bytes : bytes);
    }
    VV_TRY(vv_radix_sort(rows, pairing->count, error));
    for (size_t i = 0; i < pairing->count; i++)
        rows[i].key =
            (uint64_t)pairing->pool_of[rows[i].row] << 1 | (memory->address[rows[i].row] != 0);
    return vv_radix_sort(rows, pairing->count, error);
}

static bool same_place(const struct vv_memory *memory, uint32_t a, uint32_t b)
{
    uint64_t left = memory->address[a], right = memory->address[b];
    if (left != 0 || right != 0)
        return left == right;
    return llabs(memory->bytes[a]) == llabs(memory->bytes[b]);
}

static void pair_row(struct pairing *pairing, uint32_t row)
{
    const struct vv_memory *memory = &pairing->out->scope->model->memory;
    struct vv_allocations *out = pairing->out;
    struct vv_pool *pool = &pairing->pools[pairing->pool_of[row]];
    int64_t bytes = memory->bytes[row];
    if (bytes > 0) {
        if (memory->address[row] != 0 && pairing->open_count > 0) {
            pairing->items[pairing->open[--pairing->open_count]].end_ns = memory->time_ns[row];
            pool->reused++;
        }
        pairing->open[pairing->open_count++] = out->count;
        pairing->items[out->count++] = (struct vv_allocation){
            memory->time_ns[row], INT64_MAX, bytes, pairing->pool_of[row], row, VV_NONE,
        };
        pool->made++;
        pool->made_bytes += bytes;
        return;
    }
    pool->freed++;
    if (pairing->open_count > 0) {
        struct vv_allocation *live = &pairing->items[pairing->open[--pairing->open_count]];
        live->end_ns = memory->time_ns[row];
        live->freed = row;
        pool->freed_bytes += live->bytes;
    } else if (bytes < 0) {
        pairing->items[out->count++] = (struct vv_allocation){
            INT64_MIN, memory->time_ns[row], -bytes, pairing->pool_of[row], VV_NONE, row,
        };
        pool->freed_bytes -= bytes;
        pool->before_bytes -= bytes;
    }
}

static void pair_rows(struct pairing *pairing)
{
    const struct vv_memory *memory = &pairing->out->scope->model->memory;
    for (size_t i = 0; i < pairing->count; i++) {
        uint32_t row = pairing->rows[i].row;
        bool is_new = i == 0 || pairing->rows[i].key != pairing->rows[i - 1].key ||
                      !same_place(memory, row, pairing->rows[i - 1].row);
        if (is_new)
            pairing->open_count = 0;
        pairing->out->by_size |= memory->address[row] == 0;
        pair_row(pairing, row);
    }
}

/* ---- memory that was live before the trace ---- */

/* Finds the part of the producer's total that the trace does not explain. Of each pool the first
 * event with a total counts. */
static enum varve_code find_before(struct pairing *pairing, struct varve_error *error)
{
    struct vv_allocations *out = pairing->out;
    const struct vv_memory *memory = &out->scope->model->memory;
    uint32_t *first;
    VV_TRY(VV_SCRATCH_ARRAY(pairing->scratch, &first, out->pool_count + 1, error));
    memset(first, 0xff, (out->pool_count + 1) * sizeof *first);
    for (uint32_t row = 0; row < memory->table.count; row++) {
        uint32_t pool = pairing->pool_of[row];
        if (pool != VV_NONE && memory->allocated_bytes[row] >= 0 &&
            (first[pool] == VV_NONE || memory->time_ns[row] < memory->time_ns[first[pool]]))
            first[pool] = row;
    }
    for (uint32_t row = 0; row < memory->table.count; row++) {
        uint32_t pool = pairing->pool_of[row], said = pool != VV_NONE ? first[pool] : VV_NONE;
        if (said != VV_NONE && (row == said || memory->time_ns[row] < memory->time_ns[said]))
            pairing->pools[pool].until_said_bytes += memory->bytes[row];
    }
    for (size_t p = 0; p < out->pool_count; p++) {
        int64_t before_bytes = 0;
        if (first[p] != VV_NONE)
            before_bytes = memory->allocated_bytes[first[p]] - pairing->pools[p].until_said_bytes;
        if (before_bytes > pairing->pools[p].before_bytes) {
            pairing->pools[p].unnamed_bytes = before_bytes - pairing->pools[p].before_bytes;
            pairing->pools[p].before_bytes = before_bytes;
        }
    }
    return VARVE_OK;
}

/* ---- chosen allocations ---- */

static bool is_chosen(const struct vv_scope *scope, const struct vv_allocation *item)
{
    const struct vv_model *model = scope->model;
    if (item->made == VV_NONE)
        return false;
    uint32_t track = model->memory.track[item->made],
             slice = vv_operator_at(model, track, item->begin_ns);
    return (!scope->by_thread || (track != VV_NONE && scope->tracks[track])) &&
           (scope->admitted == NULL || (slice != VV_NONE && scope->admitted[slice]));
}

/* If threads or operators were chosen, only their allocations count. They allocated nothing before
 * the trace. */
static void keep_chosen(struct pairing *pairing)
{
    struct vv_allocations *out = pairing->out;
    struct vv_pool *pools = pairing->pools;
    size_t count = 0;
    for (size_t p = 0; p < out->pool_count; p++)
        pools[p] = (struct vv_pool){ .scope = pools[p].scope, .device = pools[p].device,
                                     .owner = pools[p].owner, .rank = pools[p].rank };
    for (size_t i = 0; i < out->count; i++) {
        const struct vv_allocation *item = &pairing->items[i];
        struct vv_pool *pool = &pools[item->pool];
        if (!is_chosen(out->scope, item))
            continue;
        pool->made++;
        pool->made_bytes += item->bytes;
        pool->freed += item->freed != VV_NONE;
        pool->freed_bytes += item->freed != VV_NONE ? item->bytes : 0;
        pool->reused += item->freed == VV_NONE && item->end_ns != INT64_MAX;
        pairing->items[count++] = *item;
    }
    out->count = count;
}

/* ---- in order ---- */

static int compare_pools(const void *a, const void *b)
{
    const struct vv_pool *left = a, *right = b;
    if (left->rank != right->rank)
        return left->rank < right->rank ? -1 : 1;
    if (left->scope != right->scope)
        return left->scope < right->scope ? -1 : 1;
    if (left->device != right->device)
        return left->device < right->device ? -1 : 1;
    return (left->owner > right->owner) - (left->owner < right->owner);
}

static int compare_allocations(const void *a, const void *b)
{
    const struct vv_allocation *left = a, *right = b;
    if (left->pool != right->pool)
        return left->pool < right->pool ? -1 : 1;
    if (left->begin_ns != right->begin_ns)
        return left->begin_ns < right->begin_ns ? -1 : 1;
    if (left->end_ns != right->end_ns)
        return left->end_ns < right->end_ns ? -1 : 1;
    return (left->bytes > right->bytes) - (left->bytes < right->bytes);
}

/* Sorts by pool, then by begin. After the radix sort only equal keys are compared. */
static enum varve_code order_items(struct pairing *pairing, struct varve_error *error)
{
    struct vv_keyed_row *keys;
    struct vv_allocation *items;
    size_t count = pairing->out->count;
    VV_TRY(VV_SCRATCH_ARRAY(pairing->scratch, &keys, count, error));
    VV_TRY(VV_SCRATCH_ARRAY(pairing->out->scope->scratch, &items, count, error));
    for (size_t i = 0; i < count; i++)
        keys[i] = (struct vv_keyed_row){ (uint64_t)pairing->items[i].begin_ns ^ UINT64_C(1) << 63,
                                         (uint32_t)i };
    VV_TRY(vv_radix_sort(keys, count, error));
    for (size_t i = 0; i < count; i++)
        keys[i].key = pairing->items[keys[i].row].pool;
    VV_TRY(vv_radix_sort(keys, count, error));
    for (size_t i = 0; i < count; i++)
        items[i] = pairing->items[keys[i].row];
    for (size_t first = 0, next; first < count; first = next) {
        for (next = first + 1; next < count && items[next].pool == items[first].pool &&
                               items[next].begin_ns == items[first].begin_ns; next++)
            ;
        if (next - first > 1)
            qsort(items + first, next - first, sizeof *items, compare_allocations);
    }
    pairing->items = items;
    return VARVE_OK;
}

static enum varve_code order_pools(struct pairing *pairing, struct varve_error *error)
{
    struct vv_pool *pools = pairing->pools, *former;
    size_t pool_count = pairing->out->pool_count, count = pairing->out->count, next = 0;
    if (pool_count == 0)
        return VARVE_OK;
    VV_TRY(VV_SCRATCH_ARRAY(pairing->scratch, &former, pool_count, error));
    for (size_t p = 0; p < pool_count; p++) {
        pools[p].first = p; /* the number that the pool had before */
        former[p] = pools[p];
    }
    qsort(pools, pool_count, sizeof *pools, compare_pools);
    for (size_t p = 0; p < pool_count; p++)
        former[pools[p].first].last = p;
    for (size_t i = 0; i < count; i++)
        pairing->items[i].pool = (uint32_t)former[pairing->items[i].pool].last;
    VV_TRY(order_items(pairing, error));
    for (size_t p = 0; p < pool_count; p++) {
        pools[p].first = next;
        while (next < count && pairing->items[next].pool == p)
            next++;
        pools[p].last = next;
    }
    return VARVE_OK;
}

static enum varve_code pair(struct pairing *pairing, struct varve_error *error)
{
    VV_TRY(order_rows(pairing, error));
    pair_rows(pairing);
    VV_TRY(find_before(pairing, error));
    if (pairing->out->is_part)
        keep_chosen(pairing);
    return order_pools(pairing, error);
}

static enum varve_code pair_all(struct pairing *pairing, const char *device,
                                struct varve_error *error)
{
    struct vv_allocations *out = pairing->out;
    size_t rows = (size_t)out->scope->model->memory.table.count;
    VV_TRY(VV_SCRATCH_ARRAY(pairing->scratch, &pairing->items, rows, error));
    VV_TRY(VV_SCRATCH_ARRAY(pairing->scratch, &pairing->rows, rows, error));
    VV_TRY(VV_SCRATCH_ARRAY(pairing->scratch, &pairing->pool_of, rows, error));
    VV_TRY(VV_SCRATCH_ARRAY(pairing->scratch, &pairing->open, rows, error));
    VV_TRY(find_pools(pairing, device, error));
    out->is_absurd = !sizes_add_up(pairing);
    if (!out->is_absurd)
        VV_TRY(pair(pairing, error));
    else
        out->pool_count = 0;
    out->items = pairing->items;
    out->pools = pairing->pools;
    return VARVE_OK;
}

static enum varve_code find_ends(struct vv_allocations *out, struct varve_error *error)
{
    const struct vv_model *model = out->scope->model;
    const struct vv_steps *steps = &model->steps;
    int64_t *ends_ns;
    VV_TRY(VV_SCRATCH_ARRAY(out->scope->scratch, &ends_ns, model->processes.table.count, error));
    for (uint32_t p = 0; p < model->processes.table.count; p++)
        ends_ns[p] = INT64_MAX;
    for (uint32_t s = 0; s < steps->table.count; s++) {
        uint32_t process = model->tracks.process[steps->track[s]];
        int64_t end_ns = steps->begin_ns[s] + steps->duration_ns[s];
        if (process < model->processes.table.count &&
            (ends_ns[process] == INT64_MAX || ends_ns[process] < end_ns))
            ends_ns[process] = end_ns;
    }
    out->steps_end_ns = ends_ns;
    return VARVE_OK;
}

bool vv_is_kept(const struct vv_allocations *allocations, const struct vv_allocation *item)
{
    const struct vv_model *model = allocations->scope->model;
    uint32_t event = item->made != VV_NONE ? item->made : item->freed;
    uint32_t track = event != VV_NONE ? model->memory.track[event] : VV_NONE;
    uint32_t process = track != VV_NONE ? model->tracks.process[track] : VV_NONE;
    if (item->end_ns == INT64_MAX)
        return true;
    return process < model->processes.table.count &&
           allocations->steps_end_ns[process] != INT64_MAX &&
           item->begin_ns < allocations->steps_end_ns[process] &&
           item->end_ns >= allocations->steps_end_ns[process];
}

static enum varve_code find_in_scratch(struct vv_allocations *out, const char *device,
                                       struct varve_error *error)
{
    struct vv_scratch own = { 0 };
    struct pairing pairing = { .out = out, .scratch = &own, .rows_of = { .scratch = &own } };
    enum varve_code code = find_ends(out, error);
    if (code == VARVE_OK)
        code = pair_all(&pairing, device, error);
    vv_scratch_deinit(&own);
    return code;
}

/* ---- of all ranks, threads and operators: found once ---- */

struct whole { /* as in struct vv_allocations */
    const struct vv_allocation *items;
    const struct vv_pool *pools;
    const int64_t *steps_end_ns;
    size_t count, pool_count;
    bool by_size, is_absurd;
};
_Static_assert(sizeof(struct whole) <= VV_ONCE_BYTES, "once.h");

static enum varve_code find_whole(const struct vv_model *model, struct vv_scratch *scratch,
                                  void *out_found, struct varve_error *error)
{
    struct vv_scratch own = { 0 };
    const struct vv_selection selection = VV_SELECTION_ALL;
    struct vv_scope scope;
    struct vv_allocations all = { .scope = &scope };
    enum varve_code code = vv_scope_init(&scope, model, &selection, &own, error);
    scope.scratch = scratch;
    if (code == VARVE_OK)
        code = find_in_scratch(&all, NULL, error);
    vv_scratch_deinit(&own);
    *(struct whole *)out_found =
        (struct whole){ all.items, all.pools, all.steps_end_ns, all.count, all.pool_count,
                        all.by_size, all.is_absurd };
    return code;
}

enum varve_code vv_allocations_init(struct vv_allocations *out, const struct vv_scope *scope,
                                    const char *device, struct varve_error *error)
{
    struct whole whole;
    *out = (struct vv_allocations){ .scope = scope,
                                    .is_part = scope->by_thread || scope->admitted != NULL };
    if (device != NULL && strcmp(device, "all") == 0)
        device = NULL;
    if (device != NULL || !vv_scope_has_all_rows(scope))
        return find_in_scratch(out, device, error);
    VV_TRY(vv_model_once(scope->model, VV_ONCE_ALLOCATIONS, find_whole, &whole, sizeof whole,
                         error));
    out->items = whole.items;
    out->pools = whole.pools;
    out->steps_end_ns = whole.steps_end_ns;
    out->count = whole.count;
    out->pool_count = whole.pool_count;
    out->by_size = whole.by_size;
    out->is_absurd = whole.is_absurd;
    return VARVE_OK;
}

const char *vv_allocations_none(const struct vv_allocations *allocations)
{
    return allocations->is_absurd ? "the allocations recorded sum to more than 2^63 bytes"
                                  : "no allocations recorded";
}

/* ---- changes ---- */

/* Releases before allocations, each in the order of the items. A stable sort by time follows. */
static size_t list_changes(const struct vv_allocations *allocations, const struct vv_pool *pool,
                           struct vv_keyed_row *keys)
{
    size_t count = 0;
    for (int is_begin = 0; is_begin < 2; is_begin++)
        for (size_t i = pool->first; i < pool->last; i++) {
            const struct vv_allocation *item = &allocations->items[i];
            int64_t time_ns = is_begin ? item->begin_ns : item->end_ns;
            if (item->begin_ns != item->end_ns && time_ns != INT64_MIN && time_ns != INT64_MAX)
                keys[count++] = (struct vv_keyed_row){ (uint64_t)time_ns ^ UINT64_C(1) << 63,
                                                       (uint32_t)i << 1 | (uint32_t)is_begin };
        }
    return count;
}

enum varve_code vv_pool_changes(const struct vv_allocations *allocations, uint32_t pool,
                                struct vv_change **out_changes, size_t *out_count,
                                struct varve_error *error)
{
    struct vv_scratch *scratch = allocations->scope->scratch;
    const struct vv_pool *place = &allocations->pools[pool];
    size_t most = (place->last - place->first) * 2;
    struct vv_keyed_row *keys;
    if (place->last > UINT32_MAX / 2)
        VV_FAIL(error, VARVE_LIMIT, "more than %u allocations", UINT32_MAX / 2);
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &keys, most, error));
    VV_TRY(VV_SCRATCH_ARRAY(scratch, out_changes, most, error));
    *out_count = list_changes(allocations, place, keys);
    VV_TRY(vv_radix_sort(keys, *out_count, error));
    for (size_t i = 0; i < *out_count; i++) {
        const struct vv_allocation *item = &allocations->items[keys[i].row >> 1];
        bool is_begin = keys[i].row & 1;
        (*out_changes)[i] =
            (struct vv_change){ is_begin ? item->begin_ns : item->end_ns,
                                is_begin ? item->bytes : -item->bytes, keys[i].row >> 1 };
    }
    vv_scratch_release(scratch, keys);
    return VARVE_OK;
}
