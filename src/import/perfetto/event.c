/* SPDX-License-Identifier: Apache-2.0 */
/* event.c — one track event: its kind, its track, its arguments, its values of counters and its
 * flows. The event is kept until all packets are read (perfetto/join.c). */
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "import/perfetto/perfetto.h"

enum type { SLICE_BEGIN = 1, SLICE_END = 2, INSTANT = 3, COUNTER = 4 };

/* The fields of one event, before its kind is known. */
struct fields {
    struct vv_perfetto_event event;
    uint64_t type, track;
    bool has_track, has_legacy, has_delta_us, has_time_us;
    int64_t delta_us, time_us;
    struct vv_protobuf legacy;
    struct vv_perfetto_uuids integer_tracks, real_tracks; /* if there are any, they replace the
                                                             defaults */
    struct vv_perfetto_uuids integers, reals, flows, last_flows;
};

static void deinit_fields(struct fields *fields)
{
    free(fields->integer_tracks.items);
    free(fields->real_tracks.items);
    free(fields->integers.items);
    free(fields->reals.items);
    free(fields->flows.items);
    free(fields->last_flows.items);
}

static enum varve_code push(struct vv_perfetto_uuids *list, uint64_t item,
                            struct varve_error *error)
{
    VV_TRY(vv_array_reserve(&list->items, &list->capacity, list->count + 1, sizeof *list->items,
                            error));
    list->items[list->count++] = item;
    return VARVE_OK;
}

/* Reads varints, single or packed. */
static enum varve_code push_varints(struct vv_perfetto_uuids *list, struct vv_protobuf *message,
                                    struct varve_error *error)
{
    const unsigned char *at = NULL;
    uint64_t item;
    while (vv_protobuf_repeated(message, &at, &item))
        VV_TRY(push(list, item, error));
    return vv_protobuf_end(message, error);
}

/* Reads numbers of 8 bytes, single or packed. */
static enum varve_code push_fixed(struct vv_perfetto_uuids *list, const struct vv_protobuf *message,
                                  struct varve_error *error)
{
    if (message->wire != VV_WIRE_BYTES)
        return push(list, message->value, error);
    for (uint64_t i = 0; i + 8 <= message->value; i += 8) {
        uint64_t item;
        memcpy(&item, message->data + i, sizeof item);
        VV_TRY(push(list, le64toh(item), error));
    }
    return VARVE_OK;
}

/* ---- names ---- */

static enum varve_code interned(struct vv_perfetto *reader,
                                const struct vv_perfetto_sequence *sequence,
                                enum vv_perfetto_interned kind, uint64_t iid, uint32_t *out_text,
                                struct varve_error *error)
{
    *out_text = vv_key_map_get(&sequence->interned[kind], iid);
    if (*out_text != VV_KEY_NONE)
        return VARVE_OK;
    char text[32];
    snprintf(text, sizeof text, "iid %llu", (unsigned long long)iid);
    return vv_model_text(reader->model, text, out_text, error);
}

/* Several categories become one text: "a,b". */
static enum varve_code add_category(struct vv_perfetto *reader, uint32_t category,
                                    struct vv_perfetto_event *event, struct varve_error *error)
{
    struct vv_intern *strings = &reader->model->strings;
    if (event->category == 0) {
        event->category = category;
        return VARVE_OK;
    }
    const char *first = vv_intern_text(strings, event->category),
               *next = vv_intern_text(strings, category);
    size_t bytes = strlen(first) + strlen(next) + 2;
    VV_TRY(vv_array_reserve(&reader->text, &reader->text_capacity, bytes, 1, error));
    snprintf(reader->text, bytes, "%s,%s", first, next);
    return vv_model_text(reader->model, reader->text, &event->category, error);
}

