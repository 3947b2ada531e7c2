/* SPDX-License-Identifier: Apache-2.0 */
/* xspace_line.c — one line of a plane: its head, its track, and its events a windowful at a time.
 *
 * Writers put a line's id, name and timestamp before its events. The head is read up to the first event; if what
 * follows the events changes it, what was added is taken back and the line is read again. */
#include <limits.h>

#include "import/xspace.h"
#include "varve/varve.h"

#define EPOCH_FROM_NS INT64_C(100000000000000000) /* larger timestamps count from 1970, smaller from the start */
#define BASE_MAX_NS (INT64_C(1) << 61)
#define COUNTERS_NAME "_counters_"

/* ---- the head ---- */

static enum varve_code read_text(struct vv_xspace *space, const struct vv_window_field *field,
                                 uint32_t *out_text, struct varve_error *error)
{
    struct vv_bytes bytes;
    struct vv_protobuf text = { .wire = field->wire, .value = field->value };
    VV_TRY(vv_window_at(&space->window, field->data_offset, field->value, &bytes, error));
    text.data = text.start = bytes.data;
    text.start_offset = field->data_offset;
    VV_TRY(vv_protobuf_expect_text(&text, "a line's name", error));
    return vv_intern_add(&space->model->strings, (const char *)bytes.data, (size_t)field->value,
                         out_text, error);
}

static enum varve_code read_head_field(struct vv_xspace *space, const struct vv_window_field *field,
                                       struct vv_xspace_line_head *head, struct varve_error *error)
{
    int64_t *const numbers[] = { [1] = &head->id, [3] = &head->timestamp_ns, [9] = &head->duration_ps,
                                 [10] = &head->display_id };
    bool is_text = field->number == 2 || field->number == 11;
    if (!is_text && (field->number > 10 || numbers[field->number] == NULL)) {
        space->model->health.ignored++;
        return VARVE_OK;
    }
    if (field->wire != (is_text ? VV_WIRE_BYTES : VV_WIRE_VARINT))
        return vv_fail_at(error, VARVE_CORRUPT, field->data_offset,
                          "field %u of a line has wire type %d", field->number, (int)field->wire);
    if (is_text)
        return read_text(space, field, field->number == 2 ? &head->name : &head->display_name, error);
    *numbers[field->number] = (int64_t)field->value;
    return VARVE_OK;
}

/* Up to the first event; to the end where no id stands before it. */
static enum varve_code read_head(struct vv_xspace *space, struct vv_xspace_span span,
                                 struct vv_xspace_line_head *head, struct varve_error *error)
{
    uint64_t ignored = space->model->health.ignored;
    bool has_id = false;
    for (uint64_t at = span.begin; at < span.end;) {
        struct vv_window_field field;
        VV_TRY(vv_window_field(&space->window, at, span.end, &field, error));
        if (field.is_cut || (field.number == 4 && has_id))
            break;
        has_id = has_id || field.number == 1;
        if (field.number != 4)
            VV_TRY(read_head_field(space, &field, head, error));
        at = field.next_offset;
    }
    space->model->health.ignored = ignored;
    return VARVE_OK;
}

/* ---- events ---- */

/* Where a piece of the line ends: all events before it have been read. */
struct piece {
    uint64_t next_offset;
    uint64_t wanted_bytes; /* for the next one                                                  */
};

/* Reads the events that lie whole in `bytes`, up to a field that is something else. */
static enum varve_code read_piece(struct vv_xspace_line *line, struct vv_bytes bytes, uint64_t offset,
                                  uint64_t limit, struct piece *out, struct varve_error *error)
{
    const unsigned char *at = bytes.data, *end = bytes.data + bytes.length;
    out->wanted_bytes = VV_PROTOBUF_HEAD_BYTES_MAX;
    while (at < end && *at == (4 << 3 | VV_WIRE_BYTES)) {
        const unsigned char *data = at + 1;
        uint64_t length, here = offset + (uint64_t)(at - bytes.data);
        if (!vv_protobuf_varint(&data, end, &length))
            break;
        if (length > limit - (offset + (uint64_t)(data - bytes.data)))
            return vv_fail_at(error, VARVE_CORRUPT, here, "an event is longer than its line");
        if (length > (size_t)(end - data)) {
            out->wanted_bytes = (uint64_t)(data - at) + length;
            break;
        }
        VV_TRY(vv_xspace_event_read(line, data, (size_t)length,
                                    offset + (uint64_t)(data - bytes.data), error));
        at = data + length;
    }
    out->next_offset = offset + (uint64_t)(at - bytes.data);
    return VARVE_OK;
}

