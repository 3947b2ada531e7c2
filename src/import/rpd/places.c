/* SPDX-License-Identifier: Apache-2.0 */
/* places.c — makes the processes, threads and queues of a rocmProfileData database. */
#include "import/rpd/rpd.h"

#ifdef VV_HAVE_SQLITE

#include <stdio.h>

#include "varve/varve.h"

enum varve_code vv_rpd_process(struct vv_rpd *rpd, int64_t pid, uint32_t *out_row,
                               struct varve_error *error)
{
    const struct vv_row_key key = { { pid, 0, 0, VV_RPD_KEY_PROCESS } };
    uint32_t *place;
    bool is_new;
    VV_TRY(vv_row_map_at(&rpd->rows, &key, &place, &is_new, error));
    if (is_new) {
        VV_TRY(vv_model_add_process(rpd->model, place, error));
        rpd->model->processes.pid[*place] = pid;
        rpd->model->processes.scope[*place] = rpd->scope;
        if (rpd->main_process == VV_NONE)
            rpd->main_process = *place;
    }
    *out_row = *place;
    return VARVE_OK;
}

static enum varve_code find_track(struct vv_rpd *rpd, const struct vv_row_key *key,
                                  uint32_t process, uint32_t *out_track, bool *out_is_new,
                                  struct varve_error *error)
{
    uint32_t *place;
    VV_TRY(vv_row_map_at(&rpd->rows, key, &place, out_is_new, error));
    if (*out_is_new) {
        VV_TRY(vv_model_add_track(rpd->model, place, error));
        rpd->model->tracks.process[*place] = process;
    }
    *out_track = *place;
    return VARVE_OK;
}

enum varve_code vv_rpd_thread(struct vv_rpd *rpd, int64_t pid, int64_t tid, uint32_t *out_track,
                              struct varve_error *error)
{
    uint32_t process;
    bool is_new;
    VV_TRY(vv_rpd_process(rpd, pid, &process, error));
    const struct vv_row_key key = { { process, tid, 0, VV_RPD_KEY_THREAD } };
    VV_TRY(find_track(rpd, &key, process, out_track, &is_new, error));
    if (is_new)
        rpd->model->tracks.tid[*out_track] = tid;
    return VARVE_OK;
}

enum varve_code vv_rpd_queue(struct vv_rpd *rpd, uint32_t process, const struct vv_rpd_queue *queue,
                             uint32_t *out_track, struct varve_error *error)
{
    const struct vv_row_key key = { { (int64_t)((uint64_t)queue->gpu << 32 | process), queue->queue,
                                      queue->stream, VV_RPD_KEY_QUEUE } };
    struct vv_tracks *tracks = &rpd->model->tracks;
    bool has_stream = queue->stream >= 0, is_new;
    int64_t number = has_stream ? queue->stream : queue->queue;
    char name[64];
    VV_TRY(find_track(rpd, &key, process, out_track, &is_new, error));
    if (!is_new)
        return VARVE_OK;
    tracks->kind[*out_track] = VV_TRACK_DEVICE;
    tracks->tid[*out_track] = number;
    tracks->device[*out_track] = VARVE_DEVICE(VARVE_DEVICE_KIND_CUDA, queue->gpu);
    snprintf(name, sizeof name, "GPU %lld %s %lld", (long long)queue->gpu,
             has_stream ? "stream" : "queue", (long long)number);
    return vv_model_text(rpd->model, name, &tracks->name[*out_track], error);
}

enum varve_code vv_rpd_note_session(struct vv_rpd *rpd, int64_t id, uint32_t process,
                                    struct varve_error *error)
{
    const struct vv_row_key key = { { id >> 32, 0, 0, VV_RPD_KEY_SESSION } };
    uint32_t *place;
    bool is_new;
    VV_TRY(vv_row_map_at(&rpd->rows, &key, &place, &is_new, error));
    if (is_new)
        *place = process;
    return VARVE_OK;
}

enum varve_code vv_rpd_process_of_session(struct vv_rpd *rpd, int64_t id, uint32_t *out_process,
                                          struct varve_error *error)
{
    const struct vv_row_key key = { { id >> 32, 0, 0, VV_RPD_KEY_SESSION } };
    uint32_t process = rpd->main_process;
    vv_row_map_find(&rpd->rows, &key, &process);
    if (process == VV_NONE) /* there is no call at all */
        return vv_rpd_process(rpd, 0, out_process, error);
    *out_process = process;
    return VARVE_OK;
}

#endif