static enum varve_code read_category_ids(struct vv_perfetto *reader,
                                         const struct vv_perfetto_sequence *sequence,
                                         struct vv_protobuf *message,
                                         struct vv_perfetto_event *event, struct varve_error *error)
{
    const unsigned char *at = NULL;
    uint64_t iid;
    while (vv_protobuf_repeated(message, &at, &iid)) {
        uint32_t category;
        VV_TRY(interned(reader, sequence, VV_PERFETTO_CATEGORIES, iid, &category, error));
        VV_TRY(add_category(reader, category, event, error));
    }
    return vv_protobuf_end(message, error);
}

static enum varve_code read_source(struct vv_perfetto *reader, struct vv_protobuf message,
                                   struct vv_perfetto_event *event, struct varve_error *error)
{
    struct vv_model *model = reader->model;
    uint32_t file = 0, line = 0;
    while (vv_protobuf_next(&message)) {
        if (message.number == VV_SOURCELOCATION_FILE_NAME)
            VV_TRY(vv_perfetto_text(reader, &message, &file, error));
        else if (message.number == VV_SOURCELOCATION_LINE_NUMBER)
            line = (uint32_t)message.value;
    }
    VV_TRY(vv_protobuf_end(&message, error));
    VV_TRY(vv_model_add_source(model, &event->source, error));
    model->sources.file[event->source] = file;
    model->sources.line[event->source] = line;
    return VARVE_OK;
}

/* ---- fields ---- */

static enum varve_code read_name_field(struct vv_perfetto *reader,
                                       const struct vv_perfetto_sequence *sequence,
                                       struct vv_protobuf *message, struct vv_perfetto_event *event,
                                       struct varve_error *error)
{
    uint32_t text;
    struct vv_protobuf inner;
    switch (message->number) {
    case VV_TRACKEVENT_CATEGORY_IIDS:
        return read_category_ids(reader, sequence, message, event, error);
    case VV_TRACKEVENT_CATEGORIES:
        VV_TRY(vv_perfetto_text(reader, message, &text, error));
        return add_category(reader, text, event, error);
    case VV_TRACKEVENT_NAME_IID:
        return interned(reader, sequence, VV_PERFETTO_EVENT_NAMES, message->value, &event->name,
                        error);
    case VV_TRACKEVENT_NAME:
        return vv_perfetto_text(reader, message, &event->name, error);
    case VV_TRACKEVENT_SOURCE_LOCATION:
        VV_TRY(vv_protobuf_expect(message, VV_WIRE_BYTES, "a source location", error));
        vv_protobuf_enter(message, &inner);
        return read_source(reader, inner, event, error);
    case VV_TRACKEVENT_SOURCE_LOCATION_IID:
        event->source = vv_key_map_get(&sequence->interned[VV_PERFETTO_SOURCES], message->value);
        if (event->source == VV_KEY_NONE)
            event->source = 0;
        return VARVE_OK;
    case VV_TRACKEVENT_CORRELATION_ID:
        return vv_perfetto_arg(reader, "correlation_id", message->value, VV_ARG_INT, error);
    default:
        VV_TRY(vv_perfetto_text(reader, message, &text, error));
        return vv_perfetto_arg(reader, "correlation_id", text, VV_ARG_TEXT, error);
    }
}

static enum varve_code read_list_field(struct vv_protobuf *message, struct fields *fields,
                                       struct varve_error *error)
{
    switch (message->number) {
    case VV_TRACKEVENT_EXTRA_COUNTER_VALUES:
        return push_varints(&fields->integers, message, error);
    case VV_TRACKEVENT_EXTRA_COUNTER_TRACK_UUIDS:
        return push_varints(&fields->integer_tracks, message, error);
    case VV_TRACKEVENT_EXTRA_DOUBLE_COUNTER_TRACK_UUIDS:
        return push_varints(&fields->real_tracks, message, error);
    case VV_TRACKEVENT_EXTRA_DOUBLE_COUNTER_VALUES:
        return push_fixed(&fields->reals, message, error);
    case VV_TRACKEVENT_FLOW_IDS_OLD:
        return push_varints(&fields->flows, message, error);
    case VV_TRACKEVENT_FLOW_IDS:
        return push_fixed(&fields->flows, message, error);
    case VV_TRACKEVENT_TERMINATING_FLOW_IDS_OLD:
        return push_varints(&fields->last_flows, message, error);
    default:
        return push_fixed(&fields->last_flows, message, error);
    }
}

