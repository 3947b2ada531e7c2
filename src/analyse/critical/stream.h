/* SPDX-License-Identifier: Apache-2.0 */
/* stream.h — device work by stream, and what waits for what: shared by the parts that build the exact graph.
 * Thread-compatible. */
#ifndef VV_ANALYSE_CRITICAL_STREAM_H
#define VV_ANALYSE_CRITICAL_STREAM_H

#include "analyse/critical/graph.h"

struct vv_stream_work {
    int64_t begin_ns, end_ns; /* cut at the window's begin                                        */
    int64_t launched_ns;   /* begin of the call; begin_ns where none is known                   */
    int64_t waited_ns;     /* end of the last work of another stream that it waits for; INT64_MIN */
    uint32_t slice, launch; /* rows; launch VV_NONE = not in the trace                          */
    uint32_t activity;
    uint32_t stream;       /* row in streams                                                    */
    uint8_t class;         /* enum vv_device_class                                              */
    bool is_inside;        /* the window                                                        */
};

struct vv_critical_stream {
    uint32_t track, scope;
    uint32_t device;       /* kind << 16 | index; VV_NONE                                       */
    int64_t number, rank;
    size_t first, last;    /* its work: [first, last), by begin                                 */
};

struct vv_critical_streams {
    struct vv_stream_work *work;   /* by stream, then begin                                     */
    size_t count;
    uint64_t inside;               /* of them in the window                                     */
    struct vv_critical_stream *streams;
    uint32_t stream_count;
    uint32_t *by_end;              /* rows of work in order of end                              */
    struct vv_critical_waiting {
        uint32_t from, to;         /* rows of work: `to` waits for `from`, or                   */
        bool is_call;              /* `to` is a slice, a call                                   */
    } *waiting;
    size_t waiting_count, waiting_capacity;
};

/* Work counts as inside if the call that launched it lies in the window (without a call, if it begins there), or if it
 * was launched before and is not done when the window begins; then what lies before is cut. */
enum varve_code vv_critical_streams_init(struct vv_critical_streams *streams, struct vv_critical_graph *graph,
                                         const struct vv_scope *scope, const struct vv_question *question,
                                         const struct vv_critical_windows *windows, struct varve_error *error);
void vv_critical_streams_deinit(struct vv_critical_streams *streams);

/* What a record of a wait names: the stream on which the awaited event was recorded, and the correlation of the call that
 * did; -1 = it does not say. */
struct vv_named_event {
    int64_t stream, record;
};
struct vv_named_event vv_named_event(const struct vv_model *model, uint32_t slice);

/* The rows of a track's slices that are in its window; none where the thread is not chosen. critical/host.c */
void vv_critical_rows(const struct vv_scope *scope, const struct vv_critical_windows *windows, uint32_t track,
                      uint32_t *out_first, uint32_t *out_last);

#endif
