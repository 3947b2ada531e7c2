/* SPDX-License-Identifier: Apache-2.0 */
/* pairs.c — joins the two ends of flows and of asynchronous ranges, which may be on any threads
 * (§3).
 *
 * A flow's `in` takes the oldest `out` of its (name, id) that is still free. An asynchronous end
 * takes the newest open begin. The ranges of one name get tracks of their own, as few as possible
 * without overlaps. */
#include <stdlib.h>

#include "base/array.h"
#include "base/binary_search.h"
#include "import/varve/process/process.h"
#include "model/order.h"

/* A finished asynchronous range that has no track yet. */
struct async_range {
    int64_t begin_ns, end_ns;
    uint32_t begin; /* index in pair_ends                                                       */
    uint32_t track, order; /* of its slice: known before the slice is added                     */
    uint8_t flags;
};

/* A track for one name; it is free again at end_ns. */
struct lane {
    int64_t end_ns;
    uint32_t track;
};

struct joining {
    struct vv_process_reader *process;
    VV_ARRAY_OF(uint32_t) open;              /* begins of the current (name, id), oldest first   */
    VV_ARRAY_OF(struct async_range) ranges;
    VV_ARRAY_OF(struct lane) lanes;          /* of the current name: a heap by end_ns            */
};

static bool is_flow(const struct vv_pair_end *end)
{
    return end->kind == VV_KIND_FLOW_OUT || end->kind == VV_KIND_FLOW_IN;
}

static bool is_first(const struct vv_pair_end *end)
{
    return end->kind == VV_KIND_FLOW_OUT || end->kind == VV_KIND_ASYNC_BEGIN;
}

static bool same_pair(const struct vv_pair_end *a, const struct vv_pair_end *b)
{
    return is_flow(a) == is_flow(b) && a->name == b->name && a->id == b->id;
}

/* Sorts by (flow or range, name, id), then by time. */
static bool end_before(const void *context, uint64_t left, uint64_t right)
{
    const struct vv_pair_end *ends = context, *a = &ends[left], *b = &ends[right];
    if (is_flow(a) != is_flow(b))
        return is_flow(a);
    if (a->name != b->name)
        return a->name < b->name;
    if (a->id != b->id)
        return a->id < b->id;
    if (a->ticks != b->ticks)
        return a->ticks < b->ticks;
    return is_first(a) && !is_first(b);
}

/* Counts an end without a begin. In a flight recorder, the begin may be in a part that was
 * removed. */
static void count_alone(const struct vv_process_reader *process, uint64_t *unmatched,
                        uint64_t *before)
{
    ++*(process->forgot ? before : unmatched);
}

/* ---- flows ---- */

static enum varve_code add_flow(struct vv_model *model, const struct vv_pair_end *out,
                                const struct vv_pair_end *in, struct varve_error *error)
{
    uint32_t row;
    VV_TRY(vv_model_add_flow(model, &row, error));
    model->flows.from_ns[row] = out->time_ns;
    model->flows.to_ns[row] = in->time_ns;
    model->flows.id[row] = out->id;
    model->flows.name[row] = out->name;
    model->flows.from_track[row] = out->track;
    model->flows.to_track[row] = in->track;
    return VARVE_OK;
}

/* order[0..count) are all ends of one (name, id). */
static enum varve_code join_flows(struct vv_process_reader *process, const uint64_t *order,
                                  uint64_t count, struct varve_error *error)
{
    const struct vv_pair_end *ends = process->pair_ends.items;
    struct vv_health *health = &process->model->health;
    uint64_t oldest = 0;
    for (uint64_t i = 0; i < count; i++) {
        if (is_first(&ends[order[i]]))
            continue;
        while (oldest < i && !is_first(&ends[order[oldest]]))
            oldest++;
        if (oldest == i)
            count_alone(process, &health->unmatched_flows, &health->flows_before);
        else
            VV_TRY(add_flow(process->model, &ends[order[oldest++]], &ends[order[i]], error));
    }
    for (; oldest < count; oldest++)
        health->unmatched_flows += is_first(&ends[order[oldest]]);
    return VARVE_OK;
}

/* ---- asynchronous ranges ---- */

/* The first pause at or after `ticks`, or NULL. */
static const struct vv_pause *pause_after(const struct vv_process_reader *process, uint64_t ticks)
{
    size_t at = VV_FIRST_NOT(i, 0, process->pauses.count, process->pauses.items[i].ticks < ticks);
    return at < process->pauses.count ? &process->pauses.items[at] : NULL;
}

