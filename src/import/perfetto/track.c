/* SPDX-License-Identifier: Apache-2.0 */
/* track.c — descriptors of tracks. A track belongs to the nearest thread or process that is
 * described by the track itself or an ancestor. All tracks of one thread become one track of the
 * model; every other track becomes a track of its own. */
#include <limits.h>
#include <stdlib.h>

#include "base/array.h"
#include "import/perfetto/perfetto.h"
#include "varve/varve.h"

#define ANCESTORS_MAX 64u
#define THREAD_UUID UINT64_C(0x7468726561640000) /* mixed into the uuid of a thread without a
                                                    descriptor */

/* CounterDescriptor.BuiltinCounterType */
enum { COUNTER_THREAD_TIME_NS = 1, COUNTER_THREAD_INSTRUCTION_COUNT = 2 };

enum varve_code vv_perfetto_track(struct vv_perfetto *reader, uint64_t uuid, uint32_t *out_item,
                                  struct varve_error *error)
{
    *out_item = vv_key_map_get(&reader->track_ids, uuid);
    if (*out_item != VV_KEY_NONE)
        return VARVE_OK;
    VV_TRY(vv_array_reserve(&reader->tracks, &reader->track_capacity, reader->track_count + 1,
                            sizeof *reader->tracks, error));
    reader->tracks[reader->track_count] =
        (struct vv_perfetto_track){ .uuid = uuid, .multiplier = 1, .row = VV_NONE };
    *out_item = (uint32_t)reader->track_count++;
    return vv_key_map_put(&reader->track_ids, uuid, *out_item, error);
}

enum varve_code vv_perfetto_thread_track(struct vv_perfetto *reader, int64_t pid, int64_t tid,
                                         uint32_t *out_item, struct varve_error *error)
{
    uint64_t mixed =
        ((uint64_t)pid * UINT64_C(0x9e3779b97f4a7c15)) ^ ((uint64_t)tid << 16) ^ THREAD_UUID;
    VV_TRY(vv_perfetto_track(reader, mixed, out_item, error));
    struct vv_perfetto_track *track = &reader->tracks[*out_item];
    track->has_thread = true;
    track->pid = pid;
    track->tid = tid;
    return VARVE_OK;
}

/* ---- descriptors ---- */

struct thread {
    int64_t pid, tid, reference_us;
    uint32_t name;
    int32_t sort_index;
};

static enum varve_code read_thread(struct vv_perfetto *reader, struct vv_protobuf *message,
                                   struct thread *thread, struct varve_error *error)
{
    while (vv_protobuf_next(message)) {
        if (message->number == VV_THREADDESCRIPTOR_THREAD_NAME)
            VV_TRY(vv_perfetto_text(reader, message, &thread->name, error));
        else if (message->number == VV_THREADDESCRIPTOR_PID)
            thread->pid = (int64_t)message->value;
        else if (message->number == VV_THREADDESCRIPTOR_TID)
            thread->tid = (int64_t)message->value;
        else if (message->number == VV_THREADDESCRIPTOR_LEGACY_SORT_INDEX)
            thread->sort_index = (int32_t)message->value;
        else if (message->number == VV_THREADDESCRIPTOR_REFERENCE_TIMESTAMP_US)
            thread->reference_us = (int64_t)message->value;
    }
    return vv_protobuf_end(message, error);
}

static enum varve_code add_fact(struct vv_perfetto *reader, const char *key, uint64_t value,
                                enum vv_arg_kind kind, struct varve_error *error)
{
    uint32_t row, id;
    VV_TRY(vv_model_text(reader->model, key, &id, error));
    VV_TRY(vv_model_add_fact(reader->model, &row, error));
    reader->model->facts.key[row] = id;
    reader->model->facts.value[row] = value;
    reader->model->facts.kind[row] = (uint8_t)kind;
    return VARVE_OK;
}

