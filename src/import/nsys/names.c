/* SPDX-License-Identifier: Apache-2.0 */
/* names.c — makes the processes, threads and streams of an Nsight Systems export from their ids
 * there. */
#include "import/nsys/nsys.h"

#ifdef VV_HAVE_SQLITE

#include <stdio.h>
#include <string.h>

#include "varve/varve.h"

/* A global id holds the number of the thread in 24 bits, and above them that of the process. */
#define ID_RANGE 0x1000000

static int64_t pid_of(int64_t global_id)
{
    return (int64_t)((uint64_t)global_id / ID_RANGE % ID_RANGE);
}

static int64_t tid_of(int64_t global_tid)
{
    return (int64_t)((uint64_t)global_tid % ID_RANGE);
}

static enum varve_code process_of(struct vv_nsys *nsys, int64_t global_id, uint32_t *out_row,
                                  struct varve_error *error)
{
    const struct vv_row_key key = { { pid_of(global_id), 0, 0, VV_NSYS_KEY_PROCESS } };
    struct vv_processes *processes = &nsys->model->processes;
    uint32_t *place;
    bool is_new;
    VV_TRY(vv_row_map_at(&nsys->rows, &key, &place, &is_new, error));
    if (is_new) {
        VV_TRY(vv_model_add_process(nsys->model, place, error));
        processes->pid[*place] = pid_of(global_id);
        processes->scope[*place] = nsys->scope;
        processes->id_family[*place] = *place + 1; /* CUPTI counts calls in each process */
        processes->host[*place] = nsys->host;
    }
    *out_row = *place;
    return VARVE_OK;
}

static enum varve_code find_track(struct vv_nsys *nsys, const struct vv_row_key *key,
                                  uint32_t process, uint32_t *out_track, bool *out_is_new,
                                  struct varve_error *error)
{
    uint32_t *place;
    VV_TRY(vv_row_map_at(&nsys->rows, key, &place, out_is_new, error));
    if (*out_is_new) {
        VV_TRY(vv_model_add_track(nsys->model, place, error));
        nsys->model->tracks.process[*place] = process;
    }
    *out_track = *place;
    return VARVE_OK;
}

enum varve_code vv_nsys_thread(struct vv_nsys *nsys, int64_t global_tid, uint32_t *out_track,
                               struct varve_error *error)
{
    const struct vv_row_key key = { { pid_of(global_tid), tid_of(global_tid), 0,
                                      VV_NSYS_KEY_THREAD } };
    uint32_t process;
    bool is_new;
    VV_TRY(process_of(nsys, global_tid, &process, error));
    VV_TRY(find_track(nsys, &key, process, out_track, &is_new, error));
    if (is_new)
        nsys->model->tracks.tid[*out_track] = tid_of(global_tid);
    return VARVE_OK;
}

enum varve_code vv_nsys_lane(struct vv_nsys *nsys, int64_t global_tid, uint32_t *out_track,
                             struct varve_error *error)
{
    const struct vv_row_key key = { { pid_of(global_tid), 0, 0, VV_NSYS_KEY_LANE } };
    struct vv_tracks *tracks = &nsys->model->tracks;
    uint32_t process;
    bool is_new;
    VV_TRY(process_of(nsys, global_tid, &process, error));
    VV_TRY(find_track(nsys, &key, process, out_track, &is_new, error));
    if (!is_new)
        return VARVE_OK;
    tracks->kind[*out_track] = VV_TRACK_ASYNC;
    return vv_model_text(nsys->model, "NVTX ranges", &tracks->name[*out_track], error);
}

/* 0 if the value is absent. */
static int64_t value_of(const struct vv_nsys_row *row, enum vv_nsys_role role)
{
    return row->values[role] == VV_SPAN_ABSENT ? 0 : row->values[role];
}