static enum varve_code end_newest(struct joining *joining, int64_t end_ns, uint8_t flags,
                                  struct varve_error *error)
{
    uint32_t begin = joining->open.items[--joining->open.count];
    int64_t begin_ns = joining->process->pair_ends.items[begin].time_ns;
    struct async_range range = { begin_ns, end_ns, begin, VV_NONE, 0, flags };
    VV_PUSH(&joining->ranges, range, error);
    return VARVE_OK;
}

/* Ends the open ranges that began before a pause, if the pause is before `ticks`. */
static enum varve_code end_paused(struct joining *joining, uint64_t ticks,
                                  struct varve_error *error)
{
    while (joining->open.count > 0) {
        uint32_t newest = joining->open.items[joining->open.count - 1];
        const struct vv_pause *pause =
            pause_after(joining->process, joining->process->pair_ends.items[newest].ticks);
        if (pause == NULL || pause->ticks >= ticks)
            break;
        VV_TRY(end_newest(joining, pause->time_ns, 0, error));
    }
    return VARVE_OK;
}

static enum varve_code join_async(struct joining *joining, const uint64_t *order, uint64_t count,
                                  struct varve_error *error)
{
    struct vv_process_reader *process = joining->process;
    struct vv_health *health = &process->model->health;
    joining->open.count = 0;
    for (uint64_t i = 0; i < count; i++) {
        const struct vv_pair_end *end = &process->pair_ends.items[order[i]];
        VV_TRY(end_paused(joining, end->ticks, error));
        if (is_first(end))
            VV_PUSH(&joining->open, (uint32_t)order[i], error);
        else if (joining->open.count > 0)
            VV_TRY(end_newest(joining, end->time_ns, 0, error));
        else
            count_alone(process, &health->unmatched_async, &health->begun_before);
    }
    VV_TRY(end_paused(joining, UINT64_MAX, error));
    while (joining->open.count > 0) {
        health->unmatched_async++;
        health->unfinished++;
        VV_TRY(end_newest(joining, process->last_ns, VV_SLICE_UNFINISHED, error));
    }
    return VARVE_OK;
}

static bool range_before(const void *context, uint64_t left, uint64_t right)
{
    const struct joining *joining = context;
    const struct async_range *a = &joining->ranges.items[left], *b = &joining->ranges.items[right];
    const struct vv_pair_end *ends = joining->process->pair_ends.items;
    if (ends[a->begin].name != ends[b->begin].name)
        return ends[a->begin].name < ends[b->begin].name;
    if (a->begin_ns != b->begin_ns)
        return a->begin_ns < b->begin_ns;
    return a->end_ns > b->end_ns;
}

/* Restores the heap after the end of its first lane has grown. */
static void sink_first(struct lane *lanes, size_t count)
{
    for (size_t at = 0;;) {
        size_t least = at;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < count; child++)
            if (lanes[child].end_ns < lanes[least].end_ns)
                least = child;
        if (least == at)
            return;
        struct lane lane = lanes[at];
        lanes[at] = lanes[least];
        lanes[least] = lane;
        at = least;
    }
}

static void rise_last(struct lane *lanes, size_t count)
{
    for (size_t at = count - 1; at > 0 && lanes[at].end_ns < lanes[(at - 1) / 2].end_ns;
         at = (at - 1) / 2) {
        struct lane lane = lanes[at];
        lanes[at] = lanes[(at - 1) / 2];
        lanes[(at - 1) / 2] = lane;
    }
}

/* Finds a track of this name that is free from begin_ns on, or makes a new one. */
static enum varve_code find_lane(struct joining *joining, const struct async_range *range,
                                 uint32_t name, uint32_t *out_track, struct varve_error *error)
{
    struct vv_model *model = joining->process->model;
    if (joining->lanes.count > 0 && joining->lanes.items[0].end_ns <= range->begin_ns) {
        *out_track = joining->lanes.items[0].track;
        joining->lanes.items[0].end_ns = range->end_ns;
        sink_first(joining->lanes.items, joining->lanes.count);
        return VARVE_OK;
    }
    VV_TRY(vv_model_add_track(model, out_track, error));
    model->tracks.process[*out_track] = joining->process->process;
    model->tracks.kind[*out_track] = VV_TRACK_ASYNC;
    model->tracks.name[*out_track] = name;
    model->tracks.tid[*out_track] = (int64_t)joining->lanes.count;
    struct lane lane = { range->end_ns, *out_track };
    VV_PUSH(&joining->lanes, lane, error);
    rise_last(joining->lanes.items, joining->lanes.count);
    return VARVE_OK;
}

