/* SPDX-License-Identifier: Apache-2.0 */
/* data.c — edges of data: a tensor that one node has made and another one reads, and the edges of
 * graphs that a runtime has registered, between the executions of their nodes.
 *
 * Within a process a tensor is known by its identity. Its outputs and inputs are walked in order of
 * time: an output counts when its node ends, an input when its node begins. An input belongs to the
 * last output before it. An identity is the address of memory, or counts addresses. So it ends when
 * the memory is given back or taken, and when a node begins that makes it without reading it. */
#include <string.h>

#include "base/radix.h"
#include "graph/build/building.h"
#include "model/id_map.h"

#define NOBODY (VV_NONE - 1) /* made the identity; VV_NONE would end a map's chains */

/* The order at one instant. A node of no duration reads before it writes. */
enum moment { ENDS, BEGINS, ENDS_AT_ONCE, MOMENTS };

struct walking {
    struct vv_graph_building *building;
    struct vv_scratch *scratch;
    struct vv_keyed_row *events;  /* row: node << 1 | it ends                                     */
    size_t event_count;
    struct vv_keyed_row *moves;   /* memory that is taken or given back; key as in events         */
    size_t move_count, moves_done;
    uint32_t *edge_of;            /* node -> the last edge of a tensor that it made              */
    struct vv_id_map *makers;     /* (process, identity) -> the node that made it                 */
    bool has_input, has_output;
    uint32_t *first_in, *in;      /* node of the model -> its edges there, those to it */
    uint32_t *latest;             /* node of the model -> its latest execution, a node            */
};

static uint32_t process_of(const struct walking *walking, uint32_t slice)
{
    const struct vv_model *model = walking->building->model;
    uint32_t process = model->tracks.process[model->slices.track[slice]];
    return process != VV_NONE ? process : 0;
}

/* The op of a node, if the node is a slice; or VV_NONE. */
static uint32_t op_of(const struct walking *walking, uint32_t node)
{
    uint32_t slice = walking->building->slice_of[node];
    return slice != VV_NONE ? walking->building->model->slices.op[slice] : VV_NONE;
}

/* The node of a registered graph that a node executes; or VV_NONE. */
static uint32_t executed(const struct walking *walking, uint32_t node)
{
    const struct vv_model *model = walking->building->model;
    uint32_t op = op_of(walking, node);
    if (op == VV_NONE)
        return VV_NONE;
    return model->ops.node[op];
}

/* Memory whose process is not known says nothing. */
static enum varve_code put_moves_in_order(struct walking *walking, int64_t origin_ns,
                                          struct varve_error *error)
{
    const struct vv_model *model = walking->building->model;
    const struct vv_memory *memory = &model->memory;
    VV_TRY(VV_SCRATCH_ARRAY(walking->scratch, &walking->moves, memory->table.count, error));
    for (uint32_t row = 0; row < memory->table.count; row++) {
        uint64_t time_ns = (uint64_t)memory->time_ns[row] - (uint64_t)origin_ns;
        if (memory->address[row] == 0 || memory->time_ns[row] < origin_ns ||
            memory->track[row] >= model->tracks.table.count)
            continue;
        walking->moves[walking->move_count++] =
            (struct vv_keyed_row){ time_ns * MOMENTS + BEGINS, row };
    }
    return vv_radix_sort(walking->moves, walking->move_count, error);
}

static enum varve_code put_in_order(struct walking *walking, struct varve_error *error)
{
    const struct vv_dag_nodes *nodes = &walking->building->dag->nodes;
    int64_t origin_ns = INT64_MAX;
    VV_TRY(VV_SCRATCH_ARRAY(walking->scratch, &walking->events, 2 * nodes->table.count, error));
    for (uint32_t node = 0; node < nodes->table.count; node++)
        if (nodes->begin_ns[node] < origin_ns)
            origin_ns = nodes->begin_ns[node];
    for (uint32_t node = 0; node < nodes->table.count; node++) {
        uint64_t begin_ns = (uint64_t)nodes->begin_ns[node] - (uint64_t)origin_ns,
                 end_ns = (uint64_t)nodes->end_ns[node] - (uint64_t)origin_ns;
        if (op_of(walking, node) == VV_NONE || node > UINT32_MAX / 2)
            continue;
        walking->events[walking->event_count++] =
            (struct vv_keyed_row){ begin_ns * MOMENTS + BEGINS, node << 1 };
        walking->events[walking->event_count++] = (struct vv_keyed_row){
            end_ns * MOMENTS + (begin_ns == end_ns ? ENDS_AT_ONCE : ENDS), node << 1 | 1
        };
    }
    VV_TRY(put_moves_in_order(walking, origin_ns, error));
    return vv_radix_sort(walking->events, walking->event_count, error);
}

