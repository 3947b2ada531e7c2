/* SPDX-License-Identifier: Apache-2.0 */
/* streams.h — the work of devices by stream, in order of begin. Thread-compatible. */
#ifndef VV_DERIVE_DEVICES_STREAMS_H
#define VV_DERIVE_DEVICES_STREAMS_H

#include "derive/devices/device_work.h"

struct vv_stream {
    uint32_t device;    /* row in the device work */
    int64_t number;     /* as the producer names it; a track's tid where it names none */
    size_t first, last; /* its work: [first, last) of the rows */
};

struct vv_streams {
    struct vv_stream *streams; /* by device, then number */
    size_t count;
    uint32_t *rows;            /* of the device work's items */
};

/* De-initialise also after a failure. */
enum varve_code vv_streams_init(struct vv_streams *out_streams, const struct vv_device_work *work,
                                struct varve_error *error);
void vv_streams_deinit(struct vv_streams *streams);

#endif
