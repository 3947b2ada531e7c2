/* SPDX-License-Identifier: Apache-2.0 */
/* wait.c — finds which calls of the host, and which work, waited for which work of a device.
 *
 * Where the trace has the device's own records of waits (Kineto: cuda_sync), these say what was
 * awaited. Elsewhere a waiting call is known by its name. It waited for work that was launched
 * before the call and ended during it. A copying call waited for its copy if the copy ended before
 * the call did. */
#include <stdlib.h>
#include <string.h>

#include "analyse/critical/graph.h"
#include "analyse/critical/stream.h"
#include "base/binary_search.h"
#include "meaning/call_kind.h"
#include "model/id_map.h"

struct waits {
    struct vv_critical_graph *graph;
    struct vv_critical_streams *streams;
    const struct vv_model *model;
    uint8_t *kind_by_name;       /* string -> enum vv_call_kind + 1; 0 = not yet found           */
    struct vv_id_map *records;   /* correlation of a call that records an event -> its slice     */
    uint32_t *seen;              /* stream -> the last call that searched its work               */
    uint32_t call_number;
    uint64_t patience;           /* pieces of work that all calls together may still search: limits
                                    the time that many streams with many long waits take */
};

static enum vv_call_kind kind_of(struct waits *waits, uint32_t slice)
{
    uint32_t name = waits->model->slices.name[slice];
    if (waits->kind_by_name[name] == 0)
        waits->kind_by_name[name] = (uint8_t)(1 + vv_call_kind(vv_text_of(waits->model, name)));
    return (enum vv_call_kind)(waits->kind_by_name[name] - 1);
}

static enum varve_code map_records(struct waits *waits, struct varve_error *error)
{
    const struct vv_model *model = waits->model;
    const struct vv_activities *activities = &model->activities;
    struct vv_id_range range = { 0 };
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t a = 0; a < activities->table.count; a++) {
            uint32_t slice = activities->slice[a];
            if (activities->kind[a] != VV_ACTIVITY_CALL || slice == VV_NONE ||
                activities->correlation[a] == 0 || kind_of(waits, slice) != VV_CALL_RECORDS_EVENT)
                continue;
            uint32_t scope = vv_scope_of_track(model, model->slices.track[slice]);
            if (pass == 0)
                vv_id_range_add(&range, scope, activities->correlation[a]);
            else
                *vv_id_map_put(waits->records, scope, activities->correlation[a]) = slice;
        }
        if (pass == 0)
            VV_TRY(vv_id_map_in(waits->graph->building, &waits->records, &range, error));
    }
    return VARVE_OK;
}

/* ---- one call ---- */

/* The node of the call's thread, up to the call's end, that the thread reached first behind the
 * instant. Calls inside the call wait as it does: a driver's call in the runtime's. */
static uint32_t node_behind(const struct waits *waits, uint32_t call, int64_t time_ns)
{
    const struct vv_critical_graph *graph = waits->graph;
    uint32_t first = graph->start_of[call], last = graph->end_of[call] - 1;
    return VV_FIRST_NOT(i, first, last, graph->time_ns[i] < time_ns);
}

static bool is_inside(const struct vv_model *model, uint32_t slice, uint32_t call)
{
    while (slice != VV_NONE && slice != call)
        slice = model->slices.parent[slice];
    return slice == call;
}

/* Adds an edge from the work's end to the call's end, if the call did not end first. */
static enum varve_code wait_for(struct waits *waits, uint32_t call,
                                const struct vv_stream_work *work, struct varve_error *error)
{
    struct vv_critical_graph *graph = waits->graph;
    uint32_t end = graph->end_of[call];
    if (end == 0 || work->end_ns > graph->time_ns[--end])
        return VARVE_OK;
    uint32_t node = graph->start_of[call] != 0 ? node_behind(waits, call, work->end_ns) : end;
    if (graph->link[node] == VV_LINK_OWN && work->end_ns > graph->time_ns[node - 1] &&
        is_inside(waits->model, graph->owner[node], call))
        graph->link[node] = VV_LINK_WAITING;
    if (!work->is_inside)
        return VARVE_OK;
    /* The work has no nodes yet: vv_critical_device makes the nodes and these edges. */
    VV_TRY(VV_SCRATCH_RESERVE(waits->graph->building, &waits->streams->waiting,
                              &waits->streams->waiting_capacity, waits->streams->waiting_count + 1,
                              error));
    waits->streams->waiting[waits->streams->waiting_count++] =
        (struct vv_critical_waiting){ (uint32_t)(work - waits->streams->work), call, true };
    return VARVE_OK;
}

struct awaited {
    uint32_t scope, device;  /* device VV_NONE: any                                              */
    int64_t stream;          /* -1: any                                                          */
    bool is_every;           /* wait for the last work of each stream, not for the last work of
                                all */
};

