/* SPDX-License-Identifier: Apache-2.0 */
/* event.c — one event. It becomes a slice with its operator and its device work, an allocation,
 * values of a counter, or facts that sum up many occurrences.
 *
 * Instants are picoseconds. Begin and end are each rounded down to the nanosecond, so order and
 * nesting stay. An event's numbers are read before its statistics, in whatever order the fields
 * are. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "import/xspace/event.h"
#include "varve/varve.h"

#define INSTANT_MAX_NS (INT64_C(1) << 61) /* the sum and the difference of two such instants fit in
                                             an int64_t */
#define PLAIN_MAX_PS (INT64_C(1) << 57)

/* ---- numbers ---- */

static struct vv_protobuf message_of(const struct vv_xspace_event *event)
{
    struct vv_protobuf message;
    uint64_t offset = event->segment->offset + (uint64_t)(event->data - event->segment->data);
    vv_protobuf_init(&message, event->data, event->length, offset);
    return message;
}

static enum varve_code read_numbers(struct vv_xspace_event *event, struct varve_error *error)
{
    struct vv_protobuf message = message_of(event);
    event->metadata_id = 0;
    event->offset_ps = event->duration_ps = event->occurrences = 0;
    event->is_sum = event->has_stats = false;
    event->first_stat = NULL;
    while (vv_protobuf_next(&message)) {
        if (message.number == VV_XEVENT_STATS) {
            event->has_stats = true;
            continue;
        }
        if (message.number > VV_XEVENT_NUM_OCCURRENCES) {
            event->rows->health.ignored++;
            continue;
        }
        VV_TRY(vv_protobuf_expect(&message, VV_WIRE_VARINT, "an event's number", error));
        switch (message.number) {
        case VV_XEVENT_METADATA_ID:
            event->metadata_id = message.value;
            break;
        case VV_XEVENT_OFFSET_PS:
            event->offset_ps = (int64_t)message.value;
            event->is_sum = false;
            break;
        case VV_XEVENT_DURATION_PS:
            event->duration_ps = (int64_t)message.value;
            break;
        default:
            event->occurrences = (int64_t)message.value;
            event->is_sum = true;
            break;
        }
    }
    return vv_protobuf_end(&message, error);
}

static inline bool read_if(const unsigned char **at, const unsigned char *limit,
                           const unsigned char *readable, uint32_t number, uint64_t *value)
{
    *value = 0;
    if (*at >= limit || **at != (number << 3 | VV_WIRE_VARINT))
        return true;
    ++*at;
    return vv_protobuf_varint(at, readable, value);
}

struct numbers {
    uint64_t metadata_id, offset_ps, duration_ps;
    const unsigned char *end; /* of the fields that hold the numbers                            */
};

/* Reads metadata_id, offset_ps and duration_ps in this order, as nearly all writers write them.
 * False if a number has no end. Bytes after the event may be read, so that a number is read eight
 * bytes at a time; a number that goes beyond the event is found afterwards. */
static inline bool read_in_order(const unsigned char *at, const unsigned char *limit,
                                 const unsigned char *readable, struct numbers *out)
{
    bool is_read = read_if(&at, limit, readable, VV_XEVENT_METADATA_ID, &out->metadata_id) &&
                   read_if(&at, limit, readable, VV_XEVENT_OFFSET_PS, &out->offset_ps) &&
                   read_if(&at, limit, readable, VV_XEVENT_DURATION_PS, &out->duration_ps) &&
                   at <= limit;
    out->end = at;
    return is_read;
}

/* True if only statistics follow the numbers. */
static bool take_numbers(struct vv_xspace_event *event, const struct numbers *numbers)
{
    const unsigned char *at = numbers->end, *limit = event->data + event->length;
    uint64_t length;
    event->metadata_id = numbers->metadata_id;
    event->offset_ps = (int64_t)numbers->offset_ps;
    event->duration_ps = (int64_t)numbers->duration_ps;
    event->first_stat = at;
    event->has_stats = at < limit;
    event->is_sum = false;
    for (; at < limit; at += length) {
        if (*at++ != (VV_XEVENT_STATS << 3 | VV_WIRE_BYTES) ||
            !vv_protobuf_varint(&at, limit, &length) || length > (uint64_t)(limit - at))
            return false;
    }
    return true;
}

