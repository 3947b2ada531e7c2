/* SPDX-License-Identifier: Apache-2.0 */
/* xspace.c — TensorFlow's and JAX's XSpace, as .xplane.pb and as protobuf JSON: the probes, and the
 * outermost fields of the file. xspace.h lists the other parts. doc/formats.md. */
#include "import/xspace/xspace.h"

#include <ctype.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/text/counted.h"
#include "base/utf8.h"
#include "base/workers.h"
#include "varve/varve.h"

#define THREADS_MAX 16

/* ---- the file ---- */

static enum varve_code read_outer_text(struct vv_xspace *space, const struct vv_window_field *field,
                                       struct varve_error *error)
{
    static const char *const keys[] = {
        [VV_XSPACE_ERRORS] = "error",
        [VV_XSPACE_WARNINGS] = "warning",
        [VV_XSPACE_HOSTNAMES] = "hostname",
    };
    struct vv_bytes bytes;
    struct vv_protobuf text = { .wire = field->wire, .value = field->value };
    if (field->number >= sizeof keys / sizeof *keys || keys[field->number] == NULL)
        return VARVE_OK;
    VV_TRY(vv_window_at(&space->window, field->data_offset, field->value, &bytes, error));
    text.data = text.start = bytes.data;
    text.start_offset = field->data_offset;
    VV_TRY(vv_xspace_text_fact(&space->sink, VV_NONE, keys[field->number], &text, error));
    uint32_t host = (uint32_t)space->model->facts.value[space->model->facts.table.count - 1];
    struct vv_processes *processes = &space->model->processes;
    if (field->number != VV_XSPACE_HOSTNAMES)
        return VARVE_OK;
    if (space->model->run.host == 0)
        space->model->run.host = host;
    for (uint64_t row = space->first_process; row < processes->table.count; row++)
        if (processes->host[row] == 0)
            processes->host[row] = host;
    return VARVE_OK;
}

/* True for a zero byte at the very end of the file: XLA's plug-in bridge counts one byte too
 * many. */
static bool is_padding(struct vv_xspace *space, uint64_t at, struct varve_error *error)
{
    struct vv_bytes bytes;
    return at + 1 == space->window.size_bytes &&
           vv_window_at(&space->window, at, 1, &bytes, error) == VARVE_OK && bytes.length == 1 &&
           bytes.data[0] == 0;
}

typedef enum varve_code outer_action(struct vv_xspace *space, struct vv_xspace_span span,
                                     struct varve_error *error);

/* Calls `act` for each plane. Reads texts only if `with_texts`. */
static enum varve_code each_plane(struct vv_xspace *space, outer_action *act, bool with_texts,
                                  struct varve_error *error)
{
    for (uint64_t at = 0; at < space->window.size_bytes && !is_padding(space, at, error);) {
        struct vv_window_field field;
        VV_TRY(vv_window_field(&space->window, at, UINT64_MAX, &field, error));
        bool is_known = field.number >= VV_XSPACE_PLANES && field.number <= VV_XSPACE_HOSTNAMES;
        if (is_known && field.wire != VV_WIRE_BYTES)
            return vv_fail_at(error, VARVE_CORRUPT, at, "field %u has wire type %d", field.number,
                              (int)field.wire);
        if (field.number == VV_XSPACE_PLANES)
            VV_TRY(
                act(space, (struct vv_xspace_span){ field.data_offset, field.next_offset }, error));
        else if (!field.is_cut && with_texts && field.number <= VV_XSPACE_HOSTNAMES)
            VV_TRY(read_outer_text(space, &field, error));
        else if (!field.is_cut && field.number > VV_XSPACE_HOSTNAMES)
            space->model->health.ignored += with_texts;
        if (field.is_cut) {
            space->is_cut = true;
            return VARVE_OK;
        }
        at = field.next_offset;
    }
    return VARVE_OK;
}

static void finish_processes(struct vv_xspace *space)
{
    struct vv_processes *processes = &space->model->processes;
    for (uint64_t row = space->first_process; row < processes->table.count; row++)
        if (processes->begin_ns[row] > processes->end_ns[row])
            processes->begin_ns[row] = processes->end_ns[row] = 0;
}

static unsigned thread_count(const struct vv_import_job *job)
{
    unsigned threads = job->options->threads != 0 ? job->options->threads : vv_workers_allowed();
    return threads > THREADS_MAX ? THREADS_MAX : threads;
}

/* Bytes read before an error may be damaged too. Their error counts, because it comes first in the
 * file. */
static enum varve_code read_all(struct vv_xspace *space, struct varve_error *error)
{
    struct varve_error other;
    VV_TRY(each_plane(space, vv_xspace_plane_peek, false, error));
    enum varve_code code = each_plane(space, vv_xspace_plane_read, true, error);
    enum varve_code before = vv_xspace_wave_flush(space, &other);
    if (before != VARVE_OK && error != NULL)
        *error = other;
    if (before != VARVE_OK)
        return before;
    VV_TRY(code);
    return vv_xspace_flows_join(space, error);
}