/* ---- tensors ---- */

static enum varve_code prepare_makers(struct walking *walking, struct varve_error *error)
{
    const struct vv_model *model = walking->building->model;
    struct vv_id_range range = { 0 };
    for (size_t i = 0; i < walking->event_count; i++) {
        uint32_t node = walking->events[i].row >> 1, op = op_of(walking, node);
        if (walking->events[i].row & 1)
            continue;
        for (uint32_t t = 0; t < model->ops.tensor_count[op] + model->ops.output_count[op]; t++) {
            uint64_t identity = model->tensors.identity[model->ops.first_tensor[op] + t];
            if (identity == 0)
                continue;
            vv_id_range_add(&range, process_of(walking, walking->building->slice_of[node]),
                            identity);
            walking->has_input |= t < model->ops.tensor_count[op];
            walking->has_output |= t >= model->ops.tensor_count[op];
        }
    }
    if (!walking->has_output)
        return VARVE_OK;
    VV_TRY(VV_SCRATCH_ZEROS(walking->scratch, &walking->edge_of,
                            walking->building->dag->nodes.table.count, error));
    return vv_id_map_in(walking->scratch, &walking->makers, &range, error);
}

/* Several tensors between two nodes are one edge. `first` is the first edge to the node. */
static enum varve_code pass(struct walking *walking, uint32_t from, uint32_t to, uint32_t tensor,
                            uint64_t first, struct varve_error *error)
{
    struct vv_graph_building *building = walking->building;
    struct vv_dag_edges *edges = &building->dag->edges;
    uint32_t name;
    uint64_t bytes, e = walking->edge_of[from];
    VV_TRY(vv_graph_tensor(walking->building, tensor, &name, &bytes, error));
    if (e < first || e >= edges->table.count || edges->from[e] != from) {
        e = edges->table.count;
        VV_TRY(vv_graph_edge(building, from, to, VV_DAG_EDGE_DATA, name, error));
        walking->edge_of[from] = (uint32_t)e;
    }
    if (e < edges->table.count)
        edges->bytes[e] += bytes;
    return VARVE_OK;
}

/* Nobody has made what is at this identity from now on. */
static void forget(struct walking *walking, uint32_t process, uint64_t identity)
{
    if (vv_id_map_find(walking->makers, process, identity) != VV_NONE)
        *vv_id_map_put(walking->makers, process, identity) = NOBODY;
}

/* Ends the identities of memory that moved before the event. */
static void move_until(struct walking *walking, uint64_t key)
{
    const struct vv_model *model = walking->building->model;
    for (; walking->moves_done < walking->move_count &&
           walking->moves[walking->moves_done].key <= key;
         walking->moves_done++) {
        uint32_t row = walking->moves[walking->moves_done].row,
                 process = model->tracks.process[model->memory.track[row]];
        forget(walking, process != VV_NONE ? process : 0, model->memory.address[row]);
    }
}

static bool reads(const struct vv_model *model, uint32_t op, uint64_t identity)
{
    const uint64_t *identities = model->tensors.identity + model->ops.first_tensor[op];
    for (uint32_t i = 0; i < model->ops.tensor_count[op]; i++)
        if (identities[i] == identity)
            return true;
    return false;
}

/* What a node makes anew is not there when the node begins. */
static void forget_new(struct walking *walking, uint32_t process, uint32_t op)
{
    const struct vv_model *model = walking->building->model;
    uint32_t first = model->ops.first_tensor[op] + model->ops.tensor_count[op];
    for (uint32_t tensor = first; tensor < first + model->ops.output_count[op]; tensor++) {
        uint64_t identity = model->tensors.identity[tensor];
        if (identity != 0 && !reads(model, op, identity))
            forget(walking, process, identity);
    }
}

