/* SPDX-License-Identifier: Apache-2.0 */
/* alone.c — an execution trace without the profiler's trace of its run: a graph of operators that
 * have an order, but no times.
 *
 * Edges of data are those of graph/build/data.c: an input belongs to the last node that made its
 * storage and had ended. A node begins at its id, and ends at the largest id in it. */
#include <inttypes.h>
#include <stdio.h>

#include "base/binary_search.h"
#include "base/radix.h"
#include "graph/dag/dag.h"
#include "import/torch/execution_trace.h"
#include "model/id_map.h"

#define NOBODY (VV_NONE - 1)

struct making {
    struct vv_et *trace;
    struct vv_dag dag;
    struct vv_scratch scratch;
    uint32_t *row_of;              /* node of the trace -> row of the dag, or VV_NONE           */
    struct vv_keyed_row *events;   /* key: id << 1 | it ends; row: node                         */
    struct vv_id_map *makers;      /* storage -> the node that made it, or NOBODY               */
    uint32_t *edge_of, *reader_of; /* maker -> its newest edge, and to which node               */
    struct vv_id_map *forwards;    /* sequence -> the last forward node                         */
};

/* VV_NONE: no such node. */
static uint32_t find(const struct vv_et *trace, uint64_t id)
{
    size_t at = VV_FIRST_NOT(i, 0, trace->nodes.count, trace->nodes.items[i].id < id);
    return at < trace->nodes.count && trace->nodes.items[at].id == id ? (uint32_t)at : VV_NONE;
}

/* The node that called it; VV_NONE. Callers have smaller ids. */
static uint32_t caller_of(const struct making *making, uint32_t node)
{
    const struct vv_et_node *nodes = making->trace->nodes.items;
    return nodes[node].parent < nodes[node].id ? find(making->trace, nodes[node].parent) : VV_NONE;
}

/* ---- nodes ---- */

static enum varve_code add_node(struct making *making, uint32_t number, struct varve_error *error)
{
    struct vv_et *trace = making->trace;
    const struct vv_et_node *node = &trace->nodes.items[number];
    const struct vv_intern *strings = &trace->model->strings;
    char where[40];
    uint32_t row, text;
    VV_TRY(vv_dag_add_node(&making->dag, vv_intern_text(strings, node->name),
                           node->is_collective               ? VV_DAG_COLLECTIVE
                           : node->scope == VV_ET_SCOPE_USER ? VV_DAG_RANGE
                                                             : VV_DAG_OPERATOR,
                           &row, error));
    making->row_of[number] = row;
    making->dag.nodes.id[row] = node->id;
    snprintf(where, sizeof where, "thread %" PRIu64, node->tid);
    VV_TRY(vv_dag_text(&making->dag, where, &making->dag.nodes.where[row], error));
    const struct { uint32_t first, count; vv_string *into; } sides[] = {
        { node->first_tensor, node->inputs, making->dag.nodes.inputs + row },
        { node->first_tensor + node->inputs, node->outputs, making->dag.nodes.outputs + row },
    };
    for (size_t i = 0; i < sizeof sides / sizeof *sides; i++) {
        const struct vv_et_node side = { .first_tensor = sides[i].first,
                                         .inputs = sides[i].count };
        VV_TRY(vv_et_shapes(trace, &side, &text, error));
        VV_TRY(vv_dag_text(&making->dag, vv_intern_text(strings, text), sides[i].into, error));
    }
    return VARVE_OK;
}

static enum varve_code add_nodes(struct making *making, struct varve_error *error)
{
    struct vv_et *trace = making->trace;
    size_t count = trace->nodes.count;
    VV_TRY(VV_SCRATCH_ARRAY(&making->scratch, &making->row_of, count, error));
    for (uint32_t node = 0; node < count; node++) {
        making->row_of[node] = VV_NONE;
        if (!vv_et_is_place(trace, &trace->nodes.items[node]))
            VV_TRY(add_node(making, node, error));
    }
    for (uint32_t node = (uint32_t)count, caller; node-- > 0;)
        if ((caller = caller_of(making, node)) != VV_NONE &&
            trace->nodes.items[caller].end < trace->nodes.items[node].end)
            trace->nodes.items[caller].end = trace->nodes.items[node].end;
    return VARVE_OK;
}

