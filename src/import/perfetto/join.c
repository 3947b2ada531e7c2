/* SPDX-License-Identifier: Apache-2.0 */
/* join.c — makes the model's rows when all packets are read: sorts the events of each track by
 * time, and joins begins with ends, and the ends of flows. */
#include <stdlib.h>

#include "base/array.h"
#include "import/perfetto/perfetto.h"
#include "model/order.h"
#include "varve/varve.h"

/* The first prefix of a category that fits counts. Slices of other categories are the program's own
 * ranges. */
static const struct {
    const char *prefix;
    uint16_t layer;
} layers[] = {
    { "cpu_op", VARVE_LAYER_OP },         { "operator", VARVE_LAYER_OP },
    { "kernel", VARVE_LAYER_DEVICE },     { "gpu", VARVE_LAYER_DEVICE },
    { "cuda_runtime", VARVE_LAYER_RUNTIME }, { "cuda_driver", VARVE_LAYER_RUNTIME },
    { "python", VARVE_LAYER_PYTHON },     { "FEE", VARVE_LAYER_PYTHON },
    { "", VARVE_LAYER_API },
};

struct joining {
    struct vv_perfetto *reader;
    struct vv_model *model;
    int64_t offset_ns;    /* to add to the trace's clock for the time since 1970                */
    uint32_t *open;       /* slices of the track that have not ended                            */
    size_t open_count, open_capacity;
    uint32_t order;       /* number of slices of the track so far                               */
    int64_t last_ns;      /* time of the track's last event                                     */
};

static uint16_t layer_of(const struct vv_model *model, uint32_t category)
{
    const char *text = vv_intern_text(&model->strings, category);
    size_t i = 0;
    while (strncmp(text, layers[i].prefix, strlen(layers[i].prefix)) != 0)
        i++;
    return layers[i].layer;
}

/* ---- order ---- */

static uint32_t row_of(const struct vv_perfetto *reader, uint32_t item)
{
    return reader->tracks[item].row;
}

static bool event_before(const void *context, uint64_t left, uint64_t right)
{
    const struct vv_perfetto *reader = context;
    const struct vv_perfetto_event *a = &reader->events[left], *b = &reader->events[right];
    uint32_t row_a = row_of(reader, a->track), row_b = row_of(reader, b->track);
    return row_a != row_b ? row_a < row_b : a->time_ns < b->time_ns;
}

static bool flow_before(const void *context, uint64_t left, uint64_t right)
{
    const struct vv_perfetto_flow_end *ends = context, *a = &ends[left], *b = &ends[right];
    if (a->space != b->space)
        return a->space < b->space;
    if (a->id != b->id)
        return a->id < b->id;
    return a->time_ns < b->time_ns;
}

/* ---- slices ---- */

static enum varve_code add_slice(struct joining *joining, const struct vv_perfetto_event *event,
                                 uint32_t *out_row, struct varve_error *error)
{
    struct vv_slices *slices = &joining->model->slices;
    VV_TRY(vv_model_add_slice(joining->model, out_row, error));
    slices->begin_ns[*out_row] = event->time_ns + joining->offset_ns;
    slices->name[*out_row] = event->name;
    slices->track[*out_row] = row_of(joining->reader, event->track);
    slices->category[*out_row] = event->category;
    slices->first_arg[*out_row] = event->first_arg;
    slices->arg_count[*out_row] = event->arg_count;
    slices->source[*out_row] = event->source;
    slices->order[*out_row] = joining->order++;
    slices->layer[*out_row] = layer_of(joining->model, event->category);
    return VARVE_OK;
}

static enum varve_code begin(struct joining *joining, const struct vv_perfetto_event *event,
                             struct varve_error *error)
{
    uint32_t row;
    VV_TRY(add_slice(joining, event, &row, error));
    VV_TRY(vv_array_reserve(&joining->open, &joining->open_capacity, joining->open_count + 1,
                            sizeof *joining->open, error));
    joining->open[joining->open_count++] = row;
    return VARVE_OK;
}

