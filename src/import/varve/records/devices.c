/* SPDX-License-Identifier: Apache-2.0 */
/* devices.c — reads the records of clocks, tracks, device work and launches, and makes slices and
 * activities of them when all streams are decoded. */
#include "import/varve/records/devices.h"

#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "import/varve/records/open.h"
#include "import/varve/records/stream.h"
#include "model/device_id.h"
#include "model/order.h"
#include "varve/device.h"

static uint64_t word(const struct vv_record *record, size_t index)
{
    return le64toh(record->payload[index]);
}

void vv_devices_said_deinit(struct vv_devices_said *said)
{
    for (size_t i = 0; i < said->clocks.count; i++)
        free(said->clocks.items[i].pairs.items);
    free(said->clocks.items);
    free(said->tracks.items);
    free(said->work.items);
    free(said->launches.items);
    free(said->values.items);
    vv_key_map_deinit(&said->clock_ids);
    vv_key_map_deinit(&said->track_ids);
    *said = (struct vv_devices_said){ 0 };
}

/* ---- records ---- */

/* The clock with this number, which is made if need be. */
static enum varve_code clock_at(struct vv_devices_said *said, uint64_t id,
                                struct vv_device_clock **out_clock, struct varve_error *error)
{
    uint32_t index = vv_key_map_get(&said->clock_ids, id);
    if (index == VV_KEY_NONE) {
        struct vv_device_clock clock = { .id = id };
        index = (uint32_t)said->clocks.count;
        VV_PUSH(&said->clocks, clock, error);
        VV_TRY(vv_key_map_put(&said->clock_ids, id, index, error));
    }
    *out_clock = &said->clocks.items[index];
    return VARVE_OK;
}

enum varve_code vv_device_clock_read(struct vv_stream_reader *stream,
                                     const struct vv_record *record, struct varve_error *error)
{
    struct vv_process_reader *process = stream->process;
    struct vv_device_clock *clock;
    VV_TRY(clock_at(&process->devices, (uint32_t)word(record, 0), &clock, error));
    clock->frequency_hz = word(record, 1);
    clock->resolution_ns = word(record, 2);
    return vv_process_string(process, word(record, 0) >> 32, &clock->name, error);
}

enum varve_code vv_clock_pair_read(struct vv_stream_reader *stream, const struct vv_record *record,
                                   struct varve_error *error)
{
    struct vv_device_clock *clock;
    int64_t time_ns = 0;
    VV_TRY(clock_at(&stream->process->devices, word(record, 0), &clock, error));
    VV_TRY(vv_stream_time(stream, word(record, 2), record->offset, &time_ns, error));
    return vv_device_clock_pair(clock, (int64_t)word(record, 1), time_ns, word(record, 3), error);
}

/* If a track has several records, the last one counts. */
enum varve_code vv_track_read(struct vv_stream_reader *stream, const struct vv_record *record,
                              struct varve_error *error)
{
    struct vv_process_reader *process = stream->process;
    struct vv_devices_said *said = &process->devices;
    uint32_t id = (uint32_t)word(record, 0), index = vv_key_map_get(&said->track_ids, id);
    struct vv_device_track track = { .context = (int64_t)word(record, 2),
                                     .stream = (int64_t)word(record, 3),
                                     .clock = (uint32_t)word(record, 1),
                                     .device = (uint32_t)(word(record, 1) >> 32),
                                     .row = VV_NONE };
    VV_TRY(vv_process_string(process, word(record, 0) >> 32, &track.name, error));
    if (index == VV_KEY_NONE) {
        index = (uint32_t)said->tracks.count;
        VV_PUSH(&said->tracks, track, error);
        VV_TRY(vv_key_map_put(&said->track_ids, id, index, error));
    }
    said->tracks.items[index] = track;
    return VARVE_OK;
}

static uint8_t kind_of(uint64_t kind)
{
    static const uint8_t kinds[] = {
        VV_ACTIVITY_OTHER, VV_ACTIVITY_KERNEL, VV_ACTIVITY_COPY, VV_ACTIVITY_SET,
        VV_ACTIVITY_SYNC, VV_ACTIVITY_ANNOTATION,
    };
    return kind < sizeof kinds ? kinds[kind] : VV_ACTIVITY_OTHER;
}

/* VV_KEY_NONE, and that is counted: its record was lost. */
static uint32_t track_of(struct vv_process_reader *process, const struct vv_record *record)
{
    uint32_t track = vv_key_map_get(&process->devices.track_ids, (uint32_t)word(record, 0));
    process->model->health.unplaced += track == VV_KEY_NONE;
    return track;
}

