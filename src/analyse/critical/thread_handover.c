/* SPDX-License-Identifier: Apache-2.0 */
/* thread_handover.c — makes edges for what one host thread hands to another: arrows, waits by name,
 * and the return of a backward pass.
 *
 * An arrow says that its end could not be reached before its start. A slice in which the arrow
 * ends waited for it, if the slice was open before the arrow started. A slice that is called a
 * wait, for a thread or for a device, does no work; only an arrow or awaited work can say what it
 * waits for. PyTorch's autograd works on a thread of its own while the thread that asked for the
 * backward pass waits. No event says so, but the operators of the autograd thread are linked with
 * forward operators of the other thread (autograd_links.h). So where the asking thread has no
 * operator open and the autograd thread works, the asking thread waits until the autograd thread
 * is done. */
#include <string.h>

#include "analyse/critical/graph.h"
#include "analyse/critical/stream.h"
#include "base/binary_search.h"
#include "meaning/autograd_links.h"
#include "meaning/call_kind.h"

#define PAIRS_MAX 64 /* threads that wait, each with the thread that works for it */

struct pair {
    uint32_t waits, works; /* tracks                                                             */
};

struct nodes {
    uint32_t first, last; /* of a chain; empty if both are equal                                 */
};

struct hands {
    struct vv_critical_graph *graph;
    const struct vv_scope *scope;
    struct nodes *of_track;
    struct pair pairs[PAIRS_MAX];
    size_t pair_count;
};

static void find_chains(struct hands *hands)
{
    const struct vv_critical_graph *graph = hands->graph;
    for (uint32_t c = 0; c < graph->chain_count; c++) {
        uint32_t event = graph->event[graph->chains[c]];
        uint32_t last = c + 1 < graph->chain_count ? graph->chains[c + 1] : graph->node_count;
        if (event != VV_NONE)
            hands->of_track[graph->model->slices.track[event]] =
                (struct nodes){ graph->chains[c], last };
    }
}

/* ---- arrows ---- */

/* The first node of the chain that is not before time_ns. */
static uint32_t node_from(const struct vv_critical_graph *graph, struct nodes nodes,
                          int64_t time_ns)
{
    return VV_FIRST_NOT(i, nodes.first, nodes.last, graph->time_ns[i] < time_ns);
}

static enum varve_code take_arrow(struct hands *hands, uint64_t flow, struct varve_error *error)
{
    struct vv_critical_graph *graph = hands->graph;
    const struct vv_model *model = graph->model;
    const struct vv_flows *flows = &model->flows;
    uint32_t from_track = flows->from_track[flow], to_track = flows->to_track[flow],
             inside = flows->to_slice[flow];
    int64_t from_ns = flows->from_ns[flow], to_ns = flows->to_ns[flow];
    if (from_track == to_track || from_track == VV_NONE || to_track == VV_NONE || from_ns > to_ns ||
        from_ns == INT64_MAX || !hands->scope->tracks[from_track] ||
        !hands->scope->tracks[to_track])
        return VARVE_OK;
    uint32_t behind = node_from(graph, hands->of_track[from_track], from_ns + 1);
    uint32_t to = node_from(graph, hands->of_track[to_track], to_ns);
    if (behind == hands->of_track[from_track].first || to == hands->of_track[to_track].last)
        return VARVE_OK;
    bool is_awaited = inside != VV_NONE && to_ns > model->slices.begin_ns[inside] &&
                      graph->link[to] == VV_LINK_OWN && graph->owner[to] == inside &&
                      graph->time_ns[to - 1] < from_ns;
    if (is_awaited)
        graph->link[to] = VV_LINK_WAITING;
    return vv_critical_edge(graph,
                            (struct vv_critical_edge){ 0, behind - 1, to, VV_NONE, VV_LINK_HANDED },
                            error);
}

/* ---- waits by name ---- */

static enum varve_code take_waits(struct vv_critical_graph *graph, struct varve_error *error)
{
    enum { UNKNOWN, WAIT, NO_WAIT };
    uint8_t *by_name;
    VV_TRY(VV_SCRATCH_ZEROS(graph->building, &by_name, graph->model->strings.count, error));
    for (uint32_t node = 0; node < graph->node_count; node++) {
        if (graph->link[node] != VV_LINK_OWN)
            continue;
        uint32_t name = graph->model->slices.name[graph->owner[node]];
        const char *text = vv_text_of(graph->model, name);
        if (by_name[name] == UNKNOWN)
            by_name[name] = vv_is_wait(text) || vv_awaits_work(text) ? WAIT : NO_WAIT;
        if (by_name[name] == WAIT &&
            graph->model->slices.layer[graph->owner[node]] != VARVE_LAYER_DEVICE)
            graph->link[node] = VV_LINK_WAITING;
    }
    return VARVE_OK;
}

