/* SPDX-License-Identifier: Apache-2.0 */
/* critical_hand.c — what one host thread hands to another: arrows, and the return of a backward pass.
 *
 * An arrow says that its end could not begin before its start. PyTorch's autograd works on a thread of its own while the
 * thread that asked for it waits, and no event says so: but arrows (fwdbwd) or sequence numbers lead from the one thread
 * to the other. So where the first has no operator open and the second works, the first waits until that is done. */
#include <stdlib.h>
#include <string.h>

#include "analyse/critical_graph.h"
#include "analyse/critical_stream.h"
#include "model/id_map.h"

#define PAIRS_MAX 64 /* threads that wait, with the threads that work for them                     */

struct pair {
    uint32_t waits, works; /* tracks                                                             */
};

struct hands {
    struct vv_critical_graph *graph;
    const struct vv_scope *scope;
    struct pair pairs[PAIRS_MAX];
    size_t pair_count;
};

static void add_pair(struct hands *hands, uint32_t waits, uint32_t works)
{
    for (size_t i = hands->pair_count; i > 0; i--)
        if (hands->pairs[i - 1].waits == waits && hands->pairs[i - 1].works == works)
            return;
    if (hands->pair_count < PAIRS_MAX)
        hands->pairs[hands->pair_count++] = (struct pair){ waits, works };
}

static enum varve_code take_arrows(struct hands *hands, struct varve_error *error)
{
    struct vv_critical_graph *graph = hands->graph;
    const struct vv_model *model = graph->model;
    uint32_t backward = vv_intern_find(&model->strings, "fwdbwd", strlen("fwdbwd"));
    for (uint64_t f = 0; f < model->flows.table.count; f++) {
        uint32_t from = model->flows.from_slice[f], to = model->flows.to_slice[f];
        if (from == VV_NONE || to == VV_NONE || graph->start_of[from] == 0 || graph->start_of[to] == 0)
            continue;
        uint32_t from_track = model->slices.track[from], to_track = model->slices.track[to];
        if (from_track == to_track || !hands->scope->tracks[from_track] || !hands->scope->tracks[to_track] ||
            model->slices.begin_ns[from] > model->slices.begin_ns[to])
            continue;
        VV_TRY(vv_critical_edge(graph, (struct vv_critical_edge){ 0, graph->start_of[from] - 1,
                                    graph->start_of[to] - 1, VV_NONE, VV_LINK_HANDED }, error));
        if (model->flows.category[f] == backward || model->flows.name[f] == backward)
            add_pair(hands, from_track, to_track);
    }
    return VARVE_OK;
}

/* Traces without arrows: a backward operator has the sequence number of its forward operator. */
static enum varve_code take_sequences(struct hands *hands, struct varve_error *error)
{
    const struct vv_critical_graph *graph = hands->graph;
    const struct vv_model *model = graph->model;
    struct vv_id_range range = { 0 };
    struct vv_id_map forward = { 0 };
    enum varve_code code = VARVE_OK;
    for (int pass = 0; pass < 3 && code == VARVE_OK; pass++) {
        for (uint32_t n = 0; n < graph->node_count; n++) {
            uint32_t slice = graph->event[n], op = model->slices.op[slice];
            if (graph->start_of[slice] != n + 1 || op == VV_NONE || model->ops.sequence[op] < 0)
                continue;
            uint64_t sequence = (uint64_t)model->ops.sequence[op];
            uint32_t track = model->slices.track[slice], scope = vv_scope_of_track(model, track);
            bool is_backward = model->ops.forward_tid[op] != 0;
            if (pass == 0)
                vv_id_range_add(&range, scope, sequence);
            else if (pass == 1 && !is_backward)
                *vv_id_map_put(&forward, scope, sequence) = track;
            else if (pass == 2 && is_backward) {
                uint32_t from = vv_id_map_find(&forward, scope, sequence);
                if (from != VV_NONE && from != track)
                    add_pair(hands, from, track);
            }
        }
        if (pass == 0)
            code = vv_id_map_init(&forward, &range, error);
    }
    vv_id_map_deinit(&forward);
    return code;
}

/* Could the thread be waiting, as far as its open slice tells? Steps, annotations and Python say not. */
static bool may_wait(const struct vv_critical_graph *graph, uint32_t node)
{
    uint32_t owner = graph->owner[node];
    if (graph->link[node] == VV_LINK_IDLE)
        return true;
    return graph->link[node] == VV_LINK_OWN &&
           (graph->model->slices.layer[owner] & (VARVE_LAYER_STEP | VARVE_LAYER_API | VARVE_LAYER_PYTHON)) != 0;
}

/* An edge between the two threads that carries what the waiting one still did itself. */
static enum varve_code hand(struct vv_critical_graph *graph, uint32_t from, uint32_t to, uint32_t owner,
                            struct varve_error *error)
{
    bool is_own = owner != VV_NONE;
    return vv_critical_edge(graph, (struct vv_critical_edge){ is_own ? graph->time_ns[to] - graph->time_ns[from] : 0,
                                       from, to, owner, is_own ? VV_LINK_OWN : VV_LINK_HANDED }, error);
}

static void chain_of(const struct vv_critical_graph *graph, uint32_t track, uint32_t *out_first, uint32_t *out_last)
{
    *out_first = *out_last = 0;
    for (uint32_t c = 0; c < graph->chain_count; c++) {
        uint32_t event = graph->event[graph->chains[c]];
        if (event == VV_NONE || graph->model->slices.track[event] != track)
            continue;
        *out_first = graph->chains[c];
        *out_last = c + 1 < graph->chain_count ? graph->chains[c + 1] : graph->node_count;
        return;
    }
}

static enum varve_code take_returns(struct vv_critical_graph *graph, const struct pair *pair,
                                    struct varve_error *error)
{
    uint32_t node, last, work, work_last;
    bool is_handed = false;
    chain_of(graph, pair->waits, &node, &last);
    chain_of(graph, pair->works, &work, &work_last);
    for (node++; node < last; node++) {
        int64_t begin_ns = graph->time_ns[node - 1], end_ns = graph->time_ns[node];
        if (begin_ns == end_ns || !may_wait(graph, node))
            continue;
        while (work < work_last && graph->time_ns[work] < begin_ns)
            work++;
        uint32_t first = work;
        while (work < work_last && graph->time_ns[work] <= end_ns)
            work++;
        /* It begins what it was handed, or goes on with it. */
        bool begins = work > first && (graph->link[first] == VV_LINK_NONE || graph->link[first] == VV_LINK_IDLE);
        is_handed = work > first && (begins || is_handed);
        if (!is_handed)
            continue;
        uint32_t owner = graph->owner[node];
        if (begins)
            VV_TRY(hand(graph, node - 1, first, owner, error));
        VV_TRY(hand(graph, work - 1, node, owner, error));
        graph->link[node] = VV_LINK_WAITING;
    }
    return VARVE_OK;
}

enum varve_code vv_critical_hands(struct vv_critical_graph *graph, const struct vv_scope *scope,
                                  struct varve_error *error)
{
    struct hands hands = { .graph = graph, .scope = scope };
    VV_TRY(take_arrows(&hands, error));
    VV_TRY(take_sequences(&hands, error));
    for (size_t i = 0; i < hands.pair_count; i++)
        VV_TRY(take_returns(graph, &hands.pairs[i], error));
    return VARVE_OK;
}