static bool is_awaited(const struct vv_critical_stream *stream, const struct awaited *awaited)
{
    return stream->scope == awaited->scope &&
           (awaited->device == VV_NONE || stream->device == awaited->device) &&
           (awaited->stream < 0 || stream->number == awaited->stream);
}

/* The first row of by_end that ends after time_ns. */
static size_t first_after(const struct vv_critical_streams *streams, int64_t time_ns)
{
    return VV_FIRST_NOT(i, 0, streams->count, streams->work[streams->by_end[i]].end_ns <= time_ns);
}

/* Waits for work that was launched before the call and ended during it. Searches backwards from the
 * call's end. */
static enum varve_code wait_by_time(struct waits *waits, uint32_t call,
                                    const struct awaited *awaited, struct varve_error *error)
{
    const struct vv_slices *slices = &waits->model->slices;
    int64_t begin_ns = slices->begin_ns[call], end_ns = begin_ns + slices->duration_ns[call];
    waits->call_number++;
    for (size_t i = first_after(waits->streams, end_ns); i > 0 && waits->patience > 0;
         i--, waits->patience--) {
        const struct vv_stream_work *work = &waits->streams->work[waits->streams->by_end[i - 1]];
        if (work->end_ns <= begin_ns)
            break;
        if (work->launched_ns >= begin_ns || waits->seen[work->stream] == waits->call_number ||
            !is_awaited(&waits->streams->streams[work->stream], awaited))
            continue;
        waits->seen[work->stream] = waits->call_number;
        VV_TRY(wait_for(waits, call, work, error));
        if (!awaited->is_every)
            break;
    }
    return VARVE_OK;
}

/* ---- events ---- */

/* The order is that of the streams. */
static bool lies_before(const struct vv_critical_stream *stream, const struct awaited *awaited)
{
    return stream->scope != awaited->scope     ? stream->scope < awaited->scope
           : stream->device != awaited->device ? stream->device < awaited->device
                                               : stream->number < awaited->stream;
}

static const struct vv_critical_stream *find_stream(const struct vv_critical_streams *streams,
                                                    const struct awaited *awaited)
{
    size_t first =
        VV_FIRST_NOT(i, 0, streams->stream_count, lies_before(&streams->streams[i], awaited));
    return first < streams->stream_count && is_awaited(&streams->streams[first], awaited)
               ? &streams->streams[first]
               : NULL;
}

/* The first work of the stream that was launched at time_ns or later: a row of work, or the
 * stream's `last`. */
static size_t launched_from(const struct vv_critical_streams *streams,
                            const struct vv_critical_stream *stream, int64_t time_ns)
{
    return VV_FIRST_NOT(i, stream->first, stream->last, streams->work[i].launched_ns < time_ns);
}

/* The last work before the instant at which the awaited event was recorded: a row of work, or
 * SIZE_MAX. */
static size_t recorded_work(const struct waits *waits, uint32_t sync, struct awaited awaited)
{
    struct vv_named_event event = vv_named_event(waits->model, sync);
    awaited.stream = event.stream;
    uint32_t call = event.record > 0
                        ? vv_id_map_find(waits->records, awaited.scope, (uint64_t)event.record)
                        : VV_NONE;
    const struct vv_critical_stream *stream =
        call != VV_NONE && awaited.stream >= 0 ? find_stream(waits->streams, &awaited) : NULL;
    if (stream == NULL)
        return SIZE_MAX;
    size_t row = launched_from(waits->streams, stream, waits->model->slices.begin_ns[call]);
    return row > stream->first ? row - 1 : SIZE_MAX;
}

/* Work of the waiting stream that was launched after the wait begins after the recorded work. */
static enum varve_code work_waits(struct waits *waits, size_t from, uint32_t call,
                                  const struct awaited *awaited, struct varve_error *error)
{
    struct vv_critical_streams *streams = waits->streams;
    const struct vv_critical_stream *stream =
        awaited->stream >= 0 ? find_stream(streams, awaited) : NULL;
    if (stream == NULL)
        return VARVE_OK;
    size_t to = launched_from(streams, stream, waits->model->slices.begin_ns[call]);
    if (to == stream->last || streams->work[from].end_ns > streams->work[to].begin_ns || from == to)
        return VARVE_OK;
    if (streams->work[from].end_ns > streams->work[to].waited_ns)
        streams->work[to].waited_ns = streams->work[from].end_ns;
    VV_TRY(VV_SCRATCH_RESERVE(waits->graph->building, &streams->waiting, &streams->waiting_capacity,
                              streams->waiting_count + 1, error));
    streams->waiting[streams->waiting_count++] =
        (struct vv_critical_waiting){ (uint32_t)from, (uint32_t)to, false };
    return VARVE_OK;
}

/* ---- all waits ---- */

