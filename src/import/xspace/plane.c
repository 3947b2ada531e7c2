/* SPDX-License-Identifier: Apache-2.0 */
/* plane.c — one plane. A first pass finds where its parts are. Then it reads the names of
 * statistics, the metadata of events, and the plane's own statistics. The lines need all of these,
 * so they come last. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "import/xspace/xspace.h"
#include "varve/varve.h"

#define HOST_PID 701 /* the numbers that XProf uses: devices from 1 on, the host 701 */

/* ---- where the parts are ---- */

static enum varve_code add_span(struct vv_xspace_span **spans, size_t *count, size_t *capacity,
                                const struct vv_window_field *field, struct varve_error *error)
{
    VV_TRY(vv_array_reserve(spans, capacity, *count + 1, sizeof **spans, error));
    (*spans)[(*count)++] = (struct vv_xspace_span){ field->data_offset, field->next_offset };
    return VARVE_OK;
}

static enum varve_code read_name(struct vv_xspace_plane *plane, const struct vv_window_field *field,
                                 struct varve_error *error)
{
    struct vv_xspace *space = plane->space;
    struct vv_bytes bytes;
    struct vv_protobuf name = { .wire = field->wire, .value = field->value };
    VV_TRY(vv_window_at(&space->window, field->data_offset, field->value, &bytes, error));
    name.data = name.start = bytes.data;
    name.start_offset = field->data_offset;
    VV_TRY(vv_protobuf_expect_text(&name, "a plane's name", error));
    return vv_model_add_text(space->model, (const char *)bytes.data, (size_t)field->value,
                         &plane->name, error);
}

static enum varve_code note_field(struct vv_xspace_plane *plane,
                                  const struct vv_window_field *field, struct varve_error *error)
{
    if (field->number > VV_XPLANE_STATS) {
        plane->space->model->health.ignored++;
        return VARVE_OK;
    }
    if (field->wire != (field->number == VV_XPLANE_ID ? VV_WIRE_VARINT : VV_WIRE_BYTES))
        return vv_fail_at(error, VARVE_CORRUPT, field->data_offset,
                          "field %u of a plane has wire type %d", field->number, (int)field->wire);
    switch (field->number) {
    case VV_XPLANE_ID:
        plane->id = (int64_t)field->value;
        return VARVE_OK;
    case VV_XPLANE_NAME:
        return field->is_cut ? VARVE_OK : read_name(plane, field, error);
    case VV_XPLANE_LINES:
        return add_span(&plane->lines, &plane->line_count, &plane->line_capacity, field, error);
    case VV_XPLANE_EVENT_METADATA:
        return add_span(&plane->event_metadata, &plane->event_metadata_count,
                        &plane->event_metadata_capacity, field, error);
    case VV_XPLANE_STAT_METADATA:
        return add_span(&plane->stat_metadata, &plane->stat_metadata_count,
                        &plane->stat_metadata_capacity, field, error);
    default:
        return add_span(&plane->stats, &plane->stat_count, &plane->stat_capacity, field, error);
    }
}

/* If the file ends within the plane, finds the parts before the end. A line that is cut there is
 * read as far as it goes; another part that is cut is not read. */
static enum varve_code find_parts(struct vv_xspace_plane *plane, struct vv_xspace_span span,
                                  struct varve_error *error)
{
    for (uint64_t at = span.begin; at < span.end;) {
        struct vv_window_field field;
        VV_TRY(vv_window_field(&plane->space->window, at, span.end, &field, error));
        if (field.is_cut) {
            plane->space->is_cut = true;
            return field.number == VV_XPLANE_LINES ? note_field(plane, &field, error) : VARVE_OK;
        }
        VV_TRY(note_field(plane, &field, error));
        at = field.next_offset;
    }
    return VARVE_OK;
}

/* ---- metadata ---- */

