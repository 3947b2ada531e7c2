/* SPDX-License-Identifier: Apache-2.0 */
/* stream.c — the decoding loop: makes ranges of the words of one stream (doc/format.md §5, §7).
 *
 * Time never runs backwards in a stream. So a range that ends has a duration >= 0, and slices are
 * added in order of begin. */
#include "import/varve/records/stream.h"

#include <endian.h>
#include <stdlib.h>

#include "base/array.h"
#include "import/input/input_file.h"
#include "import/varve/process/parallel.h"
#include "import/varve/process/process.h"
#include "import/varve/process/ranges.h"
#include "import/varve/process/record.h"
#include "import/varve/records/open.h"
#include "model/columns.h"

#define LARGE_STREAM_BYTES (UINT64_C(16) << 20)
#define HALF_TURN (UINT64_C(1) << (VV_TICKS_BITS - 1))

/* ---- gaps and pauses ---- */

/* Records are missing. No range stays open, also none that began before the first record. */
static void end_with_gap(struct vv_stream_reader *stream)
{
    stream->last_work = SIZE_MAX;
    stream->last_call.slice = VV_NONE;
    vv_range_close_all(stream, stream->time_ns, VV_SLICE_UNFINISHED);
    stream->lacks_begin = false;
}

static void find_next_pause(struct vv_stream_reader *stream)
{
    const struct vv_process_reader *process = stream->process;
    while (stream->next_pause < process->pauses.count &&
           process->pauses.items[stream->next_pause].ticks < stream->ticks)
        stream->next_pause++;
    stream->next_pause_ticks = stream->next_pause < process->pauses.count
                                   ? process->pauses.items[stream->next_pause].ticks
                                   : UINT64_MAX;
}

/* Handles a pause before the record at stream->ticks. */
static void pass_pause(struct vv_stream_reader *stream)
{
    vv_range_close_all(stream, stream->process->pauses.items[stream->next_pause].time_ns, 0);
    if (stream->records > 0)
        stream->lacks_begin = false;
    find_next_pause(stream);
}

/* ---- records ---- */

static enum varve_code fail_class(const struct vv_stream_reader *stream, uint32_t id,
                                  uint64_t offset, struct varve_error *error)
{
    const struct vv_process_reader *process = stream->process;
    if (id >= process->class_count || process->classes[id].action == VV_ACTION_UNDECLARED)
        return vv_fail_at(error, VARVE_CORRUPT, offset,
                          id == 0 ? "'%s': no record (id %u)"
                                  : "'%s': event class %u is not in metadata",
                          stream->path, id);
    const struct vv_metadata_class *class = &process->metadata->classes[process->classes[id].row];
    return vv_with_next(error, VV_NEXT_IS_SAID,
                        vv_fail_at(error, VARVE_UNSUPPORTED, offset,
                                   "'%s': records of class %u ('%s') have fields ('%s') whose "
                                   "length this varve cannot tell: read it with a newer varve",
                                   stream->path, id, class->name, class->fields->bad_word));
}

static enum varve_code advance_clock(struct vv_stream_reader *stream, uint64_t word,
                                     uint64_t offset, struct varve_error *error)
{
    uint64_t ahead = ((word >> VV_ID_BITS) - stream->ticks) & VV_TICKS_MASK;
    if (ahead < HALF_TURN)
        stream->ticks += ahead;
    else
        stream->process->model->health.clock_steps_back++;
    return vv_stream_time(stream, stream->ticks, offset, &stream->time_ns, error);
}

static enum varve_code read_record(struct vv_stream_reader *stream, const struct vv_record *record,
                                   struct varve_error *error)
{
    const struct vv_event_class *class = record->class;
    const struct vv_range range = { class->name, class->source, class->layer, false };
    switch (class->action) {
    case VV_EVENT_END:
        vv_range_end(stream);
        return VARVE_OK;
    case VV_ACTION_SITE + VV_KIND_NEXT:
        vv_range_end(stream);
        return vv_range_begin(stream, &range, error);
    case VV_ACTION_SITE + VV_KIND_BEGIN:
        return vv_range_begin(stream, &range, error);
    default:
        return vv_record_read(stream, record, error);
    }
}

static void note_first(struct vv_stream_reader *stream)
{
    struct vv_process_reader *process = stream->process;
    if (process->events == 0 || stream->time_ns < process->first_ns)
        process->first_ns = stream->time_ns;
}

/* Makes room for a slice for each word, which the fast way needs. If that would exceed the model's
 * limit, there is no failure: the slow way may still do. */