/* ---- edges ---- */

/* Does nothing if a node is none of the graph. */
static enum varve_code add_edge(struct making *making, uint32_t from, uint32_t to,
                                enum vv_dag_edge_kind kind, uint32_t *out_edge,
                                struct varve_error *error)
{
    *out_edge = VV_NONE;
    if (from == VV_NONE || to == VV_NONE || from >= to || making->row_of[from] == VV_NONE ||
        making->row_of[to] == VV_NONE)
        return VARVE_OK;
    return vv_dag_add_edge(&making->dag, making->row_of[from], making->row_of[to], kind, out_edge,
                           error);
}

static enum varve_code add_calls(struct making *making, struct varve_error *error)
{
    const struct vv_et *trace = making->trace;
    uint32_t edge;
    for (uint32_t node = 0; node < trace->nodes.count; node++) {
        uint32_t caller = caller_of(making, node);
        VV_TRY(add_edge(making, caller, node, VV_DAG_EDGE_NESTING, &edge, error));
        trace->model->health.unmatched_flows +=
            caller == VV_NONE && !vv_et_is_place(trace, &trace->nodes.items[node]);
    }
    return VARVE_OK;
}

/* The innermost forward operator of a sequence number, to the backward operator that has it. */
static enum varve_code add_links(struct making *making, struct varve_error *error)
{
    const struct vv_et *trace = making->trace;
    struct vv_id_range range = { 0 };
    uint32_t edge;
    for (size_t i = 0; i < trace->nodes.count; i++)
        if (trace->nodes.items[i].sequence >= 0)
            vv_id_range_add(&range, 0, (uint64_t)trace->nodes.items[i].sequence);
    if (range.count == 0)
        return VARVE_OK;
    VV_TRY(vv_id_map_in(&making->scratch, &making->forwards, &range, error));
    for (uint32_t i = 0; i < trace->nodes.count; i++) {
        const struct vv_et_node *node = &trace->nodes.items[i];
        uint64_t sequence = (uint64_t)node->sequence;
        if (node->sequence < 0)
            continue;
        if (node->scope == 0)
            *vv_id_map_put(making->forwards, 0, sequence) = i;
        else if (node->scope == 1)
            VV_TRY(add_edge(making, vv_id_map_find(making->forwards, 0, sequence), i,
                            VV_DAG_EDGE_FLOW, &edge, error));
    }
    return VARVE_OK;
}

static enum varve_code prepare_makers(struct making *making, size_t *out_count,
                                      struct varve_error *error)
{
    const struct vv_et *trace = making->trace;
    struct vv_id_range range = { 0 };
    size_t count = 0;
    VV_TRY(VV_SCRATCH_ARRAY(&making->scratch, &making->events, 2 * trace->nodes.count, error));
    VV_TRY(VV_SCRATCH_ZEROS(&making->scratch, &making->edge_of, trace->nodes.count, error));
    VV_TRY(VV_SCRATCH_ZEROS(&making->scratch, &making->reader_of, trace->nodes.count, error));
    for (size_t i = 0; i < trace->tensors.count; i++)
        if (trace->tensors.items[i].storage != 0)
            vv_id_range_add(&range, 0, trace->tensors.items[i].storage);
    *out_count = 0;
    if (range.count == 0)
        return VARVE_OK;
    for (uint32_t i = (uint32_t)trace->nodes.count; i-- > 0;) { /* inner nodes end first */
        const struct vv_et_node *node = &trace->nodes.items[i];
        making->events[count++] = (struct vv_keyed_row){ node->id << 1, i };
        making->events[count++] = (struct vv_keyed_row){ node->end << 1 | 1, i };
    }
    VV_TRY(vv_id_map_in(&making->scratch, &making->makers, &range, error));
    *out_count = count;
    return vv_radix_sort(making->events, count, error);
}

/* What the node makes has it as the maker from now on. */
static void make(struct making *making, uint32_t number)
{
    const struct vv_et *trace = making->trace;
    const struct vv_et_node *node = &trace->nodes.items[number];
    const struct vv_et_tensor *tensors = trace->tensors.items + node->first_tensor;
    for (uint32_t i = 0; i < node->inputs + node->outputs; i++)
        if (tensors[i].is_made)
            *vv_id_map_put(making->makers, 0, tensors[i].storage) = number;
}