static enum varve_code read_process(struct vv_perfetto *reader, struct vv_protobuf *message,
                                    struct vv_perfetto_track *process, struct varve_error *error)
{
    while (vv_protobuf_next(message)) {
        uint32_t text;
        if (message->number == VV_PROCESSDESCRIPTOR_PID) {
            process->pid = (int64_t)message->value;
        } else if (message->number == VV_PROCESSDESCRIPTOR_PROCESS_NAME) {
            VV_TRY(vv_perfetto_text(reader, message, &process->process_name, error));
        } else if (message->number == VV_PROCESSDESCRIPTOR_LEGACY_SORT_INDEX) {
            process->sort_index = (int32_t)message->value;
        } else if (message->number == VV_PROCESSDESCRIPTOR_CMDLINE ||
                   message->number == VV_PROCESSDESCRIPTOR_PROCESS_LABELS) {
            VV_TRY(vv_perfetto_text(reader, message, &text, error));
            const char *key =
                message->number == VV_PROCESSDESCRIPTOR_CMDLINE ? "cmdline" : "process label";
            VV_TRY(add_fact(reader, key, text, VV_ARG_TEXT, error));
        } else if (message->number == VV_PROCESSDESCRIPTOR_START_TIMESTAMP_NS) {
            VV_TRY(
                add_fact(reader, "process start_timestamp_ns", message->value, VV_ARG_INT, error));
        }
    }
    return vv_protobuf_end(message, error);
}

static enum varve_code read_counter(struct vv_protobuf *message, struct vv_perfetto_track *track,
                                    uint64_t *out_type, struct varve_error *error)
{
    *out_type = 0;
    while (vv_protobuf_next(message)) {
        if (message->number == VV_COUNTERDESCRIPTOR_TYPE)
            *out_type = message->value;
        else if (message->number == VV_COUNTERDESCRIPTOR_UNIT_MULTIPLIER && message->value != 0)
            track->multiplier = (int64_t)message->value;
        else if (message->number == VV_COUNTERDESCRIPTOR_IS_INCREMENTAL)
            track->is_incremental = message->value != 0;
    }
    return vv_protobuf_end(message, error);
}

static enum varve_code read_field(struct vv_perfetto *reader, const struct vv_protobuf *message,
                                  struct vv_perfetto_track *track, struct varve_error *error)
{
    static const char *const counter_names[] = {
        [COUNTER_THREAD_TIME_NS] = "thread_time",
        [COUNTER_THREAD_INSTRUCTION_COUNT] = "thread_instruction_count",
    };
    struct vv_protobuf inner;
    struct thread thread = { .sort_index = track->sort_index };
    uint64_t type;
    if (message->wire == VV_WIRE_BYTES)
        vv_protobuf_enter(message, &inner);
    switch (message->number) {
    case VV_TRACKDESCRIPTOR_NAME:
    case VV_TRACKDESCRIPTOR_STATIC_NAME:
    case VV_TRACKDESCRIPTOR_ATRACE_NAME:
        return vv_perfetto_text(reader, message, &track->name, error);
    case VV_TRACKDESCRIPTOR_PROCESS:
        VV_TRY(vv_protobuf_expect(message, VV_WIRE_BYTES, "a process", error));
        track->has_process = true;
        return read_process(reader, &inner, track, error);
    case VV_TRACKDESCRIPTOR_THREAD:
        VV_TRY(vv_protobuf_expect(message, VV_WIRE_BYTES, "a thread", error));
        VV_TRY(read_thread(reader, &inner, &thread, error));
        track->has_thread = true;
        track->pid = thread.pid;
        track->tid = thread.tid;
        track->thread_name = thread.name;
        track->sort_index = thread.sort_index;
        return VARVE_OK;
    case VV_TRACKDESCRIPTOR_PARENT_UUID:
        track->has_parent = true;
        track->parent = message->value;
        return VARVE_OK;
    case VV_TRACKDESCRIPTOR_COUNTER:
        VV_TRY(vv_protobuf_expect(message, VV_WIRE_BYTES, "a counter", error));
        track->has_counter = true;
        VV_TRY(read_counter(&inner, track, &type, error));
        return track->name == 0 && (type == COUNTER_THREAD_TIME_NS ||
                                    type == COUNTER_THREAD_INSTRUCTION_COUNT)
                   ? vv_model_text(reader->model, counter_names[type], &track->name, error)
                   : VARVE_OK;
    case VV_TRACKDESCRIPTOR_SIBLING_ORDER_RANK:
        track->sort_index = message->value <= INT_MAX ? (int32_t)message->value : INT_MAX;
        return VARVE_OK;
    default:
        return VARVE_OK;
    }
}