/* False: the field is no number. */
static bool read_number_field(const struct vv_protobuf *message, struct fields *fields)
{
    switch (message->number) {
    case VV_TRACKEVENT_TIMESTAMP_DELTA_US:
        fields->has_delta_us = true;
        fields->delta_us = (int64_t)message->value;
        return true;
    case VV_TRACKEVENT_TIMESTAMP_ABSOLUTE_US:
        fields->has_time_us = true;
        fields->time_us = (int64_t)message->value;
        return true;
    case VV_TRACKEVENT_TYPE:
        fields->type = message->value;
        return true;
    case VV_TRACKEVENT_TRACK_UUID:
        fields->has_track = true;
        fields->track = message->value;
        return true;
    case VV_TRACKEVENT_COUNTER_VALUE:
        fields->event.value = (double)(int64_t)message->value;
        return true;
    case VV_TRACKEVENT_DOUBLE_COUNTER_VALUE:
        fields->event.value = vv_protobuf_real(message->value);
        return true;
    /* the thread's own clock and instruction count, which old versions of Chrome wrote */
    case VV_TRACKEVENT_THREAD_TIME_DELTA_US:
    case VV_TRACKEVENT_THREAD_INSTRUCTION_COUNT_DELTA:
    case VV_TRACKEVENT_THREAD_TIME_ABSOLUTE_US:
    case VV_TRACKEVENT_THREAD_INSTRUCTION_COUNT_ABSOLUTE:
        return true;
    default:
        return false;
    }
}

static enum varve_code read_field(struct vv_perfetto *reader,
                                  const struct vv_perfetto_sequence *sequence,
                                  struct vv_protobuf *message, struct fields *fields,
                                  struct varve_error *error)
{
    if (read_number_field(message, fields))
        return VARVE_OK;
    switch (message->number) {
    case VV_TRACKEVENT_DEBUG_ANNOTATIONS:
        return vv_perfetto_annotation(reader, sequence, message, error);
    case VV_TRACKEVENT_LEGACY_EVENT:
        VV_TRY(vv_protobuf_expect(message, VV_WIRE_BYTES, "a legacy event", error));
        vv_protobuf_enter(message, &fields->legacy);
        fields->has_legacy = true;
        return VARVE_OK;
    case VV_TRACKEVENT_CATEGORY_IIDS:
    case VV_TRACKEVENT_NAME_IID:
    case VV_TRACKEVENT_CATEGORIES:
    case VV_TRACKEVENT_NAME:
    case VV_TRACKEVENT_SOURCE_LOCATION:
    case VV_TRACKEVENT_SOURCE_LOCATION_IID:
    case VV_TRACKEVENT_CORRELATION_ID:
    case VV_TRACKEVENT_CORRELATION_ID_STR:
        return read_name_field(reader, sequence, message, &fields->event, error);
    case VV_TRACKEVENT_EXTRA_COUNTER_VALUES:
    case VV_TRACKEVENT_EXTRA_COUNTER_TRACK_UUIDS:
    case VV_TRACKEVENT_FLOW_IDS_OLD:
    case VV_TRACKEVENT_TERMINATING_FLOW_IDS_OLD:
    case VV_TRACKEVENT_EXTRA_DOUBLE_COUNTER_TRACK_UUIDS:
    case VV_TRACKEVENT_EXTRA_DOUBLE_COUNTER_VALUES:
    case VV_TRACKEVENT_FLOW_IDS:
    case VV_TRACKEVENT_TERMINATING_FLOW_IDS:
        return read_list_field(message, fields, error);
    default:
        reader->model->health.ignored++; /* arguments of a type that only the producer knows */
        return VARVE_OK;
    }
}

/* ---- adding ---- */