/* `head` becomes what the whole line says. */
static enum varve_code read_events(struct vv_xspace_line *line, struct vv_xspace_span span,
                                   struct vv_xspace_line_head *head, struct varve_error *error)
{
    struct vv_xspace *space = line->plane->space;
    struct piece piece = { span.begin, VV_PROTOBUF_HEAD_BYTES_MAX };
    while (piece.next_offset < span.end) {
        uint64_t at = piece.next_offset;
        struct vv_bytes bytes;
        struct vv_window_field field;
        VV_TRY(vv_window_at(&space->window, at, piece.wanted_bytes, &bytes, error));
        if (bytes.length > span.end - at)
            bytes.length = (size_t)(span.end - at);
        VV_TRY(read_piece(line, bytes, at, span.end, &piece, error));
        bool is_short = piece.wanted_bytes > bytes.length && piece.wanted_bytes <= span.end - at &&
                        at + bytes.length < space->window.size_bytes;
        if (piece.next_offset > at || is_short)
            continue;
        VV_TRY(vv_window_field(&space->window, at, span.end, &field, error));
        if (field.is_cut) {
            space->is_cut = true;
            break;
        }
        if (field.number == 4)
            return vv_fail_at(error, VARVE_CORRUPT, at, "field 4 of a line has wire type %d",
                              (int)field.wire);
        VV_TRY(read_head_field(space, &field, head, error));
        piece.next_offset = field.next_offset;
        piece.wanted_bytes = VV_PROTOBUF_HEAD_BYTES_MAX;
    }
    return VARVE_OK;
}

/* ---- the track ---- */

/* Lines of one id are one line, whichever plane of the process they stand in. */
static enum varve_code find_track(struct vv_xspace_line *line, const struct vv_xspace_line_head *head,
                                  uint32_t number, struct varve_error *error)
{
    struct vv_xspace_plane *plane = line->plane;
    struct vv_xspace *space = plane->space;
    struct vv_tracks *tracks = &space->model->tracks;
    bool is_host = plane->word->kind == VV_XSPACE_HOST;
    struct vv_key_map *lines = is_host ? &space->host_lines : &plane->own_lines;
    uint32_t name = head->display_name != 0 ? head->display_name : head->name;
    line->track = vv_key_map_get(lines, (uint64_t)head->id);
    if (line->track != VV_KEY_NONE) {
        if (tracks->name[line->track] == 0)
            tracks->name[line->track] = name;
        return VARVE_OK;
    }
    VV_TRY(vv_model_add_track(space->model, &line->track, error));
    tracks->process[line->track] = plane->process;
    tracks->tid[line->track] = head->id;
    tracks->name[line->track] = name;
    tracks->kind[line->track] =
        plane->word->kind == VV_XSPACE_DEVICE ? VV_TRACK_DEVICE : VV_TRACK_THREAD;
    tracks->device[line->track] = plane->device;
    tracks->sort_index[line->track] = head->display_id > 0 && head->display_id <= INT_MAX
                                          ? (int32_t)head->display_id
                                          : (int32_t)(number < INT_MAX ? number : INT_MAX);
    return vv_key_map_put(lines, (uint64_t)head->id, line->track, error);
}

/* ---- the line ---- */

/* How many rows each table had: to take back what a line added. */
struct row_counts {
    uint64_t slices, ops, activities, collectives, args, facts, steps, marks, counters, memory, unplaced,
        negative, ignored;
    size_t ends;
};

static struct row_counts count_rows(const struct vv_xspace *space)
{
    const struct vv_model *model = space->model;
    return (struct row_counts){
        model->slices.table.count, model->ops.table.count, model->activities.table.count,
        model->collectives.table.count, model->args.table.count, model->facts.table.count,
        model->steps.table.count, model->marks.table.count, model->counters.table.count,
        model->memory.table.count, model->health.unplaced, model->health.negative,
        model->health.ignored, space->end_count,
    };
}