static inline int64_t floor_ns(int64_t ps)
{
    return ps >= 0 ? (int64_t)((uint64_t)ps / 1000) : ps / 1000 - (ps % 1000 < 0);
}

/* False if the instants do not fit in an int64_t, or are outside any clock. */
static bool place(struct vv_xspace_event *event)
{
    int64_t end_ps, base_ns = event->segment->base_ns;
    event->is_negative = event->duration_ps < 0;
    if (event->is_negative)
        event->duration_ps = 0;
    if (__builtin_add_overflow(event->offset_ps, event->duration_ps, &end_ps))
        return false;
    int64_t begin_ns = floor_ns(event->offset_ps), end_ns = floor_ns(end_ps);
    event->begin_ns = base_ns + begin_ns;
    event->duration_ns = end_ns - begin_ns;
    return event->begin_ns > -INSTANT_MAX_NS && base_ns + end_ns < INSTANT_MAX_NS;
}

static void note_instants(struct vv_xspace_segment *segment, int64_t begin_ns, int64_t end_ns)
{
    if (segment->begin_ns > segment->end_ns)
        segment->begin_ns = begin_ns, segment->end_ns = end_ns;
    if (begin_ns < segment->begin_ns)
        segment->begin_ns = begin_ns;
    if (end_ns > segment->end_ns)
        segment->end_ns = end_ns;
}

/* ---- statistics ---- */

static enum varve_code keep_stats(struct vv_xspace_event *event,
                                  const struct vv_xspace_keeping *keeping,
                                  struct varve_error *error)
{
    if (!event->has_stats)
        return VARVE_OK;
    const struct vv_xspace_segment *segment = event->segment;
    if (event->first_stat != NULL)
        return vv_xspace_stats_keep(segment->plane,
                                    (struct vv_bytes){
                                        event->first_stat,
                                        (size_t)(event->data + event->length - event->first_stat) },
                                    segment->data + segment->length,
                                    segment->offset + (uint64_t)(event->first_stat - segment->data),
                                    keeping, error);
    struct vv_protobuf message = message_of(event);
    while (vv_protobuf_next(&message))
        if (message.number == VV_XEVENT_STATS)
            VV_TRY(vv_xspace_stat_keep(event->segment->plane, &message, keeping, error));
    return VARVE_OK;
}

/* Adds a reference to the metadata's arguments, then the event's own. An event without arguments of
 * its own shares the metadata's rows. */
static enum varve_code keep_args(struct vv_xspace_event *event, bool is_memory,
                                 struct varve_error *error)
{
    struct vv_args *args = &event->rows->args;
    const struct vv_xspace_event_kind *kind = event->kind;
    uint64_t first = args->table.count;
    event->first_arg = kind->first_arg;
    event->arg_count = kind->arg_count;
    if (!event->has_stats)
        return VARVE_OK;
    if (kind->arg_count > 0) {
        uint64_t row;
        VV_TRY(vv_xspace_arg_add(event->rows, &row, error));
        args->key[row] = 0;
        args->value[row] = VV_ARG_ROWS_VALUE(kind->first_arg, kind->arg_count);
        args->kind[row] = VV_ARG_ROWS;
    }
    uint64_t first_own = args->table.count;
    event->keeping.is_memory = is_memory;
    VV_TRY(keep_stats(event, &event->keeping, error));
    uint64_t count = args->table.count - first;
    if (args->table.count == first_own) {
        args->table.count = first; /* the event has no arguments of its own after all */
        return VARVE_OK;
    }
    if (count > UINT16_MAX) {
        event->rows->health.ignored += count - UINT16_MAX;
        count = UINT16_MAX;
    }
    event->first_arg = VV_XSPACE_OWN_ROWS + (uint32_t)first;
    event->arg_count = (uint16_t)count;
    return VARVE_OK;
}

/* ---- slices ---- */

/* Leaves out columns that vv_model_finish fills: vv_xspace_chunks_append. Other columns are filled
 * for many rows at once. */
