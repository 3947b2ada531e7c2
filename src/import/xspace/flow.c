/* SPDX-License-Identifier: Apache-2.0 */
/* flow.c — joins the ends of flows that have the same kind, type of context and id, over all
 * planes. Hashing brings them together: first into parts that fit in a cache, then, by several
 * threads, into buckets. A sort of all ends would cost more than reading them. Flows are added in
 * the order of their end slices, which is nearly that of time, because vv_model_finish looks up the
 * slices in that order.
 *
 * In order of time, each end that takes is joined with the last one before it that gives. If none
 * came before (the clocks of host and device differ a little), it is joined with the first that
 * follows. Ends without a partner are counted. */
#include <stdlib.h>

#include "base/array.h"
#include "base/large_pages.h"
#include "base/workers.h"
#include "import/xspace/xspace.h"
#include "model/order.h"

static bool same_flow(const struct vv_xspace_end *a, const struct vv_xspace_end *b)
{
    return a->id == b->id && a->type == b->type && a->is_flow == b->is_flow;
}

#define PART_ENDS 4096u
#define TYPES 256u /* types of context: a uint8_t                                              */
#define INSERTION_ROWS 16u
#define AHEAD 12u  /* ends to prefetch: about as long as memory takes to answer                   */

struct placed_end {
    struct vv_xspace_end end;
    int64_t time_ns;
    uint32_t track;
    uint32_t row;               /* number among all ends                                        */
};

/* The ends of a part that are in one bucket of a hash table. */
struct bucket {
    const struct placed_end *ends;
    VV_ARRAY_OF(uint64_t) rows;
};

struct part {
    size_t first, count;
    uint64_t unmatched;
    enum varve_code code;
};

struct joining {
    const struct vv_slices *slices;
    const struct vv_xspace_end *all;
    size_t end_count;
    struct placed_end *ends;    /* sorted by parts                                              */
    struct part *parts;
    size_t part_count;          /* a power of two                                               */
    uint32_t *givers;           /* end that takes -> row of the end that gives; or VV_NONE */
};

/* At the same instant an end that gives comes before one that takes. */
static bool end_before(const void *context, uint64_t left, uint64_t right)
{
    const struct bucket *bucket = context;
    const struct placed_end *first = &bucket->ends[bucket->rows.items[left]],
                            *second = &bucket->ends[bucket->rows.items[right]];
    const struct vv_xspace_end *a = &first->end, *b = &second->end;
    if (a->id != b->id)
        return a->id < b->id;
    if (a->type != b->type)
        return a->type < b->type;
    if (a->is_flow != b->is_flow)
        return a->is_flow;
    if (first->time_ns != second->time_ns)
        return first->time_ns < second->time_ns;
    if (a->is_out != b->is_out)
        return a->is_out;
    return first->track < second->track;
}

/* Joins rows[0..count), the ends of one flow, in order. Returns the number of ends without another
 * end. */
static uint64_t join(struct joining *joining, const struct placed_end *ends, const uint64_t *rows,
                     uint64_t count)
{
    uint32_t giver = VV_NONE;
    uint64_t waiting = 0;    /* the last ends, which take and have no giver yet                 */
    uint64_t unmatched = 0;
    bool is_matched = false; /* the giver has a partner                                         */
    for (uint64_t i = 0; i < count; i++) {
        const struct placed_end *placed = &ends[rows[i]];
        bool takes = placed->end.is_in && giver != VV_NONE;
        if (takes) {
            joining->givers[placed->row] = giver;
            is_matched = true;
        }
        if (!placed->end.is_out) {
            waiting += giver == VV_NONE;
            continue;
        }
        unmatched += giver != VV_NONE && !is_matched;
        is_matched = takes || waiting > 0;
        giver = placed->row;
        for (; waiting > 0; waiting--)
            joining->givers[ends[rows[i - waiting]].row] = giver;
    }
    return unmatched + waiting + (giver != VV_NONE && !is_matched);
}