enum varve_code vv_nsys_stream(struct vv_nsys *nsys, const struct vv_nsys_row *row,
                               uint32_t *out_track, struct varve_error *error)
{
    int64_t global_pid = value_of(row, VV_NSYS_PID), stream = value_of(row, VV_NSYS_STREAM);
    int64_t device = value_of(row, VV_NSYS_DEVICE), context = value_of(row, VV_NSYS_CONTEXT);
    const struct vv_row_key key = {
        { pid_of(global_pid), stream, (int64_t)((uint64_t)context << 16) | (device & 0xffff),
          VV_NSYS_KEY_STREAM }
    };
    struct vv_tracks *tracks = &nsys->model->tracks;
    uint32_t process;
    char name[64];
    bool is_new;
    VV_TRY(process_of(nsys, global_pid, &process, error));
    VV_TRY(find_track(nsys, &key, process, out_track, &is_new, error));
    if (!is_new)
        return VARVE_OK;
    tracks->kind[*out_track] = VV_TRACK_DEVICE;
    tracks->tid[*out_track] = stream;
    tracks->device[*out_track] = VARVE_DEVICE(VARVE_DEVICE_KIND_CUDA, device);
    if (stream < 0)
        snprintf(name, sizeof name, "GPU %lld, no stream", (long long)device);
    else
        snprintf(name, sizeof name, "GPU %lld stream %lld", (long long)device, (long long)stream);
    return vv_model_text(nsys->model, name, &tracks->name[*out_track], error);
}

/* ---- names ---- */

static enum varve_code name_process(struct vv_nsys *nsys, const struct vv_nsys_row *row,
                                    const void *context, struct varve_error *error)
{
    uint32_t process;
    (void)context;
    for (int i = 0; i < row->column_count; i++) {
        const struct vv_row_key key = { { pid_of(row->values[VV_NSYS_PID]), 0, 0,
                                          VV_NSYS_KEY_PROCESS } };
        bool is_name = strcmp(vv_sqlite.column_name(row->statement, i), "name") == 0;
        const unsigned char *text = is_name ? vv_sqlite.column_text(row->statement, i) : NULL;
        if (text != NULL && row->values[VV_NSYS_PID] != VV_SPAN_ABSENT &&
            vv_row_map_find(&nsys->rows, &key, &process))
            VV_TRY(vv_model_text(nsys->model, (const char *)text,
                                 &nsys->model->processes.name[process], error));
    }
    return VARVE_OK;
}

/* A name that the program gave through NVTX replaces the kernel's. */
static enum varve_code name_thread(struct vv_nsys *nsys, const struct vv_nsys_row *row,
                                   const void *context, struct varve_error *error)
{
    int64_t global_tid = row->values[VV_NSYS_TID];
    const struct vv_row_key key = { { pid_of(global_tid), tid_of(global_tid), 0,
                                      VV_NSYS_KEY_THREAD } };
    uint32_t track;
    (void)context;
    (void)error;
    if (row->values[VV_NSYS_NAME] != VV_SPAN_ABSENT && vv_row_map_find(&nsys->rows, &key, &track) &&
        nsys->model->tracks.name[track] == 0)
        nsys->model->tracks.name[track] = (uint32_t)row->values[VV_NSYS_NAME];
    return VARVE_OK;
}

/* The device's id is the number by which rows of device work name it. */
static enum varve_code take_device(struct vv_nsys *nsys, const struct vv_nsys_row *row,
                                   const void *context, struct varve_error *error)
{
    struct vv_devices *devices = &nsys->model->devices;
    int64_t id = -1, bandwidth = 0;
    const unsigned char *called = NULL;
    uint32_t device, name;
    (void)context;
    for (int i = 0; i < row->column_count; i++) {
        const char *column = vv_sqlite.column_name(row->statement, i);
        if (strcmp(column, "id") == 0)
            id = vv_sqlite.column_int64(row->statement, i);
        else if (strcmp(column, "memoryBandwidth") == 0)
            bandwidth = vv_sqlite.column_int64(row->statement, i);
        else if (strcmp(column, "name") == 0)
            called = vv_sqlite.column_text(row->statement, i);
    }
    if (id < 0 || id > UINT16_MAX || called == NULL)
        return VARVE_OK;
    VV_TRY(vv_model_text(nsys->model, (const char *)called, &name, error));
    VV_TRY(vv_model_add_device(nsys->model, &device, error));
    devices->device[device] = VARVE_DEVICE(VARVE_DEVICE_KIND_CUDA, id);
    devices->scope[device] = nsys->scope;
    devices->name[device] = name;
    devices->memory_bytes_per_s[device] = bandwidth > 0 ? (double)bandwidth : 0;
    return VARVE_OK;
}

enum varve_code vv_nsys_name_all(struct vv_nsys *nsys, struct varve_error *error)
{
    VV_TRY(vv_nsys_each(nsys, "TARGET_INFO_GPU", take_device, NULL, error));
    VV_TRY(vv_nsys_each(nsys, "PROCESSES", name_process, NULL, error));
    return vv_nsys_each(nsys, "ThreadNames", name_thread, NULL, error);
}

#endif