/* Reads the whole bytes of a part, as a message. */
static enum varve_code open_part(struct vv_xspace *space, struct vv_xspace_span span,
                                 struct vv_protobuf *out_message, struct varve_error *error)
{
    struct vv_bytes bytes;
    VV_TRY(vv_window_at(&space->window, span.begin, span.end - span.begin, &bytes, error));
    if (bytes.length < span.end - span.begin)
        return vv_fail_at(error, VARVE_TRUNCATED, span.begin + bytes.length,
                          "the file became shorter");
    vv_protobuf_init(out_message, bytes.data, (size_t)(span.end - span.begin), span.begin);
    return VARVE_OK;
}

/* Reads an entry of a map: a key and a message. If the message is absent, it is empty. */
static enum varve_code open_entry(struct vv_protobuf *entry, uint64_t *out_key,
                                  struct vv_protobuf *out_value, struct varve_error *error)
{
    vv_protobuf_init(out_value, entry->start, 0, entry->start_offset);
    *out_key = 0;
    while (vv_protobuf_next(entry)) {
        if (entry->number == VV_EVENTMETADATAENTRY_KEY) {
            VV_TRY(vv_protobuf_expect(entry, VV_WIRE_VARINT, "a metadata entry's key", error));
            *out_key = entry->value;
        } else if (entry->number == VV_EVENTMETADATAENTRY_VALUE) {
            VV_TRY(vv_protobuf_expect(entry, VV_WIRE_BYTES, "a metadata entry", error));
            vv_protobuf_enter(entry, out_value);
        }
    }
    return vv_protobuf_end(entry, error);
}

/* Planes repeat the same names, so each name is looked up only once. */
static enum varve_code find_word(struct vv_xspace *space, uint32_t name,
                                 const struct vv_xspace_stat_word **out_word,
                                 struct varve_error *error)
{
    uint32_t index = vv_key_map_get(&space->words, name);
    if (index == VV_KEY_NONE) {
        index = vv_xspace_stat_index(vv_intern_text(&space->model->strings, name));
        VV_TRY(vv_key_map_put(&space->words, name, index, error));
    }
    *out_word = &vv_xspace_stat_words[index];
    return VARVE_OK;
}

static enum varve_code read_stat_metadata(struct vv_xspace_plane *plane, struct vv_xspace_span span,
                                          struct varve_error *error)
{
    struct vv_xspace *space = plane->space;
    struct vv_protobuf entry, value;
    struct vv_xspace_stat_kind kind = { 0 };
    const struct vv_xspace_stat_word *word;
    uint64_t key;
    VV_TRY(open_part(space, span, &entry, error));
    VV_TRY(open_entry(&entry, &key, &value, error));
    while (vv_protobuf_next(&value)) {
        if (value.number == VV_XSTATMETADATA_NAME) {
            VV_TRY(vv_protobuf_expect_text(&value, "a statistic's name", error));
            VV_TRY(vv_model_add_text(space->model, (const char *)value.data,
                                 (size_t)value.value, &kind.name, error));
        } else if (value.number == VV_XSTATMETADATA_DESCRIPTION && value.value > 0) {
            VV_TRY(vv_xspace_text_fact(&space->sink, VV_NONE, "description of a statistic", &value,
                                       error));
        } else if (value.number > VV_XSTATMETADATA_DESCRIPTION) {
            space->model->health.ignored++;
        }
    }
    VV_TRY(vv_protobuf_end(&value, error));
    VV_TRY(find_word(space, kind.name, &word, error));
    kind.role = word->role;
    kind.use = word->use;
    kind.is_text = word->is_text;
    VV_TRY(vv_array_reserve(&plane->stat_kinds, &plane->stat_kind_capacity,
                            plane->stat_kind_count + 1, sizeof *plane->stat_kinds, error));
    plane->stat_kinds[plane->stat_kind_count] = kind;
    return vv_key_map_put(&plane->stat_ids, key, (uint32_t)plane->stat_kind_count++, error);
}

