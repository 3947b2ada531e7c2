/* SPDX-License-Identifier: Apache-2.0 */
/* edges.c — the edges that the trace itself draws: callers, arrows, launches, streams. */
#include <stdlib.h>

#include "base/radix.h"
#include "graph/build/building.h"
#include "meaning/autograd_links.h"

/* True if `to` may follow `from`. Nodes stand in order of begin within their tracks, so between
 * edges that keep this order there is no cycle. From a host to a device time does not decide: it
 * began a piece of work that begins before it by the clock of the device. */
static bool leads_forward(const struct vv_dag_nodes *nodes, uint32_t from, uint32_t to,
                          enum vv_dag_edge_kind kind)
{
    if (kind == VV_DAG_EDGE_SYNC)
        return nodes->end_ns[from] <= nodes->end_ns[to];
    if (kind == VV_DAG_EDGE_FLOW && nodes->device[from] == 0 && nodes->device[to] != 0)
        return true;
    return nodes->begin_ns[from] < nodes->begin_ns[to] ||
           (nodes->begin_ns[from] == nodes->begin_ns[to] && from < to);
}

enum varve_code vv_graph_edge(struct vv_graph_building *building, uint32_t from, uint32_t to,
                              enum vv_dag_edge_kind kind, uint32_t name, struct varve_error *error)
{
    struct vv_dag *dag = building->dag;
    uint32_t row;
    if (from == VV_NONE || to == VV_NONE || from == to)
        return VARVE_OK;
    if (!leads_forward(&dag->nodes, from, to, kind)) {
        building->backward[kind]++;
        return VARVE_OK;
    }
    int64_t gap_ns = dag->nodes.begin_ns[to] - dag->nodes.end_ns[from];
    VV_TRY(vv_dag_add_edge(dag, from, to, kind, &row, error));
    dag->edges.longest_ns[row] = gap_ns > 0 ? gap_ns : 0;
    dag->edges.name[row] = name;
    building->edges[kind]++;
    return VARVE_OK;
}

enum varve_code vv_graph_nesting_edges(struct vv_graph_building *building,
                                       struct varve_error *error)
{
    const struct vv_slices *slices = &building->model->slices;
    uint64_t count = building->dag->nodes.table.count;
    building->unknown[VV_DAG_EDGE_NESTING] = "no call inside another has a node";
    for (uint32_t node = 0; node < count; node++) {
        uint32_t slice = building->slice_of[node];
        if (slice != VV_NONE)
            VV_TRY(vv_graph_edge(building, vv_graph_holder(building, slices->parent[slice]), node,
                                 VV_DAG_EDGE_NESTING, 0, error));
    }
    return VARVE_OK;
}

/* ---- flows ---- */

/* Arrows between nodes, several of which may be the same. */
struct arrows {
    struct vv_graph_building *building;
    struct vv_scratch *scratch;
    struct vv_keyed_row *keys; /* from << 32 | to; row: name                                      */
    size_t count, capacity;
};

static enum varve_code add_arrow(struct arrows *arrows, uint32_t from_slice, uint32_t to_slice,
                                 uint32_t name, struct varve_error *error)
{
    uint32_t from = vv_graph_holder(arrows->building, from_slice),
             to = vv_graph_holder(arrows->building, to_slice);
    if (from == VV_NONE || to == VV_NONE || from == to)
        return VARVE_OK;
    VV_TRY(VV_SCRATCH_RESERVE(arrows->scratch, &arrows->keys, &arrows->capacity, arrows->count + 1,
                              error));
    arrows->keys[arrows->count++] = (struct vv_keyed_row){ (uint64_t)from << 32 | to, name };
    return VARVE_OK;
}

static enum varve_code gather_flows(struct arrows *arrows, uint32_t launch, uint32_t backward,
                                    struct varve_error *error)
{
    struct vv_graph_building *building = arrows->building;
    const struct vv_model *model = building->model;
    const struct vv_activities *activities = &model->activities;
    struct vv_autograd_links links;
    for (uint32_t a = 0; a < activities->table.count; a++) {
        uint32_t owner = activities->launch[a] != VV_NONE ? activities->launch[a]
                                                          : activities->caller[a];
        if (activities->kind[a] != VV_ACTIVITY_CALL && activities->slice[a] != VV_NONE)
            VV_TRY(add_arrow(arrows, owner, activities->slice[a], launch, error));
    }
    VV_TRY(vv_autograd_links(model, &links, error));
    for (size_t i = 0; i < links.count; i++)
        VV_TRY(add_arrow(arrows, links.items[i].forward, links.items[i].backward, backward, error));
    for (uint32_t f = 0; f < model->flows.table.count; f++) {
        uint32_t name;
        if (vv_is_autograd_arrow(model, f) || model->flows.from_slice[f] == VV_NONE ||
            model->flows.to_slice[f] == VV_NONE)
            continue;
        VV_TRY(vv_graph_text(building, model->flows.name[f], &name, error));
        VV_TRY(add_arrow(arrows, model->flows.from_slice[f], model->flows.to_slice[f], name,
                         error));
    }
    return VARVE_OK;
}

static enum varve_code add_flows(struct arrows *arrows, struct varve_error *error)
{
    struct vv_graph_building *building = arrows->building;
    uint32_t launch, backward;
    VV_TRY(vv_dag_text(building->dag, "launch", &launch, error));
    VV_TRY(vv_dag_text(building->dag, "forward to backward", &backward, error));
    VV_TRY(gather_flows(arrows, launch, backward, error));
    VV_TRY(vv_radix_sort(arrows->keys, arrows->count, error));
    for (size_t i = 0; i < arrows->count; i++)
        if (i == 0 || arrows->keys[i].key != arrows->keys[i - 1].key)
            VV_TRY(vv_graph_edge(building, (uint32_t)(arrows->keys[i].key >> 32),
                                 (uint32_t)arrows->keys[i].key, VV_DAG_EDGE_FLOW,
                                 arrows->keys[i].row, error));
    return VARVE_OK;
}

enum varve_code vv_graph_flow_edges(struct vv_graph_building *building, struct varve_error *error)
{
    struct vv_scratch scratch = { 0 };
    struct arrows arrows = { .building = building, .scratch = &scratch };
    building->unknown[VV_DAG_EDGE_FLOW] =
        building->model->flows.table.count == 0 && building->model->activities.table.count == 0
            ? "this trace has no flows and no launches"
            : "no flow and no launch joins two nodes";
    enum varve_code code = add_flows(&arrows, error);
    vv_scratch_deinit(&scratch);
    return code;
}

/* ---- streams ---- */

/* Work and waits of a stream stand in order of begin. */
enum varve_code vv_graph_stream_edges(struct vv_graph_building *building,
                                      struct varve_error *error)
{
    const struct vv_model *model = building->model;
    uint32_t latest = VV_NONE;
    building->unknown[VV_DAG_EDGE_STREAM] = building->work.count == 0
                                                ? "no device work here"
                                                : "no stream has two pieces of work";
    for (uint32_t track = 0; track < model->tracks.table.count; track++) {
        uint32_t first, last;
        if (model->tracks.kind[track] != VV_TRACK_DEVICE)
            continue;
        vv_track_rows(model, track, &first, &last);
        latest = VV_NONE;
        for (uint32_t row = first; row < last; row++) {
            uint32_t node = building->holder[row];
            if (node == VV_NONE || building->slice_of[node] != row)
                continue;
            VV_TRY(vv_graph_edge(building, latest, node, VV_DAG_EDGE_STREAM, 0, error));
            latest = node;
        }
    }
    return VARVE_OK;
}