/* What a node makes anew is not there when the node begins. */
static void forget_new(struct making *making, uint32_t number)
{
    const struct vv_et *trace = making->trace;
    const struct vv_et_node *node = &trace->nodes.items[number];
    const struct vv_et_tensor *tensors = trace->tensors.items + node->first_tensor;
    for (uint32_t i = node->inputs; i < node->inputs + node->outputs; i++)
        if (tensors[i].is_new &&
            vv_id_map_find(making->makers, 0, tensors[i].storage) != VV_NONE)
            *vv_id_map_put(making->makers, 0, tensors[i].storage) = NOBODY;
}

/* Several tensors between two nodes are one edge, which has the sum of their bytes. */
static enum varve_code read_inputs(struct making *making, uint32_t number,
                                   struct varve_error *error)
{
    const struct vv_et *trace = making->trace;
    const struct vv_et_node *node = &trace->nodes.items[number];
    const struct vv_et_tensor *tensors = trace->tensors.items + node->first_tensor;
    struct vv_dag_edges *edges = &making->dag.edges;
    uint32_t first = (uint32_t)edges->table.count;
    forget_new(making, number);
    for (uint32_t i = 0; i < node->inputs; i++) {
        uint32_t maker = vv_id_map_find(making->makers, 0, tensors[i].storage);
        if (tensors[i].storage == 0 || maker >= NOBODY)
            continue;
        uint32_t *edge = &making->edge_of[maker];
        if (*edge < first || *edge >= edges->table.count || making->reader_of[maker] != number)
            VV_TRY(add_edge(making, maker, number, VV_DAG_EDGE_DATA, edge, error));
        making->reader_of[maker] = number;
        if (*edge < edges->table.count && tensors[i].bytes < UINT64_MAX - edges->bytes[*edge])
            edges->bytes[*edge] += tensors[i].bytes;
    }
    return VARVE_OK;
}

static enum varve_code add_data(struct making *making, struct varve_error *error)
{
    size_t count;
    VV_TRY(prepare_makers(making, &count, error));
    for (size_t i = 0; i < count; i++) {
        if (making->events[i].key & 1)
            make(making, making->events[i].row);
        else
            VV_TRY(read_inputs(making, making->events[i].row, error));
    }
    return VARVE_OK;
}

/* ---- the graph ---- */

static enum varve_code add_notes(struct making *making, struct varve_error *error)
{
    struct vv_dag *dag = &making->dag;
    VV_TRY(vv_dag_note(dag, error, "graph", "operators"));
    VV_TRY(vv_dag_note(dag, error, "times",
                       "an execution trace has none: name the profiler's trace of the run, too"));
    for (int kind = 0; kind < VV_DAG_EDGE_KINDS; kind++) {
        uint64_t count = 0;
        char key[40];
        for (uint64_t e = 0; e < dag->edges.table.count; e++)
            count += dag->edges.kind[e] == kind;
        snprintf(key, sizeof key, "%s edges", vv_dag_edge_word((enum vv_dag_edge_kind)kind));
        if (count > 0)
            VV_TRY(vv_dag_note(dag, error, key, "%" PRIu64, count));
    }
    return VARVE_OK;
}

static enum varve_code make_graph(struct making *making, struct varve_error *error)
{
    struct vv_model *model = making->trace->model;
    uint32_t process;
    VV_TRY(vv_model_add_process(model, &process, error));
    model->processes.scope[process] = making->trace->job->scope;
    if (making->trace->pid >= 0)
        model->processes.pid[process] = making->trace->pid;
    VV_TRY(add_nodes(making, error));
    VV_TRY(add_calls(making, error));
    VV_TRY(add_links(making, error));
    VV_TRY(add_data(making, error));
    VV_TRY(add_notes(making, error));
    model->health.unplaced += making->dag.nodes.table.count;
    return vv_dag_to_model(&making->dag, model, error);
}

enum varve_code vv_et_alone(struct vv_et *trace, struct varve_error *error)
{
    struct making making = { .trace = trace };
    enum varve_code code = vv_dag_init(&making.dag, error);
    if (code == VARVE_OK)
        code = make_graph(&making, error);
    vv_dag_deinit(&making.dag);
    vv_scratch_deinit(&making.scratch);
    return code;
}