static enum varve_code add_kind(struct vv_xspace_plane *plane, uint64_t id,
                                const struct vv_xspace_event_kind *kind, struct varve_error *error)
{
    VV_TRY(vv_array_reserve(&plane->event_kinds, &plane->event_kind_capacity,
                            plane->event_kind_count + 1, sizeof *plane->event_kinds, error));
    plane->event_kinds[plane->event_kind_count] = *kind;
    return vv_key_map_put(&plane->event_ids, id, (uint32_t)plane->event_kind_count++, error);
}

static enum varve_code add_text_arg(struct vv_model *model, const char *key, const char *text,
                                    enum vv_arg_kind kind, struct varve_error *error)
{
    uint32_t row, key_id, text_id;
    VV_TRY(vv_model_text(model, key, &key_id, error));
    VV_TRY(vv_model_text(model, text, &text_id, error));
    VV_TRY(vv_model_add_arg(model, &row, error));
    model->args.key[row] = key_id;
    model->args.value[row] = text_id;
    model->args.kind[row] = (uint8_t)kind;
    return VARVE_OK;
}

/* If there is a shorter name to show, the full name becomes an argument. */
static enum varve_code read_names(struct vv_xspace_plane *plane, struct vv_protobuf value,
                                  struct vv_xspace_event_kind *kind, struct varve_error *error)
{
    struct vv_model *model = plane->space->model;
    uint32_t name = 0, display_name = 0;
    while (vv_protobuf_next(&value)) {
        if (value.number != VV_XEVENTMETADATA_NAME &&
            value.number != VV_XEVENTMETADATA_DISPLAY_NAME)
            continue;
        VV_TRY(vv_protobuf_expect_text(&value, "an event's name", error));
        VV_TRY(vv_model_add_text(model, (const char *)value.data, (size_t)value.value,
                             value.number == VV_XEVENTMETADATA_NAME ? &name : &display_name,
                             error));
    }
    VV_TRY(vv_protobuf_end(&value, error));
    kind->name = display_name != 0 ? display_name : name;
    const char *full = vv_intern_text(&model->strings, name);
    if (plane->word->kind != VV_XSPACE_DEVICE)
        kind->host_layer = vv_xspace_host_layer(full, display_name != 0);
    kind->text = vv_intern_text(&model->strings, kind->name);
    kind->event_class = (uint8_t)vv_xspace_event_class(kind->text);
    if (isdigit((unsigned char)kind->text[0])) {
        char *end;
        kind->number = strtoll(kind->text, &end, 10);
        kind->is_number = *end == '\0';
    }
    if (display_name != 0 && name != 0 && name != display_name)
        return add_text_arg(model, "long_name", full, VV_ARG_TEXT, error);
    return VARVE_OK;
}

/* Writes the fields child_id as "[3,4]". */
static enum varve_code add_children(struct vv_xspace *space, struct vv_protobuf value,
                                    struct varve_error *error)
{
    size_t length = 0;
    while (vv_protobuf_next(&value)) {
        const unsigned char *at = NULL;
        uint64_t id;
        if (value.number != VV_XEVENTMETADATA_CHILD_ID)
            continue;
        while (vv_protobuf_repeated(&value, &at, &id)) {
            VV_TRY(vv_array_reserve(&space->sink.text, &space->sink.text_capacity, length + 32, 1,
                                    error));
            length += (size_t)sprintf(space->sink.text + length, length == 0 ? "[%lld" : ",%lld",
                                      (long long)id);
        }
        VV_TRY(vv_protobuf_end(&value, error));
    }
    if (length == 0)
        return VARVE_OK;
    space->sink.text[length] = ']'; /* more room is reserved than a number needs */
    space->sink.text[length + 1] = '\0';
    return add_text_arg(space->model, "child_id", space->sink.text, VV_ARG_JSON, error);
}

/* True for fields of an event's metadata that are unknown, or are bytes that only the producer
 * understands. */
