/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/critical/meeting.h"

#include <stdlib.h>

static int by_time(const void *a, const void *b)
{
    const struct vv_critical_piece *left = a, *right = b;
    if (left->rank != right->rank)
        return left->rank < right->rank ? -1 : 1;
    if (left->order_ns != right->order_ns)
        return left->order_ns < right->order_ns ? -1 : 1;
    return (left->tie > right->tie) - (left->tie < right->tie);
}

static int by_group(const void *a, const void *b)
{
    const struct vv_critical_piece *left = a, *right = b;
    if (left->group != right->group)
        return left->group < right->group ? -1 : 1;
    if (left->ordinal != right->ordinal)
        return left->ordinal < right->ordinal ? -1 : 1;
    return (left->rank > right->rank) - (left->rank < right->rank);
}

/* Where all pieces of a group have numbers, these are their ordinals. */
static enum varve_code take_numbers(struct vv_critical_graph *graph,
                                    struct vv_critical_piece *pieces, size_t count,
                                    struct varve_error *error)
{
    bool *lacks;
    VV_TRY(VV_SCRATCH_ZEROS(graph->building, &lacks, count, error));
    for (size_t i = 0; i < count; i++)
        lacks[pieces[i].group] |= pieces[i].number < 0 || pieces[i].number > UINT32_MAX;
    for (size_t i = 0; i < count; i++)
        if (!lacks[pieces[i].group])
            pieces[i].ordinal = (uint32_t)pieces[i].number;
        else
            pieces[i].number = -1;
    return VARVE_OK;
}

/* Ordinals count within a rank. seen: group -> the rank that was seen last, and how many of the
 * group it has had. */
static enum varve_code number_them(struct vv_critical_graph *graph,
                                   struct vv_critical_piece *pieces, size_t count,
                                   struct varve_error *error)
{
    struct seen { uint32_t rank, count; } *seen;
    VV_TRY(VV_SCRATCH_ARRAY(graph->building, &seen, count, error));
    for (size_t i = 0; i < count; i++)
        seen[i] = (struct seen){ VV_NONE, 0 };
    qsort(pieces, count, sizeof *pieces, by_time);
    for (size_t i = 0; i < count; i++) {
        struct seen *group = &seen[pieces[i].group];
        if (group->rank != pieces[i].rank)
            *group = (struct seen){ pieces[i].rank, 0 };
        pieces[i].ordinal = group->count++;
    }
    VV_TRY(take_numbers(graph, pieces, count, error));
    qsort(pieces, count, sizeof *pieces, by_group);
    return VARVE_OK;
}

/* ---- one meeting ---- */

static void set_latency(struct vv_critical_graph *graph, uint32_t node, int64_t pure_ns)
{
    size_t place = vv_critical_latency_from(graph, node);
    if (place < graph->latency_count && graph->latencies[place].node == node)
        graph->latencies[place].pure_ns = pure_ns;
}

/* Notes who waited for whom, and since when. `last`: the piece that began last. */
static enum varve_code note_waits(struct vv_critical_graph *graph,
                                  const struct vv_critical_piece *pieces, size_t count,
                                  const struct vv_critical_piece *last, struct varve_error *error)
{
    int64_t first_ns = last->begin_ns;
    for (size_t i = 0; i < count; i++) {
        int64_t waited_ns = last->begin_ns - pieces[i].begin_ns;
        if (waited_ns == 0)
            continue;
        first_ns = pieces[i].begin_ns < first_ns ? pieces[i].begin_ns : first_ns;
        VV_TRY(VV_SCRATCH_RESERVE(graph->scratch, &graph->waited, &graph->waited_capacity,
                                  graph->waited_count + 1, error));
        graph->waited[graph->waited_count++] = (struct vv_critical_waited){
            pieces[i].begin_ns, waited_ns, pieces[i].slice, last->slice };
    }
    if (first_ns == last->begin_ns)
        return VARVE_OK;
    VV_TRY(VV_SCRATCH_RESERVE(graph->scratch, &graph->lates, &graph->late_capacity,
                              graph->late_count + 1, error));
    graph->lates[graph->late_count++] =
        (struct vv_critical_late){ first_ns, last->slice, last->asked };
    return VARVE_OK;
}