static enum varve_code walk_tensors(struct walking *walking, struct varve_error *error)
{
    const struct vv_model *model = walking->building->model;
    for (size_t i = 0; i < walking->event_count; i++) {
        move_until(walking, walking->events[i].key);
        uint32_t node = walking->events[i].row >> 1, op = op_of(walking, node);
        uint32_t process = process_of(walking, walking->building->slice_of[node]);
        bool ends = walking->events[i].row & 1;
        uint32_t first = model->ops.first_tensor[op] + (ends ? model->ops.tensor_count[op] : 0),
                 count = ends ? model->ops.output_count[op] : model->ops.tensor_count[op];
        uint64_t first_edge = walking->building->dag->edges.table.count;
        if (!ends)
            forget_new(walking, process, op);
        for (uint32_t tensor = first; tensor < first + count; tensor++) {
            uint64_t identity = model->tensors.identity[tensor];
            if (identity == 0)
                continue;
            if (ends) {
                *vv_id_map_put(walking->makers, process, identity) = node;
                continue;
            }
            uint32_t maker = vv_id_map_find(walking->makers, process, identity);
            if (maker < NOBODY && maker != node)
                VV_TRY(pass(walking, maker, node, tensor, first_edge, error));
        }
    }
    return VARVE_OK;
}

/* ---- registered graphs ---- */

static enum varve_code sort_registered(struct walking *walking, struct varve_error *error)
{
    const struct vv_model *model = walking->building->model;
    const struct vv_edges *edges = &model->edges;
    uint32_t nodes = (uint32_t)model->nodes.table.count;
    VV_TRY(VV_SCRATCH_ZEROS(walking->scratch, &walking->first_in, (size_t)nodes + 2, error));
    VV_TRY(VV_SCRATCH_ARRAY(walking->scratch, &walking->in, edges->table.count, error));
    VV_TRY(VV_SCRATCH_ARRAY(walking->scratch, &walking->latest, nodes, error));
    memset(walking->latest, 0xff, nodes * sizeof *walking->latest);
    for (uint32_t e = 0; e < edges->table.count; e++)
        walking->first_in[edges->to_node[e] + 2]++;
    for (uint32_t n = 2; n < nodes + 2; n++)
        walking->first_in[n] += walking->first_in[n - 1];
    for (uint32_t e = 0; e < edges->table.count; e++)
        walking->in[walking->first_in[edges->to_node[e] + 1]++] = e;
    return VARVE_OK;
}

/* An execution follows the last executions of the nodes before it. */
static enum varve_code walk_registered(struct walking *walking, struct varve_error *error)
{
    struct vv_graph_building *building = walking->building;
    const struct vv_edges *edges = &building->model->edges;
    VV_TRY(sort_registered(walking, error));
    for (size_t i = 0; i < walking->event_count; i++) {
        uint32_t node = walking->events[i].row >> 1, what = executed(walking, node);
        if (what == VV_NONE)
            continue;
        if (walking->events[i].row & 1) {
            walking->latest[what] = node;
            continue;
        }
        for (uint32_t e = walking->first_in[what]; e < walking->first_in[what + 1]; e++)
            VV_TRY(vv_graph_edge(building, walking->latest[edges->from_node[walking->in[e]]], node,
                                 VV_DAG_EDGE_DATA, 0, error));
    }
    return VARVE_OK;
}

/* ---- both ---- */

static enum varve_code walk(struct walking *walking, struct varve_error *error)
{
    struct vv_graph_building *building = walking->building;
    VV_TRY(put_in_order(walking, error));
    VV_TRY(prepare_makers(walking, error));
    if (walking->has_output)
        VV_TRY(walk_tensors(walking, error));
    building->unknown[VV_DAG_EDGE_DATA] =
        !walking->has_input && !walking->has_output ? "no tensor has an identity in this trace"
        : !walking->has_output ? "no output has an identity in this trace, only inputs have"
                               : "no node reads what another node here has made";
    if (building->model->edges.table.count > 0)
        VV_TRY(walk_registered(walking, error));
    return VARVE_OK;
}

enum varve_code vv_graph_data_edges(struct vv_graph_building *building, struct varve_error *error)
{
    struct vv_scratch scratch = { 0 };
    struct walking walking = { .building = building, .scratch = &scratch };
    enum varve_code code = walk(&walking, error);
    vv_scratch_deinit(&scratch);
    return code;
}
