/* SPDX-License-Identifier: Apache-2.0 */
/* data.c — edges of data: a tensor that one node has made and another one reads, and the edges of
 * graphs that a runtime has registered, between the executions of their nodes.
 *
 * Within a process a tensor is known by its identity. Its outputs and inputs are walked in order of
 * time: an output counts when its node ends, an input when its node begins. An input belongs to the
 * last output before it. An identity is the address of memory, or counts addresses. So it ends when
 * the memory is given back or taken, and when a node begins that makes it without reading it.
 *
 * Operators in steps, or on threads, that were not chosen make data, too. A node BEFORE of their
 * process stands for all of them. */
#include <inttypes.h>
#include <string.h>

#include "base/radix.h"
#include "graph/build/building.h"
#include "model/id_map.h"

#define NOBODY (VV_NONE - 1) /* has made it; VV_NONE would end a chain of the map */

/* The order at one instant. A node of no duration reads before it writes. */
enum moment { ENDS, BEGINS, ENDS_AT_ONCE, MOMENTS };

struct walking {
    struct vv_graph_building *building;
    struct vv_scratch *scratch;
    struct vv_keyed_row *events;  /* row: slice << 1 | it ends                                    */
    size_t event_count;
    struct vv_keyed_row *moves;   /* memory that is taken or given back; key as in events         */
    size_t move_count, moves_done;
    uint32_t *edge_of;            /* node -> the last edge of a tensor that it made; those of
                                     `before_of` behind them                                    */
    struct vv_id_map *makers;     /* (process, identity) -> the slice that made it, or NOBODY     */
    struct vv_id_map *readers;    /* the same -> the last event whose slice has it as an input    */
    uint32_t *before_of;          /* process -> its node BEFORE; VV_NONE                          */
    uint64_t before_edges;
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

/* The slice's own node; or VV_NONE. */
static uint32_t node_of(const struct walking *walking, uint32_t slice)
{
    uint32_t node = walking->building->holder[slice];
    return node != VV_NONE && walking->building->slice_of[node] == slice ? node : VV_NONE;
}

/* Has it no node because its step or its thread was not chosen? */
static bool is_before(const struct walking *walking, uint32_t slice)
{
    const struct vv_graph_building *building = walking->building;
    const struct vv_model *model = building->model;
    uint32_t track = model->slices.track[slice];
    return vv_is_operator(model, slice) && vv_scope_holds(&building->scope, slice) &&
           building->scope.processes[process_of(walking, slice)] &&
           (!building->scope.tracks[track] ||
            !vv_step_counts(&building->scope, model->slices.step[slice]));
}

/* Slices that execute a node, read tensors or make some. */
static bool counts(const struct walking *walking, uint32_t slice)
{
    const struct vv_model *model = walking->building->model;
    uint32_t op = model->slices.op[slice];
    if (op == VV_NONE || slice > UINT32_MAX / 2)
        return false;
    return node_of(walking, slice) != VV_NONE ||
           (model->ops.output_count[op] > 0 && is_before(walking, slice));
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
    const struct vv_slices *slices = &walking->building->model->slices;
    size_t count = 0;
    int64_t origin_ns = INT64_MAX;
    for (uint32_t slice = 0; slice < slices->table.count; slice++) {
        if (!counts(walking, slice))
            continue;
        count++;
        origin_ns = slices->begin_ns[slice] < origin_ns ? slices->begin_ns[slice] : origin_ns;
    }
    VV_TRY(VV_SCRATCH_ARRAY(walking->scratch, &walking->events, 2 * count, error));
    for (uint32_t slice = 0; slice < slices->table.count && count > 0; slice++) {
        if (!counts(walking, slice))
            continue;
        uint64_t begin_ns = (uint64_t)slices->begin_ns[slice] - (uint64_t)origin_ns,
                 end_ns = begin_ns + (uint64_t)slices->duration_ns[slice];
        walking->events[walking->event_count++] =
            (struct vv_keyed_row){ begin_ns * MOMENTS + BEGINS, slice << 1 };
        walking->events[walking->event_count++] = (struct vv_keyed_row){
            end_ns * MOMENTS + (begin_ns == end_ns ? ENDS_AT_ONCE : ENDS), slice << 1 | 1
        };
    }
    VV_TRY(put_moves_in_order(walking, origin_ns, error));
    return vv_radix_sort(walking->events, walking->event_count, error);
}

/* ---- tensors ---- */

static enum varve_code prepare_makers(struct walking *walking, struct varve_error *error)
{
    const struct vv_model *model = walking->building->model;
    size_t processes = model->processes.table.count + 1;
    struct vv_id_range range = { 0 };
    for (size_t i = 0; i < walking->event_count; i++) {
        uint32_t slice = walking->events[i].row >> 1, op = model->slices.op[slice];
        bool is_node = node_of(walking, slice) != VV_NONE;
        if (walking->events[i].row & 1)
            continue;
        for (uint32_t t = 0; t < model->ops.tensor_count[op] + model->ops.output_count[op]; t++) {
            uint64_t identity = model->tensors.identity[model->ops.first_tensor[op] + t];
            if (identity == 0)
                continue;
            vv_id_range_add(&range, process_of(walking, slice), identity);
            walking->has_input |= is_node && t < model->ops.tensor_count[op];
            walking->has_output |= t >= model->ops.tensor_count[op];
        }
    }
    if (!walking->has_output)
        return VARVE_OK;
    VV_TRY(VV_SCRATCH_ZEROS(walking->scratch, &walking->edge_of,
                            walking->building->dag->nodes.table.count + processes, error));
    VV_TRY(VV_SCRATCH_ARRAY(walking->scratch, &walking->before_of, processes, error));
    memset(walking->before_of, 0xff, processes * sizeof *walking->before_of);
    VV_TRY(vv_id_map_in(walking->scratch, &walking->readers, &range, error));
    return vv_id_map_in(walking->scratch, &walking->makers, &range, error);
}

/* The node BEFORE of the process of a slice that has no node. It stands before all others. */
static enum varve_code find_before(struct walking *walking, uint32_t slice, uint32_t *out_node,
                                   struct varve_error *error)
{
    struct vv_graph_building *building = walking->building;
    const struct vv_model *model = building->model;
    struct vv_dag_nodes *nodes = &building->dag->nodes;
    uint32_t process = process_of(walking, slice), *node = &walking->before_of[process];
    if (*node == VV_NONE) {
        VV_TRY(vv_dag_add_node(building->dag, "(before)", VV_DAG_BEFORE, node, error));
        nodes->id[*node] = model->slices.table.count + 1 + model->tracks.table.count + process;
        nodes->begin_ns[*node] = model->slices.begin_ns[slice];
        VV_TRY(VV_SCRATCH_RESERVE(building->scratch, &building->slice_of,
                                  &building->slice_capacity, (size_t)*node + 1, error));
        building->slice_of[*node] = VV_NONE;
    }
    if (model->slices.begin_ns[slice] < nodes->begin_ns[*node])
        nodes->begin_ns[*node] = model->slices.begin_ns[slice];
    nodes->end_ns[*node] = nodes->begin_ns[*node];
    *out_node = *node;
    return VARVE_OK;
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

/* What a node makes anew is not there when the node begins: event `number`. */
static void forget_new(struct walking *walking, uint32_t process, uint32_t op, uint32_t number)
{
    const struct vv_model *model = walking->building->model;
    uint32_t first = model->ops.first_tensor[op], outputs = first + model->ops.tensor_count[op];
    const uint64_t *identities = model->tensors.identity;
    for (uint32_t tensor = first; tensor < outputs; tensor++)
        if (identities[tensor] != 0)
            *vv_id_map_put(walking->readers, process, identities[tensor]) = number;
    for (uint32_t tensor = outputs; tensor < outputs + model->ops.output_count[op]; tensor++)
        if (identities[tensor] != 0 &&
            vv_id_map_find(walking->readers, process, identities[tensor]) != number)
            forget(walking, process, identities[tensor]);
}

/* An edge for a tensor that the slice `maker` has made. */
static enum varve_code read_tensor(struct walking *walking, uint32_t maker, uint32_t node,
                                   uint32_t tensor, uint64_t first_edge, struct varve_error *error)
{
    uint32_t from = node_of(walking, maker);
    if (from == node)
        return VARVE_OK;
    if (from == VV_NONE) {
        VV_TRY(find_before(walking, maker, &from, error));
        walking->before_edges++;
    }
    return pass(walking, from, node, tensor, first_edge, error);
}

static enum varve_code walk_tensors(struct walking *walking, struct varve_error *error)
{
    const struct vv_model *model = walking->building->model;
    for (size_t i = 0; i < walking->event_count; i++) {
        move_until(walking, walking->events[i].key);
        uint32_t slice = walking->events[i].row >> 1, op = model->slices.op[slice];
        uint32_t process = process_of(walking, slice), node = node_of(walking, slice);
        bool ends = walking->events[i].row & 1;
        uint32_t first = model->ops.first_tensor[op] + (ends ? model->ops.tensor_count[op] : 0),
                 count = ends ? model->ops.output_count[op] : model->ops.tensor_count[op];
        uint64_t first_edge = walking->building->dag->edges.table.count;
        if (!ends)
            forget_new(walking, process, op, (uint32_t)i);
        for (uint32_t tensor = first; tensor < first + count; tensor++) {
            uint64_t identity = model->tensors.identity[tensor];
            if (identity == 0 || (!ends && node == VV_NONE))
                continue;
            if (ends) {
                *vv_id_map_put(walking->makers, process, identity) = slice;
                continue;
            }
            uint32_t maker = vv_id_map_find(walking->makers, process, identity);
            if (maker < NOBODY)
                VV_TRY(read_tensor(walking, maker, node, tensor, first_edge, error));
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
    const struct vv_model *model = building->model;
    const struct vv_edges *edges = &model->edges;
    VV_TRY(sort_registered(walking, error));
    for (size_t i = 0; i < walking->event_count; i++) {
        uint32_t slice = walking->events[i].row >> 1, node = node_of(walking, slice);
        uint32_t what = model->ops.node[model->slices.op[slice]];
        if (what == VV_NONE || node == VV_NONE)
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
    if (walking->before_edges > 0)
        VV_TRY(vv_dag_note(building->dag, error, "data from before",
                           "%" PRIu64 " tensor%s made outside of the chosen steps and threads",
                           walking->before_edges, walking->before_edges == 1 ? " was" : "s were"));
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
