/* SPDX-License-Identifier: Apache-2.0 */
/* collectives.c — makes the nodes where ranks meet: a collective starts when the last rank begins
 * it, and then takes its pure latency.
 *
 * Pieces of communication belong to one collective if they have the same group, kind and ordinal in
 * the group. Where the trace names no groups, they must have the same stream, name and ordinal
 * (doc/metrics.md §14). Every rank that has any must have equally many, and all ranks must be
 * inside at once. Otherwise the clocks disagree, or the pieces do not belong together: then they
 * get no edges. */
#include <stdlib.h>

#include "analyse/critical/graph.h"
#include "analyse/critical/stream.h"
#include "numbers/pair_ids.h"

struct comm {
    int64_t begin_ns;
    uint32_t scope, work, group, ordinal;
};

struct meeting {
    struct vv_critical_graph *graph;
    const struct vv_critical_streams *streams;
    struct comm *comms;
    size_t count;
    struct vv_groups groups;
};

static int by_time(const void *a, const void *b)
{
    const struct comm *left = a, *right = b;
    if (left->scope != right->scope)
        return left->scope < right->scope ? -1 : 1;
    if (left->begin_ns != right->begin_ns)
        return left->begin_ns < right->begin_ns ? -1 : 1;
    return (left->work > right->work) - (left->work < right->work);
}

static int by_group(const void *a, const void *b)
{
    const struct comm *left = a, *right = b;
    if (left->group != right->group)
        return left->group < right->group ? -1 : 1;
    if (left->ordinal != right->ordinal)
        return left->ordinal < right->ordinal ? -1 : 1;
    return (left->scope > right->scope) - (left->scope < right->scope);
}

/* ---- which pieces belong together ---- */

#define STREAM_BIT (UINT32_C(1) << 31) /* marks a stream's number; a group's name has no such bit */

static enum varve_code find_group(struct meeting *meeting, struct comm *comm,
                                  struct varve_error *error)
{
    const struct vv_model *model = meeting->graph->model;
    const struct vv_stream_work *work = &meeting->streams->work[comm->work];
    uint32_t collective = model->activities.collective[work->activity];
    if (collective != VV_NONE && model->collectives.group[collective] != 0)
        return vv_groups_add(&meeting->groups, model->collectives.group[collective],
                             model->collectives.name[collective], &comm->group, error);
    return vv_groups_add(&meeting->groups,
                         STREAM_BIT | (uint32_t)meeting->streams->streams[work->stream].number,
                         model->slices.name[work->slice], &comm->group, error);
}

/* Ordinals count within a rank. seen: group -> the rank that was seen last, and how many of the
 * group it has had. */
static enum varve_code number_them(struct meeting *meeting, struct varve_error *error)
{
    struct seen { uint32_t scope, count; } *seen;
    VV_TRY(VV_SCRATCH_ARRAY(meeting->graph->building, &seen, meeting->count, error));
    for (size_t i = 0; i < meeting->count; i++)
        seen[i] = (struct seen){ VV_NONE, 0 };
    qsort(meeting->comms, meeting->count, sizeof *meeting->comms, by_time);
    for (size_t i = 0; i < meeting->count; i++) {
        struct comm *comm = &meeting->comms[i];
        VV_TRY(find_group(meeting, comm, error));
        struct seen *group = &seen[comm->group];
        if (group->scope != comm->scope)
            *group = (struct seen){ comm->scope, 0 };
        comm->ordinal = group->count++;
    }
    qsort(meeting->comms, meeting->count, sizeof *meeting->comms, by_group);
    return VARVE_OK;
}

/* ---- the meetings ---- */

static struct vv_critical_latency *latency_of(struct vv_critical_graph *graph, uint32_t node)
{
    return &graph->latencies[vv_critical_latency_from(graph, node)];
}