/* A descriptor that comes again replaces the fields that it has, and keeps the others. */
enum varve_code vv_perfetto_track_read(struct vv_perfetto *reader, struct vv_protobuf *descriptor,
                                       struct varve_error *error)
{
    struct vv_protobuf first = *descriptor;
    uint64_t uuid = 0;
    uint32_t item;
    while (vv_protobuf_next(&first))
        if (first.number == VV_TRACKDESCRIPTOR_UUID)
            uuid = first.value;
    VV_TRY(vv_protobuf_end(&first, error));
    VV_TRY(vv_perfetto_track(reader, uuid, &item, error));
    while (vv_protobuf_next(descriptor))
        VV_TRY(read_field(reader, descriptor, &reader->tracks[item], error));
    return VARVE_OK;
}

enum varve_code vv_perfetto_thread_read(struct vv_perfetto *reader,
                                        struct vv_perfetto_sequence *sequence,
                                        struct vv_protobuf *message, struct varve_error *error)
{
    struct thread thread = { .reference_us = sequence->reference_us };
    uint32_t item;
    VV_TRY(read_thread(reader, message, &thread, error));
    VV_TRY(vv_perfetto_thread_track(reader, thread.pid, thread.tid, &item, error));
    if (thread.name != 0)
        reader->tracks[item].thread_name = thread.name;
    sequence->has_thread = true;
    sequence->pid = thread.pid;
    sequence->tid = thread.tid;
    sequence->reference_us = thread.reference_us;
    return VARVE_OK;
}

enum varve_code vv_perfetto_process_read(struct vv_perfetto *reader, struct vv_protobuf *message,
                                         struct varve_error *error)
{
    struct vv_perfetto_track process = { .multiplier = 1, .row = VV_NONE };
    uint32_t item;
    VV_TRY(read_process(reader, message, &process, error));
    VV_TRY(vv_perfetto_thread_track(reader, process.pid, -1, &item, error));
    struct vv_perfetto_track *track = &reader->tracks[item];
    track->has_thread = false;
    track->has_process = true;
    track->process_name = process.process_name;
    return VARVE_OK;
}

/* ---- placing ---- */

struct placing {
    struct vv_perfetto *reader;
    struct vv_key_map processes; /* pid -> row of processes                                      */
    struct vv_key_map threads;   /* hash of pid and tid -> row of tracks                         */
};

/* The nearest of the track and its ancestors that describes a thread or a process; NULL if none
 * does. */
static const struct vv_perfetto_track *owner_of(const struct vv_perfetto *reader,
                                                const struct vv_perfetto_track *track)
{
    for (unsigned i = 0; i < ANCESTORS_MAX; i++) {
        if (track->has_thread || track->has_process)
            return track;
        uint32_t parent =
            track->has_parent ? vv_key_map_get(&reader->track_ids, track->parent) : VV_KEY_NONE;
        if (parent == VV_KEY_NONE)
            return NULL;
        track = &reader->tracks[parent];
    }
    return NULL;
}

static enum varve_code find_process(struct placing *placing, int64_t pid, uint32_t *out_row,
                                    struct varve_error *error)
{
    struct vv_model *model = placing->reader->model;
    *out_row = vv_key_map_get(&placing->processes, (uint64_t)pid);
    if (*out_row != VV_KEY_NONE)
        return VARVE_OK;
    VV_TRY(vv_model_add_process(model, out_row, error));
    model->processes.pid[*out_row] = pid;
    model->processes.scope[*out_row] = placing->reader->job->scope;
    model->processes.begin_ns[*out_row] = 1; /* begin > end: no event yet */
    return vv_key_map_put(&placing->processes, (uint64_t)pid, *out_row, error);
}