static enum varve_code make_room(struct vv_stream_reader *stream, size_t count, bool *out_has_room,
                                 struct varve_error *error)
{
    *out_has_room = false;
    if (stream->track == VV_NONE || stream->counts_only)
        return VARVE_OK;
    enum varve_code code = vv_model_reserve_slices(stream->process->model, count, error);
    *out_has_room = code == VARVE_OK;
    vv_ranges_prepare(stream);
    return code == VARVE_LIMIT ? VARVE_OK : code;
}

/* Decodes complete records. *out_used is the number of their words. The first one is at
 * `offset`. */
static enum varve_code read_words(struct vv_stream_reader *stream, const uint64_t *words,
                                  size_t count, uint64_t offset, size_t *out_used,
                                  struct varve_error *error)
{
    struct vv_process_reader *process = stream->process;
    size_t at = 0, plain;
    bool has_room;
    VV_TRY(make_room(stream, count, &has_room, error));
    while (at < count) {
        if (has_room) {
            VV_TRY(vv_ranges_read(stream, words + at, count - at, offset + at * 8, &plain,
                                  error));
            at += plain;
            if (at == count)
                break;
        }
        uint64_t word = le64toh(words[at]);
        uint32_t id = (uint32_t)(word & VV_ID_MASK);
        const struct vv_event_class *class =
            id < process->class_count ? &process->classes[id] : NULL;
        if (class == NULL || class->action == VV_ACTION_UNDECLARED ||
            class->action == VV_ACTION_UNSIZED)
            return fail_class(stream, id, offset + at * 8, error);
        size_t length = class->words != 0
                            ? class->words
                            : vv_record_words(process, class, words + at, count - at);
        if (length == 0 || length > count - at)
            break;
        if (stream->counts_only) {
            stream->records++;
            at += length;
            continue;
        }
        struct vv_record record = { class, words + at + 1, length - 1, offset + at * 8, VV_NONE };
        VV_TRY(advance_clock(stream, word, record.offset, error));
        if (stream->ticks > stream->next_pause_ticks)
            pass_pause(stream);
        if (stream->records == 0)
            note_first(stream);
        stream->records++;
        if (stream->open.count > 0)
            record.slice = stream->open.items[stream->open.count - 1].slice;
        VV_TRY(read_record(stream, &record, error));
        at += length;
    }
    *out_used = at;
    return VARVE_OK;
}

/* ---- packets ---- */

static enum varve_code read_packet(struct vv_stream_reader *stream, const struct vv_input *input,
                                   const struct vv_packet *packet, struct varve_error *error)
{
    struct vv_process_reader *process = stream->process;
    uint64_t at = packet->offset + sizeof(struct vv_packet_header);
    uint64_t end = packet->offset + packet->content_bytes;
    if (packet->begin_ticks > stream->ticks)
        stream->ticks = packet->begin_ticks;
    while (at < end) {
        size_t wanted = end - at < VV_WINDOW_BYTES ? (size_t)(end - at) : VV_WINDOW_BYTES;
        size_t got, used = 0;
        VV_TRY(vv_input_read(input, at, process->window, wanted, &got, error));
        VV_TRY(read_words(stream, process->window, got / 8, at, &used, error));
        if (used == 0 && (got < wanted || packet->cut)) {
            process->model->health.truncated_files += !packet->cut;
            return VARVE_OK;
        }
        if (used == 0)
            return vv_fail_at(error, wanted < VV_WINDOW_BYTES ? VARVE_CORRUPT : VARVE_LIMIT, at,
                              "'%s': a record does not end with its packet", stream->path);
        at += used * 8;
    }
    return VARVE_OK;
}

/* *out_is_there is false if a flight recorder has removed the part since its packets were found. */
static enum varve_code open_part(struct vv_stream_reader *stream, struct vv_input *input,
                                 uint32_t part, bool *out_is_there, struct varve_error *error)
{
    struct varve_error why;
    *out_is_there = true;
    if (input->path == stream->packets->paths[part])
        return VARVE_OK;
    vv_input_close(input);
    stream->path = stream->packets->paths[part];
    enum varve_code code = vv_input_open(stream->path, input, &why);
    *out_is_there = code != VARVE_NOT_FOUND || !stream->packets->keeps_last;
    if (code == VARVE_OK || !*out_is_there)
        return VARVE_OK;
    if (error != NULL)
        *error = why;
    return code;
}

