/* SPDX-License-Identifier: Apache-2.0 */
/* xspace_flow.c — joins the ends of flows that share a kind, a type of context and an id, over all planes. They are
 * brought together by hashing: a sort of all ends would cost more than reading them.
 *
 * In order of time each end that takes is joined with the last one before it that gives; where none came before (the
 * clocks of host and device differ by a little), with the first that follows. What remains is counted. */
#include <stdlib.h>

#include "base/array.h"
#include "import/xspace.h"
#include "model/order.h"

enum varve_code vv_xspace_flow_end(struct vv_xspace *space, const struct vv_xspace_end *end,
                                   struct varve_error *error)
{
    VV_TRY(vv_array_reserve(&space->ends, &space->end_capacity, space->end_count + 1,
                            sizeof *space->ends, error));
    space->ends[space->end_count++] = *end;
    return VARVE_OK;
}

static bool same_flow(const struct vv_xspace_end *a, const struct vv_xspace_end *b)
{
    return a->id == b->id && a->type == b->type && a->is_flow == b->is_flow;
}

/* Rows of ends, in one bucket of a hash table. */
struct bucket {
    const struct vv_xspace_end *ends;
    uint64_t *rows;
    size_t count, capacity;
};

/* An end that gives stands before one that takes at the same instant. */
static bool end_before(const void *context, uint64_t left, uint64_t right)
{
    const struct bucket *bucket = context;
    const struct vv_xspace_end *a = &bucket->ends[bucket->rows[left]], *b = &bucket->ends[bucket->rows[right]];
    if (a->id != b->id)
        return a->id < b->id;
    if (a->type != b->type)
        return a->type < b->type;
    if (a->is_flow != b->is_flow)
        return a->is_flow;
    if (a->time_ns != b->time_ns)
        return a->time_ns < b->time_ns;
    if (a->is_out != b->is_out)
        return a->is_out;
    return a->track < b->track;
}

static enum varve_code add_flow(struct vv_xspace *space, const struct vv_xspace_end *from,
                                const struct vv_xspace_end *to, struct varve_error *error)
{
    struct vv_model *model = space->model;
    uint32_t row, name, category;
    VV_TRY(vv_model_text(model, vv_xspace_context_type(from->type), &name, error));
    VV_TRY(vv_model_text(model, from->is_flow ? "flow" : "producer_consumer", &category, error));
    VV_TRY(vv_model_add_flow(model, &row, error));
    model->flows.from_ns[row] = from->time_ns;
    model->flows.to_ns[row] = to->time_ns;
    model->flows.id[row] = from->id;
    model->flows.name[row] = name;
    model->flows.category[row] = category;
    model->flows.from_track[row] = from->track;
    model->flows.to_track[row] = to->track;
    return VARVE_OK;
}

/* rows[0..count) are the ends of one flow, in order. */
static enum varve_code join(struct vv_xspace *space, const uint64_t *rows, uint64_t count,
                            struct varve_error *error)
{
    const struct vv_xspace_end *giver = NULL;
    uint64_t waiting = 0;    /* ends that take, and none gave yet: the last ones                */
    bool is_matched = false; /* the giver has another end, on either side                       */
    for (uint64_t i = 0; i < count; i++) {
        const struct vv_xspace_end *end = &space->ends[rows[i]];
        bool takes = end->is_in && giver != NULL;
        if (takes) {
            VV_TRY(add_flow(space, giver, end, error));
            is_matched = true;
        }
        if (!end->is_out) {
            waiting += giver == NULL;
            continue;
        }
        space->model->health.unmatched_flows += giver != NULL && !is_matched;
        is_matched = takes || waiting > 0;
        for (; waiting > 0; waiting--)
            VV_TRY(add_flow(space, end, &space->ends[rows[i - waiting]], error));
        giver = end;
    }
    space->model->health.unmatched_flows += waiting + (giver != NULL && !is_matched);
    return VARVE_OK;
}

static enum varve_code sort_bucket(struct bucket *bucket, struct varve_error *error)
{
    uint64_t *order;
    VV_TRY(vv_order_rows(bucket->count, end_before, bucket, &order, error));
    for (size_t i = 0; order != NULL && i < bucket->count; i++)
        order[i] = bucket->rows[order[i]];
    if (order != NULL)
        memcpy(bucket->rows, order, bucket->count * sizeof *order);
    free(order);
    return VARVE_OK;
}

static enum varve_code join_bucket(struct vv_xspace *space, struct bucket *bucket, struct varve_error *error)
{
    VV_TRY(sort_bucket(bucket, error));
    for (size_t first = 0, next; first < bucket->count; first = next) {
        const struct vv_xspace_end *end = &space->ends[bucket->rows[first]];
        next = first + 1;
        while (next < bucket->count && same_flow(end, &space->ends[bucket->rows[next]]))
            next++;
        VV_TRY(join(space, bucket->rows + first, next - first, error));
    }
    return VARVE_OK;
}

/* Ends of one flow fall into one bucket: links[b] begins the list of bucket b, links[buckets + row] goes on with it. */
static void fill_buckets(const struct vv_xspace *space, uint32_t *links, size_t buckets)
{
    memset(links, 0xff, buckets * sizeof *links);
    for (size_t row = space->end_count; row-- > 0;) {
        const struct vv_xspace_end *end = &space->ends[row];
        uint64_t hash = (end->id ^ (uint64_t)end->type << 58 ^ end->is_flow) * UINT64_C(0x9e3779b97f4a7c15);
        uint32_t *head = &links[(hash ^ hash >> 32) & (buckets - 1)];
        links[buckets + row] = *head;
        *head = (uint32_t)row;
    }
}

enum varve_code vv_xspace_flows_join(struct vv_xspace *space, struct varve_error *error)
{
    struct bucket bucket = { .ends = space->ends };
    enum varve_code code = VARVE_OK;
    size_t buckets = 1;
    while (buckets < space->end_count)
        buckets *= 2;
    if (space->end_count >= VV_NONE)
        VV_FAIL(error, VARVE_LIMIT, "%zu ends of flows", space->end_count);
    uint32_t *links = malloc((buckets + space->end_count) * sizeof *links);
    if (links == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory to join %zu ends of flows", space->end_count);
    fill_buckets(space, links, buckets);
    for (size_t i = 0; i < buckets && code == VARVE_OK; i++) {
        bucket.count = 0;
        for (uint32_t row = links[i]; row != VV_NONE && code == VARVE_OK; row = links[buckets + row]) {
            code = vv_array_reserve(&bucket.rows, &bucket.capacity, bucket.count + 1, sizeof *bucket.rows, error);
            if (code == VARVE_OK)
                bucket.rows[bucket.count++] = row;
        }
        if (code == VARVE_OK && bucket.count > 0)
            code = join_bucket(space, &bucket, error);
    }
    free(bucket.rows);
    free(links);
    return code;
}