/* Makes one list of the arguments of a begin and of its end. */
static enum varve_code merge_args(struct vv_model *model, uint32_t slice,
                                  const struct vv_perfetto_event *end, struct varve_error *error)
{
    struct vv_slices *slices = &model->slices;
    uint32_t own = slices->first_arg[slice], count = slices->arg_count[slice], row;
    if (end->arg_count == 0)
        return VARVE_OK;
    if (count == 0) {
        slices->first_arg[slice] = end->first_arg;
        slices->arg_count[slice] = end->arg_count;
        return VARVE_OK;
    }
    if (count + end->arg_count > UINT16_MAX) {
        model->health.ignored += end->arg_count;
        return VARVE_OK;
    }
    slices->first_arg[slice] = (uint32_t)model->args.table.count;
    slices->arg_count[slice] = (uint16_t)(count + end->arg_count);
    for (uint32_t i = 0; i < count + end->arg_count; i++) {
        uint32_t from = i < count ? own + i : end->first_arg + (i - count);
        VV_TRY(vv_model_add_arg(model, &row, error));
        model->args.key[row] = model->args.key[from];
        model->args.value[row] = model->args.value[from];
        model->args.kind[row] = model->args.kind[from];
    }
    return VARVE_OK;
}

static enum varve_code end(struct joining *joining, const struct vv_perfetto_event *event,
                           struct varve_error *error)
{
    struct vv_slices *slices = &joining->model->slices;
    if (joining->open_count == 0) {
        joining->model->health.unmatched_ends++;
        return VARVE_OK;
    }
    uint32_t row = joining->open[--joining->open_count];
    slices->duration_ns[row] = event->time_ns + joining->offset_ns - slices->begin_ns[row];
    return merge_args(joining->model, row, event, error);
}

static enum varve_code complete(struct joining *joining, const struct vv_perfetto_event *event,
                                struct varve_error *error)
{
    struct vv_slices *slices = &joining->model->slices;
    uint32_t row;
    VV_TRY(add_slice(joining, event, &row, error));
    slices->duration_ns[row] = event->duration_ns < 0 ? 0 : event->duration_ns;
    if (event->duration_ns < 0) {
        slices->flags[row] |= VV_SLICE_NEGATIVE;
        joining->model->health.negative++;
    }
    return VARVE_OK;
}

/* A slice that is open at the end of a track lasts until the track's last event. */
static void end_all(struct joining *joining)
{
    struct vv_slices *slices = &joining->model->slices;
    while (joining->open_count > 0) {
        uint32_t row = joining->open[--joining->open_count];
        slices->duration_ns[row] = joining->last_ns + joining->offset_ns - slices->begin_ns[row];
        slices->flags[row] |= VV_SLICE_UNFINISHED;
        joining->model->health.unfinished++;
    }
    joining->order = 0;
}

/* ---- instants and values ---- */

static enum varve_code add_mark(struct joining *joining, const struct vv_perfetto_event *event,
                                struct varve_error *error)
{
    struct vv_marks *marks = &joining->model->marks;
    uint32_t row;
    VV_TRY(vv_model_add_mark(joining->model, &row, error));
    marks->time_ns[row] = event->time_ns + joining->offset_ns;
    marks->name[row] = event->name;
    marks->track[row] = row_of(joining->reader, event->track);
    marks->category[row] = event->category;
    marks->first_arg[row] = event->first_arg;
    marks->arg_count[row] = event->arg_count;
    marks->layer[row] = layer_of(joining->model, event->category);
    return VARVE_OK;
}

static enum varve_code add_value(struct joining *joining, const struct vv_perfetto_event *event,
                                 struct varve_error *error)
{
    struct vv_counters *counters = &joining->model->counters;
    const struct vv_perfetto_track *track = &joining->reader->tracks[event->track];
    uint32_t row;
    VV_TRY(vv_model_add_counter(joining->model, &row, error));
    counters->time_ns[row] = event->time_ns + joining->offset_ns;
    counters->value[row] = event->value;
    counters->name[row] = track->name != 0 ? track->name : event->name;
    counters->track[row] = row_of(joining->reader, event->track);
    return VARVE_OK;
}

static enum varve_code join_event(struct joining *joining, const struct vv_perfetto_event *event,
                                  struct varve_error *error)
{
    joining->last_ns = event->time_ns;
    switch (event->kind) {
    case VV_PERFETTO_BEGIN:
        return begin(joining, event, error);
    case VV_PERFETTO_END:
        return end(joining, event, error);
    case VV_PERFETTO_COMPLETE:
        if (event->duration_ns > 0)
            joining->last_ns = event->time_ns + event->duration_ns;
        return complete(joining, event, error);
    case VV_PERFETTO_INSTANT:
        return add_mark(joining, event, error);
    default:
        return add_value(joining, event, error);
    }
}

