/* SPDX-License-Identifier: Apache-2.0 */
/* async.c — asynchronous ranges (b n e; in the old form S T p F): slices that belong to an id, not
 * to a thread. The ranges of one id nest and are on one track. Ids that are open at the same time
 * get different tracks. So a process has as many tracks of a category as it had ids open at
 * once. */
#include <stdlib.h>

#include "base/hash.h"
#include "import/chrome/number.h"
#include "import/chrome/reader.h"
#include "model/order.h"

/* ---- idents ---- */

static bool is_async(const void *table, uint32_t row, const void *key)
{
    const struct vv_chrome_async *a = &((const struct vv_chrome_reader *)table)->asyncs.items[row],
                                 *b = key;
    return a->id == b->id && a->category == b->category && a->scope == b->scope &&
           a->name == b->name && a->pid.kind == b->pid.kind && a->pid.number == b->pid.number;
}

static uint64_t hash_of_async(const struct vv_chrome_async *async)
{
    uint64_t hash = vv_hash_pair(async->id, (uint64_t)async->category << 32 | async->name);
    hash = vv_hash_step(&vv_hash_key, hash, (uint64_t)async->pid.number);
    return vv_hash_step(&vv_hash_key, hash, async->scope);
}

static uint64_t hash_of(const void *table, uint32_t row)
{
    return hash_of_async(&((const struct vv_chrome_reader *)table)->asyncs.items[row]);
}

enum varve_code vv_chrome_async_row(struct vv_chrome_reader *reader,
                                    const struct vv_chrome_async *async, uint32_t *out_row,
                                    struct varve_error *error)
{
    struct vv_slots *slots = &reader->async_slots;
    if (vv_slots_are_full(slots, reader->asyncs.count))
        VV_TRY(vv_slots_grow(slots, (uint32_t)reader->asyncs.count, hash_of, reader,
                             "asynchronous ranges", error));
    uint32_t *slot = vv_slots_at(slots, hash_of_async(async), is_async, reader, async);
    if (*slot == 0) {
        VV_CHROME_PUSH(&reader->asyncs, *async, error);
        *slot = (uint32_t)reader->asyncs.count;
    }
    *out_row = *slot - 1;
    return VARVE_OK;
}

/* ---- events ---- */

static enum varve_code add_mark(struct vv_chrome_reader *reader, uint32_t async,
                                struct varve_error *error)
{
    struct vv_marks *marks = &reader->model->marks;
    struct vv_chrome_async_mark link = { (uint32_t)marks->table.count, async,
                                         reader->now.place.process };
    uint32_t row;
    VV_TRY(vv_model_add_mark(reader->model, &row, error));
    marks->time_ns[row] = reader->now.time_ns;
    marks->name[row] = reader->now.name;
    marks->category[row] = reader->now.category;
    marks->layer[row] = reader->now.class->layer;
    VV_TRY(vv_chrome_add_args(reader, &marks->first_arg[row], &marks->arg_count[row], error));
    VV_CHROME_PUSH(&reader->async_marks, link, error);
    return VARVE_OK;
}

enum varve_code vv_chrome_add_async(struct vv_chrome_reader *reader, struct varve_error *error)
{
    const struct vv_chrome_now *now = &reader->now;
    struct vv_chrome_id id;
    struct vv_chrome_half half = { .time_ns = now->time_ns, .track = now->place.row,
                                   .slice = VV_NONE, .name = now->name, .first_arg = VV_NONE,
                                   .ordinal = now->ordinal };
    struct vv_chrome_async async = { .category = now->category, .track = VV_NONE };
    VV_TRY(vv_chrome_event_id(reader, &id, error));
    async.id = id.number;
    async.scope = id.scope;
    async.pid = id.is_local ? now->place.pid : (struct vv_chrome_ident){ 0, VV_IDENT_NONE };
    async.name = strchr("STpF", now->phase) != NULL ? now->name : 0;
    VV_TRY(vv_chrome_async_row(reader, &async, &half.group, error));
    if (strchr("nTp", now->phase) != NULL)
        return add_mark(reader, half.group, error);
    if (now->phase == 'b' || now->phase == 'S') {
        VV_TRY(vv_chrome_add_slice(reader, -1, &half.slice, error));
        reader->model->slices.track[half.slice] = VV_NONE;
    } else {
        VV_TRY(vv_chrome_add_args(reader, &half.first_arg, &half.arg_count, error));
    }
    VV_CHROME_PUSH(&reader->async_halves, half, error);
    return VARVE_OK;
}

/* ---- tracks ---- */

/* The time from the first begin to the last end of an id. */
struct extent {
    int64_t begin_ns, end_ns;
    uint32_t async, process;
};

struct extents {
    const struct vv_chrome_reader *reader;
    struct extent *items;
};

struct lane {
    int64_t end_ns;
    uint32_t track;
};

static bool extent_before(const void *context, uint64_t left, uint64_t right)
{
    const struct extents *extents = context;
    const struct vv_chrome_async *asyncs = extents->reader->asyncs.items;
    const struct extent *a = &extents->items[left], *b = &extents->items[right];
    if (a->process != b->process)
        return a->process < b->process;
    if (asyncs[a->async].category != asyncs[b->async].category)
        return asyncs[a->async].category < asyncs[b->async].category;
    if (a->begin_ns != b->begin_ns)
        return a->begin_ns < b->begin_ns;
    return a->end_ns > b->end_ns;
}

