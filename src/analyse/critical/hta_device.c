/* SPDX-License-Identifier: Apache-2.0 */
/* hta_device.c — compat hta, the edges of devices: queues, waits, and one or more edges to each
 * piece of work. */
#include <stdlib.h>
#include <string.h>

#include "analyse/critical/hta.h"
#include "analyse/critical/stream.h"
#include "model/id_map.h"
#include "numbers/pair_ids.h"

#define QUEUE_GAP_MAX_NS 1500000

struct device {
    struct vv_hta *hta;
    struct vv_groups streams;   /* stream number -> dense number; HTA does not tell devices apart */
    uint32_t *stream_of;        /* row -> dense stream; VV_NONE = no stream                       */
    int32_t *queue;             /* row -> length of the queue just after it; -1 = not counted */
    uint32_t *launched_before;  /* row of a recording call -> the launch before it on the stream
                                   that waits for the event name */
    uint32_t *launched_after;   /* row of a waiting call -> the next launch of its thread and
                                   stream */
    uint32_t *waits_for;        /* row of work -> the work that it waits for; or VV_NONE          */
    uint32_t *last;             /* dense stream -> its last work so far; VV_NONE                  */
    uint32_t *met;              /* streams in the order in which they were found                  */
    uint32_t met_count;
    uint64_t patience;          /* how many more edges waits for a whole device may make          */
    struct vv_id_map *recorded; /* correlation of a recording call -> dense stream that waits for
                                   the event name */
    struct vv_id_map *records;  /* correlation of a recording call -> its row                    */
};

/* ---- sorting rows ---- */

struct keyed { int64_t key, tie; uint32_t row; };

static int by_key(const void *a, const void *b)
{
    const struct keyed *left = a, *right = b;
    if (left->key != right->key)
        return left->key < right->key ? -1 : 1;
    if (left->tie != right->tie)
        return left->tie < right->tie ? -1 : 1;
    return (left->row > right->row) - (left->row < right->row);
}

static bool is_stream_work(const struct vv_hta_row *row)
{
    return row->stream != -1 && row->is_kept;
}

/* True if the row is a launch whose work is in the trace. */
static bool starts_work(const struct vv_hta *hta, const struct vv_hta_row *row)
{
    return vv_hta_is_launch(row) && !row->is_device && row->is_kept && row->partner != VV_NONE &&
           is_stream_work(&hta->rows[row->partner]);
}

/* ---- queues, and the launches around calls that record or wait ---- */

enum tie { TIE_LAUNCH, TIE_CALL, TIE_WORK };

static size_t collect(struct device *device, struct keyed *keys)
{
    const struct vv_hta *hta = device->hta;
    size_t count = 0;
    for (uint32_t i = 0; i < hta->count; i++) {
        const struct vv_hta_row *row = &hta->rows[i];
        bool is_call = row->role == VV_HTA_RECORD || row->role == VV_HTA_STREAM_WAIT_CALL;
        if (starts_work(hta, row))
            keys[count++] = (struct keyed){ row->begin_ns, TIE_LAUNCH, i };
        else if (is_call && row->is_kept)
            keys[count++] = (struct keyed){ row->begin_ns, TIE_CALL, i };
        else if (is_stream_work(row) && row->partner != VV_NONE &&
                 starts_work(hta, &hta->rows[row->partner]))
            keys[count++] = (struct keyed){ row->begin_ns, TIE_WORK, i };
    }
    qsort(keys, count, sizeof *keys, by_key);
    return count;
}

static void count_queues(struct device *device, const struct keyed *keys, size_t count,
                         int32_t *length)
{
    const struct vv_hta *hta = device->hta;
    for (size_t i = 0; i < count; i++) {
        uint32_t row = keys[i].row;
        if (keys[i].tie == TIE_CALL)
            continue;
        uint32_t stream =
            device->stream_of[keys[i].tie == TIE_LAUNCH ? hta->rows[row].partner : row];
        length[stream] += keys[i].tie == TIE_LAUNCH ? 1 : -1;
        device->queue[row] = length[stream];
    }
}

static enum varve_code map_records(struct device *device, struct varve_error *error)
{
    const struct vv_hta *hta = device->hta;
    struct vv_id_range recorded = { 0 }, records = { 0 };
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < hta->count; i++) {
            const struct vv_hta_row *row = &hta->rows[i];
            bool is_wait = row->role == VV_HTA_STREAM_WAIT || row->role == VV_HTA_EVENT_SYNC;
            struct vv_named_event event = is_wait ? vv_named_event(hta->model, row->slice)
                                                  : (struct vv_named_event){ -1, -1 };
            int64_t stream = event.stream, record = event.record;
            if (pass == 0 && row->is_kept && stream >= 0 && record >= 0)
                vv_id_range_add(&recorded, row->scope, (uint64_t)record);
            if (pass == 0 && row->role == VV_HTA_RECORD && row->correlation != 0)
                vv_id_range_add(&records, row->scope, row->correlation);
            if (pass == 1 && row->is_kept && stream >= 0 && record >= 0)
                VV_TRY(vv_groups_add(&device->streams, (uint32_t)stream, 0,
                                     vv_id_map_put(device->recorded, row->scope, (uint64_t)record),
                                     error));
            if (pass == 1 && row->role == VV_HTA_RECORD && row->correlation != 0)
                *vv_id_map_put(device->records, row->scope, row->correlation) = i;
        }
        if (pass == 0) {
            VV_TRY(vv_id_map_in(hta->graph->building, &device->recorded, &recorded, error));
            VV_TRY(vv_id_map_in(hta->graph->building, &device->records, &records, error));
        }
    }
    return VARVE_OK;
}