static uint64_t thread_key(int64_t pid, int64_t tid)
{
    return (uint64_t)pid << 32 ^ (uint64_t)tid;
}

static enum varve_code add_track(struct placing *placing, struct vv_perfetto_track *track,
                                 uint32_t process, struct varve_error *error)
{
    struct vv_tracks *tracks = &placing->reader->model->tracks;
    VV_TRY(vv_model_add_track(placing->reader->model, &track->row, error));
    tracks->process[track->row] = process;
    tracks->kind[track->row] = track->has_thread ? VV_TRACK_THREAD : VV_TRACK_ASYNC;
    tracks->tid[track->row] = track->has_thread ? track->tid : (int64_t)track->uuid;
    tracks->name[track->row] = track->name;
    tracks->sort_index[track->row] = track->sort_index;
    return VARVE_OK;
}

/* Values of a thread's counter are on the thread's track. */
static enum varve_code place(struct placing *placing, uint32_t item, struct varve_error *error)
{
    struct vv_perfetto *reader = placing->reader;
    struct vv_perfetto_track *track = &reader->tracks[item];
    const struct vv_perfetto_track *owner = owner_of(reader, track);
    struct vv_tracks *tracks = &reader->model->tracks;
    uint32_t process;
    VV_TRY(find_process(placing, owner != NULL ? owner->pid : 0, &process, error));
    if (owner != NULL && owner->has_process && owner->process_name != 0)
        reader->model->processes.name[process] = owner->process_name;
    bool is_thread =
        track->has_thread || (track->has_counter && owner != NULL && owner->has_thread);
    if (!is_thread)
        return add_track(placing, track, process, error);
    uint64_t key = thread_key(owner->pid, owner->tid);
    track->row = vv_key_map_get(&placing->threads, key);
    if (track->row == VV_KEY_NONE) {
        struct vv_perfetto_track thread = *owner;
        VV_TRY(add_track(placing, &thread, process, error));
        track->row = thread.row;
        VV_TRY(vv_key_map_put(&placing->threads, key, track->row, error));
    }
    uint32_t name = owner->thread_name != 0 ? owner->thread_name : owner->name;
    if (name != 0)
        tracks->name[track->row] = name;
    return VARVE_OK;
}

enum varve_code vv_perfetto_tracks_place(struct vv_perfetto *reader, struct varve_error *error)
{
    struct placing placing = { .reader = reader };
    enum varve_code code = VARVE_OK;
    bool *used = calloc(reader->track_count + 1, sizeof *used);
    if (used == NULL)
        return vv_fail(error, VARVE_NO_MEMORY, "no memory for %zu tracks", reader->track_count);
    for (size_t i = 0; i < reader->event_count; i++)
        used[reader->events[i].track] = true;
    for (size_t i = 0; i < reader->flow_end_count; i++)
        used[reader->flow_ends[i].track] = true;
    for (uint32_t item = 0; item < reader->track_count && code == VARVE_OK; item++) {
        const struct vv_perfetto_track *track = &reader->tracks[item];
        if (used[item] || track->has_thread)
            code = place(&placing, item, error);
    }
    for (uint32_t item = 0; item < reader->track_count && code == VARVE_OK; item++) {
        const struct vv_perfetto_track *track = &reader->tracks[item];
        uint32_t process = vv_key_map_get(&placing.processes, (uint64_t)track->pid);
        if (track->has_process && process != VV_KEY_NONE && track->process_name != 0)
            reader->model->processes.name[process] = track->process_name;
    }
    free(used);
    vv_key_map_deinit(&placing.processes);
    vv_key_map_deinit(&placing.threads);
    return code;
}