static void take_back(struct vv_xspace *space, const struct row_counts *rows)
{
    struct vv_model *model = space->model;
    model->slices.table.count = rows->slices;
    model->ops.table.count = rows->ops;
    model->activities.table.count = rows->activities;
    model->collectives.table.count = rows->collectives;
    model->args.table.count = rows->args;
    model->facts.table.count = rows->facts;
    model->steps.table.count = rows->steps;
    model->marks.table.count = rows->marks;
    model->counters.table.count = rows->counters;
    model->memory.table.count = rows->memory;
    model->health.unplaced = rows->unplaced;
    model->health.negative = rows->negative;
    model->health.ignored = rows->ignored;
    space->end_count = rows->ends;
}

static enum varve_code find_base(const struct vv_xspace *space, int64_t timestamp_ns,
                                 uint64_t offset, int64_t *out_base_ns, struct varve_error *error)
{
    if (timestamp_ns >= BASE_MAX_NS || timestamp_ns <= -BASE_MAX_NS)
        return vv_fail_at(error, VARVE_CORRUPT, offset, "a line that begins at %lld ns",
                          (long long)timestamp_ns);
    *out_base_ns = timestamp_ns >= EPOCH_FROM_NS ? timestamp_ns : space->base_ns + timestamp_ns;
    return VARVE_OK;
}

static enum varve_code read_with_head(struct vv_xspace_line *line, struct vv_xspace_span span,
                                      struct vv_xspace_line_head *head, struct varve_error *error)
{
    struct vv_xspace *space = line->plane->space;
    const char *name = vv_intern_text(&space->model->strings, head->name);
    VV_TRY(find_base(space, head->timestamp_ns, span.begin, &line->base_ns, error));
    line->word = line->plane->word->kind == VV_XSPACE_DEVICE ? vv_xspace_line_word(name) : NULL;
    line->is_counters = strcmp(name, COUNTERS_NAME) == 0;
    line->events = line->order = 0;
    line->begin_ns = 1;
    line->end_ns = 0;
    return read_events(line, span, head, error);
}

static void note_process(const struct vv_xspace_line *line)
{
    struct vv_processes *processes = &line->plane->space->model->processes;
    uint32_t row = line->plane->process;
    bool is_first = processes->begin_ns[row] > processes->end_ns[row];
    processes->events[row] += line->events;
    if (line->begin_ns > line->end_ns)
        return;
    if (is_first || line->begin_ns < processes->begin_ns[row])
        processes->begin_ns[row] = line->begin_ns;
    if (is_first || line->end_ns > processes->end_ns[row])
        processes->end_ns[row] = line->end_ns;
}

enum varve_code vv_xspace_line_read(struct vv_xspace_plane *plane, struct vv_xspace_span span,
                                    uint32_t number, struct varve_error *error)
{
    struct vv_xspace *space = plane->space;
    struct vv_xspace_line line = { .plane = plane };
    struct vv_xspace_line_head head = { 0 };
    struct row_counts rows = count_rows(space);
    VV_TRY(read_head(space, span, &head, error));
    struct vv_xspace_line_head first = head;
    VV_TRY(find_track(&line, &head, number, error));
    VV_TRY(read_with_head(&line, span, &head, error));
    if (head.id != first.id || head.timestamp_ns != first.timestamp_ns || head.name != first.name) {
        take_back(space, &rows);
        VV_TRY(find_track(&line, &head, number, error));
        VV_TRY(read_with_head(&line, span, &head, error));
    }
    if (head.display_name != 0)
        space->model->tracks.name[line.track] = head.display_name;
    if (head.duration_ps != 0) {
        struct vv_xspace_keeping keeping = { .process = plane->process };
        keeping.prefix = vv_intern_text(&space->model->strings, head.name);
        VV_TRY(vv_xspace_named_fact(space, &keeping, "duration_ps", head.duration_ps, error));
    }
    note_process(&line);
    if (space->window.source != NULL)
        vv_source_report(space->window.source, span.end);
    return VARVE_OK;
}