static void find_launches_before(struct device *device, const struct keyed *keys, size_t count)
{
    const struct vv_hta *hta = device->hta;
    for (size_t i = 0; i < count; i++) {
        const struct vv_hta_row *row = &hta->rows[keys[i].row];
        if (keys[i].tie == TIE_LAUNCH)
            device->last[device->stream_of[row->partner]] = keys[i].row;
        if (row->role != VV_HTA_RECORD || row->correlation == 0)
            continue;
        uint32_t stream = vv_id_map_find(device->recorded, row->scope, row->correlation);
        device->launched_before[keys[i].row] = stream != VV_NONE ? device->last[stream] : VV_NONE;
    }
}

/* Of the same thread only: HTA reads no other. `next`: (thread, stream) -> row */
static enum varve_code find_launches_after(struct device *device, const struct keyed *keys,
                                           size_t count, struct varve_error *error)
{
    const struct vv_hta *hta = device->hta;
    struct vv_groups pairs = { .scratch = hta->graph->building };
    uint32_t *next;
    VV_TRY(VV_SCRATCH_ARRAY(hta->graph->building, &next, count, error));
    for (size_t i = count; i > 0; i--) {
        const struct vv_hta_row *row = &hta->rows[keys[i - 1].row];
        uint32_t pair, known = pairs.count;
        if ((keys[i - 1].tie != TIE_LAUNCH && row->role != VV_HTA_STREAM_WAIT_CALL) ||
            row->partner == VV_NONE || device->stream_of[row->partner] == VV_NONE)
            continue;
        VV_TRY(vv_groups_add(&pairs, device->stream_of[row->partner],
                             hta->model->slices.track[row->slice], &pair, error));
        if (pairs.count > known)
            next[pair] = VV_NONE;
        if (keys[i - 1].tie == TIE_LAUNCH)
            next[pair] = keys[i - 1].row;
        else
            device->launched_after[keys[i - 1].row] = next[pair];
    }
    return VARVE_OK;
}

static enum varve_code prepare(struct device *device, struct keyed *keys, struct varve_error *error)
{
    struct vv_hta *hta = device->hta;
    for (uint32_t i = 0; i < hta->count; i++) {
        device->queue[i] = -1;
        device->stream_of[i] = device->launched_before[i] = device->launched_after[i] =
            device->waits_for[i] = VV_NONE;
        if (hta->rows[i].stream != -1)
            VV_TRY(vv_groups_add(&device->streams, (uint32_t)hta->rows[i].stream, 0,
                                 &device->stream_of[i], error));
    }
    VV_TRY(map_records(device, error));
    struct vv_scratch *scratch = hta->graph->building;
    int32_t *length;
    VV_TRY(VV_SCRATCH_ZEROS(scratch, &length, device->streams.count, error));
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &device->last, device->streams.count, error));
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &device->met, device->streams.count, error));
    size_t count = collect(device, keys);
    count_queues(device, keys, count, length);
    memset(device->last, 0xff, device->streams.count * sizeof *device->last);
    find_launches_before(device, keys, count);
    memset(device->last, 0xff, device->streams.count * sizeof *device->last);
    return find_launches_after(device, keys, count, error);
}

/* ---- the edges ---- */

static enum varve_code sync_edge(struct device *device, uint32_t work, uint32_t call,
                                 struct varve_error *error)
{
    const struct vv_hta_row *rows = device->hta->rows;
    if (work == VV_NONE || call == VV_NONE || rows[work].end == VV_NONE ||
        rows[call].end == VV_NONE)
        return VARVE_OK;
    return vv_hta_edge(device->hta, rows[work].end, rows[call].end, VV_LINK_WAIT, VV_NONE, error);
}

