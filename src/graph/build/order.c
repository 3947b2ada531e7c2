/* SPDX-License-Identifier: Apache-2.0 */
/* order.c — edges that say only that one execution had ended before another began.
 *
 * If nothing else is known, the graph has the levels of the intervals over all threads. Otherwise
 * such an edge leads to a node that no data, flow, stream or wait leads to: from the node before it
 * in the same call on the same thread. */
#include "graph/build/building.h"
#include "graph/build/interval_order.h"

static enum varve_code order_all(struct vv_graph_building *building, struct vv_scratch *scratch,
                                 struct varve_error *error)
{
    const struct vv_dag_nodes *nodes = &building->dag->nodes;
    struct vv_interval *items;
    uint32_t *level, *before, *node_of, count = 0;
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &items, nodes->table.count, error));
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &level, nodes->table.count, error));
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &before, nodes->table.count, error));
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &node_of, nodes->table.count, error));
    for (uint32_t node = 0; node < nodes->table.count; node++)
        if (nodes->kind[node] != VV_DAG_OUTSIDE) {
            items[count] = (struct vv_interval){ nodes->begin_ns[node], nodes->end_ns[node] };
            node_of[count++] = node;
        }
    VV_TRY(vv_interval_order(items, count, level, before, error));
    for (uint32_t i = 0; i < count; i++)
        if (before[i] != UINT32_MAX)
            VV_TRY(vv_graph_edge(building, node_of[before[i]], node_of[i], VV_DAG_EDGE_ORDER, 0,
                                 error));
    return VARVE_OK;
}

/* The last two nodes in a call or on a thread. `newest` may not have ended when the next begins. */
struct last { uint32_t newest, ended; };

static void take_next(const struct vv_dag_nodes *nodes, struct last *last, uint32_t node)
{
    if (last->newest != VV_NONE && nodes->end_ns[last->newest] <= nodes->begin_ns[node])
        last->ended = last->newest;
    last->newest = node;
}

static enum varve_code order_calls(struct vv_graph_building *building, struct vv_scratch *scratch,
                                   struct varve_error *error)
{
    const struct vv_model *model = building->model;
    const struct vv_dag_nodes *nodes = &building->dag->nodes;
    const struct vv_dag_edges *edges = &building->dag->edges;
    uint32_t count = (uint32_t)nodes->table.count;
    size_t places = (size_t)count + model->tracks.table.count;
    struct last *lasts;
    bool *is_led_to;
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &lasts, places, error));
    VV_TRY(VV_SCRATCH_ZEROS(scratch, &is_led_to, count, error));
    for (size_t i = 0; i < places; i++)
        lasts[i] = (struct last){ VV_NONE, VV_NONE };
    for (uint64_t e = 0; e < edges->table.count; e++)
        is_led_to[edges->to[e]] |= edges->kind[e] != VV_DAG_EDGE_NESTING;
    for (uint32_t node = 0; node < count; node++) {
        uint32_t slice = building->slice_of[node];
        if (slice == VV_NONE)
            continue;
        uint32_t around = vv_graph_holder(building, model->slices.parent[slice]);
        struct last *last =
            &lasts[around != VV_NONE ? around : count + model->slices.track[slice]];
        take_next(nodes, last, node);
        if (!is_led_to[node])
            VV_TRY(vv_graph_edge(building, last->ended, node, VV_DAG_EDGE_ORDER, 0, error));
    }
    return VARVE_OK;
}

enum varve_code vv_graph_order_edges(struct vv_graph_building *building, struct varve_error *error)
{
    struct vv_scratch scratch = { 0 };
    bool is_alone = building->dag->edges.table.count == 0;
    building->unknown[VV_DAG_EDGE_ORDER] = "no node needs one";
    enum varve_code code = is_alone ? order_all(building, &scratch, error)
                                    : order_calls(building, &scratch, error);
    vv_scratch_deinit(&scratch);
    return code;
}