/* ---- backward passes ---- */

static void add_pair(struct hands *hands, uint32_t waits, uint32_t works)
{
    for (size_t i = hands->pair_count; i > 0; i--)
        if (hands->pairs[i - 1].waits == waits && hands->pairs[i - 1].works == works)
            return;
    if (hands->pair_count < PAIRS_MAX)
        hands->pairs[hands->pair_count++] = (struct pair){ waits, works };
}

static enum varve_code find_pairs(struct hands *hands, struct varve_error *error)
{
    const struct vv_model *model = hands->graph->model;
    struct vv_autograd_links links;
    VV_TRY(vv_autograd_links(model, &links, error));
    for (size_t i = 0; i < links.count; i++) {
        uint32_t waits = model->slices.track[links.items[i].forward],
                 works = model->slices.track[links.items[i].backward];
        if (waits != works && hands->scope->tracks[waits] && hands->scope->tracks[works])
            add_pair(hands, waits, works);
    }
    return VARVE_OK;
}

/* Adds an edge between the two threads. It carries the time in which the waiting thread itself
 * still worked. */
static enum varve_code add_handover_edge(struct vv_critical_graph *graph, uint32_t from,
                                         uint32_t to, uint32_t owner, struct varve_error *error)
{
    bool is_own = owner != VV_NONE;
    return vv_critical_edge(graph,
                            (struct vv_critical_edge){
                                is_own ? graph->time_ns[to] - graph->time_ns[from] : 0, from, to,
                                owner, is_own ? VV_LINK_OWN : VV_LINK_HANDED },
                            error);
}

static enum varve_code take_returns(struct vv_critical_graph *graph, struct nodes waits,
                                    struct nodes works, struct varve_error *error)
{
    bool is_handed = false;
    uint32_t work = works.first;
    for (uint32_t node = waits.first + 1; node < waits.last; node++) {
        int64_t begin_ns = graph->time_ns[node - 1], end_ns = graph->time_ns[node];
        if (begin_ns == end_ns || !vv_critical_may_wait(graph, node))
            continue;
        while (work < works.last && graph->time_ns[work] < begin_ns)
            work++;
        uint32_t first = work;
        while (work < works.last && graph->time_ns[work] <= end_ns)
            work++;
        /* The autograd thread begins the work that was handed to it, or continues it. */
        bool begins = work > first &&
                      (graph->link[first] == VV_LINK_NONE || graph->link[first] == VV_LINK_IDLE);
        is_handed = work > first && (begins || is_handed);
        if (!is_handed)
            continue;
        uint32_t owner = graph->owner[node];
        if (begins)
            VV_TRY(add_handover_edge(graph, node - 1, first, owner, error));
        VV_TRY(add_handover_edge(graph, work - 1, node, owner, error));
        graph->link[node] = VV_LINK_WAITING;
    }
    return VARVE_OK;
}

static enum varve_code hand_all(struct hands *hands, struct varve_error *error)
{
    struct vv_critical_graph *graph = hands->graph;
    find_chains(hands);
    for (uint64_t f = 0; f < graph->model->flows.table.count; f++)
        VV_TRY(take_arrow(hands, f, error));
    VV_TRY(take_waits(graph, error));
    VV_TRY(find_pairs(hands, error));
    for (size_t i = 0; i < hands->pair_count; i++)
        VV_TRY(take_returns(graph, hands->of_track[hands->pairs[i].waits],
                            hands->of_track[hands->pairs[i].works], error));
    return VARVE_OK;
}

enum varve_code vv_critical_hands(struct vv_critical_graph *graph, const struct vv_scope *scope,
                                  struct varve_error *error)
{
    struct hands hands = { .graph = graph, .scope = scope };
    VV_TRY(VV_SCRATCH_ZEROS(graph->building, &hands.of_track, graph->model->tracks.table.count,
                            error));
    return hand_all(&hands, error);
}