static enum varve_code take_sync(struct device *device, const struct vv_hta_row *row,
                                 struct varve_error *error)
{
    struct vv_hta *hta = device->hta;
    if (row->role == VV_HTA_STREAM_SYNC && row->stream != -1)
        return sync_edge(device, device->last[device->stream_of[row - hta->rows]], row->partner,
                         error);
    if (row->role == VV_HTA_CONTEXT_SYNC) {
        if (device->met_count > device->patience)
            VV_FAIL(error, VARVE_LIMIT, "too many waits for too many streams to go by HTA's rules");
        device->patience -= device->met_count;
        for (uint32_t s = 0; s < device->met_count; s++)
            VV_TRY(sync_edge(device, device->last[device->met[s]], row->partner, error));
        return VARVE_OK;
    }
    int64_t record = vv_named_event(hta->model, row->slice).record;
    uint32_t number =
        record >= 0 ? vv_id_map_find(device->records, row->scope, (uint64_t)record) : VV_NONE;
    uint32_t before = number != VV_NONE ? device->launched_before[number] : VV_NONE;
    if (before == VV_NONE || row->partner == VV_NONE)
        return VARVE_OK;
    if (row->role == VV_HTA_EVENT_SYNC)
        return sync_edge(device, hta->rows[before].partner, row->partner, error);
    uint32_t next =
        row->role == VV_HTA_STREAM_WAIT ? device->launched_after[row->partner] : VV_NONE;
    if (next != VV_NONE)
        device->waits_for[hta->rows[next].partner] = hta->rows[before].partner;
    return VARVE_OK;
}

static enum varve_code take_work(struct device *device, const struct vv_hta_row *row,
                                 struct varve_error *error)
{
    struct vv_hta *hta = device->hta;
    uint32_t number = (uint32_t)(row - hta->rows), stream = device->stream_of[number];
    const struct vv_hta_row *call = row->partner != VV_NONE ? &hta->rows[row->partner] : NULL;
    const struct vv_hta_row *last =
        device->last[stream] != VV_NONE ? &hta->rows[device->last[stream]] : NULL;
    uint32_t waited = device->waits_for[number];
    waited = waited != VV_NONE && hta->rows[waited].end != VV_NONE ? waited : VV_NONE;
    VV_TRY(vv_hta_edge(hta, row->start, row->end, VV_LINK_OWN, row->slice, error));
    if (waited != VV_NONE)
        VV_TRY(vv_hta_edge(hta, hta->rows[waited].end, row->start, VV_LINK_WAIT, VV_NONE, error));
    bool was_empty = call != NULL && device->queue[row->partner] == 1 &&
                     device->queue[number] == 0 &&
                     (last == NULL || last->end_ns < call->begin_ns) &&
                     (waited == VV_NONE || hta->rows[waited].end_ns < call->begin_ns);
    if (!was_empty && last != NULL && row->begin_ns - last->end_ns < QUEUE_GAP_MAX_NS &&
        (waited == VV_NONE || hta->rows[waited].end_ns < last->end_ns))
        VV_TRY(vv_hta_edge(hta, last->end, row->start, VV_LINK_QUEUE, last->slice, error));
    if (call != NULL && call->start != VV_NONE)
        VV_TRY(vv_hta_edge(hta, call->start, row->start, was_empty ? VV_LINK_LAUNCH : VV_LINK_CAUSE,
                           row->slice, error));
    if (last == NULL)
        device->met[device->met_count++] = stream;
    device->last[stream] = number;
    return VARVE_OK;
}

static enum varve_code take_all(struct device *device, struct keyed *keys,
                                struct varve_error *error)
{
    struct vv_hta *hta = device->hta;
    size_t count = 0;
    for (uint32_t i = 0; i < hta->count; i++) {
        const struct vv_hta_row *row = &hta->rows[i];
        bool is_sync = row->role >= VV_HTA_STREAM_WAIT && row->role <= VV_HTA_CONTEXT_SYNC;
        if (row->is_inside && row->is_device)
            keys[count++] = (struct keyed){ is_sync ? row->end_ns : row->begin_ns, 0, i };
    }
    qsort(keys, count, sizeof *keys, by_key);
    for (size_t i = 0; i < count; i++) {
        const struct vv_hta_row *row = &hta->rows[keys[i].row];
        bool is_sync = row->role >= VV_HTA_STREAM_WAIT && row->role <= VV_HTA_CONTEXT_SYNC;
        VV_TRY(is_sync ? take_sync(device, row, error) : take_work(device, row, error));
    }
    return VARVE_OK;
}

enum varve_code vv_hta_device(struct vv_hta *hta, struct varve_error *error)
{
    struct vv_scratch *scratch = hta->graph->building;
    size_t rows = hta->count;
    struct device device = { .hta = hta, .streams = { .scratch = scratch },
                             .patience = UINT64_C(1000000) + 64 * ((uint64_t)rows + 1) };
    uint32_t **const by_row[] = { &device.stream_of, &device.launched_before,
                                  &device.launched_after, &device.waits_for };
    struct keyed *keys;
    for (size_t i = 0; i < sizeof by_row / sizeof *by_row; i++)
        VV_TRY(VV_SCRATCH_ARRAY(scratch, by_row[i], rows, error));
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &device.queue, rows, error));
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &keys, rows, error));
    VV_TRY(prepare(&device, keys, error));
    return take_all(&device, keys, error);
}
