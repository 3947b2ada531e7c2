/* SPDX-License-Identifier: Apache-2.0 */
/* streams.h — the work of devices by stream, in order of begin. Thread-compatible. */
#ifndef VV_DERIVE_DEVICES_STREAMS_H
#define VV_DERIVE_DEVICES_STREAMS_H

#include "derive/devices/device_work.h"

struct vv_device_stream {
    uint32_t device;    /* row in the device work */
    int64_t number;     /* the producer's number; the track's tid if there is none */
    size_t first, last; /* its work: rows [first, last) */
};

struct vv_streams {
    struct vv_scratch *scratch;
    struct vv_device_stream *streams; /* by device, then number */
    size_t count, capacity;
    uint32_t *rows;            /* rows of the device work's items */
};

enum varve_code vv_streams_init(struct vv_streams *out_streams, const struct vv_device_work *work,
                                struct vv_scratch *scratch, struct varve_error *error);

#endif