static void note_process(struct joining *joining, const struct vv_perfetto_event *event)
{
    struct vv_processes *processes = &joining->model->processes;
    uint32_t row = joining->model->tracks.process[row_of(joining->reader, event->track)];
    int64_t begin_ns = event->time_ns + joining->offset_ns, end_ns = begin_ns;
    if (event->kind == VV_PERFETTO_COMPLETE && event->duration_ns > 0)
        end_ns += event->duration_ns;
    bool is_first = processes->begin_ns[row] > processes->end_ns[row];
    processes->events[row] += !event->is_extra;
    if (is_first || begin_ns < processes->begin_ns[row])
        processes->begin_ns[row] = begin_ns;
    if (is_first || end_ns > processes->end_ns[row])
        processes->end_ns[row] = end_ns;
}

static enum varve_code join_events(struct joining *joining, const uint64_t *order,
                                   struct varve_error *error)
{
    struct vv_perfetto *reader = joining->reader;
    uint32_t row = VV_NONE;
    for (size_t i = 0; i < reader->event_count; i++) {
        const struct vv_perfetto_event *event = &reader->events[order == NULL ? i : order[i]];
        if (row_of(reader, event->track) != row) {
            end_all(joining);
            row = row_of(reader, event->track);
        }
        note_process(joining, event);
        if (!joining->model->counts_only)
            VV_TRY(join_event(joining, event, error));
    }
    end_all(joining);
    return VARVE_OK;
}

/* ---- flows ---- */

enum varve_code vv_perfetto_flow_end(struct vv_perfetto *reader,
                                     const struct vv_perfetto_event *event, uint64_t id,
                                     enum vv_perfetto_flow_space space, bool is_last,
                                     struct varve_error *error)
{
    VV_TRY(vv_array_reserve(&reader->flow_ends, &reader->flow_end_capacity,
                            reader->flow_end_count + 1, sizeof *reader->flow_ends, error));
    reader->flow_ends[reader->flow_end_count++] = (struct vv_perfetto_flow_end){
        id, event->time_ns, event->track, event->name, (uint8_t)space, is_last
    };
    return VARVE_OK;
}

static enum varve_code add_flow(struct joining *joining, const struct vv_perfetto_flow_end *from,
                                const struct vv_perfetto_flow_end *to, struct varve_error *error)
{
    struct vv_flows *flows = &joining->model->flows;
    uint32_t row;
    VV_TRY(vv_model_add_flow(joining->model, &row, error));
    flows->from_ns[row] = from->time_ns + joining->offset_ns;
    flows->to_ns[row] = to->time_ns + joining->offset_ns;
    flows->id[row] = from->id;
    flows->name[row] = from->name;
    flows->from_track[row] = row_of(joining->reader, from->track);
    flows->to_track[row] = row_of(joining->reader, to->track);
    return VARVE_OK;
}

/* Joins each end of an id with the end before it, unless that one was the last of its flow. */
static enum varve_code join_flows(struct joining *joining, const uint64_t *order,
                                  struct varve_error *error)
{
    const struct vv_perfetto_flow_end *ends = joining->reader->flow_ends, *before = NULL;
    bool is_joined = true;
    for (size_t i = 0; i < joining->reader->flow_end_count; i++) {
        const struct vv_perfetto_flow_end *now = &ends[order == NULL ? i : order[i]];
        bool is_same = before != NULL && before->space == now->space && before->id == now->id &&
                       !before->is_last;
        if (is_same)
            VV_TRY(add_flow(joining, before, now, error));
        else
            joining->model->health.unmatched_flows += before != NULL && !is_joined;
        is_joined = is_same;
        before = now;
    }
    joining->model->health.unmatched_flows += before != NULL && !is_joined;
    return VARVE_OK;
}

enum varve_code vv_perfetto_join(struct vv_perfetto *reader, struct varve_error *error)
{
    struct joining joining = { .reader = reader, .model = reader->model };
    uint64_t *order = NULL;
    joining.offset_ns = vv_perfetto_epoch_offset(&reader->clocks);
    VV_TRY(vv_order_rows(reader->event_count, event_before, reader, &order, error));
    enum varve_code code = join_events(&joining, order, error);
    free(order);
    free(joining.open);
    VV_TRY(code);
    if (reader->model->counts_only)
        return VARVE_OK;
    VV_TRY(vv_order_rows(reader->flow_end_count, flow_before, reader->flow_ends, &order, error));
    code = join_flows(&joining, order, error);
    free(order);
    return code;
}
