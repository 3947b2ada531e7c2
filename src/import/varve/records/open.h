/* SPDX-License-Identifier: Apache-2.0 */
/* open.h — the ranges that are open on a stream's track while the stream is decoded. Private to
 * import/varve. All functions act at the instant of the current record, stream->time_ns, unless
 * they have another one. */
#ifndef VV_IMPORT_VARVE_RECORDS_OPEN_H
#define VV_IMPORT_VARVE_RECORDS_OPEN_H

#include "import/varve/records/stream.h"

/* A range that begins. */
struct vv_range {
    uint32_t name, source;
    uint16_t layer;
    bool is_step;
};

/* The stream's track, which is made at the first call. */
enum varve_code vv_stream_track(struct vv_stream_reader *stream, uint32_t *out_track,
                                struct varve_error *error);
enum varve_code vv_range_begin(struct vv_stream_reader *stream, const struct vv_range *range,
                               struct varve_error *error);
void vv_range_end(struct vv_stream_reader *stream);
/* Ends the range directly around the innermost `ranges` ranges, at the begin of the outermost of
 * these. So all ranges nest. */
void vv_range_end_under(struct vv_stream_reader *stream, uint64_t ranges);
/* Ends the innermost range at `end_ns`. There must be one. */
void vv_range_close(struct vv_stream_reader *stream, int64_t end_ns, uint8_t flags);
void vv_range_close_all(struct vv_stream_reader *stream, int64_t end_ns, uint8_t flags);
/* A step ends whose begin is not in the stream. */
void vv_step_end_alone(struct vv_stream_reader *stream);

#endif