static enum varve_code link_piece(struct vv_critical_graph *graph,
                                  const struct vv_critical_piece *piece, uint32_t meeting,
                                  int64_t pure_ns, struct varve_error *error)
{
    uint32_t start = graph->start_of[piece->slice] - 1, end = graph->end_of[piece->slice] - 1;
    int64_t left_ns = piece->end_ns - graph->time_ns[meeting];
    pure_ns = pure_ns < left_ns ? pure_ns : left_ns;
    if (graph->owner[end] == piece->slice)
        graph->link[end] = VV_LINK_WAITING;
    set_latency(graph, end, pure_ns);
    VV_TRY(vv_critical_edge(graph,
                            (struct vv_critical_edge){ 0, start, meeting, VV_NONE, VV_LINK_MEET },
                            error));
    return vv_critical_edge(graph,
                            (struct vv_critical_edge){ pure_ns, meeting, end, piece->slice,
                                                       VV_LINK_OWN },
                            error);
}

/* pieces[0, count) has one piece of each rank. */
static enum varve_code link_ranks(struct vv_critical_graph *graph,
                                  const struct vv_critical_piece *pieces, size_t count,
                                  struct varve_error *error)
{
    const struct vv_critical_piece *last = pieces;
    int64_t least_end_ns = INT64_MAX, pure_ns = INT64_MAX;
    for (size_t i = 0; i < count; i++) {
        int64_t duration_ns = pieces[i].end_ns - pieces[i].begin_ns;
        last = pieces[i].begin_ns > last->begin_ns ? &pieces[i] : last;
        least_end_ns = pieces[i].end_ns < least_end_ns ? pieces[i].end_ns : least_end_ns;
        pure_ns = duration_ns < pure_ns ? duration_ns : pure_ns;
    }
    if (last->begin_ns > least_end_ns) {
        graph->unmet += pieces->all_wait ? count : 0;
        return VARVE_OK;
    }
    graph->met++;
    VV_TRY(vv_critical_chain(graph, error));
    uint32_t meeting =
        vv_critical_node(graph, last->begin_ns, VV_NONE, VV_LINK_NONE, VV_NONE);
    for (size_t i = 0; i < count; i++)
        VV_TRY(link_piece(graph, &pieces[i], meeting, pure_ns, error));
    return note_waits(graph, pieces, count, last, error);
}

/* ---- all meetings ---- */

/* True if these pieces, which have one ordinal, are of several ranks, one of each. */
static bool are_of_ranks(const struct vv_critical_piece *pieces, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (pieces[i].rank == pieces[i - 1].rank)
            return false;
    return count > 1;
}

/* True if every rank that has any of the group has equally many. */
static bool is_even(const struct vv_critical_piece *pieces, size_t count)
{
    size_t ranks = 1;
    while (ranks < count && pieces[ranks].ordinal == pieces[0].ordinal)
        ranks++;
    if (ranks < 2 || count % ranks != 0)
        return false;
    for (size_t i = ranks; i < count; i++)
        if (pieces[i].rank != pieces[i - ranks].rank ||
            pieces[i].ordinal != pieces[i - ranks].ordinal + 1)
            return false;
    return true;
}

enum varve_code vv_critical_meet(struct vv_critical_graph *graph, struct vv_critical_piece *pieces,
                                 size_t count, struct varve_error *error)
{
    if (count == 0)
        return VARVE_OK;
    VV_TRY(number_them(graph, pieces, count, error));
    for (size_t first = 0, last; first < count; first = last) {
        for (last = first; last < count && pieces[last].group == pieces[first].group; last++)
            ;
        if (pieces[first].number < 0 && !is_even(pieces + first, last - first)) {
            graph->unmet += last - first;
            continue;
        }
        for (size_t one = first, next; one < last; one = next) {
            for (next = one; next < last && pieces[next].ordinal == pieces[one].ordinal; next++)
                ;
            if (are_of_ranks(pieces + one, next - one))
                VV_TRY(link_ranks(graph, pieces + one, next - one, error));
            else
                graph->unmet += next - one;
        }
    }
    return VARVE_OK;
}
