/* SPDX-License-Identifier: Apache-2.0 */
/* stream.h — device work by stream, and the waits between pieces of work. The files that build the
 * exact graph share it. Thread-compatible. */
#ifndef VV_ANALYSE_CRITICAL_STREAM_H
#define VV_ANALYSE_CRITICAL_STREAM_H

#include "analyse/critical/graph.h"

struct vv_stream_work {
    int64_t begin_ns, end_ns; /* cut at the window's begin                                        */
    int64_t launched_ns;   /* begin of the call; begin_ns if no call is known                   */
    int64_t waited_ns;     /* end of the last work of another stream that this work waits for; or
                              INT64_MIN */
    uint32_t slice, launch; /* rows; launch VV_NONE = the call is not in the trace              */
    uint32_t activity;
    uint32_t stream;       /* row in streams                                                    */
    uint8_t class;         /* enum vv_device_class                                              */
    bool is_inside;        /* in the window                                                     */
};

struct vv_critical_stream {
    uint32_t track, scope;
    uint32_t device;       /* kind << 16 | index; VV_NONE                                       */
    int64_t number, rank;
    size_t first, last;    /* the stream's work: items [first, last), in order of begin         */
};

struct vv_critical_streams {
    struct vv_stream_work *work;   /* by stream, then begin                                     */
    size_t count;
    uint64_t inside;               /* pieces of work in the window                              */
    struct vv_critical_stream *streams;
    uint32_t stream_count;
    uint32_t *by_end;              /* rows of work in order of end                              */
    struct vv_critical_waiting {
        uint32_t from, to;         /* row of the awaited work, and of the work that waits       */
        bool is_call;              /* `to` is the row of a slice instead, a call                */
    } *waiting;
    size_t waiting_count, waiting_capacity;
};

/* Work is inside if the call that launched it is in the window. Work without a call is inside if it
 * begins in the window. Work that was launched before the window and is not done when the window
 * begins is inside too; it is cut at the window's begin. */
enum varve_code
vv_critical_streams_init(struct vv_critical_streams *streams, struct vv_critical_graph *graph,
                         const struct vv_scope *scope, const struct vv_question *question,
                         const struct vv_critical_windows *windows, struct varve_error *error);

/* The event that a record of a wait names: its stream, and the correlation of the call that
 * recorded it. -1 = the record does not say. */
struct vv_named_event {
    int64_t stream, record;
};
struct vv_named_event vv_named_event(const struct vv_model *model, uint32_t slice);

/* The rows of a track's slices that begin in the window; none if the thread is not chosen.
 * critical/host.c */
void vv_critical_rows(const struct vv_scope *scope, const struct vv_critical_windows *windows,
                      uint32_t track, uint32_t *out_first, uint32_t *out_last);

#endif