static enum varve_code add_event(struct vv_perfetto *reader, const struct vv_perfetto_event *event,
                                 struct varve_error *error)
{
    VV_TRY(vv_array_reserve(&reader->events, &reader->event_capacity, reader->event_count + 1,
                            sizeof *reader->events, error));
    reader->events[reader->event_count++] = *event;
    return VARVE_OK;
}

/* Changes *value to the counter's value, if this sequence gives the counter's values as
 * differences. */
static enum varve_code accumulate(struct vv_perfetto_sequence *sequence,
                                  const struct vv_perfetto_track *track, double *value,
                                  struct varve_error *error)
{
    if (track->is_incremental) {
        uint32_t item = vv_key_map_get(&sequence->counters, track->uuid);
        if (item == VV_KEY_NONE) {
            VV_TRY(vv_array_reserve(&sequence->counter_values, &sequence->counter_capacity,
                                    sequence->counter_count + 1, sizeof *sequence->counter_values,
                                    error));
            item = (uint32_t)sequence->counter_count++;
            sequence->counter_values[item] = 0;
            VV_TRY(vv_key_map_put(&sequence->counters, track->uuid, item, error));
        }
        sequence->counter_values[item] += *value;
        *value = sequence->counter_values[item];
    }
    *value *= (double)track->multiplier;
    return VARVE_OK;
}

/* Values of other counters at the same instant: value n belongs to track n. */
struct extra {
    const struct vv_perfetto_uuids *tracks, *values;
    bool is_real;
};

static enum varve_code add_extra(struct vv_perfetto *reader, struct vv_perfetto_sequence *sequence,
                                 const struct extra *extra, int64_t time_ns,
                                 struct varve_error *error)
{
    for (size_t i = 0; i < extra->values->count; i++) {
        struct vv_perfetto_event event = { .time_ns = time_ns, .kind = VV_PERFETTO_VALUE,
                                           .is_extra = true, .first_arg = VV_NONE };
        if (i >= extra->tracks->count) {
            reader->model->health.ignored += extra->values->count - i;
            break;
        }
        uint64_t bits = extra->values->items[i];
        event.value = extra->is_real ? vv_protobuf_real(bits) : (double)(int64_t)bits;
        VV_TRY(vv_perfetto_track(reader, extra->tracks->items[i], &event.track, error));
        VV_TRY(accumulate(sequence, &reader->tracks[event.track], &event.value, error));
        VV_TRY(add_event(reader, &event, error));
    }
    return VARVE_OK;
}

static enum varve_code add_extras(struct vv_perfetto *reader, struct vv_perfetto_sequence *sequence,
                                  const struct fields *fields, struct varve_error *error)
{
    struct extra integers = { &fields->integer_tracks, &fields->integers, false };
    struct extra reals = { &fields->real_tracks, &fields->reals, true };
    if (integers.tracks->count == 0)
        integers.tracks = &sequence->extra_integers;
    if (reals.tracks->count == 0)
        reals.tracks = &sequence->extra_reals;
    VV_TRY(add_extra(reader, sequence, &integers, fields->event.time_ns, error));
    return add_extra(reader, sequence, &reals, fields->event.time_ns, error);
}

/* Old versions of Chrome gave times in microseconds since the thread's descriptor. */
static void find_time(struct vv_perfetto *reader, struct vv_perfetto_sequence *sequence,
                      const struct fields *fields, int64_t *time_ns)
{
    int64_t us = fields->time_us;
    if (fields->has_delta_us) {
        if (__builtin_add_overflow(sequence->reference_us, fields->delta_us, &us))
            return;
        sequence->reference_us = us;
    }
    if ((fields->has_delta_us || fields->has_time_us) && us >= 0) {
        uint64_t monotonic = vv_perfetto_clock_key(VV_PERFETTO_MONOTONIC, 0), ns;
        if (!__builtin_mul_overflow((uint64_t)us, UINT64_C(1000), &ns) && ns < UINT64_C(1) << 61 &&
            !vv_perfetto_time(&reader->clocks, monotonic, ns, time_ns))
            *time_ns = (int64_t)ns;
    }
}

