/* SPDX-License-Identifier: Apache-2.0 */
/* handmade_device.h — devices, and calls that start work on them, in models written by hand
 * (handmade.h).
 *
 * Include after handmade.h. Before vv_model_finish a call and its work have the same
 * correlation. */
#ifndef VARVE_TESTS_HANDMADE_DEVICE_H
#define VARVE_TESTS_HANDMADE_DEVICE_H

#include "handmade.h"

/* Stream `stream` of cuda:`device`. */
HANDMADE_UNUSED static inline uint32_t handmade_stream(struct vv_model *model, int64_t device,
                                                       int64_t stream)
{
    uint32_t track = handmade_track(model, "stream", stream);
    model->tracks.kind[track] = VV_TRACK_DEVICE;
    model->tracks.device[track] = VARVE_DEVICE(VARVE_DEVICE_KIND_CUDA, device);
    return track;
}

static inline uint32_t handmade_activity(struct vv_model *model, uint32_t slice,
                                         enum vv_activity_kind kind, uint64_t correlation)
{
    uint32_t activity;
    assert_int_equal(vv_model_add_activity(model, &activity, NULL), VARVE_OK);
    model->activities.kind[activity] = (uint8_t)kind;
    model->activities.correlation[activity] = correlation;
    model->activities.stream[activity] = -1;
    model->slices.activity[slice] = activity;
    return activity;
}

/* A call [begin, end) of the runtime. */
HANDMADE_UNUSED static inline uint32_t handmade_call(struct vv_model *model, uint32_t track,
                                                     const char *name, uint64_t correlation,
                                                     int64_t begin, int64_t end)
{
    uint32_t slice = handmade_slice(model, track, name, VARVE_LAYER_RUNTIME, begin, end);
    handmade_activity(model, slice, VV_ACTIVITY_CALL, correlation);
    return slice;
}

/* Work [begin, end) of a stream; its kind follows its name: "Memcpy…", "Memset…", else a kernel.
 * Correlation 0 = nobody launched it. Returns the row in activities. */
HANDMADE_UNUSED static inline uint32_t handmade_work(struct vv_model *model, uint32_t stream,
                                                     const char *name, uint64_t correlation,
                                                     int64_t begin, int64_t end)
{
    uint32_t slice = handmade_slice(model, stream, name, VARVE_LAYER_DEVICE, begin, end);
    enum vv_activity_kind kind = strncmp(name, "Memcpy", 6) == 0   ? VV_ACTIVITY_COPY
                                 : strncmp(name, "Memset", 6) == 0 ? VV_ACTIVITY_SET
                                                                   : VV_ACTIVITY_KERNEL;
    uint32_t activity = handmade_activity(model, slice, kind, correlation);
    model->activities.device[activity] = model->tracks.device[stream];
    model->activities.stream[activity] = model->tracks.tid[stream];
    return activity;
}

#endif
