/* SPDX-License-Identifier: Apache-2.0 */
/* line.c — one line of a plane: its head, its track, and its events, as many at a time as the
 * window holds.
 *
 * Writers put a line's id, name and timestamp before its events. The head is read up to the first
 * event. If fields after the events change the head, the added rows are removed and the line is
 * read again. */
#include <limits.h>

#include "import/xspace/xspace.h"
#include "varve/varve.h"

#define EPOCH_FROM_NS INT64_C(100000000000000000) /* larger timestamps count from 1970, smaller ones
                                                     from the start of profiling */
#define BASE_MAX_NS (INT64_C(1) << 61)
#define COUNTERS_NAME "_counters_"
#define PIECE_BYTES_MAX ((size_t)64 << 10)

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
    return vv_model_add_text(space->model, (const char *)bytes.data, (size_t)field->value,
                         out_text, error);
}

static enum varve_code read_head_field(struct vv_xspace *space, const struct vv_window_field *field,
                                       struct vv_xspace_line_head *head, struct varve_error *error)
{
    int64_t *const numbers[] = {
        [VV_XLINE_ID] = &head->id,
        [VV_XLINE_TIMESTAMP_NS] = &head->timestamp_ns,
        [VV_XLINE_DURATION_PS] = &head->duration_ps,
        [VV_XLINE_DISPLAY_ID] = &head->display_id,
    };
    bool is_text = field->number == VV_XLINE_NAME || field->number == VV_XLINE_DISPLAY_NAME;
    if (!is_text && (field->number > VV_XLINE_DISPLAY_ID || numbers[field->number] == NULL)) {
        head->ignored++;
        return VARVE_OK;
    }
    if (field->wire != (is_text ? VV_WIRE_BYTES : VV_WIRE_VARINT))
        return vv_fail_at(error, VARVE_CORRUPT, field->data_offset,
                          "field %u of a line has wire type %d", field->number, (int)field->wire);
    if (is_text)
        return read_text(space, field,
                         field->number == VV_XLINE_NAME ? &head->name : &head->display_name, error);
    *numbers[field->number] = (int64_t)field->value;
    return VARVE_OK;
}

/* Reads up to the first event; if no id comes before it, up to the end of the line. */
static enum varve_code read_head(struct vv_xspace *space, struct vv_xspace_span span,
                                 struct vv_xspace_line_head *head, struct varve_error *error)
{
    bool has_id = false;
    head->ignored = 0;
    for (uint64_t at = span.begin; at < span.end;) {
        struct vv_window_field field;
        VV_TRY(vv_window_field(&space->window, at, span.end, &field, error));
        if (field.is_cut || (field.number == VV_XLINE_EVENTS && has_id))
            break;
        has_id = has_id || field.number == VV_XLINE_ID;
        if (field.number != VV_XLINE_EVENTS)
            VV_TRY(read_head_field(space, &field, head, error));
        at = field.next_offset;
    }
    return VARVE_OK;
}

/* ---- events ---- */

/* The end of a piece of the line. All events before it have been added. */
struct piece {
    uint64_t next_offset;
    uint64_t wanted_bytes; /* bytes that the next piece needs                                   */
    uint32_t event_count;
    const char *damage;    /* what is wrong with the field at next_offset; or NULL              */
};

/* Finds the whole events in `bytes`, up to the first field that is no event. */
static void measure(struct vv_bytes bytes, uint64_t offset, uint64_t limit, struct piece *out)
{
    const unsigned char *at = bytes.data, *end = bytes.data + bytes.length;
    *out = (struct piece){ .wanted_bytes = VV_PROTOBUF_HEAD_BYTES_MAX };
    while (at < end && *at == (VV_XLINE_EVENTS << 3 | VV_WIRE_BYTES)) {
        const unsigned char *data = at + 1;
        uint64_t length;
        if (!vv_protobuf_varint(&data, end, &length))
            break;
        if (length > (size_t)(end - data)) {
            out->wanted_bytes = (uint64_t)(data - at) + length;
            if (length > limit - (offset + (uint64_t)(data - bytes.data)))
                out->damage = "an event is longer than its line";
            break;
        }
        at = data + length;
        out->event_count++;
    }
    out->next_offset = offset + (uint64_t)(at - bytes.data);
}

