/* SPDX-License-Identifier: Apache-2.0 */
#include "derive/devices/streams.h"

#include "base/radix.h"

static int64_t stream_of(const struct vv_device_work *work, size_t item)
{
    const struct vv_model *model = work->scope->model;
    uint32_t activity = work->items[item].activity;
    int64_t stream = model->activities.stream[activity];
    return stream >= 0 ? stream
                       : model->tracks.tid[model->slices.track[model->activities.slice[activity]]];
}

/* The sort is stable, so each stream keeps the order of begins. */
static enum varve_code add_device(struct vv_streams *streams, const struct vv_device_work *work,
                                  uint32_t device, struct vv_keyed_row *keys,
                                  struct varve_error *error)
{
    size_t first = work->devices[device].first, last = work->devices[device].last;
    for (size_t i = first; i < last; i++) /* flips the top bit, so negative numbers come first   */
        keys[i] = (struct vv_keyed_row){ (uint64_t)stream_of(work, i) ^ (UINT64_C(1) << 63),
                                         (uint32_t)i };
    VV_TRY(vv_radix_sort(keys + first, last - first, error));
    for (size_t i = first; i < last; i++) {
        streams->rows[i] = keys[i].row;
        if (i == first || keys[i].key != keys[i - 1].key) {
            VV_TRY(VV_SCRATCH_RESERVE(streams->scratch, &streams->streams, &streams->capacity,
                                      streams->count + 1, error));
            streams->streams[streams->count++] =
                (struct vv_device_stream){ device, stream_of(work, keys[i].row), i, i };
        }
        streams->streams[streams->count - 1].last = i + 1;
    }
    return VARVE_OK;
}

enum varve_code vv_streams_init(struct vv_streams *out_streams, const struct vv_device_work *work,
                                struct vv_scratch *scratch, struct varve_error *error)
{
    struct vv_keyed_row *keys;
    *out_streams = (struct vv_streams){ .scratch = scratch };
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &out_streams->rows, work->count, error));
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &keys, work->count, error));
    for (uint32_t d = 0; d < work->device_count; d++)
        VV_TRY(add_device(out_streams, work, d, keys, error));
    vv_scratch_release(scratch, keys);
    return VARVE_OK;
}