/* What varve.activity and varve.task have in common. */
static struct vv_device_work work_of(struct vv_process_reader *process,
                                     const struct vv_record *record, uint64_t kind)
{
    return (struct vv_device_work){
        .begin = (int64_t)word(record, 2), .end = (int64_t)word(record, 3),
        .correlation = word(record, 4), .bytes = word(record, 5),
        .track = track_of(process, record),
        .kind = kind_of(kind), .collective = VV_NONE, .task = VV_NONE,
    };
}

/* Keeps work whose name is the string in the record's first word. */
static enum varve_code keep_named(struct vv_stream_reader *stream, const struct vv_record *record,
                                  struct vv_device_work *work, struct varve_error *error)
{
    struct vv_process_reader *process = stream->process;
    stream->last_work = SIZE_MAX;
    if (work->track == VV_KEY_NONE)
        return VARVE_OK;
    VV_TRY(vv_process_string(process, word(record, 0) >> 32, &work->name, error));
    stream->last_work = process->devices.work.count;
    VV_PUSH(&process->devices.work, *work, error);
    return VARVE_OK;
}

enum varve_code vv_activity_read(struct vv_stream_reader *stream, const struct vv_record *record,
                                 struct varve_error *error)
{
    struct vv_device_work work = work_of(stream->process, record, word(record, 1));
    return keep_named(stream, record, &work, error);
}

enum varve_code vv_kernel_work_read(struct vv_stream_reader *stream,
                                    const struct vv_record *record, struct varve_error *error)
{
    int64_t begin = (int64_t)word(record, 1), end;
    if (__builtin_add_overflow(begin, (int64_t)(uint32_t)word(record, 2), &end))
        end = INT64_MAX;
    struct vv_device_work work = {
        .begin = begin, .end = end, .correlation = word(record, 2) >> 32,
        .track = track_of(stream->process, record), .kind = VV_ACTIVITY_KERNEL,
        .collective = VV_NONE, .task = VV_NONE,
    };
    return keep_named(stream, record, &work, error);
}

enum varve_code vv_task_read(struct vv_stream_reader *stream, const struct vv_record *record,
                             struct varve_error *error)
{
    struct vv_process_reader *process = stream->process;
    struct vv_model *model = process->model;
    struct vv_device_work work = work_of(process, record, (uint32_t)word(record, 1));
    uint32_t name = (uint32_t)(word(record, 0) >> 32), graph = (uint32_t)word(record, 6),
             number = (uint32_t)(word(record, 1) >> 32);
    stream->last_work = SIZE_MAX;
    if (work.track == VV_KEY_NONE)
        return VARVE_OK;
    VV_TRY(vv_model_add_task(model, &work.task, error));
    model->tasks.step[work.task] = (int64_t)word(record, 7);
    if (number != 0)
        model->tasks.model[work.task] = vv_model_at(process, number);
    uint32_t node =
        graph == 0 ? VV_NONE : vv_node_at(process, graph, (uint32_t)(word(record, 6) >> 32));
    model->tasks.node[work.task] = node;
    if (name == 0 && node != VV_NONE)
        work.name = model->nodes.name[node];
    else
        VV_TRY(vv_process_string(process, name, &work.name, error));
    stream->last_work = process->devices.work.count;
    VV_PUSH(&process->devices.work, work, error);
    return VARVE_OK;
}

enum varve_code vv_launch_read(struct vv_stream_reader *stream, const struct vv_record *record,
                               struct varve_error *error)
{
    if (stream->open.count == 0 || word(record, 0) == 0)
        return VARVE_OK;
    struct vv_launch launch = { word(record, 0),
                                stream->open.items[stream->open.count - 1].slice };
    VV_PUSH(&stream->process->devices.launches, launch, error);
    return VARVE_OK;
}

enum varve_code vv_device_counter_read(struct vv_stream_reader *stream,
                                       const struct vv_record *record, struct varve_error *error)
{
    struct vv_process_reader *process = stream->process;
    uint64_t bits = word(record, 2);
    struct vv_device_value value = {
        .time = (int64_t)word(record, 1),
        .track = vv_key_map_get(&process->devices.track_ids, (uint32_t)word(record, 0)),
    };
    memcpy(&value.value, &bits, sizeof bits);
    if (value.track == VV_KEY_NONE) {
        process->model->health.unplaced++;
        return VARVE_OK;
    }
    VV_TRY(vv_process_string(process, word(record, 0) >> 32, &value.name, error));
    VV_PUSH(&process->devices.values, value, error);
    return VARVE_OK;
}