static bool is_passed(const struct vv_protobuf *value)
{
    return value->number > VV_XEVENTMETADATA_CHILD_ID ||
           (value->number == VV_XEVENTMETADATA_METADATA && value->value > 0);
}

static enum varve_code read_constants(struct vv_xspace_plane *plane, struct vv_protobuf value,
                                      struct vv_xspace_event_kind *kind, struct varve_error *error)
{
    struct vv_xspace *space = plane->space;
    struct vv_protobuf rest = value;
    struct vv_xspace_keeping keeping = {
        .sink = &space->sink,
        .values = &kind->values,
        .is_work = plane->word->kind == VV_XSPACE_DEVICE,
        .is_memory = kind->event_class == VV_XSPACE_ALLOCATION ||
                     kind->event_class == VV_XSPACE_DEALLOCATION,
    };
    while (vv_protobuf_next(&value)) {
        if (value.number == VV_XEVENTMETADATA_STATS)
            VV_TRY(vv_xspace_stat_keep(plane, &value, &keeping, error));
        else if (is_passed(&value))
            space->model->health.ignored++;
    }
    return add_children(space, rest, error);
}

/* Reads metadata of a plane without lines, such as the modules of /host:metadata, as facts: no
 * event would bring it into the model. */
static enum varve_code read_as_facts(struct vv_xspace_plane *plane, struct vv_protobuf value,
                                     const struct vv_xspace_event_kind *kind,
                                     struct varve_error *error)
{
    struct vv_xspace_keeping keeping = {
        .sink = &plane->space->sink,
        .target = VV_XSPACE_TO_FACTS,
        .process = VV_NONE,
        .prefix = vv_intern_text(&plane->space->model->strings, kind->name),
    };
    VV_TRY(vv_xspace_fact(&plane->space->sink, VV_NONE,
                          vv_intern_text(&plane->space->model->strings, plane->name), kind->name,
                          VV_ARG_TEXT, error));
    while (vv_protobuf_next(&value)) {
        if (value.number == VV_XEVENTMETADATA_STATS)
            VV_TRY(vv_xspace_stat_keep(plane, &value, &keeping, error));
        else if (is_passed(&value))
            plane->space->model->health.ignored++;
    }
    return VARVE_OK;
}

static enum varve_code find_collective(struct vv_xspace_plane *plane,
                                       struct vv_xspace_event_kind *kind, struct varve_error *error)
{
    struct vv_model *model = plane->space->model;
    uint32_t category = vv_xspace_has(&kind->values, VV_XSPACE_CATEGORY)
                            ? (uint32_t)kind->values.items[VV_XSPACE_CATEGORY]
                            : 0;
    const char *collective = vv_xspace_collective(vv_intern_text(&model->strings, kind->name),
                                                  vv_intern_text(&model->strings, category));
    return collective == NULL ? VARVE_OK
                              : vv_model_text(model, collective, &kind->collective, error);
}

static enum varve_code find_rows(struct vv_xspace *space, struct vv_xspace_event_kind *kind,
                                 struct varve_error *error)
{
    const struct vv_xspace_shape *shape = NULL;
    const int64_t *items = kind->values.items;
    if (vv_xspace_has(&kind->values, VV_XSPACE_SHAPE))
        VV_TRY(vv_xspace_shape(space, (uint32_t)items[VV_XSPACE_SHAPE], &shape, error));
    if (shape != NULL)
        kind->shape = *shape;
    return vv_xspace_has(&kind->values, VV_XSPACE_SOURCE)
               ? vv_xspace_source(space, (uint32_t)items[VV_XSPACE_SOURCE], &kind->source, error)
               : VARVE_OK;
}

/* Adds an operator that all events of the kind share. With a collective, each event has an operator
 * of its own. */