/* Reads all planes of the window and adds them to the model. */
static enum varve_code read_window(const struct vv_import_job *job, struct vv_window *window,
                                   struct varve_error *error)
{
    struct vv_xspace space = { .job = job, .model = job->model, .window = *window };
    space.first_process = (uint32_t)job->model->processes.table.count;
    space.host_process = VV_NONE;
    space.sink = (struct vv_xspace_sink){ .space = &space, .rows = job->model };
    job->model->threads = thread_count(job);
    enum varve_code code = read_all(&space, error);
    finish_processes(&space);
    if (code == VARVE_OK && (space.is_cut || space.window.is_cut))
        job->model->health.truncated_files++;
    vv_key_map_deinit(&space.host_lines);
    vv_key_map_deinit(&space.words);
    vv_key_map_deinit(&space.shapes);
    vv_key_map_deinit(&space.sources);
    free(space.shape_items);
    vv_xspace_wave_deinit(&space);
    free(space.sink.ends.items);
    free(space.sink.text);
    *window = space.window;
    if (code != VARVE_OK)
        vv_error_note(error, "'%s'", job->path);
    return code;
}

static enum varve_code read_xspace(const struct vv_import_job *job, struct varve_error *error)
{
    struct vv_window window;
    enum varve_code code =
        vv_window_open(&window, job->source, job->options->max_memory_bytes, error);
    if (code == VARVE_OK)
        code = read_window(job, &window, error);
    vv_window_close(&window);
    return code;
}

/* An offset in the message that JSON was converted to is no offset in the file. */
static void leave_input(struct varve_error *error)
{
    if (error == NULL || error->offset == VARVE_ERROR_NO_OFFSET)
        return;
    error->offset = VARVE_ERROR_NO_OFFSET;
    vv_error_add(error, " of the message that the JSON stands for");
}

static enum varve_code read_xspace_json(const struct vv_import_job *job, struct varve_error *error)
{
    struct vv_window window = { 0 };
    bool is_cut = false;
    VV_TRY_NOTE(vv_xspace_json_convert(job->source, &window, &is_cut, error), error, "'%s'",
                job->path);
    enum varve_code code = read_window(job, &window, error);
    if (code == VARVE_OK)
        job->model->health.truncated_files += is_cut;
    else
        leave_input(error);
    vv_window_close(&window);
    return code;
}

/* ---- probes ---- */

static bool is_printable(const unsigned char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (text[i] < ' ' || text[i] == 127)
            return false;
    return length > 0 && vv_utf8_valid((const char *)text, length) == length;
}

/* Reads a plane's fields as far as the head goes. A printable name tells a plane from other
 * messages that begin alike. */
static bool is_plane(struct vv_protobuf *plane)
{
    static const uint8_t wires[] = {
        [VV_XPLANE_ID] = VV_WIRE_VARINT,           [VV_XPLANE_NAME] = VV_WIRE_BYTES,
        [VV_XPLANE_LINES] = VV_WIRE_BYTES,         [VV_XPLANE_EVENT_METADATA] = VV_WIRE_BYTES,
        [VV_XPLANE_STAT_METADATA] = VV_WIRE_BYTES, [VV_XPLANE_STATS] = VV_WIRE_BYTES,
    };
    bool has_name = false;
    while (vv_protobuf_next(plane)) {
        if (plane->number > VV_XPLANE_STATS)
            continue;
        if (plane->wire != (enum vv_wire)wires[plane->number])
            return false;
        if (plane->number == VV_XPLANE_NAME) {
            if (!is_printable(plane->data, (size_t)plane->value))
                return false;
            has_name = true;
        }
    }
    return has_name;
}

/* True if the first field is a plane whose name is in the head, or if there are only texts. Many a
 * short text begins like the head of a long one, so if the head is the whole file, the texts must
 * be whole. */
static bool probe_xspace(const char *path, bool is_folder, const char *head, size_t head_bytes)
{
    (void)path;
    const unsigned char *at = (const unsigned char *)head, *end = at + head_bytes;
    uint64_t tag, length;
    bool has_text = false;
    while (!is_folder && at < end && (*at & 7) == VV_WIRE_BYTES &&
           *at >> 3 >= VV_XSPACE_PLANES && *at >> 3 <= VV_XSPACE_HOSTNAMES) {
        if (!vv_protobuf_varint(&at, end, &tag) || !vv_protobuf_varint(&at, end, &length))
            return false;
        size_t here = length < (uint64_t)(end - at) ? (size_t)length : (size_t)(end - at);
        if (tag >> 3 == VV_XSPACE_PLANES) {
            struct vv_protobuf plane;
            vv_protobuf_init(&plane, at, here, 0);
            return is_plane(&plane);
        }
        if (!is_printable(at, here) || (here < length && head_bytes < VV_SOURCE_HEAD_BYTES))
            return false;
        has_text = true;
        at += here;
    }
    return has_text && at == end;
}

/* True for an object whose first member is one of XSpace's. */
static bool probe_xspace_json(const char *path, bool is_folder, const char *head, size_t head_bytes)
{
    static const char *const names[] = { "\"planes\"", "\"errors\"", "\"warnings\"",
                                         "\"hostnames\"" };
    (void)path;
    size_t at = 0;
    while (at < head_bytes && isspace((unsigned char)head[at]))
        at++;
    if (is_folder || at == head_bytes || head[at++] != '{')
        return false;
    while (at < head_bytes && isspace((unsigned char)head[at]))
        at++;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (vv_text_begins(head + at, head_bytes - at, names[i]))
            return true;
    }
    return false;
}

const struct vv_importer vv_importer_xspace = {
    .name = "xspace",
    .title = "XSpace (.xplane.pb)",
    .probe = probe_xspace,
    .read = read_xspace,
    .is_recording = vv_is_always_recording,
};

const struct vv_importer vv_importer_xspace_json = {
    .name = "xspace-json",
    .title = "XSpace JSON",
    .probe = probe_xspace_json,
    .read = read_xspace_json,
    .is_recording = vv_is_always_recording,
};