/* ---- launches ---- */

/* A slice has one activity, and so one correlation: its first. `same` leads from its others to that
 * activity. */
static enum varve_code add_launches(struct vv_process_reader *process, struct vv_key_map *same,
                                    struct varve_error *error)
{
    struct vv_model *model = process->model;
    for (size_t i = 0; i < process->devices.launches.count; i++) {
        const struct vv_launch *launch = &process->devices.launches.items[i];
        uint32_t row = model->slices.activity[launch->slice];
        if (row == VV_NONE) {
            VV_TRY(vv_model_add_activity(model, &row, error));
            model->slices.activity[launch->slice] = row;
            model->activities.correlation[row] = launch->correlation;
            model->activities.kind[row] = VV_ACTIVITY_CALL;
        } else if (model->activities.correlation[row] != launch->correlation) {
            VV_TRY(vv_key_map_put(same, launch->correlation, row, error));
        }
    }
    return VARVE_OK;
}

/* ---- work ---- */

static bool instant_of(struct vv_process_reader *process, const struct vv_device_clock *clock,
                       uint32_t id, int64_t value, int64_t *out_ns)
{
    if (id == VARVE_CLOCK_TICKS)
        return vv_timeline_ns(&process->timeline, (uint64_t)value, out_ns, NULL) == VARVE_OK &&
               vv_is_instant(*out_ns);
    return vv_device_clock_ns(clock, value, out_ns);
}

static enum varve_code add_pairs_of_samples(struct vv_process_reader *process,
                                            struct varve_error *error)
{
    struct vv_device_clock *clock;
    for (size_t i = 0; i < process->samples.count && !process->devices.has_samples; i++) {
        const struct vv_sample *sample = &process->samples.items[i];
        VV_TRY(clock_at(&process->devices, VARVE_CLOCK_MONOTONIC, &clock, error));
        VV_TRY(vv_device_clock_pair(clock, (int64_t)sample->monotonic_ns, sample->time_ns,
                                    sample->uncertainty_ns, error));
        VV_TRY(clock_at(&process->devices, VARVE_CLOCK_REALTIME, &clock, error));
        VV_TRY(vv_device_clock_pair(clock, sample->realtime_ns, sample->time_ns,
                                    sample->uncertainty_ns, error));
    }
    process->devices.has_samples = true;
    return VARVE_OK;
}

enum varve_code vv_device_instant(struct vv_process_reader *process, uint32_t id, int64_t value,
                                  int64_t *out_ns, bool *out_is_placed, struct varve_error *error)
{
    struct vv_device_clock *clock = NULL;
    if (id != VARVE_CLOCK_TICKS) {
        VV_TRY(add_pairs_of_samples(process, error));
        VV_TRY(clock_at(&process->devices, id, &clock, error));
        clock->instants++;
    }
    *out_is_placed = instant_of(process, clock, id, value, out_ns);
    return VARVE_OK;
}

/* Turns begin and end into ns. *out_is_placed is false if the clock says no instant. */
static enum varve_code place_work(struct vv_process_reader *process, struct vv_device_work *work,
                                  bool *out_is_placed, struct varve_error *error)
{
    uint32_t id = process->devices.tracks.items[work->track].clock;
    bool begins, ends;
    VV_TRY(vv_device_instant(process, id, work->begin, &work->begin, &begins, error));
    VV_TRY(vv_device_instant(process, id, work->end, &work->end, &ends, error));
    *out_is_placed = begins && ends;
    return VARVE_OK;
}

void vv_process_widen(struct vv_process_reader *process, int64_t begin_ns, int64_t end_ns)
{
    if (begin_ns < process->first_ns)
        process->first_ns = begin_ns;
    if (begin_ns > process->last_ns)
        process->last_ns = begin_ns;
    if (end_ns > process->last_ns)
        process->last_ns = end_ns;
}

/* Keeps the work that has an instant. */
static enum varve_code place_all(struct vv_process_reader *process, struct varve_error *error)
{
    struct vv_devices_said *said = &process->devices;
    size_t kept = 0;
    for (size_t i = 0; i < said->work.count; i++) {
        bool is_placed;
        VV_TRY(place_work(process, &said->work.items[i], &is_placed, error));
        if (is_placed) {
            vv_process_widen(process, said->work.items[i].begin, said->work.items[i].end);
            said->work.items[kept++] = said->work.items[i];
        } else {
            process->model->health.unplaced++;
        }
    }
    said->work.count = kept;
    return VARVE_OK;
}

