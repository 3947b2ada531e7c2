/* SPDX-License-Identifier: Apache-2.0 */
/* hta.h — the rows that HTA's graph is made of. hta.c and hta_device.c share them.
 * Thread-compatible. */
#ifndef VV_ANALYSE_CRITICAL_HTA_H
#define VV_ANALYSE_CRITICAL_HTA_H

#include "analyse/critical/graph.h"
#include "meaning/hta_rules.h"

struct vv_hta_row {
    int64_t begin_ns, end_ns; /* rounded as hta_rules.h does                                    */
    int64_t stream;         /* -1: a row of the host or of a whole device                       */
    uint64_t correlation;   /* 0 = none                                                         */
    uint32_t slice, order;  /* rows stand in the order of `order`                               */
    uint32_t partner;       /* row of the other side (host or device) with this correlation;
                               VV_NONE */
    uint32_t start, end;    /* nodes; VV_NONE                                                   */
    uint32_t scope;
    uint8_t role;           /* enum vv_hta_role                                                 */
    bool is_device;         /* has a stream and a correlation, or waits for an event or a device */
    bool has_node;          /* is an operator, a call, or work with a correlation               */
    bool is_kept;           /* not dropped with the last step                                   */
    bool is_inside;         /* in the window                                                    */
};

/* The kinds of calls that HTA knows by their names. */
enum vv_hta_role {
    VV_HTA_OTHER = 1, VV_HTA_LAUNCH, VV_HTA_BLOCKING_LAUNCH, VV_HTA_BLOCKING, VV_HTA_RECORD,
    VV_HTA_STREAM_WAIT_CALL,
    VV_HTA_STREAM_WAIT, VV_HTA_EVENT_SYNC, VV_HTA_STREAM_SYNC, VV_HTA_CONTEXT_SYNC,
    VV_HTA_HOST_ALLOC,
    VV_HTA_LOCKING_LAUNCH
};

struct vv_hta {
    struct vv_critical_graph *graph;
    const struct vv_model *model;
    struct vv_hta_row *rows;
    size_t count;
    size_t node_count;
};

static inline bool vv_hta_is_launch(const struct vv_hta_row *row)
{
    return row->role == VV_HTA_LAUNCH || row->role == VV_HTA_BLOCKING_LAUNCH ||
           row->role == VV_HTA_LOCKING_LAUNCH;
}

/* Adds an edge. Of two edges between the same nodes the later one counts. */
static inline enum varve_code vv_hta_edge(struct vv_hta *hta, uint32_t from, uint32_t to,
                                          enum vv_critical_link link, uint32_t owner,
                                          struct varve_error *error)
{
    const struct vv_critical_graph *graph = hta->graph;
    int64_t weight_ns = vv_link_weighs(link) ? graph->time_ns[to] - graph->time_ns[from] : 0;
    return vv_critical_edge(hta->graph,
                            (struct vv_critical_edge){ weight_ns > 0 ? weight_ns : 0, from, to,
                                                       owner, (uint8_t)link },
                            error);
}

/* Adds the edges of devices: critical/hta_device.c */
enum varve_code vv_hta_device(struct vv_hta *hta, struct varve_error *error);

#endif
