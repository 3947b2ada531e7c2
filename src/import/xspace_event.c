/* SPDX-License-Identifier: Apache-2.0 */
/* xspace_event.c — one event: a slice with its operator and its device work, an allocation, a counter's values, or what
 * many occurrences add up to.
 *
 * Instants are picoseconds; begin and end are each rounded down to the nanosecond, so order and nesting stay. An event's
 * numbers are read before its statistics, whatever order they stand in. */
#include <ctype.h>
#include <stdlib.h>

#include "import/xspace.h"
#include "model/columns.h"
#include "varve/varve.h"

#define INSTANT_MAX_NS (INT64_C(1) << 61) /* differences and sums of two instants fit an int64_t */

struct event {
    struct vv_xspace_line *line;
    struct vv_model *model;
    struct vv_protobuf message; /* its fields, from the first statistic on where that is known  */
    const struct vv_xspace_event_kind *kind;
    uint64_t metadata_id;
    int64_t offset_ps, duration_ps, occurrences;
    int64_t begin_ns, duration_ns;
    bool is_sum, has_stats, is_negative;
    uint32_t first_arg;
    uint16_t arg_count;
    struct vv_xspace_values values;
};

/* ---- numbers ---- */

static enum varve_code read_numbers(struct event *event, struct varve_error *error)
{
    struct vv_protobuf message = event->message;
    while (vv_protobuf_next(&message)) {
        if (message.number == 4) {
            event->has_stats = true;
            continue;
        }
        if (message.number > 5) {
            event->model->health.ignored++;
            continue;
        }
        VV_TRY(vv_protobuf_expect(&message, VV_WIRE_VARINT, "an event's number", error));
        switch (message.number) {
        case 1:
            event->metadata_id = message.value;
            break;
        case 2:
            event->offset_ps = (int64_t)message.value;
            event->is_sum = false;
            break;
        case 3:
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

static bool read_if(const unsigned char **at, const unsigned char *limit, uint32_t number,
                    uint64_t *value)
{
    if (*at == limit || **at != (number << 3 | VV_WIRE_VARINT))
        return true;
    ++*at;
    return vv_protobuf_varint(at, limit, value);
}

/* As nearly all writers do: 1, 2, 3 and then statistics alone. False, and nothing is changed, where it is otherwise. */
static bool read_in_order(struct event *event)
{
    const unsigned char *at = event->message.start, *limit = event->message.limit, *first;
    uint64_t id = 0, offset_ps = 0, duration_ps = 0, length;
    if (!read_if(&at, limit, 1, &id) || !read_if(&at, limit, 2, &offset_ps) ||
        !read_if(&at, limit, 3, &duration_ps))
        return false;
    for (first = at; at < limit; at += length) {
        if (*at++ != (4 << 3 | VV_WIRE_BYTES) || !vv_protobuf_varint(&at, limit, &length) ||
            length > (uint64_t)(limit - at))
            return false;
    }
    event->metadata_id = id;
    event->offset_ps = (int64_t)offset_ps;
    event->duration_ps = (int64_t)duration_ps;
    event->has_stats = first < limit;
    event->message.cursor = first;
    return true;
}

static int64_t floor_ns(int64_t ps)
{
    return ps / 1000 - (ps % 1000 < 0);
}

/* False where no int64_t holds the instants, or no clock shows them. */
static bool place(struct event *event)
{
    int64_t end_ps, base_ns = event->line->base_ns;
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

static void note_instant(struct event *event)
{
    struct vv_xspace_line *line = event->line;
    int64_t end_ns = event->begin_ns + event->duration_ns;
    if (line->begin_ns > line->end_ns)
        line->begin_ns = event->begin_ns, line->end_ns = end_ns;
    if (event->begin_ns < line->begin_ns)
        line->begin_ns = event->begin_ns;
    if (end_ns > line->end_ns)
        line->end_ns = end_ns;
}

/* ---- values, the event's own before its metadata's ---- */

static bool has(const struct event *event, enum vv_xspace_role role)
{
    return ((event->values.set | event->kind->values.set) >> role & 1) != 0;
}

static int64_t item(const struct event *event, enum vv_xspace_role role, int64_t otherwise)
{
    return vv_xspace_has(&event->values, role)         ? event->values.items[role]
           : vv_xspace_has(&event->kind->values, role) ? event->kind->values.items[role]
                                                       : otherwise;
}

static const char *text(const struct event *event, enum vv_xspace_role role)
{
    return vv_intern_text(&event->model->strings, (uint32_t)item(event, role, 0));
}

/* ---- statistics ---- */

static enum varve_code keep_stats(struct event *event, const struct vv_xspace_keeping *keeping,
                                  struct varve_error *error)
{
    struct vv_protobuf message = event->message;
    while (event->has_stats && vv_protobuf_next(&message))
        if (message.number == 4)
            VV_TRY(vv_xspace_stat_keep(event->line->plane, &message, keeping, error));
    return VARVE_OK;
}

static enum varve_code copy_args(struct vv_model *model, uint32_t first, uint16_t count,
                                 struct varve_error *error)
{
    const struct vv_model_table *table = &vv_model_tables[VV_TABLE_ARGS];
    struct vv_args *args = &model->args;
    VV_TRY(vv_table_reserve(&args->table, table->columns, table->column_count, count, error));
    uint64_t row = args->table.count;
    memcpy(args->key + row, args->key + first, count * sizeof *args->key);
    memcpy(args->value + row, args->value + first, count * sizeof *args->value);
    memcpy(args->kind + row, args->kind + first, count * sizeof *args->kind);
    args->table.count += count;
    return VARVE_OK;
}

/* The metadata's, then the event's. An event without own ones shares its metadata's rows. */
static enum varve_code keep_args(struct event *event, bool is_memory, struct varve_error *error)
{
    struct vv_args *args = &event->model->args;
    const struct vv_xspace_event_kind *kind = event->kind;
    uint64_t first = args->table.count;
    event->first_arg = kind->first_arg;
    event->arg_count = kind->arg_count;
    if (!event->has_stats)
        return VARVE_OK;
    if (kind->arg_count > 0)
        VV_TRY(copy_args(event->model, kind->first_arg, kind->arg_count, error));
    bool is_work = event->line->plane->word->kind == VV_XSPACE_DEVICE;
    struct vv_xspace_keeping keeping = { .values = &event->values, .is_memory = is_memory,
                                         .is_work = is_work };
    VV_TRY(keep_stats(event, &keeping, error));
    uint64_t count = args->table.count - first;
    if (count > UINT16_MAX) {
        event->model->health.ignored += count - UINT16_MAX;
        count = UINT16_MAX;
    }
    if (args->table.count == first + kind->arg_count) {
        args->table.count = first; /* it has no arguments of its own after all */
        return VARVE_OK;
    }
    event->first_arg = (uint32_t)first;
    event->arg_count = (uint16_t)count;
    return VARVE_OK;
}

/* ---- what has columns of its own ---- */

static enum varve_code add_op(struct event *event, uint32_t slice, struct varve_error *error)
{
    struct vv_model *model = event->model;
    const struct vv_xspace_shape *shape = NULL;
    uint32_t op, collective = VV_NONE;
    if (has(event, VV_XSPACE_SHAPE))
        VV_TRY(vv_xspace_shape(event->line->plane->space, (uint32_t)item(event, VV_XSPACE_SHAPE, 0),
                               &shape, error));
    if (event->kind->collective != 0) {
        VV_TRY(vv_model_add_collective(model, &collective, error));
        model->collectives.name[collective] = event->kind->collective;
    } else if (shape == NULL && !has(event, VV_XSPACE_FLOPS) && !has(event, VV_XSPACE_BYTES_ACCESSED)) {
        return VARVE_OK;
    }
    VV_TRY(vv_model_add_op(model, &op, error));
    model->slices.op[slice] = op;
    model->ops.flop[op] = (uint64_t)item(event, VV_XSPACE_FLOPS, 0);
    model->ops.bytes[op] = (uint64_t)item(event, VV_XSPACE_BYTES_ACCESSED, 0);
    model->ops.collective[op] = collective;
    if (shape != NULL) {
        model->ops.shapes[op] = shape->text;
        model->ops.first_tensor[op] = shape->first_tensor;
        model->ops.tensor_count[op] = shape->tensor_count;
    }
    return VARVE_OK;
}

static enum vv_activity_kind work_kind(const struct event *event)
{
    const struct vv_xspace_line *line = event->line;
    enum vv_activity_kind kind = line->word != NULL ? line->word->activity : line->plane->word->activity;
    if (kind == VV_ACTIVITY_ANNOTATION)
        return kind;
    if (event->kind->event_class == VV_XSPACE_COPY || has(event, VV_XSPACE_COPY_DETAILS))
        return VV_ACTIVITY_COPY;
    if (event->kind->event_class == VV_XSPACE_SET || has(event, VV_XSPACE_SET_DETAILS))
        return VV_ACTIVITY_SET;
    return kind;
}

static enum varve_code add_activity(struct event *event, uint32_t slice, enum vv_activity_kind kind,
                                    struct varve_error *error)
{
    struct vv_model *model = event->model;
    uint32_t row;
    VV_TRY(vv_model_add_activity(model, &row, error));
    model->slices.activity[slice] = row;
    model->activities.kind[row] = (uint8_t)kind;
    model->activities.correlation[row] = (uint64_t)item(event, VV_XSPACE_CORRELATION, 0);
    model->activities.context[row] = item(event, VV_XSPACE_CONTEXT, -1);
    if (has(event, VV_XSPACE_COPY_DETAILS) || has(event, VV_XSPACE_SET_DETAILS)) {
        uint64_t bytes = vv_xspace_details_bytes(text(event, VV_XSPACE_COPY_DETAILS));
        model->activities.bytes[row] =
            bytes != 0 ? bytes : vv_xspace_details_bytes(text(event, VV_XSPACE_SET_DETAILS));
    }
    if (kind != VV_ACTIVITY_CALL) {
        model->activities.device[row] = event->line->plane->device;
        model->activities.stream[row] = model->tracks.tid[event->line->track];
    }
    if (model->slices.op[slice] != VV_NONE)
        model->activities.collective[row] = model->ops.collective[model->slices.op[slice]];
    return VARVE_OK;
}

static enum varve_code add_flow_ends(struct event *event, struct varve_error *error)
{
    struct vv_xspace *space = event->line->plane->space;
    struct vv_xspace_end end = { .time_ns = event->begin_ns, .track = event->line->track };
    if (has(event, VV_XSPACE_PRODUCER)) {
        end.id = (uint64_t)item(event, VV_XSPACE_PRODUCER, 0);
        end.type = (uint8_t)item(event, VV_XSPACE_PRODUCER_TYPE, 0);
        end.is_out = true;
        VV_TRY(vv_xspace_flow_end(space, &end, error));
    }
    if (has(event, VV_XSPACE_CONSUMER)) {
        end.id = (uint64_t)item(event, VV_XSPACE_CONSUMER, 0);
        end.type = (uint8_t)item(event, VV_XSPACE_CONSUMER_TYPE, 0);
        end.is_out = false;
        end.is_in = true;
        VV_TRY(vv_xspace_flow_end(space, &end, error));
    }
    if (has(event, VV_XSPACE_FLOW)) {
        uint64_t flow = (uint64_t)item(event, VV_XSPACE_FLOW, 0);
        end.is_in = (flow & 1) != 0;
        end.is_out = (flow & 2) != 0;
        end.id = flow >> 2 & ((UINT64_C(1) << 56) - 1);
        end.type = (uint8_t)(flow >> 58);
        end.is_flow = true;
        VV_TRY(vv_xspace_flow_end(space, &end, error));
    }
    return VARVE_OK;
}

/* The number in the name of a step, else what its statistics say, else its place among the line's events. */
static int64_t step_index(const struct event *event)
{
    const char *name = vv_intern_text(&event->model->strings, event->kind->name);
    char *end;
    if (event->line->word != NULL && isdigit((unsigned char)name[0])) {
        long long number = strtoll(name, &end, 10);
        if (*end == '\0')
            return number;
    }
    return item(event, VV_XSPACE_STEP, item(event, VV_XSPACE_GROUP, event->line->order));
}

static enum varve_code add_step(struct event *event, uint32_t slice, struct varve_error *error)
{
    struct vv_model *model = event->model;
    uint32_t row;
    VV_TRY(vv_model_add_step(model, &row, error));
    model->steps.index[row] = step_index(event);
    model->steps.begin_ns[row] = event->begin_ns;
    model->steps.duration_ns[row] = event->duration_ns;
    model->steps.track[row] = event->line->track;
    model->slices.flags[slice] |= VV_SLICE_STEP;
    model->slices.layer[slice] = VARVE_LAYER_STEP;
    return VARVE_OK;
}

/* ---- slices ---- */

static enum varve_code add_columns(struct event *event, uint32_t slice, struct varve_error *error)
{
    static const uint32_t flow_roles = UINT32_C(1) << VV_XSPACE_FLOW | UINT32_C(1) << VV_XSPACE_PRODUCER |
                                       UINT32_C(1) << VV_XSPACE_CONSUMER;
    const struct vv_xspace_line *line = event->line;
    struct vv_slices *slices = &event->model->slices;
    uint32_t set = event->values.set | event->kind->values.set;
    bool is_device = line->plane->word->kind == VV_XSPACE_DEVICE;
    slices->category[slice] = (uint32_t)item(event, VV_XSPACE_CATEGORY, 0);
    if (has(event, VV_XSPACE_SOURCE))
        VV_TRY(vv_xspace_source(line->plane->space, (uint32_t)item(event, VV_XSPACE_SOURCE, 0),
                                &slices->source[slice], error));
    VV_TRY(add_op(event, slice, error));
    if (is_device) {
        enum vv_activity_kind kind = work_kind(event);
        if (event->kind->collective != 0 && kind != VV_ACTIVITY_ANNOTATION)
            slices->layer[slice] = VARVE_LAYER_COMM;
        VV_TRY(add_activity(event, slice, kind, error));
    } else if (has(event, VV_XSPACE_CORRELATION)) {
        slices->layer[slice] = VARVE_LAYER_RUNTIME;
        VV_TRY(add_activity(event, slice, VV_ACTIVITY_CALL, error));
    } else if (has(event, VV_XSPACE_HLO_OP)) {
        slices->layer[slice] = VARVE_LAYER_OP;
    }
    bool is_root = item(event, VV_XSPACE_ROOT, 0) != 0 && has(event, VV_XSPACE_GROUP);
    if ((line->word != NULL && line->word->is_steps) ||
        (!is_device && (has(event, VV_XSPACE_STEP) || is_root)))
        VV_TRY(add_step(event, slice, error));
    return (set & flow_roles) != 0 ? add_flow_ends(event, error) : VARVE_OK;
}

static enum varve_code add_slice(struct event *event, struct varve_error *error)
{
    struct vv_xspace_line *line = event->line;
    struct vv_slices *slices = &event->model->slices;
    uint32_t row;
    VV_TRY(keep_args(event, false, error));
    VV_TRY(vv_model_add_slice(event->model, &row, error));
    slices->begin_ns[row] = event->begin_ns;
    slices->duration_ns[row] = event->duration_ns;
    slices->name[row] = event->kind->name;
    slices->track[row] = line->track;
    slices->order[row] = line->order;
    slices->first_arg[row] = event->first_arg;
    slices->arg_count[row] = event->arg_count;
    bool is_device = line->plane->word->kind == VV_XSPACE_DEVICE;
    slices->layer[row] = !is_device         ? event->kind->host_layer
                         : line->word != NULL ? line->word->layer
                                              : VARVE_LAYER_DEVICE;
    if (event->is_negative) {
        slices->flags[row] |= VV_SLICE_NEGATIVE;
        event->model->health.negative++;
    }
    if (!is_device && (event->values.set | event->kind->values.set) == 0)
        return VARVE_OK;
    return add_columns(event, row, error);
}

/* ---- events that are no slices ---- */

/* "GPU_0_bfc" names the device; else a number does. */
static uint32_t memory_device(const struct event *event)
{
    const char *allocator = text(event, VV_XSPACE_ALLOCATOR);
    if (strncmp(allocator, "GPU_", 4) == 0 && isdigit((unsigned char)allocator[4]))
        return VARVE_DEVICE(VARVE_DEVICE_KIND_CUDA, strtoul(allocator + 4, NULL, 10));
    if (has(event, VV_XSPACE_DEVICE_ORDINAL))
        return VARVE_DEVICE(VARVE_DEVICE_KIND_OTHER, item(event, VV_XSPACE_DEVICE_ORDINAL, 0));
    return event->line->plane->device != VV_NONE ? event->line->plane->device : VARVE_DEVICE_CPU;
}

/* A row of memory, and a mark that keeps what memory has no column for. */
static enum varve_code add_memory(struct event *event, struct varve_error *error)
{
    struct vv_model *model = event->model;
    uint32_t row, mark;
    VV_TRY(keep_args(event, true, error));
    VV_TRY(vv_model_add_mark(model, &mark, error));
    model->marks.time_ns[mark] = event->begin_ns;
    model->marks.name[mark] = event->kind->name;
    model->marks.track[mark] = event->line->track;
    model->marks.first_arg[mark] = event->first_arg;
    model->marks.arg_count[mark] = event->arg_count;
    model->marks.layer[mark] = VARVE_LAYER_MEMORY;
    int64_t bytes = item(event, VV_XSPACE_ALLOCATION_BYTES, 0);
    bool is_release = event->kind->event_class == VV_XSPACE_DEALLOCATION;
    if (bytes < 0 || (bytes == 0 && !is_release))
        return VARVE_OK;
    VV_TRY(vv_model_add_memory(model, &row, error));
    model->memory.time_ns[row] = event->begin_ns;
    model->memory.address[row] = (uint64_t)item(event, VV_XSPACE_ADDRESS, 0);
    model->memory.bytes[row] = is_release ? -bytes : bytes;
    model->memory.allocated_bytes[row] = item(event, VV_XSPACE_ALLOCATED_BYTES, -1);
    model->memory.reserved_bytes[row] = item(event, VV_XSPACE_RESERVED_BYTES, -1);
    model->memory.device[row] = memory_device(event);
    model->memory.track[row] = event->line->track;
    return VARVE_OK;
}

static enum varve_code add_counters(struct event *event, struct varve_error *error)
{
    const struct vv_xspace_line *line = event->line;
    struct vv_xspace_keeping keeping = {
        .target = VV_XSPACE_TO_COUNTERS,
        .process = line->plane->process,
        .prefix = vv_intern_text(&event->model->strings, event->kind->name),
        .counter = event->kind->name,
        .track = line->track,
        .time_ns = event->begin_ns,
    };
    return keep_stats(event, &keeping, error);
}

/* An event without a place in time: its numbers and statistics become facts under its name. */
static enum varve_code add_facts(struct event *event, struct varve_error *error)
{
    const struct vv_xspace_line *line = event->line;
    struct vv_xspace *space = line->plane->space;
    struct vv_xspace_keeping keeping = {
        .target = VV_XSPACE_TO_FACTS,
        .process = line->plane->process,
        .prefix = vv_intern_text(&event->model->strings, event->kind->name),
    };
    event->model->health.unplaced++;
    VV_TRY(vv_xspace_named_fact(space, &keeping, event->is_sum ? "num_occurrences" : "offset_ps",
                                event->is_sum ? event->occurrences : event->offset_ps, error));
    VV_TRY(vv_xspace_named_fact(space, &keeping, "duration_ps", event->duration_ps, error));
    return keep_stats(event, &keeping, error);
}

enum varve_code vv_xspace_event_read(struct vv_xspace_line *line, const unsigned char *data,
                                     size_t length, uint64_t offset, struct varve_error *error)
{
    struct event event;
    struct vv_xspace_plane *plane = line->plane;
    event.line = line;
    event.model = plane->space->model;
    event.metadata_id = 0;
    event.offset_ps = event.duration_ps = event.occurrences = 0;
    event.is_sum = event.has_stats = false;
    event.values.set = 0;
    vv_protobuf_init(&event.message, data, length, offset);
    line->events++;
    if (!read_in_order(&event))
        VV_TRY(read_numbers(&event, error));
    bool is_placed = !event.is_sum && place(&event);
    if (is_placed)
        note_instant(&event);
    if (event.model->counts_only)
        return VARVE_OK;
    uint32_t kind = vv_key_map_get(&plane->event_ids, event.metadata_id);
    if (kind == VV_KEY_NONE)
        VV_TRY(vv_xspace_unknown_event(plane, event.metadata_id, &kind, error));
    event.kind = &plane->event_kinds[kind];
    enum varve_code code;
    if (!is_placed)
        code = add_facts(&event, error);
    else if (line->is_counters)
        code = add_counters(&event, error);
    else if (event.kind->event_class == VV_XSPACE_ALLOCATION ||
             event.kind->event_class == VV_XSPACE_DEALLOCATION)
        code = add_memory(&event, error);
    else
        code = add_slice(&event, error);
    line->order++;
    return code;
}