static enum varve_code add_op(struct vv_model *model, struct vv_xspace_event_kind *kind,
                              struct varve_error *error)
{
    const struct vv_xspace_values *values = &kind->values;
    bool has_cost =
        vv_xspace_has(values, VV_XSPACE_FLOPS) || vv_xspace_has(values, VV_XSPACE_BYTES_ACCESSED);
    if (kind->collective != 0 || (kind->shape.text == 0 && !has_cost))
        return VARVE_OK;
    VV_TRY(vv_model_add_op(model, &kind->op, error));
    if (vv_xspace_has(values, VV_XSPACE_FLOPS))
        model->ops.flop[kind->op] = (uint64_t)values->items[VV_XSPACE_FLOPS];
    if (vv_xspace_has(values, VV_XSPACE_BYTES_ACCESSED))
        model->ops.bytes[kind->op] = (uint64_t)values->items[VV_XSPACE_BYTES_ACCESSED];
    if (kind->shape.text == 0)
        return VARVE_OK;
    model->ops.shapes[kind->op] = kind->shape.text;
    model->ops.first_tensor[kind->op] = kind->shape.first_tensor;
    model->ops.tensor_count[kind->op] = kind->shape.tensor_count;
    return VARVE_OK;
}

static enum varve_code read_event_metadata(struct vv_xspace_plane *plane,
                                           struct vv_xspace_span span, struct varve_error *error)
{
    struct vv_model *model = plane->space->model;
    struct vv_protobuf entry, value;
    struct vv_xspace_event_kind kind = { 0 };
    uint64_t key, first = model->args.table.count;
    VV_TRY(open_part(plane->space, span, &entry, error));
    VV_TRY(open_entry(&entry, &key, &value, error));
    VV_TRY(read_names(plane, value, &kind, error));
    if (plane->line_count == 0) {
        model->args.table.count = first;
        return read_as_facts(plane, value, &kind, error);
    }
    VV_TRY(read_constants(plane, value, &kind, error));
    uint64_t count = model->args.table.count - first;
    if (count > UINT16_MAX) {
        model->health.ignored += count - UINT16_MAX;
        count = UINT16_MAX;
    }
    kind.arg_count = (uint16_t)count;
    kind.first_arg = count > 0 ? (uint32_t)first : VV_NONE;
    if (plane->word->kind == VV_XSPACE_DEVICE)
        VV_TRY(find_collective(plane, &kind, error));
    kind.op = VV_NONE;
    VV_TRY(find_rows(plane->space, &kind, error));
    VV_TRY(add_op(model, &kind, error));
    kind.is_plain = plane->word->kind != VV_XSPACE_DEVICE && kind.values.set == 0 &&
                    kind.event_class != VV_XSPACE_ALLOCATION &&
                    kind.event_class != VV_XSPACE_DEALLOCATION;
    return add_kind(plane, key, &kind, error);
}

/* ---- the plane's own statistics, its process ---- */

static enum varve_code read_stats(struct vv_xspace_plane *plane, uint32_t process,
                                  struct vv_xspace_values *values, struct varve_error *error)
{
    struct vv_xspace_keeping keeping = { .sink = &plane->space->sink, .values = values,
                                         .target = VV_XSPACE_TO_FACTS, .process = process };
    for (size_t i = 0; i < plane->stat_count; i++) {
        struct vv_protobuf stat = { .wire = VV_WIRE_BYTES }, part;
        VV_TRY(open_part(plane->space, plane->stats[i], &part, error));
        stat.data = stat.start = part.start;
        stat.start_offset = part.start_offset;
        stat.value = (uint64_t)(part.limit - part.start);
        VV_TRY(vv_xspace_stat_keep(plane, &stat, &keeping, error));
    }
    return VARVE_OK;
}

/* "/device:TPU:3 SparseCore 0" is device 3. If the name has no number, the plane's id is the
 * device's number. */
