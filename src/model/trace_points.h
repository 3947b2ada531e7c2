/* SPDX-License-Identifier: Apache-2.0 */
/* trace_points.h — the tables of trace points: a part of model.h. */
#ifndef VV_MODEL_TRACE_POINTS_H
#define VV_MODEL_TRACE_POINTS_H

#include "model/table.h"

/* A point of a step was reached, on a device or on a thread. */
#define VV_TRACE_POINT_COLUMNS(X, T)                                                               \
    X(T, int64_t, time_ns)                                                                         \
    X(T, uint64_t, model)      /* the program's number                                          */ \
    X(T, int64_t, iteration)   /* the program's number; -1 = not known                          */ \
    X(T, int64_t, stream)      /* the executor's number; -1 = not known                         */ \
    X(T, uint32_t, index)      /* among those of its kind                                       */ \
    X(T, uint32_t, track)      /* row                                                           */ \
    X(T, uint8_t, kind)        /* enum varve_point_kind                                         */ \
    X(T, uint8_t, is_end)      /* 1: behind what the kind is of; 0: before it                   */
struct vv_trace_points {
    struct vv_table table;
    VV_TRACE_POINT_COLUMNS(VV_COLUMN_POINTER, struct vv_trace_points)
};

/* Where an executor planned to mark points. */
#define VV_PLANNED_POINT_COLUMNS(X, T)                                                             \
    X(T, uint64_t, model)      /* as in trace_points                                            */ \
    X(T, int64_t, graph)       /* the runtime's number; -1 = none                               */ \
    X(T, int64_t, node)        /* -1 = there is no such point                                   */ \
    X(T, uint32_t, index)      /* as in trace_points; VV_NONE = it is not marked                */ \
    X(T, vv_string, name)      /* string: the node's; 0 = none                                  */ \
    X(T, vv_string, operation) /* string: "all_reduce"; 0 = no collective                       */ \
    X(T, vv_string, reason)    /* string                                                        */ \
    X(T, uint32_t, process)    /* row                                                           */ \
    X(T, uint8_t, kind)        /* enum varve_point_kind                                         */ \
    X(T, uint8_t, state)       /* enum varve_point_state                                        */
struct vv_planned_points {
    struct vv_table table;
    VV_PLANNED_POINT_COLUMNS(VV_COLUMN_POINTER, struct vv_planned_points)
};

#endif