static enum varve_code sort_bucket(struct bucket *bucket)
{
    uint64_t *order, *rows = bucket->rows.items;
    if (bucket->rows.count <= INSERTION_ROWS) {
        for (size_t i = 1; i < bucket->rows.count; i++)
            for (size_t at = i; at > 0 && end_before(bucket, at, at - 1); at--) {
                uint64_t row = rows[at];
                rows[at] = rows[at - 1];
                rows[at - 1] = row;
            }
        return VARVE_OK;
    }
    VV_TRY(vv_order_rows(bucket->rows.count, end_before, bucket, &order, NULL));
    for (size_t i = 0; order != NULL && i < bucket->rows.count; i++)
        order[i] = rows[order[i]];
    if (order != NULL)
        memcpy(rows, order, bucket->rows.count * sizeof *order);
    free(order);
    return VARVE_OK;
}

static enum varve_code join_bucket(struct joining *joining, struct bucket *bucket,
                                   uint64_t *unmatched)
{
    const uint64_t *rows = bucket->rows.items;
    VV_TRY(sort_bucket(bucket));
    for (size_t first = 0, next; first < bucket->rows.count; first = next) {
        next = first + 1;
        while (next < bucket->rows.count &&
               same_flow(&bucket->ends[rows[first]].end, &bucket->ends[rows[next]].end))
            next++;
        *unmatched += join(joining, bucket->ends, rows + first, next - first);
    }
    return VARVE_OK;
}

static uint64_t hash_of(const struct vv_xspace_end *end)
{
    uint64_t hash =
        (end->id ^ (uint64_t)end->type << 58 ^ end->is_flow) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 32;
}

/* links[b] is the first entry of bucket b; links[buckets + place] is the next after `place`. */
static enum varve_code join_buckets(struct joining *joining, struct part *part,
                                    struct bucket *bucket, const uint32_t *links, size_t buckets)
{
    for (size_t i = 0; i < buckets; i++) {
        bucket->rows.count = 0;
        for (uint32_t at = links[i]; at != VV_NONE; at = links[buckets + at]) {
            VV_TRY(vv_array_reserve(&bucket->rows.items, &bucket->rows.capacity,
                                    bucket->rows.count + 1, sizeof *bucket->rows.items, NULL));
            bucket->rows.items[bucket->rows.count++] = at;
        }
        if (bucket->rows.count > 0)
            VV_TRY(join_bucket(joining, bucket, &part->unmatched));
    }
    return VARVE_OK;
}

static void join_part(void *context, size_t number)
{
    struct joining *joining = context;
    struct part *part = &joining->parts[number];
    struct bucket bucket = { .ends = joining->ends + part->first };
    size_t buckets = 1;
    while (buckets < part->count)
        buckets *= 2;
    uint32_t *links = malloc((buckets + part->count) * sizeof *links);
    part->code = links == NULL ? VARVE_NO_MEMORY : VARVE_OK;
    if (links == NULL)
        return;
    memset(links, 0xff, buckets * sizeof *links);
    for (size_t at = part->count; at-- > 0;) {
        uint32_t *head = &links[hash_of(&bucket.ends[at].end) >> 8 & (buckets - 1)];
        links[buckets + at] = *head;
        *head = (uint32_t)at;
    }
    part->code = join_buckets(joining, part, &bucket, links, buckets);
    free(bucket.rows.items);
    free(links);
}

/* All ends of one flow go to the same part. */
static void fill_parts(struct joining *joining)
{
    size_t first = 0, shift = 64 - (size_t)__builtin_ctzll(joining->part_count);
    for (size_t row = 0; row < joining->end_count; row++)
        joining->parts[hash_of(&joining->all[row]) >> shift].count++;
    for (size_t i = 0; i < joining->part_count; i++) {
        joining->parts[i].first = first;
        first += joining->parts[i].count;
        joining->parts[i].count = 0;
    }
    for (size_t row = 0; row < joining->end_count; row++) {
        const struct vv_xspace_end *end = &joining->all[row];
        struct part *part = &joining->parts[hash_of(end) >> shift];
        joining->ends[part->first + part->count++] = (struct placed_end){
            *end, joining->slices->begin_ns[end->slice], joining->slices->track[end->slice],
            (uint32_t)row
        };
    }
}

