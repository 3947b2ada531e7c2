/* SPDX-License-Identifier: Apache-2.0 */
/* collectives.c — the meetings of ranks in collectives of devices.
 *
 * Pieces of communication belong to one collective if they have the same group, kind and ordinal in
 * the group. Where the trace names no groups, they must have the same stream, name and ordinal
 * (doc/metrics.md §14). Every rank that has any must have equally many, and all ranks must be
 * inside at once. Otherwise the clocks disagree, or the pieces do not belong together: then they
 * get no edges (meeting.h). */
#include <stdlib.h>

#include "analyse/critical/graph.h"
#include "analyse/critical/meeting.h"
#include "analyse/critical/stream.h"
#include "numbers/pair_ids.h"

struct meeting {
    struct vv_critical_graph *graph;
    const struct vv_critical_streams *streams;
    struct vv_critical_piece *pieces;
    size_t count;
    struct vv_groups groups;
};

/* ---- which pieces belong together ---- */

/* The collective that the work is, as the program says; or VV_NONE. */
static uint32_t told_collective(const struct vv_model *model, uint32_t activity)
{
    uint32_t collective = model->activities.collective[activity];
    return collective != VV_NONE && model->collectives.runs[collective] != 0 ? collective : VV_NONE;
}

#define STREAM_BIT (UINT32_C(1) << 31) /* marks a stream's number; a group's name has no such bit */

static enum varve_code find_group(struct meeting *meeting, const struct vv_stream_work *work,
                                  uint32_t *out_group, struct varve_error *error)
{
    const struct vv_model *model = meeting->graph->model;
    uint32_t collective = model->activities.collective[work->activity];
    if (collective != VV_NONE && model->collectives.group[collective] != 0)
        return vv_groups_add(&meeting->groups, model->collectives.group[collective],
                             model->collectives.name[collective], out_group, error);
    return vv_groups_add(&meeting->groups,
                         STREAM_BIT | (uint32_t)meeting->streams->streams[work->stream].number,
                         model->slices.name[work->slice], out_group, error);
}

static struct vv_critical_latency *latency_of(struct vv_critical_graph *graph, uint32_t node)
{
    return &graph->latencies[vv_critical_latency_from(graph, node)];
}

/* ---- a single rank: the pure latency is the least time of the same name and size ---- */

static enum varve_code find_pure(struct meeting *meeting, struct varve_error *error)
{
    const struct vv_critical_streams *streams = meeting->streams;
    const struct vv_model *model = meeting->graph->model;
    struct vv_scratch *scratch = meeting->graph->building;
    struct vv_groups kinds = { .scratch = scratch };
    int64_t *least_ns;
    uint32_t *kind_of;
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &least_ns, streams->count, error));
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &kind_of, streams->count, error));
    for (size_t i = 0; i < streams->count; i++) {
        const struct vv_stream_work *work = &streams->work[i];
        if (work->class != VV_CLASS_COMM)
            continue;
        uint32_t known = kinds.count, collective = model->activities.collective[work->activity];
        uint32_t size =
            collective != VV_NONE ? (uint32_t)model->collectives.in_elements[collective] : 0;
        VV_TRY(vv_groups_add(&kinds, model->slices.name[work->slice], size, &kind_of[i], error));
        if (kinds.count > known || work->end_ns - work->begin_ns < least_ns[kind_of[i]])
            least_ns[kind_of[i]] = work->end_ns - work->begin_ns;
    }
    for (size_t i = 0; i < streams->count; i++)
        if (streams->work[i].class == VV_CLASS_COMM && streams->work[i].is_inside)
            latency_of(meeting->graph, meeting->graph->end_of[streams->work[i].slice] - 1)
                ->pure_ns = least_ns[kind_of[i]];
    return VARVE_OK;
}

enum varve_code vv_critical_meetings(struct vv_critical_graph *graph,
                                     const struct vv_critical_streams *streams,
                                     struct varve_error *error)
{
    if (graph->latency_count == 0)
        return VARVE_OK;
    struct meeting meeting = { .graph = graph, .streams = streams,
                               .groups = { .scratch = graph->building } };
    VV_TRY(find_pure(&meeting, error));
    VV_TRY(VV_SCRATCH_ARRAY(graph->building, &meeting.pieces, graph->latency_count, error));
    uint32_t least_scope = UINT32_MAX, greatest_scope = 0;
    for (size_t i = 0; i < streams->count; i++) {
        const struct vv_stream_work *work = &streams->work[i];
        if (work->class != VV_CLASS_COMM || !work->is_inside)
            continue;
        uint32_t scope = streams->streams[work->stream].scope, group;
        VV_TRY(find_group(&meeting, work, &group, error));
        uint32_t told = told_collective(graph->model, work->activity);
        meeting.pieces[meeting.count++] = (struct vv_critical_piece){
            .order_ns = work->begin_ns, .begin_ns = work->begin_ns, .end_ns = work->end_ns,
            .tie = (uint32_t)i, .rank = scope, .group = group, .slice = work->slice,
            .asked = work->launch, .all_wait = true,
            .number = told != VV_NONE ? graph->model->collectives.sequence[told] : -1,
        };
        least_scope = scope < least_scope ? scope : least_scope;
        greatest_scope = scope > greatest_scope ? scope : greatest_scope;
    }
    return least_scope < greatest_scope
               ? vv_critical_meet(graph, meeting.pieces, meeting.count, error)
               : VARVE_OK;
}