static inline enum varve_code add_slice(struct vv_xspace_event *event, struct varve_error *error)
{
    const struct vv_xspace_segment *segment = event->segment;
    struct vv_slices *slices = &event->rows->slices;
    VV_TRY(keep_args(event, false, error));
    uint64_t row = slices->table.count++;
    slices->begin_ns[row] = event->begin_ns;
    slices->duration_ns[row] = event->duration_ns;
    slices->name[row] = event->kind->name;
    slices->first_arg[row] = event->first_arg;
    slices->arg_count[row] = event->arg_count;
    slices->layer[row] = !event->is_device       ? event->kind->host_layer
                         : segment->word != NULL ? segment->word->layer
                                                 : VARVE_LAYER_DEVICE;
    if (event->is_negative) {
        slices->flags[row] = VV_SLICE_NEGATIVE;
        event->rows->health.negative++;
    }
    if (!event->is_device && (event->values.set | event->kind->values.set) == 0)
        return VARVE_OK;
    return vv_xspace_slice_columns(event, (uint32_t)row, error);
}

/* ---- events that become no slices ---- */

/* "GPU_0_bfc" names the device. With another name the statistic device_ordinal does; otherwise it
 * is the device of the plane. */
static uint32_t memory_device(const struct vv_xspace_event *event)
{
    const char *allocator = text(event, VV_XSPACE_ALLOCATOR);
    if (strncmp(allocator, "GPU_", 4) == 0 && isdigit((unsigned char)allocator[4]))
        return VARVE_DEVICE(VARVE_DEVICE_KIND_CUDA, strtoul(allocator + 4, NULL, 10));
    if (has(event, VV_XSPACE_DEVICE_ORDINAL))
        return VARVE_DEVICE(VARVE_DEVICE_KIND_OTHER, item(event, VV_XSPACE_DEVICE_ORDINAL, 0));
    return event->segment->plane->device != VV_NONE ? event->segment->plane->device
                                                    : VARVE_DEVICE_CPU;
}

/* Adds a row of memory, and a mark with the values for which memory has no column. */
static enum varve_code add_memory(struct vv_xspace_event *event, struct varve_error *error)
{
    struct vv_model *rows = event->rows;
    uint32_t row, mark;
    VV_TRY(keep_args(event, true, error));
    VV_TRY(vv_model_add_mark(rows, &mark, error));
    rows->marks.time_ns[mark] = event->begin_ns;
    rows->marks.name[mark] = event->kind->name;
    rows->marks.track[mark] = event->segment->track;
    rows->marks.first_arg[mark] = event->first_arg;
    rows->marks.arg_count[mark] = event->arg_count;
    rows->marks.layer[mark] = VARVE_LAYER_MEMORY;
    int64_t bytes = item(event, VV_XSPACE_ALLOCATION_BYTES, 0);
    bool is_release = event->kind->event_class == VV_XSPACE_DEALLOCATION;
    if (bytes < 0 || (bytes == 0 && !is_release))
        return VARVE_OK;
    VV_TRY(vv_model_add_memory(rows, &row, error));
    rows->memory.time_ns[row] = event->begin_ns;
    rows->memory.address[row] = (uint64_t)item(event, VV_XSPACE_ADDRESS, 0);
    rows->memory.bytes[row] = is_release ? -bytes : bytes;
    rows->memory.allocated_bytes[row] = item(event, VV_XSPACE_ALLOCATED_BYTES, -1);
    rows->memory.reserved_bytes[row] = item(event, VV_XSPACE_RESERVED_BYTES, -1);
    if (has(event, VV_XSPACE_FRAGMENTATION))
        rows->memory.fragmentation[row] =
            vv_protobuf_real((uint64_t)item(event, VV_XSPACE_FRAGMENTATION, 0));
    rows->memory.device[row] = memory_device(event);
    rows->memory.track[row] = event->segment->track;
    return VARVE_OK;
}

static enum varve_code add_counters(struct vv_xspace_event *event, struct varve_error *error)
{
    const struct vv_xspace_segment *segment = event->segment;
    struct vv_xspace_keeping keeping = {
        .sink = &event->chunk->sink,
        .target = VV_XSPACE_TO_COUNTERS,
        .process = segment->plane->process,
        .prefix = event->kind->text,
        .counter = event->kind->name,
        .track = segment->track,
        .time_ns = event->begin_ns,
    };
    return keep_stats(event, &keeping, error);
}

