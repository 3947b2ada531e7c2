/* SPDX-License-Identifier: Apache-2.0 */
/* records.c — reads the buffered records of rocprofv3: kernels, copies, calls, markers,
 * allocations. */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "import/rocprof/rocprof.h"
#include "import/rows/extent.h"
#include "varve/varve.h"

#define NO_ACTIVITY (-1)
#define COPY_QUEUE (-1) /* stands for the track of an agent's copies                              */

struct table {
    const char *name; /* name and category                                                      */
    uint16_t layer;
    int activity;     /* enum vv_activity_kind                                                  */
};

static const struct table tables[] = {
    { "kernel_dispatch", VARVE_LAYER_DEVICE, VV_ACTIVITY_KERNEL },
    { "memory_copy", VARVE_LAYER_DEVICE, VV_ACTIVITY_COPY },
    { "scratch_memory", VARVE_LAYER_DEVICE, VV_ACTIVITY_OTHER },
    { "hip_api", VARVE_LAYER_RUNTIME, VV_ACTIVITY_CALL },
    { "hsa_api", VARVE_LAYER_RUNTIME_L1, VV_ACTIVITY_CALL },
    { "rccl_api", VARVE_LAYER_COMM, NO_ACTIVITY },
    { "marker_api", VARVE_LAYER_API, NO_ACTIVITY },
    { "memory_allocation", VARVE_LAYER_MEMORY, NO_ACTIVITY },
};
static const struct table other = { "", VARVE_LAYER_RUNTIME, NO_ACTIVITY };

/* Members that have a place in the model, by their path in the record. */
enum role {
    KIND, OPERATION, THREAD, INTERNAL, EXTERNAL, BEGIN, END, AGENT, QUEUE, STREAM, KERNEL, BYTES,
    SOURCE,
    TARGET, SIZE, ROLE_COUNT
};
#define ABSENT INT64_MIN

static const struct { const char *path; enum role role; } roles[] = {
    { "kind", KIND }, { "operation", OPERATION }, { "thread_id", THREAD },
    { "correlation_id.internal", INTERNAL }, { "correlation_id.external", EXTERNAL },
    { "start_timestamp", BEGIN }, { "end_timestamp", END },
    { "dispatch_info.agent_id.handle", AGENT }, { "agent_id.handle", AGENT },
    { "dispatch_info.queue_id.handle", QUEUE }, { "queue_id.handle", QUEUE },
    { "dispatch_info.kernel_id", KERNEL }, { "stream_id.handle", STREAM }, { "bytes", BYTES },
    { "src_agent_id.handle", SOURCE }, { "dst_agent_id.handle", TARGET }, { "size", SIZE },
    { "dispatch_info.size", SIZE },
};

/* Objects whose members are read one by one. */
static const char *const opened[] = {
    "correlation_id", "dispatch_info", "dispatch_info.agent_id", "dispatch_info.queue_id",
    "agent_id",
    "queue_id", "stream_id", "src_agent_id", "dst_agent_id",
};

struct draft {
    int64_t values[ROLE_COUNT];
    struct vv_attribute_list others;
};

static enum role role_of(const char *path)
{
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
        if (strcmp(roles[i].path, path) == 0)
            return roles[i].role;
    return ROLE_COUNT;
}

static bool is_opened(const char *path)
{
    for (size_t i = 0; i < sizeof opened / sizeof *opened; i++)
        if (strcmp(opened[i], path) == 0)
            return true;
    return false;
}

/* Reads the members of an object from its '{' on. `prefix` is its path with a point at the end, or
 * "". */
static enum varve_code read_object(struct vv_rocprof *rocprof, const char *prefix,
                                   struct draft *draft, struct varve_error *error)
{
    struct vv_json *json = &rocprof->json;
    for (;;) {
        char path[160];
        struct vv_attribute value;
        uint32_t key;
        VV_TRY(vv_json_next(json, error));
        if (json->token != VV_JSON_NAME)
            return VARVE_OK;
        int length = snprintf(path, sizeof path - 1, "%s%s", prefix, json->text);
        VV_TRY(vv_json_next(json, error));
        if (json->token == VV_JSON_OBJECT && length < (int)sizeof path - 2 && is_opened(path)) {
            path[length] = '.';
            path[length + 1] = '\0';
            VV_TRY(read_object(rocprof, path, draft, error));
            continue;
        }
        enum role role = role_of(path);
        if (role != ROLE_COUNT && json->token == VV_JSON_INTEGER) {
            draft->values[role] = json->integer;
            continue;
        }
        VV_TRY(vv_attribute_take(json, rocprof->model, &value, error));
        VV_TRY(vv_model_text(rocprof->model,
                             strncmp(path, "dispatch_info.", 14) == 0 ? path + 14 : path, &key,
                             error));
        VV_TRY(vv_attribute_list_add(&draft->others, key, value, error));
    }
}