static void widen(struct extent *extent, int64_t begin_ns, int64_t end_ns, uint32_t process)
{
    if (begin_ns < extent->begin_ns) {
        extent->begin_ns = begin_ns;
        extent->process = process;
    }
    if (end_ns > extent->end_ns)
        extent->end_ns = end_ns;
}

static void measure(const struct vv_chrome_reader *reader, struct extent *items)
{
    const struct vv_model *model = reader->model;
    for (uint32_t i = 0; i < reader->asyncs.count; i++)
        items[i] = (struct extent){ INT64_MAX, INT64_MIN, i, 0 };
    for (size_t i = 0; i < reader->async_halves.count; i++) {
        const struct vv_chrome_half *half = &reader->async_halves.items[i];
        int64_t duration = half->slice == VV_NONE ? 0 : model->slices.duration_ns[half->slice];
        widen(&items[half->group], half->time_ns, half->time_ns + duration,
              model->tracks.process[half->track]);
    }
    for (size_t i = 0; i < reader->async_marks.count; i++) {
        const struct vv_chrome_async_mark *link = &reader->async_marks.items[i];
        int64_t time_ns = model->marks.time_ns[link->mark];
        widen(&items[link->async], time_ns, time_ns, link->process);
    }
}

/* The lanes are a heap: the lane that is free first is at the front. */
static void sink_first(struct lane *lanes, size_t count)
{
    for (size_t at = 0, least;; at = least) {
        least = at;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < count; child++)
            if (lanes[child].end_ns < lanes[least].end_ns)
                least = child;
        if (least == at)
            return;
        struct lane lane = lanes[at];
        lanes[at] = lanes[least];
        lanes[least] = lane;
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

static enum varve_code find_lane(struct vv_chrome_reader *reader, struct lane *lanes, size_t *count,
                                 const struct extent *extent, struct varve_error *error)
{
    struct vv_tracks *tracks = &reader->model->tracks;
    struct vv_chrome_async *async = &reader->asyncs.items[extent->async];
    if (*count > 0 && lanes[0].end_ns <= extent->begin_ns) {
        async->track = lanes[0].track;
        lanes[0].end_ns = extent->end_ns;
        sink_first(lanes, *count);
        return VARVE_OK;
    }
    VV_TRY(vv_model_add_track(reader->model, &async->track, error));
    tracks->process[async->track] = extent->process;
    tracks->kind[async->track] = VV_TRACK_ASYNC;
    tracks->name[async->track] = async->category;
    tracks->tid[async->track] = (int64_t)*count;
    lanes[(*count)++] = (struct lane){ extent->end_ns, async->track };
    rise_last(lanes, *count);
    return VARVE_OK;
}

static enum varve_code lay_out(struct vv_chrome_reader *reader, const struct extents *extents,
                               struct lane *lanes, struct varve_error *error)
{
    uint64_t *order;
    size_t lane_count = 0;
    uint32_t process = VV_NONE, category = VV_NONE;
    VV_TRY(vv_order_rows(reader->asyncs.count, extent_before, extents, &order, error));
    enum varve_code code = VARVE_OK;
    for (size_t i = 0; i < reader->asyncs.count && code == VARVE_OK; i++) {
        const struct extent *extent = &extents->items[order == NULL ? i : order[i]];
        uint32_t own = reader->asyncs.items[extent->async].category;
        if (extent->process != process || own != category)
            lane_count = 0;
        process = extent->process;
        category = own;
        code = find_lane(reader, lanes, &lane_count, extent, error);
    }
    free(order);
    return code;
}

static void put_on_tracks(struct vv_chrome_reader *reader)
{
    struct vv_model *model = reader->model;
    for (size_t i = 0; i < reader->async_halves.count; i++) {
        const struct vv_chrome_half *half = &reader->async_halves.items[i];
        if (half->slice != VV_NONE)
            model->slices.track[half->slice] = reader->asyncs.items[half->group].track;
    }
    for (size_t i = 0; i < reader->async_marks.count; i++) {
        const struct vv_chrome_async_mark *link = &reader->async_marks.items[i];
        model->marks.track[link->mark] = reader->asyncs.items[link->async].track;
    }
}

enum varve_code vv_chrome_close_async(struct vv_chrome_reader *reader, struct varve_error *error)
{
    size_t count = reader->asyncs.count;
    if (count == 0)
        return VARVE_OK;
    VV_TRY(vv_chrome_pair_halves(reader, true, error));
    struct extents extents = { reader, malloc(count * sizeof *extents.items) };
    struct lane *lanes = malloc(count * sizeof *lanes);
    enum varve_code code;
    if (extents.items == NULL || lanes == NULL) {
        code = vv_fail(error, VARVE_NO_MEMORY, "no memory for %zu asynchronous ranges", count);
    } else {
        measure(reader, extents.items);
        code = lay_out(reader, &extents, lanes, error);
    }
    if (code == VARVE_OK)
        put_on_tracks(reader);
    free(extents.items);
    free(lanes);
    return code;
}