static uint32_t device_of(const struct vv_xspace_plane *plane, const char *name)
{
    if (plane->word->kind != VV_XSPACE_DEVICE)
        return VV_NONE;
    const char *number = strpbrk(name, "0123456789");
    int64_t index = number != NULL ? strtoll(number, NULL, 10) : plane->id;
    uint32_t vendor_key = vv_intern_find(&plane->space->model->strings, "device_vendor", 13);
    const struct vv_facts *facts = &plane->space->model->facts;
    uint32_t kind = plane->word->device_kind;
    for (uint64_t row = facts->table.count; row-- > 0 && facts->process[row] == plane->process;)
        if (facts->key[row] == vendor_key && facts->kind[row] == VV_ARG_TEXT &&
            strcmp(vv_intern_text(&plane->space->model->strings, (uint32_t)facts->value[row]),
                   "Nvidia") != 0)
            kind = VARVE_DEVICE_KIND_OTHER;
    return VARVE_DEVICE(kind, index);
}

static double real_of(const struct vv_facts *facts, uint64_t row)
{
    double real = 0;
    if (facts->kind[row] == VV_ARG_REAL)
        memcpy(&real, &facts->value[row], sizeof real);
    else if (facts->kind[row] == VV_ARG_INT)
        real = (double)(int64_t)facts->value[row];
    return real > 0 ? real : 0;
}

/* Adds the device with the peaks that the plane states: TPUs state all, GPUs only that of their
 * memory. */
static enum varve_code add_device(struct vv_xspace_plane *plane, struct varve_error *error)
{
    struct vv_model *model = plane->space->model;
    const struct vv_facts *facts = &model->facts;
    double flop = 0, bytes = 0;
    uint32_t name = 0, row;
    if (plane->device == VV_NONE || plane->process == VV_NONE)
        return VARVE_OK;
    for (uint64_t fact = facts->table.count;
         fact-- > 0 && facts->process[fact] == plane->process;) {
        const char *key = vv_intern_text(&model->strings, facts->key[fact]);
        if (strcmp(key, "peak_teraflops_per_second") == 0)
            flop = 1e12 * real_of(facts, fact);
        else if (strcmp(key, "peak_hbm_bw_gigabytes_per_second") == 0)
            bytes = 1e9 * real_of(facts, fact);
        else if (strcmp(key, "memory_bandwidth") == 0)
            bytes = real_of(facts, fact);
        else if (strcmp(key, "device_type_string") == 0 && facts->kind[fact] == VV_ARG_TEXT)
            name = (uint32_t)facts->value[fact];
    }
    if (name == 0 && flop <= 0 && bytes <= 0)
        return VARVE_OK;
    VV_TRY(vv_model_add_device(model, &row, error));
    model->devices.device[row] = plane->device;
    model->devices.scope[row] = plane->space->job->scope;
    model->devices.name[row] = name;
    model->devices.flop_per_s[row] = flop;
    model->devices.memory_bytes_per_s[row] = bytes;
    return VARVE_OK;
}

static enum varve_code find_process(struct vv_xspace_plane *plane, struct varve_error *error)
{
    struct vv_xspace *space = plane->space;
    struct vv_processes *processes = &space->model->processes;
    bool is_host = plane->word->kind == VV_XSPACE_HOST;
    if (is_host && space->host_process != VV_NONE) {
        plane->process = space->host_process;
        return VARVE_OK;
    }
    VV_TRY(vv_model_add_process(space->model, &plane->process, error));
    processes->name[plane->process] = plane->name;
    processes->scope[plane->process] = space->job->scope;
    processes->pid[plane->process] = is_host                              ? HOST_PID
                                     : plane->word->kind == VV_XSPACE_DEVICE
                                         ? (int64_t)((uint64_t)plane->id + 1)
                                         : HOST_PID + (int64_t)++space->other_count;
    processes->begin_ns[plane->process] = 1; /* begin > end: no event yet */
    if (is_host)
        space->host_process = plane->process;
    return VARVE_OK;
}

/* ---- the whole plane ---- */