/* ---- the track of a record ---- */

static bool is_on_device(const struct table *table)
{
    return table->activity != NO_ACTIVITY && table->activity != VV_ACTIVITY_CALL;
}

static int64_t value_or(const struct draft *draft, enum role role, int64_t otherwise)
{
    return draft->values[role] == ABSENT ? otherwise : draft->values[role];
}

/* For a copy: the agent that is not a host, if that is known; otherwise the destination. */
static int64_t agent_of_copy(struct vv_rocprof *rocprof, const struct draft *draft)
{
    int64_t from = value_or(draft, SOURCE, 0), to = value_or(draft, TARGET, 0);
    const struct vv_rocprof_meaning *target = vv_rocprof_meaning(rocprof, VV_ROCPROF_AGENT, to);
    return target != NULL && strncmp(target->name, "CPU", 3) == 0 ? from : to;
}

static enum varve_code find_track(struct vv_rocprof *rocprof, const struct table *table,
                                  const struct draft *draft, uint32_t *out_track,
                                  struct varve_error *error)
{
    bool on_device = is_on_device(table);
    int64_t agent = 0, number = value_or(draft, THREAD, 0);
    if (on_device && table->activity == VV_ACTIVITY_COPY) {
        agent = agent_of_copy(rocprof, draft);
        number = COPY_QUEUE;
    } else if (on_device) {
        agent = value_or(draft, AGENT, 0);
        number = value_or(draft, QUEUE, 0);
    }
    const struct vv_row_key key = { { agent, number, on_device, -1 } };
    struct vv_tracks *tracks = &rocprof->model->tracks;
    uint32_t *place;
    bool is_new;
    VV_TRY(vv_row_map_at(&rocprof->rows, &key, &place, &is_new, error));
    if (is_new) {
        VV_TRY(vv_model_add_track(rocprof->model, place, error));
        tracks->process[*place] = rocprof->process;
        tracks->tid[*place] = number;
        if (on_device) {
            tracks->kind[*place] = VV_TRACK_DEVICE;
            tracks->device[*place] = (uint32_t)agent;
        }
    }
    *out_track = *place;
    return VARVE_OK;
}

/* ---- the record's slice ---- */

static enum varve_code add_pending(struct vv_rocprof *rocprof, uint32_t slice, int64_t kind,
                                   int64_t number, struct varve_error *error)
{
    VV_TRY(vv_array_reserve(&rocprof->pending, &rocprof->pending_capacity,
                            rocprof->pending_count + 1, sizeof *rocprof->pending, error));
    rocprof->pending[rocprof->pending_count++] = (struct vv_rocprof_pending){ slice, kind, number };
    return VARVE_OK;
}

/* The last number with a meaning decides: a kernel's name before "KERNEL_DISPATCH_COMPLETE". */
static enum varve_code await_names(struct vv_rocprof *rocprof, const struct table *table,
                                   const struct draft *draft, uint32_t slice,
                                   struct varve_error *error)
{
    if (draft->values[KIND] != ABSENT && draft->values[OPERATION] != ABSENT)
        VV_TRY(add_pending(rocprof, slice, VV_ROCPROF_OPERATION,
                           (int64_t)((uint64_t)draft->values[KIND] << 32) |
                               (draft->values[OPERATION] & 0xffffffff),
                           error));
    if (strcmp(table->name, "marker_api") == 0 && draft->values[INTERNAL] != ABSENT)
        VV_TRY(add_pending(rocprof, slice, VV_ROCPROF_MARKER, draft->values[INTERNAL], error));
    if (draft->values[KERNEL] != ABSENT)
        VV_TRY(add_pending(rocprof, slice, VV_ROCPROF_KERNEL, draft->values[KERNEL], error));
    return VARVE_OK;
}

static enum varve_code add_activity(struct vv_rocprof *rocprof, enum vv_activity_kind kind,
                                    const struct draft *draft, uint32_t slice,
                                    struct varve_error *error)
{
    struct vv_activities *activities = &rocprof->model->activities;
    uint32_t row;
    VV_TRY(vv_model_add_activity(rocprof->model, &row, error));
    rocprof->model->slices.activity[slice] = row;
    activities->kind[row] = (uint8_t)kind;
    activities->correlation[row] = (uint64_t)value_or(draft, INTERNAL, 0);
    activities->external[row] = (uint64_t)value_or(draft, EXTERNAL, 0);
    activities->stream[row] = value_or(draft, STREAM, -1);
    activities->bytes[row] = (uint64_t)value_or(draft, BYTES, 0);
    return VARVE_OK;
}

