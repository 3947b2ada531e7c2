/* SPDX-License-Identifier: Apache-2.0 */
/* open.h — what is open on a stream's track while the stream is decoded; private to the varve reader. All at the instant of the
 * record at hand, stream->time_ns, unless another is said. */
#ifndef VV_IMPORT_VARVE_OPEN_H
#define VV_IMPORT_VARVE_OPEN_H

#include "import/varve/stream.h"

/* What begins. */
struct vv_range {
    uint32_t name, source;
    uint16_t layer;
    bool is_step;
};

/* The stream's track, made when something first lies on it. */
enum varve_code vv_stream_track(struct vv_stream_reader *stream, uint32_t *out_track,
                                struct varve_error *error);
enum varve_code vv_range_begin(struct vv_stream_reader *stream, const struct vv_range *range,
                               struct varve_error *error);
void vv_range_end(struct vv_stream_reader *stream);
/* Ends the one around the innermost `ranges`, where the outermost of those begins: so all nest. */
void vv_range_end_under(struct vv_stream_reader *stream, uint64_t ranges);
/* Ends the innermost range, which is there, at `end_ns`. */
void vv_range_close(struct vv_stream_reader *stream, int64_t end_ns, uint8_t flags);
void vv_range_close_all(struct vv_stream_reader *stream, int64_t end_ns, uint8_t flags);
/* A step ends of which no begin is there. */
void vv_step_end_alone(struct vv_stream_reader *stream);

#endif