static enum varve_code take_sync(struct waits *waits, uint32_t activity, bool *is_known,
                                 struct varve_error *error)
{
    const struct vv_activities *activities = &waits->model->activities;
    uint32_t sync = activities->slice[activity], call = activities->launch[activity];
    enum vv_call_kind kind = kind_of(waits, sync);
    if (call == VV_NONE || kind < VV_CALL_AWAITS_DEVICE || kind > VV_CALL_AWAITS_WORK)
        return VARVE_OK;
    struct awaited awaited = {
        .scope = vv_scope_of_track(waits->model, waits->model->slices.track[call]),
        .device = activities->device[activity],
        .stream = kind == VV_CALL_AWAITS_STREAM || kind == VV_CALL_AWAITS_WORK
                      ? activities->stream[activity]
                      : -1,
        .is_every = kind == VV_CALL_AWAITS_DEVICE,
    };
    is_known[call] = true;
    if (kind == VV_CALL_AWAITS_DEVICE || kind == VV_CALL_AWAITS_STREAM)
        return wait_by_time(waits, call, &awaited, error);
    size_t row = recorded_work(waits, sync, awaited);
    if (row == SIZE_MAX)
        return kind == VV_CALL_AWAITS_EVENT ? wait_by_time(waits, call, &awaited, error) : VARVE_OK;
    return kind == VV_CALL_AWAITS_EVENT ? wait_for(waits, call, &waits->streams->work[row], error)
                              : work_waits(waits, row, call, &awaited, error);
}

/* `stream` is that of the call, or -1: not known. */
static enum varve_code take_call(struct waits *waits, uint32_t call, int64_t stream,
                                 struct varve_error *error)
{
    enum vv_call_kind kind = kind_of(waits, call);
    if (kind != VV_CALL_AWAITS_DEVICE && kind != VV_CALL_AWAITS_STREAM &&
        kind != VV_CALL_AWAITS_EVENT)
        return VARVE_OK;
    struct awaited awaited = {
        .scope = vv_scope_of_track(waits->model, waits->model->slices.track[call]),
        .device = VV_NONE,
        .stream = kind == VV_CALL_AWAITS_STREAM ? stream : -1,
        .is_every = kind == VV_CALL_AWAITS_DEVICE,
    };
    return wait_by_time(waits, call, &awaited, error);
}

/* Ranges of a runtime that say nothing but what they are called. */
static enum varve_code take_ranges(struct waits *waits, struct varve_error *error)
{
    const struct vv_slices *slices = &waits->model->slices;
    for (uint32_t row = 0; row < slices->table.count; row++)
        if ((slices->layer[row] & (VARVE_LAYER_RUNTIME | VARVE_LAYER_RUNTIME_L1)) != 0 &&
            slices->activity[row] == VV_NONE && waits->graph->start_of[row] != 0)
            VV_TRY(take_call(waits, row, -1, error));
    return VARVE_OK;
}

static enum varve_code take_all(struct waits *waits, bool *is_known, struct varve_error *error)
{
    const struct vv_activities *activities = &waits->model->activities;
    uint64_t count = activities->table.count;
    VV_TRY(map_records(waits, error));
    for (uint32_t a = 0; a < count; a++)
        if (activities->kind[a] == VV_ACTIVITY_SYNC && activities->slice[a] != VV_NONE)
            VV_TRY(take_sync(waits, a, is_known, error));
    for (uint32_t a = 0; a < count; a++)
        if (activities->kind[a] == VV_ACTIVITY_CALL && activities->slice[a] != VV_NONE &&
            !is_known[activities->slice[a]] && waits->graph->start_of[activities->slice[a]] != 0)
            VV_TRY(take_call(waits, activities->slice[a], activities->stream[a], error));
    VV_TRY(take_ranges(waits, error));
    for (size_t i = 0; i < waits->streams->count; i++) {
        const struct vv_stream_work *work = &waits->streams->work[i];
        if (work->is_inside && work->launch != VV_NONE &&
            kind_of(waits, work->launch) == VV_CALL_COPIES)
            VV_TRY(wait_for(waits, work->launch, work, error));
    }
    return VARVE_OK;
}

enum varve_code vv_critical_waits(struct vv_critical_graph *graph, const struct vv_scope *scope,
                                  struct vv_critical_streams *streams, struct varve_error *error)
{
    const struct vv_model *model = scope->model;
    struct vv_scratch *scratch = graph->building;
    struct waits waits = { .graph = graph, .streams = streams, .model = model,
                           .patience = UINT64_C(1000000) + 16 * (uint64_t)streams->count };
    bool *is_known;
    if (streams->count == 0)
        return VARVE_OK;
    VV_TRY(VV_SCRATCH_ZEROS(scratch, &waits.kind_by_name, model->strings.count, error));
    VV_TRY(VV_SCRATCH_ZEROS(scratch, &waits.seen, streams->stream_count, error));
    VV_TRY(VV_SCRATCH_ZEROS(scratch, &is_known, model->slices.table.count, error));
    return take_all(&waits, is_known, error);
}
