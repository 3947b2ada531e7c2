/* SPDX-License-Identifier: Apache-2.0 */
/* points.h — what a process's trace says of trace points (doc/format.md §6). Private to
 * import/varve. Thread-compatible. */
#ifndef VV_IMPORT_VARVE_RECORDS_POINTS_H
#define VV_IMPORT_VARVE_RECORDS_POINTS_H

#include <stdint.h>

#include "base/array.h"
#include "base/error.h"

struct vv_process_reader;
struct vv_record;
struct vv_stream_reader;

/* Marks of trace points on devices are kept until all clocks are known. */
struct vv_device_mark {
    uint64_t tag, model;
    int64_t iteration, stream;
    int64_t value;  /* in the track's clock                                                     */
    uint32_t track; /* index in the tracks of devices                                           */
};

struct vv_marks_said { VV_ARRAY_OF(struct vv_device_mark) of_devices; };

/* Actions of process/record.c. */
enum varve_code vv_trace_mark_read(struct vv_stream_reader *stream, const struct vv_record *record,
                                   struct varve_error *error);
enum varve_code vv_trace_point_read(struct vv_stream_reader *stream, const struct vv_record *record,
                                    struct varve_error *error);

/* When all streams are decoded, and before vv_devices_join: gives marks of devices their instants
 * and tracks. */
enum varve_code vv_marks_join(struct vv_process_reader *process, struct varve_error *error);

#endif