/* Prefetches what add_flows will read: the ends that give are anywhere in memory. */
static void prefetch(const struct joining *joining, size_t to)
{
    if (to + 2 * AHEAD < joining->end_count && joining->givers[to + 2 * AHEAD] != VV_NONE)
        __builtin_prefetch(&joining->all[joining->givers[to + 2 * AHEAD]]);
    if (to + AHEAD >= joining->end_count || joining->givers[to + AHEAD] == VV_NONE)
        return;
    uint32_t slice = joining->all[joining->givers[to + AHEAD]].slice;
    __builtin_prefetch(&joining->slices->begin_ns[slice]);
    __builtin_prefetch(&joining->slices->track[slice]);
}

static enum varve_code add_flows(struct vv_xspace *space, const struct joining *joining,
                                 struct varve_error *error)
{
    static const char *const categories[] = { "producer_consumer", "flow" };
    struct vv_model *model = space->model;
    uint32_t category[2] = { 0 }, names[TYPES] = { 0 };
    for (size_t to = 0; to < joining->end_count; to++) {
        uint32_t row;
        prefetch(joining, to);
        if (joining->givers[to] == VV_NONE)
            continue;
        const struct vv_xspace_end *giver = &joining->all[joining->givers[to]];
        if (names[giver->type] == 0)
            VV_TRY(vv_model_text(model, vv_xspace_context_type(giver->type), &names[giver->type],
                                 error));
        if (category[giver->is_flow] == 0)
            VV_TRY(
                vv_model_text(model, categories[giver->is_flow], &category[giver->is_flow], error));
        VV_TRY(vv_model_add_flow(model, &row, error));
        uint32_t from_slice = giver->slice, to_slice = joining->all[to].slice;
        model->flows.from_slice[row] = from_slice;
        model->flows.to_slice[row] = to_slice;
        model->flows.from_ns[row] = model->slices.begin_ns[from_slice];
        model->flows.to_ns[row] = model->slices.begin_ns[to_slice];
        model->flows.id[row] = giver->id;
        model->flows.name[row] = names[giver->type];
        model->flows.category[row] = category[giver->is_flow];
        model->flows.from_track[row] = model->slices.track[from_slice];
        model->flows.to_track[row] = model->slices.track[to_slice];
    }
    return VARVE_OK;
}

static enum varve_code join_all(struct vv_xspace *space, struct joining *joining,
                                struct varve_error *error)
{
    memset(joining->givers, 0xff, joining->end_count * sizeof *joining->givers);
    fill_parts(joining);
    vv_workers_run(space->model->threads, joining->part_count, join_part, joining);
    for (size_t i = 0; i < joining->part_count; i++) {
        if (joining->parts[i].code != VARVE_OK)
            VV_FAIL(error, joining->parts[i].code, "no memory to join %zu ends of flows",
                    joining->end_count);
        space->model->health.unmatched_flows += joining->parts[i].unmatched;
    }
    free(joining->ends);
    joining->ends = NULL;
    return add_flows(space, joining, error);
}

enum varve_code vv_xspace_flows_join(struct vv_xspace *space, struct varve_error *error)
{
    struct joining joining = { .slices = &space->model->slices, .all = space->sink.ends.items,
                               .end_count = space->sink.ends.count, .part_count = 2 };
    if (joining.end_count == 0)
        return VARVE_OK;
    if (joining.end_count >= VV_NONE)
        VV_FAIL(error, VARVE_LIMIT, "%zu ends of flows", joining.end_count);
    while (joining.part_count * PART_ENDS < joining.end_count)
        joining.part_count *= 2;
    joining.ends = vv_large_pages_alloc(joining.end_count * sizeof *joining.ends);
    joining.givers = vv_large_pages_alloc(joining.end_count * sizeof *joining.givers);
    joining.parts = calloc(joining.part_count, sizeof *joining.parts);
    enum varve_code code = VARVE_OK;
    if (joining.ends == NULL || joining.givers == NULL || joining.parts == NULL)
        code = vv_fail(error, VARVE_NO_MEMORY, "no memory to join %zu ends of flows",
                       joining.end_count);
    else
        code = join_all(space, &joining, error);
    free(joining.ends);
    free(joining.givers);
    free(joining.parts);
    return code;
}
