/* SPDX-License-Identifier: Apache-2.0 */
/* devices.h — what a process's trace says of devices: clocks, tracks, their work, and the ranges
 * that started it (doc/format.md §6). Private to import/varve.
 *
 * The process's own stream, with clocks and tracks, is read first. The work of all threads is kept
 * until the end, because it comes in any order. Thread-compatible. */
#ifndef VV_IMPORT_VARVE_RECORDS_DEVICES_H
#define VV_IMPORT_VARVE_RECORDS_DEVICES_H

#include <stdint.h>

#include "import/rows/device_clock.h"
#include "import/rows/key_map.h"

struct vv_process_reader;
struct vv_record;
struct vv_stream_reader;

struct vv_device_track {
    int64_t context, stream;
    uint32_t name, clock, device;
    uint32_t row; /* in tracks; VV_NONE until the track has work                                 */
};

struct vv_device_work {
    int64_t begin, end; /* in the track's clock; then in ns                                      */
    uint64_t correlation, bytes;
    uint32_t track, name; /* track: index in `tracks`                                            */
    uint32_t first_arg, collective; /* rows                                                     */
    uint16_t arg_count;
    uint32_t task;      /* row in tasks; or VV_NONE                                             */
    uint8_t kind;       /* enum vv_activity_kind                                                 */
};

struct vv_launch {
    uint64_t correlation;
    uint32_t slice;
};

struct vv_device_value {
    int64_t time; /* in the track's clock; then in ns                                            */
    double value;
    uint32_t track, name; /* track: index in `tracks`                                            */
};

struct vv_devices_said {
    VV_ARRAY_OF(struct vv_device_clock) clocks;
    VV_ARRAY_OF(struct vv_device_track) tracks;
    VV_ARRAY_OF(struct vv_device_work) work;
    VV_ARRAY_OF(struct vv_launch) launches;
    VV_ARRAY_OF(struct vv_device_value) values; /* of counters                                   */
    struct vv_key_map clock_ids, track_ids; /* to the index in the array                         */
    bool has_samples; /* the pairs of the known clocks are among `clocks`                        */
};

/* Actions of process/record.c. */
enum varve_code vv_device_clock_read(struct vv_stream_reader *stream,
                                     const struct vv_record *record, struct varve_error *error);
enum varve_code vv_clock_pair_read(struct vv_stream_reader *stream, const struct vv_record *record,
                                   struct varve_error *error);
enum varve_code vv_track_read(struct vv_stream_reader *stream, const struct vv_record *record,
                              struct varve_error *error);
enum varve_code vv_activity_read(struct vv_stream_reader *stream, const struct vv_record *record,
                                 struct varve_error *error);
/* The work of a varve.kernel without its arguments: it is the stream's last work then. */
enum varve_code vv_kernel_work_read(struct vv_stream_reader *stream,
                                    const struct vv_record *record, struct varve_error *error);
enum varve_code vv_task_read(struct vv_stream_reader *stream, const struct vv_record *record,
                             struct varve_error *error);
enum varve_code vv_launch_read(struct vv_stream_reader *stream, const struct vv_record *record,
                               struct varve_error *error);

enum varve_code vv_device_counter_read(struct vv_stream_reader *stream,
                                       const struct vv_record *record, struct varve_error *error);

/* When a clock says `value`. *out_is_placed is false if the clock says no instant. */
enum varve_code vv_device_instant(struct vv_process_reader *process, uint32_t clock, int64_t value,
                                  int64_t *out_ns, bool *out_is_placed,
                                  struct varve_error *error);

/* records/launched.c: counts calls whose work is not there, after all has been read. */
enum varve_code vv_device_launches_check(struct vv_process_reader *process,
                                         struct varve_error *error);

/* The row of a track, which is made if need be. `index` is that in `tracks`. */
enum varve_code vv_device_track_row(struct vv_process_reader *process, uint32_t index,
                                    uint32_t *out_row, struct varve_error *error);

/* The run has this inside. */
void vv_process_widen(struct vv_process_reader *process, int64_t begin_ns, int64_t end_ns);

/* When all streams are decoded: adds tracks, slices and activities of the process's device work,
 * and the values of its counters. */
enum varve_code vv_devices_join(struct vv_process_reader *process, struct varve_error *error);
void vv_devices_said_deinit(struct vv_devices_said *said); /* idempotent */

#endif