/* An event without a place in time: its numbers and statistics become facts with its name. */
static enum varve_code add_facts(struct vv_xspace_event *event, struct varve_error *error)
{
    struct vv_xspace_keeping keeping = {
        .sink = &event->chunk->sink,
        .target = VV_XSPACE_TO_FACTS,
        .process = event->segment->plane->process,
        .prefix = event->kind->text,
    };
    event->rows->health.unplaced++;
    VV_TRY(vv_xspace_named_fact(&keeping, event->is_sum ? "num_occurrences" : "offset_ps",
                                event->is_sum ? event->occurrences : event->offset_ps, error));
    VV_TRY(vv_xspace_named_fact(&keeping, "duration_ps", event->duration_ps, error));
    return keep_stats(event, &keeping, error);
}

/* ---- one event ---- */

/* Makes the kind of an id that has no metadata: "event ID". */
static enum varve_code make_unknown(struct vv_xspace_sink *sink, uint64_t id,
                                    struct vv_xspace_event_kind *out_kind,
                                    struct varve_error *error)
{
    char name[32];
    int length = snprintf(name, sizeof name, "event %llu", (unsigned long long)id);
    *out_kind = (struct vv_xspace_event_kind){ .first_arg = VV_NONE, .op = VV_NONE,
                                               .host_layer = VARVE_LAYER_HOST };
    VV_TRY(vv_xspace_text(sink, name, (size_t)length, &out_kind->name, error));
    out_kind->text = vv_xspace_text_of(sink, out_kind->name);
    return VARVE_OK;
}

/* The chunk keeps the kinds of ids without metadata, for one plane at a time. */
static enum varve_code find_unknown(struct vv_xspace_event *event, struct varve_error *error)
{
    struct vv_xspace_chunk *chunk = event->chunk;
    if (chunk->unknown_plane != event->segment->plane) {
        vv_key_map_clear(&chunk->unknown_ids);
        chunk->unknown_kinds.count = 0;
        chunk->unknown_plane = event->segment->plane;
    }
    uint32_t item = vv_key_map_get(&chunk->unknown_ids, event->metadata_id);
    if (item == VV_KEY_NONE) {
        item = (uint32_t)chunk->unknown_kinds.count;
        VV_TRY(vv_array_reserve(&chunk->unknown_kinds.items, &chunk->unknown_kinds.capacity,
                                item + 1u, sizeof *chunk->unknown_kinds.items, error));
        VV_TRY(make_unknown(&chunk->sink, event->metadata_id, &chunk->unknown_kinds.items[item],
                            error));
        chunk->unknown_kinds.count++;
        VV_TRY(vv_key_map_put(&chunk->unknown_ids, event->metadata_id, item, error));
    }
    event->kind = &chunk->unknown_kinds.items[item];
    return VARVE_OK;
}

/* `event` holds what all events of the segment share. `numbers` is NULL if the numbers are not in
 * the usual order. */
static enum varve_code read_event(struct vv_xspace_event *event, struct vv_xspace_segment *segment,
                                  const struct numbers *numbers, struct varve_error *error)
{
    event->values.set = 0;
    if (numbers == NULL || !take_numbers(event, numbers))
        VV_TRY(read_numbers(event, error));
    bool is_placed = !event->is_sum && place(event);
    if (is_placed)
        note_instants(segment, event->begin_ns, event->begin_ns + event->duration_ns);
    if (event->is_counted_only)
        return VARVE_OK;
    uint32_t kind = vv_key_map_get(&segment->plane->event_ids, event->metadata_id);
    if (kind != VV_KEY_NONE)
        event->kind = &segment->plane->event_kinds[kind];
    else
        VV_TRY(find_unknown(event, error));
    if (!is_placed)
        return add_facts(event, error);
    if (segment->is_counters)
        return add_counters(event, error);
    if (event->kind->event_class == VV_XSPACE_ALLOCATION ||
        event->kind->event_class == VV_XSPACE_DEALLOCATION)
        return add_memory(event, error);
    return add_slice(event, error);
}

/* ---- a whole segment ---- */