static enum varve_code read_packets(struct vv_stream_reader *stream, struct vv_input *input,
                                    struct varve_error *error)
{
    const struct vv_packets *packets = stream->packets;
    uint64_t discarded = packets->lost_before;
    size_t taken;
    for (size_t i = 0; i < packets->count; i++) {
        const struct vv_packet *packet = &packets->items[i];
        bool is_there;
        VV_TRY(open_part(stream, input, packet->part, &is_there, error));
        VV_TRY(vv_waves_read(stream, input, i, &taken, error));
        if (taken > 0) {
            i += taken - 1;
            continue;
        }
        if (packet->after_gap || !is_there)
            end_with_gap(stream);
        if (is_there)
            VV_TRY(read_packet(stream, input, packet, error));
        else
            stream->lacks_begin = true;
        if (packet->discarded > discarded) /* the loss comes after the last record of this packet */
            end_with_gap(stream);
        discarded = packet->discarded;
    }
    uint64_t lost = discarded - packets->lost_before;
    stream->process->lost += lost;
    if (stream->track != VV_NONE)
        stream->process->model->tracks.lost[stream->track] = lost;
    return VARVE_OK;
}

/* Tells finish that the stream's slices are in order and nested: they were added in order of begin,
 * and nest as they were recorded. If a slice has no duration, that may not be the order and nesting
 * of model.h. */
static enum varve_code place_slices(struct vv_stream_reader *stream, uint32_t first_slice,
                                    struct varve_error *error)
{
    struct vv_model *model = stream->process->model;
    struct vv_placed placed = { first_slice, (uint32_t)model->slices.table.count };
    if (stream->has_empty || placed.first == placed.limit)
        return VARVE_OK;
    VV_TRY(vv_array_reserve(&model->placed, &model->placed_capacity, model->placed_count + 1,
                            sizeof placed, error));
    model->placed[model->placed_count++] = placed;
    return VARVE_OK;
}

/* Ranges that are still open end with the next pause, or with the process, whose end is not known
 * yet. */
static enum varve_code leave_open(struct vv_stream_reader *stream, struct varve_error *error)
{
    struct vv_process_reader *process = stream->process;
    find_next_pause(stream);
    if (stream->next_pause < process->pauses.count)
        vv_range_close_all(stream, process->pauses.items[stream->next_pause].time_ns, 0);
    for (size_t i = 0; i < stream->open.count; i++)
        VV_PUSH(&process->open_ranges, stream->open.items[i], error);
    if (stream->records > 0 && (process->events == 0 || stream->time_ns > process->last_ns))
        process->last_ns = stream->time_ns;
    process->events += stream->records;
    return VARVE_OK;
}

/* A range has two words, an operator at least six; few records are allocations. Memory that is not
 * used costs nothing, while growing in many steps takes time. If the memory is refused, growing in
 * steps will do. */
static void make_room_ahead(const struct vv_stream_reader *stream)
{
    struct vv_model *model = stream->process->model;
    uint64_t bytes = 0;
    for (size_t i = 0; i < stream->packets->count; i++)
        bytes += stream->packets->items[i].content_bytes;
    if (bytes < LARGE_STREAM_BYTES || stream->counts_only || model->limit_bytes != 0)
        return;
    (void)vv_model_reserve_slices(model, bytes / 16, NULL);
    (void)vv_model_reserve(model, VV_TABLE_OPS, bytes / 48, NULL);
    (void)vv_model_reserve(model, VV_TABLE_MEMORY, bytes / 256, NULL);
}

enum varve_code vv_stream_read(struct vv_process_reader *process, const struct vv_packets *packets,
                               struct varve_error *error)
{
    struct vv_stream_reader stream = { .process = process, .packets = packets, .track = VV_NONE,
                                       .last_work = SIZE_MAX,
                                       .last_call = { .slice = VV_NONE } };
    struct vv_input input = { .descriptor = -1 };
    uint32_t track;
    enum varve_code code = VARVE_OK;
    uint32_t first_slice = (uint32_t)process->model->slices.table.count;
    stream.counts_only = process->model->counts_only && packets->instance != 0;
    stream.lacks_begin = packets->lacks_begin;
    find_next_pause(&stream);
    if (packets->instance != 0 && packets->count > 0)
        code = vv_stream_track(&stream, &track, error);
    make_room_ahead(&stream);
    if (code == VARVE_OK)
        code = vv_input_place(&input, read_packets(&stream, &input, error), error);
    if (code == VARVE_OK)
        code = leave_open(&stream, error);
    if (code == VARVE_OK)
        code = place_slices(&stream, first_slice, error);
    vv_input_close(&input);
    free(stream.open.items);
    process->model->health.truncated_files += packets->cut_files;
    return code;
}