/* comms[first, last) has one piece of each rank. */
static enum varve_code link_ranks(struct meeting *meeting, size_t first, size_t last,
                                  struct varve_error *error)
{
    struct vv_critical_graph *graph = meeting->graph;
    int64_t latest_ns = INT64_MIN, least_end_ns = INT64_MAX, pure_ns = INT64_MAX;
    for (size_t i = first; i < last; i++) {
        const struct vv_stream_work *work = &meeting->streams->work[meeting->comms[i].work];
        latest_ns = work->begin_ns > latest_ns ? work->begin_ns : latest_ns;
        least_end_ns = work->end_ns < least_end_ns ? work->end_ns : least_end_ns;
        pure_ns = work->end_ns - work->begin_ns < pure_ns ? work->end_ns - work->begin_ns : pure_ns;
    }
    if (latest_ns > least_end_ns) {
        graph->unmet += last - first;
        return VARVE_OK;
    }
    graph->met++;
    VV_TRY(vv_critical_chain(graph, error));
    uint32_t node = vv_critical_node(graph, latest_ns, VV_NONE, VV_LINK_NONE, VV_NONE);
    for (size_t i = first; i < last; i++) {
        const struct vv_stream_work *work = &meeting->streams->work[meeting->comms[i].work];
        uint32_t start = graph->start_of[work->slice] - 1, end = graph->end_of[work->slice] - 1;
        int64_t left_ns = work->end_ns - latest_ns;
        graph->link[end] = VV_LINK_WAITING;
        latency_of(graph, end)->pure_ns = pure_ns < left_ns ? pure_ns : left_ns;
        VV_TRY(vv_critical_edge(graph,
                                (struct vv_critical_edge){ 0, start, node, VV_NONE, VV_LINK_MEET },
                                error));
        VV_TRY(vv_critical_edge(graph,
                                (struct vv_critical_edge){ latency_of(graph, end)->pure_ns, node,
                                                           end, work->slice, VV_LINK_OWN },
                                error));
    }
    return VARVE_OK;
}

/* True if every rank that has any of the group has equally many. */
static bool is_even(const struct comm *comms, size_t count)
{
    size_t ranks = 1;
    while (ranks < count && comms[ranks].ordinal == comms[0].ordinal)
        ranks++;
    if (ranks < 2 || count % ranks != 0)
        return false;
    for (size_t i = ranks; i < count; i++)
        if (comms[i].scope != comms[i - ranks].scope ||
            comms[i].ordinal != comms[i - ranks].ordinal + 1)
            return false;
    return true;
}

static enum varve_code meet_all(struct meeting *meeting, struct varve_error *error)
{
    const struct comm *comms = meeting->comms;
    for (size_t first = 0, last; first < meeting->count; first = last) {
        for (last = first; last < meeting->count && comms[last].group == comms[first].group; last++)
            ;
        if (!is_even(comms + first, last - first)) {
            meeting->graph->unmet += last - first;
            continue;
        }
        for (size_t one = first, next; one < last; one = next) {
            for (next = one; next < last && comms[next].ordinal == comms[one].ordinal; next++)
                ;
            VV_TRY(link_ranks(meeting, one, next, error));
        }
    }
    return VARVE_OK;
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
    VV_TRY(VV_SCRATCH_ARRAY(graph->building, &meeting.comms, graph->latency_count, error));
    uint32_t least_scope = UINT32_MAX, greatest_scope = 0;
    for (size_t i = 0; i < streams->count; i++) {
        const struct vv_stream_work *work = &streams->work[i];
        if (work->class != VV_CLASS_COMM || !work->is_inside)
            continue;
        uint32_t scope = streams->streams[work->stream].scope;
        meeting.comms[meeting.count++] = (struct comm){ work->begin_ns, scope, (uint32_t)i, 0, 0 };
        least_scope = scope < least_scope ? scope : least_scope;
        greatest_scope = scope > greatest_scope ? scope : greatest_scope;
    }
    if (least_scope >= greatest_scope)
        return VARVE_OK;
    VV_TRY(number_them(&meeting, error));
    return meet_all(&meeting, error);
}