static enum varve_code add_range(struct joining *joining, const struct async_range *range,
                                 struct varve_error *error)
{
    struct vv_slices *slices = &joining->process->model->slices;
    const struct vv_pair_end *begin = &joining->process->pair_ends.items[range->begin];
    uint32_t row;
    VV_TRY(vv_model_add_slice(joining->process->model, &row, error));
    slices->begin_ns[row] = range->begin_ns;
    slices->duration_ns[row] = range->end_ns - range->begin_ns;
    slices->name[row] = begin->name;
    slices->layer[row] = begin->layer;
    slices->source[row] = begin->source;
    slices->flags[row] = range->flags;
    slices->track[row] = range->track;
    slices->order[row] = range->order;
    return VARVE_OK;
}

/* Fills the lanes in order of begin, one name after the other. */
static enum varve_code place_ranges(struct joining *joining, struct varve_error *error)
{
    const struct vv_pair_end *ends = joining->process->pair_ends.items;
    uint64_t *order;
    VV_TRY(vv_order_rows(joining->ranges.count, range_before, joining, &order, error));
    enum varve_code code = VARVE_OK;
    uint32_t name = VV_NONE;
    for (size_t i = 0; i < joining->ranges.count && code == VARVE_OK; i++) {
        struct async_range *range = &joining->ranges.items[order == NULL ? i : order[i]];
        if (ends[range->begin].name != name)
            joining->lanes.count = 0;
        name = ends[range->begin].name;
        range->order = (uint32_t)i;
        code = find_lane(joining, range, name, &range->track, error);
    }
    free(order);
    return code;
}

static bool track_before(const void *context, uint64_t left, uint64_t right)
{
    const struct async_range *ranges = context, *a = &ranges[left], *b = &ranges[right];
    return a->track != b->track ? a->track < b->track : a->order < b->order;
}

/* Adds the slices track by track. That is their final order; if one slice were out of order, finish
 * would have to move them all. */
static enum varve_code add_ranges(struct joining *joining, struct varve_error *error)
{
    uint64_t *order;
    VV_TRY(place_ranges(joining, error));
    VV_TRY(
        vv_order_rows(joining->ranges.count, track_before, joining->ranges.items, &order, error));
    enum varve_code code = VARVE_OK;
    for (size_t i = 0; i < joining->ranges.count && code == VARVE_OK; i++)
        code = add_range(joining, &joining->ranges.items[order == NULL ? i : order[i]], error);
    free(order);
    return code;
}

/* ---- flows and asynchronous ranges ---- */

static enum varve_code join_groups(struct joining *joining, const uint64_t *order,
                                   struct varve_error *error)
{
    const struct vv_pair_end *ends = joining->process->pair_ends.items;
    uint64_t count = joining->process->pair_ends.count, next;
    for (uint64_t first = 0; first < count; first = next) {
        const struct vv_pair_end *end = &ends[order[first]];
        for (next = first + 1; next < count && same_pair(end, &ends[order[next]]); next++)
            continue;
        if (is_flow(end))
            VV_TRY(join_flows(joining->process, order + first, next - first, error));
        else
            VV_TRY(join_async(joining, order + first, next - first, error));
    }
    return add_ranges(joining, error);
}

enum varve_code vv_pairs_join(struct vv_process_reader *process, struct varve_error *error)
{
    uint64_t count = process->pair_ends.count, *order;
    if (count == 0)
        return VARVE_OK;
    VV_TRY(vv_order_rows(count, end_before, process->pair_ends.items, &order, error));
    if (order == NULL) {
        order = malloc(count * sizeof *order);
        if (order == NULL)
            VV_FAIL(error, VARVE_NO_MEMORY, "no memory to join %llu flows",
                    (unsigned long long)count);
        for (uint64_t i = 0; i < count; i++)
            order[i] = i;
    }
    struct joining joining = { .process = process };
    enum varve_code code = join_groups(&joining, order, error);
    free(joining.open.items);
    free(joining.ranges.items);
    free(joining.lanes.items);
    free(order);
    return code;
}