static enum varve_code find_track(struct vv_perfetto *reader,
                                  const struct vv_perfetto_sequence *sequence,
                                  const struct fields *fields, uint32_t *out_item,
                                  struct varve_error *error)
{
    if (fields->has_track)
        return vv_perfetto_track(reader, fields->track, out_item, error);
    if (sequence->has_default_track)
        return vv_perfetto_track(reader, sequence->default_track, out_item, error);
    if (sequence->has_thread)
        return vv_perfetto_thread_track(reader, sequence->pid, sequence->tid, out_item, error);
    return vv_perfetto_track(reader, 0, out_item, error);
}

static enum varve_code add_flows(struct vv_perfetto *reader, const struct fields *fields,
                                 struct varve_error *error)
{
    for (size_t i = 0; i < fields->flows.count; i++)
        VV_TRY(vv_perfetto_flow_end(reader, &fields->event, fields->flows.items[i],
                                    VV_PERFETTO_FLOW, false, error));
    for (size_t i = 0; i < fields->last_flows.count; i++)
        VV_TRY(vv_perfetto_flow_end(reader, &fields->event, fields->last_flows.items[i],
                                    VV_PERFETTO_FLOW, true, error));
    return VARVE_OK;
}

static enum varve_code add(struct vv_perfetto *reader, struct vv_perfetto_sequence *sequence,
                           struct fields *fields, struct varve_error *error)
{
    struct vv_perfetto_event *event = &fields->event;
    bool is_read = true;
    switch (fields->type) {
    case SLICE_BEGIN:
        event->kind = VV_PERFETTO_BEGIN;
        break;
    case SLICE_END:
        event->kind = VV_PERFETTO_END;
        break;
    case INSTANT:
        event->kind = VV_PERFETTO_INSTANT;
        break;
    case COUNTER:
        event->kind = VV_PERFETTO_VALUE;
        VV_TRY(accumulate(sequence, &reader->tracks[event->track], &event->value, error));
        break;
    default:
        is_read = fields->has_legacy;
        break;
    }
    if (fields->has_legacy)
        VV_TRY(vv_perfetto_legacy(reader, sequence, fields->legacy, event, &is_read, error));
    VV_TRY(add_flows(reader, fields, error));
    VV_TRY(add_extras(reader, sequence, fields, error));
    if (!is_read) {
        reader->model->health.ignored++;
        return VARVE_OK;
    }
    return add_event(reader, event, error);
}

static enum varve_code read_event(struct vv_perfetto *reader, struct vv_perfetto_sequence *sequence,
                                  struct vv_protobuf *message, struct fields *fields,
                                  struct varve_error *error)
{
    struct vv_model *model = reader->model;
    uint64_t first = model->args.table.count;
    while (vv_protobuf_next(message))
        VV_TRY(read_field(reader, sequence, message, fields, error));
    VV_TRY(vv_protobuf_end(message, error));
    uint64_t count = model->args.table.count - first;
    if (count > UINT16_MAX) {
        model->health.ignored += count - UINT16_MAX;
        count = UINT16_MAX;
    }
    fields->event.arg_count = (uint16_t)count;
    fields->event.first_arg = count > 0 ? (uint32_t)first : VV_NONE;
    find_time(reader, sequence, fields, &fields->event.time_ns);
    VV_TRY(find_track(reader, sequence, fields, &fields->event.track, error));
    return add(reader, sequence, fields, error);
}

enum varve_code vv_perfetto_event_read(struct vv_perfetto *reader,
                                       struct vv_perfetto_sequence *sequence,
                                       struct vv_protobuf *message, int64_t time_ns,
                                       struct varve_error *error)
{
    struct fields fields = { .event = { .time_ns = time_ns } };
    enum varve_code code = read_event(reader, sequence, message, &fields, error);
    deinit_fields(&fields);
    return code;
}