static bool work_before(const void *context, uint64_t left, uint64_t right)
{
    const struct vv_device_work *work = context, *a = &work[left], *b = &work[right];
    if (a->track != b->track)
        return a->track < b->track;
    return a->begin != b->begin ? a->begin < b->begin : a->end > b->end;
}

enum varve_code vv_device_track_row(struct vv_process_reader *process, uint32_t index,
                                    uint32_t *out_row, struct varve_error *error)
{
    struct vv_tracks *tracks = &process->model->tracks;
    struct vv_device_track *track = &process->devices.tracks.items[index];
    *out_row = track->row;
    if (track->row != VV_NONE)
        return VARVE_OK;
    VV_TRY(vv_model_add_track(process->model, &track->row, error));
    tracks->process[track->row] = process->process;
    tracks->kind[track->row] = VV_TRACK_DEVICE;
    tracks->tid[track->row] = track->stream;
    tracks->name[track->row] = track->name;
    tracks->device[track->row] = track->device;
    *out_row = track->row;
    return VARVE_OK;
}

static enum varve_code add_activity(struct vv_process_reader *process,
                                    const struct vv_device_work *work,
                                    const struct vv_key_map *same, uint32_t slice,
                                    struct varve_error *error)
{
    const struct vv_device_track *track = &process->devices.tracks.items[work->track];
    struct vv_activities *activities = &process->model->activities;
    uint32_t row, call = vv_key_map_get(same, work->correlation);
    VV_TRY(vv_model_add_activity(process->model, &row, error));
    process->model->slices.activity[slice] = row;
    activities->kind[row] = work->kind;
    activities->device[row] = track->device;
    activities->stream[row] = track->stream;
    activities->context[row] = track->context;
    activities->bytes[row] = work->bytes;
    activities->collective[row] = work->collective;
    activities->task[row] = work->task;
    activities->correlation[row] =
        call == VV_KEY_NONE ? work->correlation : activities->correlation[call];
    return VARVE_OK;
}

/* Kineto's words, which readers of the Chrome export know. */
static const char *category_of(enum vv_activity_kind kind)
{
    switch (kind) {
    case VV_ACTIVITY_KERNEL: return "kernel";
    case VV_ACTIVITY_COPY: return "gpu_memcpy";
    case VV_ACTIVITY_SET: return "gpu_memset";
    case VV_ACTIVITY_SYNC: return "cuda_sync";
    case VV_ACTIVITY_ANNOTATION: return "gpu_user_annotation";
    default: return "device_work";
    }
}

static enum varve_code add_work(struct vv_process_reader *process,
                                const struct vv_device_work *work, const struct vv_key_map *same,
                                struct varve_error *error)
{
    struct vv_model *model = process->model;
    struct vv_slices *slices = &model->slices;
    uint32_t slice, track;
    bool is_negative = work->end < work->begin;
    VV_TRY(vv_device_track_row(process, work->track, &track, error));
    VV_TRY(vv_model_add_slice(model, &slice, error));
    slices->begin_ns[slice] = work->begin;
    slices->duration_ns[slice] = is_negative ? 0 : work->end - work->begin;
    slices->name[slice] = work->name;
    slices->track[slice] = track;
    slices->layer[slice] =
        work->collective != VV_NONE ? VARVE_LAYER_COMM : VARVE_LAYER_DEVICE;
    slices->arg_count[slice] = work->arg_count;
    if (work->arg_count > 0)
        slices->first_arg[slice] = work->first_arg;
    slices->flags[slice] = is_negative ? VV_SLICE_NEGATIVE : 0;
    model->health.negative += is_negative;
    VV_TRY(vv_model_text(model, category_of((enum vv_activity_kind)work->kind),
                         &slices->category[slice], error));
    return add_activity(process, work, same, slice, error);
}

static enum varve_code add_all_work(struct vv_process_reader *process,
                                    const struct vv_key_map *same, struct varve_error *error)
{
    const struct vv_devices_said *said = &process->devices;
    uint64_t *order;
    VV_TRY(vv_order_rows(said->work.count, work_before, said->work.items, &order, error));
    enum varve_code code = VARVE_OK;
    for (size_t i = 0; i < said->work.count && code == VARVE_OK; i++)
        code = add_work(process, &said->work.items[order == NULL ? i : order[i]], same, error);
    free(order);
    return code;
}