/* The columns for slices that are nothing else. */
struct lane {
    struct vv_slices slices;     /* columns with room for all events of the segment             */
    const struct vv_key_map *ids;
    const struct vv_xspace_event_kind *kinds;
    int64_t base_ns;
    int64_t begin_ns, end_ns;    /* of all its slices; none: begin > end                        */
    bool is_open;
};

static struct lane lane_of(const struct vv_xspace_event *event)
{
    const struct vv_xspace_segment *segment = event->segment;
    struct lane lane = { .slices = event->rows->slices, .ids = &segment->plane->event_ids,
                         .kinds = segment->plane->event_kinds, .base_ns = segment->base_ns,
                         .begin_ns = INT64_MAX, .end_ns = INT64_MIN };
    lane.is_open = !event->is_counted_only && !segment->is_counters &&
                   lane.base_ns > -INSTANT_MAX_NS &&
                   lane.base_ns < INSTANT_MAX_NS - PLAIN_MAX_PS / 500;
    return lane;
}

/* False if the event is something else, or its instants are far away. Then nothing was changed. */
static inline bool add_plain(struct lane *lane, uint64_t row, const struct numbers *numbers)
{
    uint32_t kind = vv_key_map_get(lane->ids, numbers->metadata_id);
    if (kind == VV_KEY_NONE || !lane->kinds[kind].is_plain ||
        (numbers->offset_ps | numbers->duration_ps) >= PLAIN_MAX_PS)
        return false;
    int64_t begin_ns = lane->base_ns + (int64_t)(numbers->offset_ps / 1000);
    int64_t end_ns = lane->base_ns + (int64_t)((numbers->offset_ps + numbers->duration_ps) / 1000);
    lane->slices.begin_ns[row] = begin_ns;
    lane->slices.duration_ns[row] = end_ns - begin_ns;
    lane->slices.name[row] = lane->kinds[kind].name;
    lane->slices.first_arg[row] = lane->kinds[kind].first_arg;
    lane->slices.arg_count[row] = lane->kinds[kind].arg_count;
    lane->slices.layer[row] = lane->kinds[kind].host_layer;
    lane->begin_ns = begin_ns < lane->begin_ns ? begin_ns : lane->begin_ns;
    lane->end_ns = end_ns > lane->end_ns ? end_ns : lane->end_ns;
    return true;
}

static enum varve_code read_events(struct vv_xspace_event *event, struct vv_xspace_segment *segment,
                                   struct varve_error *error)
{
    const unsigned char *at = segment->data, *end = at + segment->length;
    struct vv_table *table = &event->rows->slices.table;
    struct lane lane = lane_of(event);
    event->order = segment->order;
    for (uint64_t length = 0; at < end; at += length, event->order++) {
        struct numbers numbers;
        at++; /* xspace/line.c has checked the tag and the length */
        if (!vv_protobuf_varint(&at, end, &length))
            break;
        bool is_in_order = read_in_order(at, at + length, end, &numbers);
        if (is_in_order && numbers.end == at + length && lane.is_open &&
            add_plain(&lane, table->count, &numbers)) {
            table->count++;
            continue;
        }
        event->data = at;
        event->length = (size_t)length;
        VV_TRY(read_event(event, segment, is_in_order ? &numbers : NULL, error));
    }
    if (lane.begin_ns <= lane.end_ns)
        note_instants(segment, lane.begin_ns, lane.end_ns);
    return VARVE_OK;
}

enum varve_code vv_xspace_segment_read(struct vv_xspace_chunk *chunk,
                                       struct vv_xspace_segment *segment, struct varve_error *error)
{
    struct vv_slices *slices = &chunk->sink.rows->slices;
    struct vv_xspace_event event = { .chunk = chunk, .segment = segment, .rows = chunk->sink.rows };
    uint64_t first = slices->table.count;
    segment->begin_ns = 1; /* begin > end: no event has a place in time */
    segment->end_ns = 0;
    event.is_device = segment->plane->word->kind == VV_XSPACE_DEVICE;
    event.is_counted_only = segment->plane->space->model->counts_only;
    event.keeping = (struct vv_xspace_keeping){ .sink = &chunk->sink, .values = &event.values,
                                                .is_work = event.is_device };
    VV_TRY(read_events(&event, segment, error));
    for (uint64_t row = first; row < slices->table.count; row++)
        slices->track[row] = segment->track;
    return VARVE_OK;
}
