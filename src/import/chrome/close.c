/* SPDX-License-Identifier: Apache-2.0 */
/* close.c — the last stage of reading a trace: does what needs all events. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/radix.h"
#include "import/chrome/number.h"
#include "import/chrome/reader.h"
#include "varve/varve.h"

/* ---- steps ---- */

/* Steps without a number are numbered from 0 in order of time. */
static enum varve_code number_runs(struct vv_chrome_reader *reader, struct varve_error *error)
{
    struct vv_steps *steps = &reader->model->steps;
    size_t count = reader->runs.count;
    struct vv_keyed_row *rows = malloc((count + 1) * sizeof *rows);
    if (rows == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory to number %zu runs", count);
    for (size_t i = 0; i < count; i++) {
        uint32_t step = reader->runs.items[i];
        /* keeps the order of signed numbers */
        rows[i].key = (uint64_t)steps->begin_ns[step] ^ UINT64_C(1) << 63;
        rows[i].row = step;
    }
    enum varve_code code = vv_radix_sort(rows, count, error);
    for (size_t i = 0; i < count && code == VARVE_OK; i++)
        steps->index[rows[i].row] = (int64_t)i;
    free(rows);
    return code;
}

static void set_step_durations(struct vv_chrome_reader *reader)
{
    struct vv_model *model = reader->model;
    uint64_t first = reader->first_rows[VV_TABLE_STEPS];
    for (size_t i = 0; i < reader->step_slices.count; i++)
        model->steps.duration_ns[first + i] =
            model->slices.duration_ns[reader->step_slices.items[i]];
}

/* ---- devices ---- */

static void set_device_tracks(struct vv_chrome_reader *reader)
{
    struct vv_tracks *tracks = &reader->model->tracks;
    for (uint32_t row = reader->places.first_track; row < tracks->table.count; row++) {
        const struct vv_chrome_track_facts *facts = vv_chrome_track(&reader->places, row);
        if (tracks->kind[row] != VV_TRACK_THREAD || !facts->is_device)
            continue;
        tracks->kind[row] = VV_TRACK_DEVICE;
        tracks->device[row] = facts->device;
    }
}

/* ---- rows without categories: the name of the process decides what they are ---- */

/* What is known of one track. */
struct later_track {
    const struct vv_dialect_process *class;
    bool has_step_numbers; /* a row "Steps" of XLA                                              */
    enum vv_dialect_timeline timeline;
    int64_t stream; /* the number in the name of the process; or the track's                  */
};

struct later {
    struct vv_chrome_reader *reader;
    struct later_track *tracks;          /* from first_track on                                 */
    bool has_streams[UINT16_MAX + 1];    /* by the device's index: streams of a timeline       */
};

/* The index is in the name "/device:GPU:0 (…)" or "/device:GPU:0/stream:14 …"; for an Ascend device
 * it is the low five bits of its pid. */
static uint32_t device_index(const char *name, int64_t pid)
{
    for (const char *colon = strchr(name, ':'); colon != NULL; colon = strchr(colon + 1, ':'))
        if (colon[1] >= '0' && colon[1] <= '9')
            return (uint32_t)strtoul(colon + 1, NULL, 10) & UINT16_MAX;
    return (uint32_t)pid & 31;
}

/* The rows of a timeline's stream have no name of their own. */
static enum varve_code name_stream(struct vv_model *model, uint32_t row, int64_t stream,
                                   struct varve_error *error)
{
    char called[40];
    if (model->tracks.name[row] != 0)
        return VARVE_OK;
    snprintf(called, sizeof called, "stream %" PRId64, stream);
    return vv_model_text(model, called, &model->tracks.name[row], error);
}

static enum varve_code classify_track(struct later *later, uint32_t row, struct varve_error *error)
{
    struct vv_model *model = later->reader->model;
    uint32_t process = model->tracks.process[row];
    const char *name = vv_intern_text(&model->strings, model->processes.name[process]);
    const struct vv_dialect_process *class = vv_dialect_process(name);
    struct later_track *track = &later->tracks[row - later->reader->places.first_track];
    *track = (struct later_track){ .class = class, .stream = model->tracks.tid[row] };
    if (!class->is_device || model->tracks.kind[row] != VV_TRACK_THREAD)
        return VARVE_OK;
    uint32_t index = device_index(name, model->processes.pid[process]);
    model->tracks.kind[row] = VV_TRACK_DEVICE;
    model->tracks.device[row] = VARVE_DEVICE(class->device_kind, index);
    track->has_step_numbers =
        strcmp(vv_intern_text(&model->strings, model->tracks.name[row]), "Steps") == 0;
    track->timeline = vv_dialect_timeline(name, &track->stream);
    if (track->timeline != VV_TIMELINE_STREAM)
        return VARVE_OK;
    later->has_streams[index & UINT16_MAX] = true;
    return name_stream(model, row, track->stream, error);
}

static const struct later_track *track_of(const struct later *later, uint32_t track)
{
    return &later->tracks[track - later->reader->places.first_track];
}

/* NVIDIA's tracer calls copies MemcpyH2D; TensorFlow's timeline has MEMCPYHtoD. */
static enum vv_activity_kind work_kind(const struct vv_dialect_process *class, const char *name)
{
    if (class->device_kind == VARVE_DEVICE_KIND_CUDA && strncasecmp(name, "Memcpy", 6) == 0)
        return VV_ACTIVITY_COPY;
    if (class->device_kind == VARVE_DEVICE_KIND_CUDA && strncasecmp(name, "Memset", 6) == 0)
        return VV_ACTIVITY_SET;
    return VV_ACTIVITY_KERNEL;
}

/* Rows that sum up the streams of their device, which the trace has too, are no work. */
static bool is_summary(const struct later *later, uint32_t track)
{
    uint32_t device = later->reader->model->tracks.device[track];
    return track_of(later, track)->timeline == VV_TIMELINE_SUMMARY &&
           later->has_streams[device & UINT16_MAX];
}

static enum varve_code complete_activity(struct later *later, uint32_t slice,
                                         struct varve_error *error)
{
    struct vv_model *model = later->reader->model;
    uint32_t track = model->slices.track[slice];
    const struct vv_dialect_process *class = track_of(later, track)->class;
    uint32_t *activity = &model->slices.activity[slice];
    if (*activity == VV_NONE && (!class->is_device || is_summary(later, track)))
        return VARVE_OK;
    if (*activity == VV_NONE)
        VV_TRY(vv_model_add_activity(model, activity, error));
    model->activities.kind[*activity] = VV_ACTIVITY_CALL;
    if (!class->is_device)
        return VARVE_OK;
    model->activities.kind[*activity] =
        (uint8_t)work_kind(class, vv_intern_text(&model->strings, model->slices.name[slice]));
    model->activities.device[*activity] = model->tracks.device[track];
    if (model->activities.stream[*activity] < 0)
        model->activities.stream[*activity] = track_of(later, track)->stream;
    return VARVE_OK;
}

static enum varve_code number_step(struct later *later, uint32_t slice, struct varve_error *error)
{
    const struct vv_model *model = later->reader->model;
    const char *name = vv_intern_text(&model->strings, model->slices.name[slice]);
    size_t digits = strspn(name, "0123456789");
    if (digits == 0 || digits > 18 || name[digits] != '\0')
        return VARVE_OK;
    return vv_chrome_add_step(later->reader, slice, strtoll(name, NULL, 10), error);
}

static enum varve_code classify_rows(struct later *later, struct varve_error *error)
{
    struct vv_chrome_reader *reader = later->reader;
    struct vv_slices *slices = &reader->model->slices;
    struct vv_marks *marks = &reader->model->marks;
    uint32_t first_track = reader->places.first_track;
    for (uint32_t row = first_track; row < reader->model->tracks.table.count; row++)
        VV_TRY(classify_track(later, row, error));
    for (uint64_t i = reader->first_rows[VV_TABLE_SLICES]; i < slices->table.count; i++) {
        if (slices->layer[i] != 0)
            continue;
        slices->layer[i] = track_of(later, slices->track[i])->class->layer;
        if (slices->layer[i] == VARVE_LAYER_METRIC)
            slices->flags[i] |= VV_SLICE_OVERHEAD; /* the profiler worked it out                  */
        if (track_of(later, slices->track[i])->has_step_numbers)
            VV_TRY(number_step(later, (uint32_t)i, error));
        else
            VV_TRY(complete_activity(later, (uint32_t)i, error));
    }
    for (uint64_t i = reader->first_rows[VV_TABLE_MARKS]; i < marks->table.count; i++)
        if (marks->layer[i] == 0)
            marks->layer[i] = track_of(later, marks->track[i])->class->layer;
    return VARVE_OK;
}

static enum varve_code classify_later(struct vv_chrome_reader *reader, struct varve_error *error)
{
    size_t count = reader->model->tracks.table.count - reader->places.first_track;
    struct later *later = calloc(1, sizeof *later);
    enum varve_code code;
    if (later != NULL)
        later->tracks = calloc(count + 1, sizeof *later->tracks);
    if (later == NULL || later->tracks == NULL) {
        code = vv_fail(error, VARVE_NO_MEMORY, "no memory for %zu tracks", count);
    } else {
        later->reader = reader;
        code = classify_rows(later, error);
        free(later->tracks);
    }
    free(later);
    return code;
}

/* ---- the base of time ---- */

static void shift(int64_t *times, uint64_t first, uint64_t count, int64_t base_ns)
{
    for (uint64_t i = first; i < count; i++)
        times[i] += base_ns;
}

/* If no event of a process has an instant, the process gets the begin and end of all others. */
static void bound_processes(struct vv_chrome_reader *reader, int64_t *out_begin, int64_t *out_end)
{
    struct vv_processes *processes = &reader->model->processes;
    *out_begin = INT64_MAX;
    *out_end = INT64_MIN;
    for (uint64_t i = reader->places.first_process; i < processes->table.count; i++) {
        *out_begin = processes->begin_ns[i] < *out_begin ? processes->begin_ns[i] : *out_begin;
        *out_end = processes->end_ns[i] > *out_end ? processes->end_ns[i] : *out_end;
    }
    if (*out_begin > *out_end)
        *out_begin = *out_end = 0;
    for (uint64_t i = reader->places.first_process; i < processes->table.count; i++) {
        if (processes->begin_ns[i] <= processes->end_ns[i])
            continue;
        processes->begin_ns[i] = *out_begin;
        processes->end_ns[i] = *out_end;
    }
}

static enum varve_code add_base(struct vv_chrome_reader *reader, struct varve_error *error)
{
    struct vv_model *model = reader->model;
    const uint64_t *first = reader->first_rows;
    int64_t begin, end, base_ns = reader->base_ns, sum;
    bound_processes(reader, &begin, &end);
    if (base_ns == 0)
        return VARVE_OK;
    if (__builtin_add_overflow(end, base_ns, &sum) || __builtin_add_overflow(begin, base_ns, &sum))
        VV_FAIL(error, VARVE_CORRUPT, "'%s': baseTimeNanoseconds puts the events beyond all time",
                reader->job->path);
    shift(model->processes.begin_ns, first[VV_TABLE_PROCESSES], model->processes.table.count,
          base_ns);
    shift(model->processes.end_ns, first[VV_TABLE_PROCESSES], model->processes.table.count,
          base_ns);
    shift(model->slices.begin_ns, first[VV_TABLE_SLICES], model->slices.table.count, base_ns);
    shift(model->steps.begin_ns, first[VV_TABLE_STEPS], model->steps.table.count, base_ns);
    shift(model->marks.time_ns, first[VV_TABLE_MARKS], model->marks.table.count, base_ns);
    shift(model->counters.time_ns, first[VV_TABLE_COUNTERS], model->counters.table.count, base_ns);
    shift(model->flows.from_ns, first[VV_TABLE_FLOWS], model->flows.table.count, base_ns);
    shift(model->flows.to_ns, first[VV_TABLE_FLOWS], model->flows.table.count, base_ns);
    shift(model->memory.time_ns, first[VV_TABLE_MEMORY], model->memory.table.count, base_ns);
    return VARVE_OK;
}

/* ---- the whole stage ---- */

static void set_job(struct vv_chrome_reader *reader)
{
    struct vv_run *run = &reader->model->run;
    struct vv_processes *processes = &reader->model->processes;
    for (uint64_t i = reader->places.first_process; i < processes->table.count; i++) {
        processes->host[i] = reader->host;
        processes->rank[i] = reader->rank;
        processes->world_size[i] = reader->world_size;
    }
    run->host = run->host == 0 ? reader->host : run->host;
}

/* ---- rocmProfileData ---- */

/* Its processes GPU0, GPU1 … hold device work, which an arrow api_op joins with a call of HIP. Its
 * events have no categories. */
static bool has_api_arrows(const struct vv_chrome_reader *reader)
{
    static const char word[] = "api_op";
    const struct vv_model *model = reader->model;
    uint32_t category = vv_intern_find(&model->strings, word, sizeof word - 1);
    for (uint64_t i = reader->first_rows[VV_TABLE_FLOWS]; i < model->flows.table.count; i++)
        if (category != UINT32_MAX && model->flows.category[i] == category)
            return true;
    return false;
}

/* The number in the name of the track's process, GPU2; VV_NONE. */
static uint32_t gpu_of_track(const struct vv_model *model, uint32_t track)
{
    uint32_t process = model->tracks.process[track], number;
    char more;
    if (process == VV_NONE ||
        sscanf(vv_intern_text(&model->strings, model->processes.name[process]), "GPU%5u%c",
               &number, &more) != 1 || number > UINT16_MAX)
        return VV_NONE;
    return VARVE_DEVICE(VARVE_DEVICE_KIND_CUDA, number);
}

static enum vv_activity_kind rpd_kind(const char *name)
{
    if (strncmp(name, "Copy", 4) == 0)
        return VV_ACTIVITY_COPY;
    return strncmp(name, "FillBuffer", 10) == 0 ? VV_ACTIVITY_SET : VV_ACTIVITY_KERNEL;
}

static enum varve_code add_rpd_work(struct vv_model *model, uint32_t slice, uint32_t device,
                                    struct varve_error *error)
{
    struct vv_activities *activities = &model->activities;
    uint32_t row, track = model->slices.track[slice];
    VV_TRY(vv_model_add_activity(model, &row, error));
    activities->kind[row] =
        (uint8_t)rpd_kind(vv_intern_text(&model->strings, model->slices.name[slice]));
    activities->device[row] = model->tracks.device[track] = device;
    activities->stream[row] = model->tracks.tid[track];
    model->tracks.kind[track] = VV_TRACK_DEVICE;
    model->slices.activity[slice] = row;
    model->slices.layer[slice] = VARVE_LAYER_DEVICE;
    return VARVE_OK;
}

static enum varve_code find_rpd_work(struct vv_chrome_reader *reader, struct varve_error *error)
{
    struct vv_model *model = reader->model;
    if (!has_api_arrows(reader))
        return VARVE_OK;
    for (uint64_t i = reader->first_rows[VV_TABLE_SLICES]; i < model->slices.table.count; i++) {
        uint32_t device = gpu_of_track(model, model->slices.track[i]);
        const char *name = vv_intern_text(&model->strings, model->slices.name[i]);
        if (device != VV_NONE && model->slices.activity[i] == VV_NONE)
            VV_TRY(add_rpd_work(model, (uint32_t)i, device, error));
        else if (strncmp(name, "hip", 3) == 0)
            model->slices.layer[i] = VARVE_LAYER_RUNTIME;
    }
    return VARVE_OK;
}

enum varve_code vv_chrome_close(struct vv_chrome_reader *reader, struct varve_error *error)
{
    VV_TRY(vv_chrome_pair_halves(reader, false, error));
    set_device_tracks(reader);
    VV_TRY(vv_chrome_close_async(reader, error));
    VV_TRY(vv_chrome_set_id_families(&reader->places, reader->model, error));
    VV_TRY(vv_chrome_join_flows(reader, error));
    VV_TRY(vv_chrome_resolve_frames(reader, error));
    VV_TRY(vv_chrome_apply_titles(reader, error));
    VV_TRY(classify_later(reader, error));
    VV_TRY(find_rpd_work(reader, error));
    VV_TRY(number_runs(reader, error));
    set_step_durations(reader);
    VV_TRY(add_base(reader, error));
    set_job(reader);
    VV_TRY(vv_kineto_devices(reader, error));
    if (reader->is_cut || reader->window.is_cut)
        reader->model->health.truncated_files++;
    return VARVE_OK;
}