/* Keeps numbers that have a place in the model only for other tables than this one. */
static enum varve_code keep_numbers(struct vv_rocprof *rocprof, const struct table *table,
                                    const struct draft *draft, uint32_t slice,
                                    struct varve_error *error)
{
    bool has_activity = table->activity != NO_ACTIVITY;
    const struct { enum role role; const char *key; bool is_due; } numbers[] = {
        { THREAD, "thread_id", is_on_device(table) },
        { SOURCE, "src_agent_id", true },
        { TARGET, "dst_agent_id", true },
        { AGENT, "agent_id", !is_on_device(table) },
        { KERNEL, "kernel_id", true },
        { INTERNAL, "correlation_id", !has_activity },
        { BYTES, "bytes", !has_activity },
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        uint32_t key;
        if (!numbers[i].is_due || draft->values[numbers[i].role] == ABSENT)
            continue;
        VV_TRY(vv_model_text(rocprof->model, numbers[i].key, &key, error));
        VV_TRY(vv_attribute_to_slice(rocprof->model, slice, key,
                                     vv_attribute_int(draft->values[numbers[i].role]), error));
    }
    VV_TRY(vv_attribute_list_to_slice(&draft->others, rocprof->model, slice, error));
    if (draft->values[KERNEL] == ABSENT)
        return VARVE_OK;
    uint32_t registers; /* those of its symbol, which may come later: rocprof/names.c */
    VV_TRY(vv_model_text(rocprof->model, VV_ROCPROF_REGISTERS, &registers, error));
    return vv_attribute_to_slice(rocprof->model, slice, registers,
                                 (struct vv_attribute){ VV_ARG_NULL, 0 }, error);
}

static void set_times(struct vv_model *model, const struct draft *draft, uint32_t slice)
{
    int64_t begin_ns = value_or(draft, BEGIN, 0), duration_ns = 0;
    bool has_both = draft->values[BEGIN] != ABSENT && draft->values[END] != ABSENT;
    model->health.unplaced += draft->values[BEGIN] == ABSENT;
    if (has_both && __builtin_sub_overflow(draft->values[END], begin_ns, &duration_ns))
        duration_ns = 0;
    if (duration_ns < 0) {
        duration_ns = 0;
        model->slices.flags[slice] |= VV_SLICE_NEGATIVE;
        model->health.negative++;
    }
    model->slices.begin_ns[slice] = begin_ns;
    model->slices.duration_ns[slice] = duration_ns;
    if (!has_both && draft->values[BEGIN] != ABSENT) {
        model->slices.flags[slice] |= VV_SLICE_UNFINISHED;
        model->health.unfinished++;
    }
}

static enum varve_code add_record(struct vv_rocprof *rocprof, const struct table *table,
                                  uint32_t category, const struct draft *draft,
                                  struct varve_error *error)
{
    struct vv_model *model = rocprof->model;
    struct vv_slices *slices = &model->slices;
    uint32_t slice, track;
    VV_TRY(find_track(rocprof, table, draft, &track, error));
    VV_TRY(vv_model_add_slice(model, &slice, error));
    set_times(model, draft, slice);
    slices->name[slice] = category; /* until its name is known */
    slices->track[slice] = track;
    slices->category[slice] = category;
    slices->layer[slice] = table->layer;
    slices->order[slice] = slice;
    vv_extent_take(model, rocprof->process, slices->begin_ns[slice],
                   slices->begin_ns[slice] + slices->duration_ns[slice]);
    if (table->activity != NO_ACTIVITY)
        VV_TRY(add_activity(rocprof, (enum vv_activity_kind)table->activity, draft, slice, error));
    VV_TRY(await_names(rocprof, table, draft, slice, error));
    return keep_numbers(rocprof, table, draft, slice, error);
}

static const struct table *find_table(const char *name)
{
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        if (strcmp(tables[i].name, name) == 0)
            return &tables[i];
    return &other;
}

enum varve_code vv_rocprof_read_records(struct vv_rocprof *rocprof, const char *name,
                                        struct varve_error *error)
{
    struct vv_json *json = &rocprof->json;
    const struct table *table = find_table(name);
    struct draft draft = { .others = { 0 } };
    enum varve_code code;
    uint32_t category;
    VV_TRY(vv_model_text(rocprof->model, name, &category, error));
    while ((code = vv_json_next(json, error)) == VARVE_OK && json->token != VV_JSON_ARRAY_END) {
        if (json->token != VV_JSON_OBJECT) {
            rocprof->model->health.ignored++;
            code = vv_json_skip(json, error);
        } else {
            for (int role = 0; role < ROLE_COUNT; role++)
                draft.values[role] = ABSENT;
            draft.others.count = 0;
            code = read_object(rocprof, "", &draft, error);
            if (code == VARVE_OK)
                code = add_record(rocprof, table, category, &draft, error);
        }
        if (code != VARVE_OK)
            break;
    }
    vv_attribute_list_deinit(&draft.others);
    return code;
}
