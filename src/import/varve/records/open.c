/* SPDX-License-Identifier: Apache-2.0 */
#include "import/varve/records/open.h"

#include <string.h>

#include "base/array.h"
#include "varve/varve.h"

enum varve_code vv_stream_track(struct vv_stream_reader *stream, uint32_t *out_track,
                                struct varve_error *error)
{
    if (stream->track == VV_NONE) {
        struct vv_model *model = stream->process->model;
        VV_TRY(vv_model_add_track(model, &stream->track, error));
        model->tracks.process[stream->track] = stream->process->process;
        model->tracks.kind[stream->track] = VV_TRACK_THREAD;
        model->tracks.tid[stream->track] = (int64_t)stream->packets->tid;
    }
    *out_track = stream->track;
    return VARVE_OK;
}

/* Sets what finish would find. It is known here, because the open ranges are a stack: see
 * place_slices() in stream.c. */
static void nest(struct vv_stream_reader *stream, const struct vv_range *what,
                 struct vv_open_range *range)
{
    struct vv_slices *slices = &stream->process->model->slices;
    uint32_t row = range->slice;
    if (what->is_step)
        slices->flags[row] |= VV_SLICE_STEP;
    if (stream->open.count == 0)
        return;
    const struct vv_open_range *parent = &stream->open.items[stream->open.count - 1];
    slices->parent[row] = parent->slice;
    slices->depth[row] = (uint32_t)stream->open.count;
    range->phase = parent->phase;
    range->in_step = what->is_step || parent->in_step;
    if (parent->phase != VV_NONE)
        slices->phase[row] = parent->phase;
    if (what->layer == VARVE_LAYER_STEP && !what->is_step && parent->in_step) {
        slices->flags[row] |= VV_SLICE_PHASE;
        range->phase = row;
    }
}

enum varve_code vv_range_begin(struct vv_stream_reader *stream, const struct vv_range *range,
                               struct varve_error *error)
{
    struct vv_slices *slices = &stream->process->model->slices;
    struct vv_open_range opened = { .begin_ns = stream->time_ns, .step = VV_NONE, .phase = VV_NONE,
                                    .in_step = range->is_step };
    uint32_t track;
    VV_TRY(vv_stream_track(stream, &track, error));
    VV_TRY(vv_array_reserve(&stream->open.items, &stream->open.capacity, stream->open.count + 1,
                            sizeof opened, error));
    VV_TRY(vv_model_add_slice(stream->process->model, &opened.slice, error));
    slices->begin_ns[opened.slice] = stream->time_ns;
    slices->name[opened.slice] = range->name;
    slices->layer[opened.slice] = range->layer;
    slices->source[opened.slice] = range->source;
    slices->track[opened.slice] = track;
    nest(stream, range, &opened);
    stream->open.items[stream->open.count++] = opened;
    return VARVE_OK;
}

void vv_range_close(struct vv_stream_reader *stream, int64_t end_ns, uint8_t flags)
{
    struct vv_model *model = stream->process->model;
    struct vv_open_range range = stream->open.items[--stream->open.count];
    int64_t duration_ns = end_ns - range.begin_ns;
    model->slices.duration_ns[range.slice] = duration_ns;
    model->slices.self_ns[range.slice] = duration_ns - range.inside_ns;
    model->slices.flags[range.slice] |= flags;
    stream->has_empty |= duration_ns == 0;
    if (stream->open.count > 0)
        stream->open.items[stream->open.count - 1].inside_ns += duration_ns;
    if (flags & VV_SLICE_UNFINISHED)
        model->health.unfinished++;
    if (range.step != VV_NONE)
        model->steps.duration_ns[range.step] = duration_ns;
}

static void count_unmatched(struct vv_stream_reader *stream)
{
    struct vv_health *health = &stream->process->model->health;
    if (stream->lacks_begin)
        health->begun_before++;
    else
        health->unmatched_ends++;
}

void vv_range_end(struct vv_stream_reader *stream)
{
    if (stream->open.count == 0)
        count_unmatched(stream);
    else
        vv_range_close(stream, stream->time_ns, 0);
}

void vv_range_end_under(struct vv_stream_reader *stream, uint64_t ranges)
{
    struct vv_slices *slices = &stream->process->model->slices;
    struct vv_open_range *open = stream->open.items;
    if (ranges == 0 || ranges >= stream->open.count) {
        if (ranges == 0)
            vv_range_end(stream);
        else
            count_unmatched(stream);
        return;
    }
    size_t at = stream->open.count - 1 - (size_t)ranges;
    const struct vv_open_range ended = open[at];
    uint32_t next = open[at + 1].slice;
    int64_t duration_ns = open[at + 1].begin_ns - ended.begin_ns;
    slices->duration_ns[ended.slice] = duration_ns;
    slices->self_ns[ended.slice] = duration_ns - ended.inside_ns;
    stream->has_empty |= duration_ns == 0;
    if (ended.step != VV_NONE)
        stream->process->model->steps.duration_ns[ended.step] = duration_ns;
    if (at > 0)
        open[at - 1].inside_ns += duration_ns;
    slices->parent[next] = at > 0 ? open[at - 1].slice : VV_NONE;
    for (uint64_t row = next; row < slices->table.count; row++)
        slices->depth[row] -= slices->track[row] == stream->track;
    memmove(&open[at], &open[at + 1], (stream->open.count - 1 - at) * sizeof *open);
    stream->open.count--;
}

void vv_range_close_all(struct vv_stream_reader *stream, int64_t end_ns, uint8_t flags)
{
    while (stream->open.count > 0)
        vv_range_close(stream, end_ns, flags);
}

/* Steps do not nest. So all open ranges of this thread began inside the step, which began before
 * the first record. */
void vv_step_end_alone(struct vv_stream_reader *stream)
{
    count_unmatched(stream);
    if (stream->lacks_begin)
        vv_range_close_all(stream, stream->time_ns, 0);
}
