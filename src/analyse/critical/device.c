/* SPDX-License-Identifier: Apache-2.0 */
/* device.c — makes a chain for every stream, with the reason why each piece of work began when it
 * did.
 *
 * If the stream was empty when the work was launched, and everything that the work waits for was
 * done, the launch is the reason. Then the edge from the call weighs the delay. Otherwise the piece
 * of work before it in the stream is the reason. Then the edge from there weighs the gap, unless
 * the gap is too long to be caused by the device. */
#include "analyse/critical/graph.h"
#include "analyse/critical/stream.h"

#define QUEUE_GAP_MAX_NS 1500000 /* a longer gap between queued work has a cause that the trace does
                                    not show */

static enum varve_code link_launch(struct vv_critical_graph *graph,
                                   const struct vv_stream_work *work, bool was_empty, uint32_t node,
                                   struct varve_error *error)
{
    uint32_t from = work->launch != VV_NONE ? graph->start_of[work->launch] : 0;
    if (from == 0)
        return VARVE_OK;
    if (work->launched_ns > work->begin_ns) {
        graph->early++;
        return VARVE_OK;
    }
    struct vv_critical_edge edge = { was_empty ? work->begin_ns - work->launched_ns : 0, from - 1,
                                     node, work->slice,
                                     was_empty ? VV_LINK_LAUNCH : VV_LINK_CAUSE };
    return vv_critical_edge(graph, edge, error);
}

static enum varve_code link_work(struct vv_critical_graph *graph,
                                 const struct vv_stream_work *before,
                                 const struct vv_stream_work *work, uint32_t node,
                                 struct varve_error *error)
{
    int64_t before_ns = before != NULL ? before->end_ns : INT64_MIN;
    bool is_launched = work->launch != VV_NONE && graph->start_of[work->launch] != 0;
    bool was_empty =
        is_launched && before_ns <= work->launched_ns && work->waited_ns <= work->launched_ns;
    VV_TRY(link_launch(graph, work, was_empty, node, error));
    if (was_empty || before == NULL || graph->end_of[before->slice] == 0 ||
        before_ns > work->begin_ns)
        return VARVE_OK;
    int64_t gap_ns = work->begin_ns - before_ns;
    bool is_next = gap_ns < QUEUE_GAP_MAX_NS && work->waited_ns <= before_ns;
    enum vv_critical_link link = is_next ? VV_LINK_QUEUE : VV_LINK_CAUSE;
    uint32_t from = graph->end_of[before->slice] - 1;
    if (from + 1 == node) {
        graph->link[node] = (uint8_t)link;
        graph->owner[node] = before->slice;
        graph->serial_links++;
        return VARVE_OK;
    }
    return vv_critical_edge(graph,
                            (struct vv_critical_edge){ is_next ? gap_ns : 0, from, node,
                                                       before->slice, link },
                            error);
}

/* Stores the duration of communication as its latency. collectives.c lowers it to the pure
 * latency. */
static enum varve_code note_latency(struct vv_critical_graph *graph,
                                    const struct vv_stream_work *work, uint32_t node,
                                    struct varve_error *error)
{
    if (work->class != VV_CLASS_COMM)
        return VARVE_OK;
    VV_TRY(VV_SCRATCH_RESERVE(graph->scratch, &graph->latencies, &graph->latency_capacity,
                              graph->latency_count + 1, error));
    graph->latencies[graph->latency_count++] =
        (struct vv_critical_latency){ node, work->end_ns - work->begin_ns };
    return VARVE_OK;
}

enum varve_code vv_critical_device(struct vv_critical_graph *graph,
                                   const struct vv_critical_streams *streams,
                                   struct varve_error *error)
{
    for (uint32_t s = 0; s < streams->stream_count; s++) {
        const struct vv_stream_work *before = NULL;
        bool is_begun = false;
        for (size_t i = streams->streams[s].first; i < streams->streams[s].last; i++) {
            const struct vv_stream_work *work = &streams->work[i];
            if (work->is_inside) {
                if (!is_begun)
                    VV_TRY(vv_critical_chain(graph, error));
                is_begun = true;
                uint32_t node =
                    vv_critical_node(graph, work->begin_ns, work->slice, VV_LINK_NONE, VV_NONE);
                graph->start_of[work->slice] = node + 1;
                VV_TRY(link_work(graph, before, work, node, error));
                graph->end_of[work->slice] =
                    vv_critical_node(graph, work->end_ns, work->slice, VV_LINK_OWN, work->slice) +
                    1;
                VV_TRY(note_latency(graph, work, node + 1, error));
            }
            before = before == NULL || work->end_ns >= before->end_ns ? work : before;
        }
    }
    for (size_t i = 0; i < streams->waiting_count; i++) {
        const struct vv_critical_waiting *waiting = &streams->waiting[i];
        const struct vv_stream_work *from = &streams->work[waiting->from];
        uint32_t to = waiting->is_call ? graph->end_of[waiting->to]
                                       : graph->start_of[streams->work[waiting->to].slice];
        if (from->is_inside && to != 0)
            VV_TRY(vv_critical_edge(graph,
                                    (struct vv_critical_edge){ 0, graph->end_of[from->slice] - 1,
                                                               to - 1, VV_NONE, VV_LINK_WAIT },
                                    error));
    }
    return VARVE_OK;
}
