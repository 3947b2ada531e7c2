/* SPDX-License-Identifier: Apache-2.0 */
/* points.c — reads the records of trace points: where they were marked, and where they were to be
 * marked. */
#include "import/varve/records/points.h"

#include <endian.h>

#include "ctf/point_tag.h"
#include "import/varve/records/open.h"
#include "import/varve/records/stream.h"

static uint64_t word(const struct vv_record *record, size_t index)
{
    return le64toh(record->payload[index]);
}

/* Adds a point that lies at this instant on this track. */
static enum varve_code add_point(struct vv_process_reader *process,
                                 const struct vv_device_mark *mark, int64_t time_ns,
                                 uint32_t track, struct varve_error *error)
{
    struct vv_trace_points *points = &process->model->trace_points;
    const struct vv_point_tag tag = vv_point_tag(mark->tag);
    uint32_t row;
    VV_TRY(vv_model_add_trace_point(process->model, &row, error));
    points->time_ns[row] = time_ns;
    points->model[row] = mark->model;
    points->iteration[row] = mark->iteration;
    points->stream[row] = mark->stream;
    points->track[row] = track;
    points->kind[row] = tag.kind;
    points->index[row] = tag.index;
    points->is_end[row] = tag.is_end;
    return VARVE_OK;
}

enum varve_code vv_trace_mark_read(struct vv_stream_reader *stream, const struct vv_record *record,
                                   struct varve_error *error)
{
    struct vv_process_reader *process = stream->process;
    struct vv_device_mark mark = { word(record, 1), word(record, 2), (int64_t)word(record, 3),
                                   (int64_t)word(record, 4), (int64_t)word(record, 5), 0 };
    uint32_t track;
    if (vv_point_tag(mark.tag).kind == 0) {
        process->model->health.ignored++;
        return VARVE_OK;
    }
    if (word(record, 0) == 0) {
        VV_TRY(vv_stream_track(stream, &track, error));
        return add_point(process, &mark, stream->time_ns, track, error);
    }
    mark.track = vv_key_map_get(&process->devices.track_ids, word(record, 0));
    if (mark.track == VV_KEY_NONE) { /* its record was lost */
        process->model->health.unplaced++;
        return VARVE_OK;
    }
    VV_PUSH(&process->marks.of_devices, mark, error);
    return VARVE_OK;
}

/* The string of this id; 0 = none. */
static enum varve_code string_at(struct vv_process_reader *process, uint64_t id, uint32_t *out_id,
                                 struct varve_error *error)
{
    *out_id = 0;
    return id == 0 ? VARVE_OK : vv_process_string(process, id, out_id, error);
}

enum varve_code vv_trace_point_read(struct vv_stream_reader *stream, const struct vv_record *record,
                                    struct varve_error *error)
{
    struct vv_process_reader *process = stream->process;
    struct vv_planned_points *points = &process->model->planned_points;
    uint64_t tag = word(record, 1) != 0 ? word(record, 1) : word(record, 2);
    uint64_t names = word(record, 6);
    uint32_t kind = (uint32_t)word(record, 5), state = (uint32_t)(word(record, 5) >> 32), row;
    if (kind == 0 || kind >= VARVE_POINT_KIND_COUNT || state > VARVE_POINT_REFUSED) {
        process->model->health.ignored++;
        return VARVE_OK;
    }
    VV_TRY(vv_model_add_planned_point(process->model, &row, error));
    points->model[row] = word(record, 0);
    points->graph[row] = (int64_t)word(record, 3);
    points->node[row] = (int64_t)word(record, 4);
    points->kind[row] = (uint8_t)kind;
    points->state[row] = (uint8_t)state;
    points->process[row] = process->process;
    if (tag != 0)
        points->index[row] = vv_point_tag(tag).index;
    VV_TRY(string_at(process, (uint32_t)names, &points->name[row], error));
    VV_TRY(string_at(process, names >> 32, &points->operation[row], error));
    return string_at(process, word(record, 7), &points->reason[row], error);
}

enum varve_code vv_marks_join(struct vv_process_reader *process, struct varve_error *error)
{
    for (size_t i = 0; i < process->marks.of_devices.count; i++) {
        const struct vv_device_mark *mark = &process->marks.of_devices.items[i];
        uint32_t clock = process->devices.tracks.items[mark->track].clock, track;
        int64_t time_ns = 0;
        bool is_placed;
        VV_TRY(vv_device_instant(process, clock, mark->value, &time_ns, &is_placed, error));
        if (!is_placed) {
            process->model->health.unplaced++;
            continue;
        }
        vv_process_widen(process, time_ns, time_ns);
        VV_TRY(vv_device_track_row(process, mark->track, &track, error));
        VV_TRY(add_point(process, mark, time_ns, track, error));
    }
    return VARVE_OK;
}