/* Adds the piece as a segment with the fields of `line`. */
static enum varve_code add_piece(struct vv_xspace *space, struct vv_xspace_segment *line,
                                 struct vv_bytes bytes, uint64_t offset, const struct piece *piece,
                                 struct varve_error *error)
{
    if (piece->event_count > 0) {
        line->data = bytes.data;
        line->length = (size_t)(piece->next_offset - offset);
        line->offset = offset;
        line->event_count = piece->event_count;
        VV_TRY(vv_xspace_wave_add(space, line, error));
        line->order += piece->event_count;
        line->is_first = false;
    }
    return piece->damage == NULL
               ? VARVE_OK
               : vv_fail_at(error, VARVE_CORRUPT, piece->next_offset, "%s", piece->damage);
}

/* *head becomes the head of the whole line. */
static enum varve_code read_events(struct vv_xspace *space, struct vv_xspace_segment *line,
                                   struct vv_xspace_span span, struct vv_xspace_line_head *head,
                                   struct varve_error *error)
{
    struct piece piece = { .next_offset = span.begin, .wanted_bytes = VV_PROTOBUF_HEAD_BYTES_MAX };
    while (piece.next_offset < span.end) {
        uint64_t at = piece.next_offset;
        struct vv_bytes bytes;
        struct vv_window_field field;
        VV_TRY(vv_window_at(&space->window, at, piece.wanted_bytes, &bytes, error));
        if (bytes.length > span.end - at)
            bytes.length = (size_t)(span.end - at);
        if (bytes.length > PIECE_BYTES_MAX && bytes.length > piece.wanted_bytes)
            bytes.length =
                piece.wanted_bytes > PIECE_BYTES_MAX ? (size_t)piece.wanted_bytes : PIECE_BYTES_MAX;
        measure(bytes, at, span.end, &piece);
        VV_TRY(add_piece(space, line, bytes, at, &piece, error));
        bool is_short = piece.wanted_bytes > bytes.length && piece.wanted_bytes <= span.end - at &&
                        at + bytes.length < space->window.size_bytes;
        if (piece.next_offset > at || is_short)
            continue;
        VV_TRY(vv_window_field(&space->window, at, span.end, &field, error));
        if (field.is_cut) {
            space->is_cut = true;
            break;
        }
        if (field.number == VV_XLINE_EVENTS)
            return vv_fail_at(error, VARVE_CORRUPT, at, "field 4 of a line has wire type %d",
                              (int)field.wire);
        VV_TRY(read_head_field(space, &field, head, error));
        piece.next_offset = field.next_offset;
        piece.wanted_bytes = VV_PROTOBUF_HEAD_BYTES_MAX;
    }
    return VARVE_OK;
}

/* ---- the track ---- */

/* Lines with the same id are one track, in whichever plane of the process they are. */
static enum varve_code find_track(struct vv_xspace_plane *plane,
                                  const struct vv_xspace_line_head *head, uint32_t number,
                                  uint32_t *out_track, struct varve_error *error)
{
    struct vv_xspace *space = plane->space;
    struct vv_tracks *tracks = &space->model->tracks;
    bool is_host = plane->word->kind == VV_XSPACE_HOST;
    struct vv_key_map *lines = is_host ? &space->host_lines : &plane->own_lines;
    uint32_t name = head->display_name != 0 ? head->display_name : head->name;
    uint32_t track = vv_key_map_get(lines, (uint64_t)head->id);
    if (track != VV_KEY_NONE) {
        *out_track = track;
        if (tracks->name[track] == 0)
            tracks->name[track] = name;
        return VARVE_OK;
    }
    VV_TRY(vv_model_add_track(space->model, &track, error));
    *out_track = track;
    tracks->process[track] = plane->process;
    tracks->tid[track] = head->id;
    tracks->name[track] = name;
    tracks->kind[track] =
        plane->word->kind == VV_XSPACE_DEVICE ? VV_TRACK_DEVICE : VV_TRACK_THREAD;
    tracks->device[track] = plane->device;
    tracks->sort_index[track] = head->display_id > 0 && head->display_id <= INT_MAX
                                          ? (int32_t)head->display_id
                                          : (int32_t)(number < INT_MAX ? number : INT_MAX);
    return vv_key_map_put(lines, (uint64_t)head->id, track, error);
}