static enum varve_code read_metadata(struct vv_xspace_plane *plane, struct varve_error *error)
{
    for (size_t i = 0; i < plane->stat_metadata_count; i++)
        VV_TRY(read_stat_metadata(plane, plane->stat_metadata[i], error));
    for (size_t i = 0; i < plane->event_metadata_count; i++)
        VV_TRY(read_event_metadata(plane, plane->event_metadata[i], error));
    return VARVE_OK;
}

static enum varve_code read_lines(struct vv_xspace_plane *plane, struct varve_error *error)
{
    for (size_t i = 0; i < plane->line_count; i++)
        VV_TRY(vv_xspace_line_read(plane, plane->lines[i], (uint32_t)i, error));
    return VARVE_OK;
}

static enum varve_code read_parts(struct vv_xspace_plane *plane, struct vv_xspace_span span,
                                  struct varve_error *error)
{
    struct vv_xspace *space = plane->space;
    struct vv_xspace_values values = { 0 };
    VV_TRY(find_parts(plane, span, error));
    const char *name = vv_intern_text(&space->model->strings, plane->name);
    plane->word = vv_xspace_plane_word(name);
    plane->process = plane->device = VV_NONE;
    bool is_environment = plane->word->kind == VV_XSPACE_ENVIRONMENT && plane->line_count == 0;
    if (plane->line_count > 0)
        VV_TRY(find_process(plane, error));
    VV_TRY(read_metadata(plane, error));
    VV_TRY(read_stats(plane, plane->process, is_environment ? &values : NULL, error));
    plane->device = device_of(plane, name);
    VV_TRY(add_device(plane, error));
    return read_lines(plane, error);
}

enum varve_code vv_xspace_plane_read(struct vv_xspace *space, struct vv_xspace_span span,
                                     struct varve_error *error)
{
    struct vv_xspace_plane *plane;
    VV_TRY(vv_xspace_plane_create(space, &plane, error));
    enum varve_code code = read_parts(plane, span, error);
    if (code != VARVE_OK && !space->wave.has_failed)
        vv_error_note(error, "plane '%s'", vv_intern_text(&space->model->strings, plane->name));
    return code;
}

/* The name comes first, so hardly more than the name of other planes is read. All rows that are
 * added here, facts above all, are removed again, because the plane is read again later. */
static enum varve_code peek_parts(struct vv_xspace_plane *plane, struct vv_xspace_span span,
                                  struct varve_error *error)
{
    struct vv_xspace *space = plane->space;
    struct vv_xspace_values values = { 0 };
    for (uint64_t at = span.begin; at < span.end;) {
        struct vv_window_field field;
        VV_TRY(vv_window_field(&space->window, at, span.end, &field, error));
        if (field.is_cut)
            break;
        VV_TRY(note_field(plane, &field, error));
        plane->word = vv_xspace_plane_word(vv_intern_text(&space->model->strings, plane->name));
        if (plane->name != 0 && plane->word->kind != VV_XSPACE_ENVIRONMENT)
            return VARVE_OK;
        at = field.next_offset;
    }
    if (plane->name == 0)
        return VARVE_OK;
    VV_TRY(read_metadata(plane, error));
    VV_TRY(read_stats(plane, VV_NONE, &values, error));
    if (vv_xspace_has(&values, VV_XSPACE_START_TIME) && values.items[VV_XSPACE_START_TIME] > 0 &&
        values.items[VV_XSPACE_START_TIME] < INT64_C(1) << 61)
        space->base_ns = values.items[VV_XSPACE_START_TIME];
    return VARVE_OK;
}

enum varve_code vv_xspace_plane_peek(struct vv_xspace *space, struct vv_xspace_span span,
                                     struct varve_error *error)
{
    struct vv_xspace_plane plane = { .space = space };
    struct vv_model *model = space->model;
    uint64_t facts = model->facts.table.count, args = model->args.table.count;
    struct vv_health health = model->health;
    enum varve_code code = peek_parts(&plane, span, error);
    model->facts.table.count = facts;
    model->args.table.count = args;
    model->health = health;
    vv_xspace_plane_deinit(&plane);
    return code;
}