/* ---- counters ---- */

/* The series says whose counter it is: those of one process and name would be one. */
static enum varve_code add_value(struct vv_process_reader *process,
                                 const struct vv_device_value *value, struct varve_error *error)
{
    struct vv_model *model = process->model;
    struct vv_counters *counters = &model->counters;
    char owner[40], series[sizeof owner + VARVE_DEVICE_NAME_BYTES];
    uint32_t row, track;
    VV_TRY(vv_device_track_row(process, value->track, &track, error));
    VV_TRY(vv_model_add_counter(model, &row, error));
    vv_device_text(model->tracks.device[track], owner, sizeof owner);
    snprintf(series, sizeof series, "%s %s", owner,
             vv_intern_text(&model->strings, model->tracks.name[track]));
    counters->time_ns[row] = value->time;
    counters->value[row] = value->value;
    counters->name[row] = value->name;
    counters->track[row] = track;
    return vv_model_text(model, series, &counters->series[row], error);
}

static bool value_before(const void *context, uint64_t left, uint64_t right)
{
    const struct vv_device_value *values = context, *a = &values[left], *b = &values[right];
    return a->time < b->time;
}

/* Adds the values that have an instant, in order of time. */
static enum varve_code add_values(struct vv_process_reader *process, struct varve_error *error)
{
    struct vv_devices_said *said = &process->devices;
    uint64_t *order;
    size_t kept = 0;
    for (size_t i = 0; i < said->values.count; i++) {
        struct vv_device_value value = said->values.items[i];
        bool is_placed;
        VV_TRY(vv_device_instant(process, said->tracks.items[value.track].clock, value.time,
                                 &value.time, &is_placed, error));
        if (is_placed) {
            vv_process_widen(process, value.time, value.time);
            said->values.items[kept++] = value;
        } else {
            process->model->health.unplaced++;
        }
    }
    said->values.count = kept;
    VV_TRY(vv_order_rows(kept, value_before, said->values.items, &order, error));
    enum varve_code code = VARVE_OK;
    for (size_t i = 0; i < kept && code == VARVE_OK; i++)
        code = add_value(process, &said->values.items[order == NULL ? i : order[i]], error);
    free(order);
    return code;
}

/* ---- clocks ---- */

static int64_t at_most(uint64_t ns)
{
    return ns > INT64_MAX ? INT64_MAX : (int64_t)ns;
}

static enum varve_code add_clock(struct vv_process_reader *process,
                                 const struct vv_device_clock *clock, struct varve_error *error)
{
    static const char *const known[] = { [VARVE_CLOCK_MONOTONIC] = "CLOCK_MONOTONIC",
                                         [VARVE_CLOCK_MONOTONIC_RAW] = "CLOCK_MONOTONIC_RAW",
                                         [VARVE_CLOCK_REALTIME] = "CLOCK_REALTIME" };
    struct vv_model *model = process->model;
    struct vv_clocks *clocks = &model->clocks;
    uint32_t row;
    VV_TRY(vv_model_add_clock(model, &row, error));
    clocks->uncertainty_ns[row] = at_most(clock->uncertainty_ns);
    clocks->resolution_ns[row] = at_most(clock->resolution_ns);
    clocks->pairs[row] = clock->pairs.count;
    clocks->left_out[row] = clock->left_out;
    clocks->instants[row] = clock->instants;
    clocks->process[row] = process->process;
    clocks->name[row] = clock->name;
    return clock->id < sizeof known / sizeof *known && known[clock->id] != NULL
               ? vv_model_text(model, known[clock->id], &clocks->name[row], error)
               : VARVE_OK;
}

enum varve_code vv_devices_join(struct vv_process_reader *process, struct varve_error *error)
{
    struct vv_devices_said *said = &process->devices;
    struct vv_key_map same = { 0 };
    process->model->processes.id_family[process->process] = process->process + 1;
    VV_TRY(place_all(process, error));
    VV_TRY(add_values(process, error));
    for (size_t i = 0; i < said->clocks.count; i++)
        if (said->clocks.items[i].instants > 0)
            VV_TRY(add_clock(process, &said->clocks.items[i], error));
    if (said->work.count == 0 && said->launches.count == 0)
        return VARVE_OK;
    VV_TRY(vv_device_launches_check(process, error));
    enum varve_code code = add_launches(process, &same, error);
    if (code == VARVE_OK)
        code = add_all_work(process, &same, error);
    vv_key_map_deinit(&same);
    return code;
}