/* ---- the line ---- */

static enum varve_code find_base(struct vv_xspace *space, int64_t timestamp_ns, uint64_t offset,
                                 int64_t *out_base_ns, struct varve_error *error)
{
    if (timestamp_ns >= BASE_MAX_NS || timestamp_ns <= -BASE_MAX_NS)
        return vv_fail_at(error, VARVE_CORRUPT, offset, "a line that begins at %lld ns",
                          (long long)timestamp_ns);
    *out_base_ns = timestamp_ns >= EPOCH_FROM_NS ? timestamp_ns : space->base_ns + timestamp_ns;
    if (timestamp_ns < EPOCH_FROM_NS)
        space->model->run.origin_ns = space->base_ns;
    return VARVE_OK;
}

static enum varve_code read_with_head(struct vv_xspace_plane *plane, uint32_t track,
                                      struct vv_xspace_span span, struct vv_xspace_line_head *head,
                                      uint32_t *out_events, struct varve_error *error)
{
    struct vv_xspace *space = plane->space;
    const char *name = vv_intern_text(&space->model->strings, head->name);
    struct vv_xspace_segment line = { .plane = plane, .track = track, .line_id = head->id,
                                      .is_first = true };
    VV_TRY(find_base(space, head->timestamp_ns, span.begin, &line.base_ns, error));
    line.word = plane->word->kind == VV_XSPACE_DEVICE ? vv_xspace_line_word(name) : NULL;
    line.is_counters = strcmp(name, COUNTERS_NAME) == 0;
    head->ignored = 0;
    VV_TRY(read_events(space, &line, span, head, error));
    *out_events = line.order;
    return VARVE_OK;
}

enum varve_code vv_xspace_line_read(struct vv_xspace_plane *plane, struct vv_xspace_span span,
                                    uint32_t number, struct varve_error *error)
{
    struct vv_xspace *space = plane->space;
    struct vv_xspace_line_head head = { 0 };
    uint32_t track, events;
    VV_TRY(read_head(space, span, &head, error));
    struct vv_xspace_line_head first = head;
    VV_TRY(find_track(plane, &head, number, &track, error));
    VV_TRY(read_with_head(plane, track, span, &head, &events, error));
    if (head.id != first.id || head.timestamp_ns != first.timestamp_ns || head.name != first.name) {
        VV_TRY(vv_xspace_wave_flush(space, error)); /* fields after the events change what the
                                                       events mean */
        if (events > 0)
            vv_xspace_line_take_back(space, plane->process);
        VV_TRY(find_track(plane, &head, number, &track, error));
        VV_TRY(read_with_head(plane, track, span, &head, &events, error));
    }
    space->model->health.ignored += head.ignored;
    if (head.display_name != 0)
        space->model->tracks.name[track] = head.display_name;
    if (head.duration_ps != 0) {
        struct vv_xspace_keeping keeping = { .sink = &space->sink, .process = plane->process };
        keeping.prefix = vv_intern_text(&space->model->strings, head.name);
        VV_TRY(vv_xspace_named_fact(&keeping, "duration_ps", head.duration_ps, error));
    }
    if (space->window.source != NULL)
        vv_source_report(space->window.source, span.end);
    return VARVE_OK;
}
