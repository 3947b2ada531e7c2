/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/critical/stream.h"

#include <stdlib.h>
#include <string.h>

#include "base/radix.h"

struct vv_named_event vv_named_event(const struct vv_model *model, uint32_t slice)
{
    uint32_t activity = model->slices.activity[slice];
    uint32_t wait = activity != VV_NONE ? model->activities.wait[activity] : VV_NONE;
    if (wait == VV_NONE)
        return (struct vv_named_event){ -1, -1 };
    return (struct vv_named_event){ model->waits.stream[wait], model->waits.correlation[wait] };
}

static int by_place(const void *a, const void *b)
{
    const struct vv_critical_stream *left = a, *right = b;
    if (left->scope != right->scope)
        return left->scope < right->scope ? -1 : 1;
    if (left->device != right->device)
        return left->device < right->device ? -1 : 1;
    if (left->number != right->number)
        return left->number < right->number ? -1 : 1;
    return (left->track > right->track) - (left->track < right->track);
}

/* Sorts the streams, and counts the work of each. stream_of: row of a track -> its stream + 1. */
static void find_streams(struct vv_critical_streams *streams, const struct vv_device_work *work,
                         uint32_t *stream_of)
{
    const struct vv_model *model = work->scope->model;
    for (size_t d = 0; d < work->device_count; d++)
        for (size_t i = work->devices[d].first; i < work->devices[d].last; i++) {
            uint32_t activity = work->items[i].activity,
                     track = model->slices.track[model->activities.slice[activity]];
            if (stream_of[track] == 0) {
                int64_t number = model->activities.stream[activity];
                streams->streams[streams->stream_count++] = (struct vv_critical_stream){
                    track, work->devices[d].scope, work->devices[d].id,
                    number >= 0 ? number : model->tracks.tid[track],
                    work->devices[d].rank, 0, 0,
                };
                stream_of[track] = streams->stream_count;
            }
            streams->streams[stream_of[track] - 1].last++;
        }
    qsort(streams->streams, streams->stream_count, sizeof *streams->streams, by_place);
    size_t first = 0;
    for (uint32_t s = 0; s < streams->stream_count; s++) {
        size_t count = streams->streams[s].last;
        streams->streams[s].first = streams->streams[s].last = first;
        stream_of[streams->streams[s].track] = s + 1;
        first += count;
    }
}

/* Is the work of a thread that was chosen? A call on a queue of the runtime's own is on none. */
static bool is_of_chosen_thread(const struct vv_scope *scope, uint32_t launch)
{
    const struct vv_model *model = scope->model;
    uint32_t track = launch != VV_NONE ? model->slices.track[launch] : VV_NONE;
    return track == VV_NONE || scope->tracks[track] || model->tracks.kind[track] != VV_TRACK_THREAD;
}

/* Work is inside if it was launched in the window, or before the window and not done when the
 * window begins. Work of the window may wait for such earlier work. */
static bool is_inside(const struct vv_critical_window *window, int64_t launched_ns, int64_t end_ns)
{
    return launched_ns < window->end_ns &&
           (launched_ns >= window->begin_ns || end_ns > window->begin_ns);
}

static void place_work(struct vv_critical_streams *streams, const struct vv_device_work *work,
                       const struct vv_critical_windows *windows, const uint32_t *stream_of)
{
    const struct vv_model *model = work->scope->model;
    for (size_t i = 0; i < work->count; i++) {
        const struct vv_work_item *item = &work->items[i];
        uint32_t slice = model->activities.slice[item->activity],
                 launch = model->activities.launch[item->activity];
        uint32_t stream = stream_of[model->slices.track[slice]] - 1;
        int64_t launched_ns = launch != VV_NONE ? model->slices.begin_ns[launch] : item->begin_ns;
        const struct vv_critical_window *window =
            &windows->items[streams->streams[stream].scope];
        int64_t begin_ns = item->begin_ns;
        if (launched_ns < window->begin_ns && begin_ns < window->begin_ns &&
            item->end_ns > window->begin_ns)
            begin_ns = window->begin_ns;
        struct vv_stream_work row = {
            begin_ns, item->end_ns, launched_ns, INT64_MIN, slice, launch, item->activity, stream,
            item->class,
            is_of_chosen_thread(work->scope, launch) &&
                is_inside(window, launched_ns, item->end_ns),
        };
        streams->work[streams->streams[stream].last++] = row;
        streams->inside += row.is_inside;
    }
    streams->count = work->count;
}

static enum varve_code order_by_end(struct vv_critical_streams *streams, struct vv_scratch *scratch,
                                    struct varve_error *error)
{
    struct vv_keyed_row *keys;
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &keys, streams->count, error));
    for (size_t i = 0; i < streams->count; i++) /* keeps the order of signed numbers */
        keys[i] = (struct vv_keyed_row){ (uint64_t)streams->work[i].end_ns ^ UINT64_C(1) << 63,
                                         (uint32_t)i };
    VV_TRY(vv_radix_sort(keys, streams->count, error));
    for (size_t i = 0; i < streams->count; i++)
        streams->by_end[i] = keys[i].row;
    return VARVE_OK;
}

enum varve_code
vv_critical_streams_init(struct vv_critical_streams *streams, struct vv_critical_graph *graph,
                         const struct vv_scope *scope, const struct vv_question *question,
                         const struct vv_critical_windows *windows, struct varve_error *error)
{
    /* Reads all work, not only that of the selected steps: earlier and later work decides which
     * queues were empty. */
    struct vv_scope whole = vv_scope_of_whole_devices(scope);
    struct vv_scratch *scratch = graph->building;
    struct vv_device_work work;
    size_t tracks = (size_t)graph->model->tracks.table.count;
    uint32_t *stream_of;
    *streams = (struct vv_critical_streams){ 0 };
    whole.every_step = whole.keeps_warm_up = true;
    whole.scratch = scratch;
    VV_TRY(VV_SCRATCH_ZEROS(scratch, &stream_of, tracks, error));
    VV_TRY(VV_SCRATCH_ZEROS(scratch, &streams->streams, tracks + 1, error));
    VV_TRY(vv_device_work_init(&work, &whole, question->selection.device, error));
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &streams->work, work.count, error));
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &streams->by_end, work.count, error));
    find_streams(streams, &work, stream_of);
    place_work(streams, &work, windows, stream_of);
    return order_by_end(streams, scratch, error);
}
