/* SPDX-License-Identifier: Apache-2.0 */
/* registered.c — the graphs that a runtime has registered, with the times of their executions.
 *
 * A node's time is that of the device work which the runtime says is of it; if there is none, that
 * of the host. A body of a node is a group, and so is each graph if there are several. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/build/building.h"
#include "graph/build/kinds.h"

struct execution { uint32_t node, slice; int64_t self_ns; bool is_work; };

struct joining {
    struct vv_graph_building *building;
    struct vv_scratch *scratch;
    struct execution *executions; /* by node of the model, then slice                             */
    size_t count, capacity;
    uint32_t *first;              /* node of the model -> its first execution; nodes + 1 items    */
    uint32_t *node_of;            /* node of the model -> node                                    */
    uint32_t *group_of;           /* graph -> its group; VV_NONE                                  */
    uint64_t executed;            /* nodes with an execution                                      */
};

static bool is_in_scope(const struct joining *joining, uint32_t graph)
{
    uint32_t process = joining->building->model->graphs.process[graph];
    return process == VV_NONE || joining->building->scope.processes[process];
}

/* ---- executions ---- */

static int by_node(const void *a, const void *b)
{
    const struct execution *left = a, *right = b;
    if (left->node != right->node)
        return left->node < right->node ? -1 : 1;
    if (left->is_work != right->is_work)
        return left->is_work ? -1 : 1;
    return (left->slice > right->slice) - (left->slice < right->slice);
}

static enum varve_code add_execution(struct joining *joining, struct execution execution,
                                     struct varve_error *error)
{
    if (execution.node == VV_NONE)
        return VARVE_OK;
    VV_TRY(VV_SCRATCH_RESERVE(joining->scratch, &joining->executions, &joining->capacity,
                              joining->count + 1, error));
    joining->executions[joining->count++] = execution;
    return VARVE_OK;
}

static enum varve_code gather(struct joining *joining, struct varve_error *error)
{
    struct vv_graph_building *building = joining->building;
    const struct vv_model *model = building->model;
    struct vv_device_work *work = &building->work;
    for (uint32_t row = 0; row < model->slices.table.count; row++) {
        uint32_t op = model->slices.op[row];
        if (op != VV_NONE && building->scope.tracks[model->slices.track[row]] &&
            vv_step_counts(&building->scope, model->slices.step[row]) &&
            vv_scope_holds(&building->scope, row))
            VV_TRY(add_execution(joining,
                                 (struct execution){ model->ops.node[op], row,
                                                     model->slices.self_ns[row], false },
                                 error));
    }
    VV_TRY(vv_device_work_init(work, &building->scope, building->question->selection.device,
                               error));
    for (size_t i = 0; i < work->count; i++) {
        uint32_t activity = work->items[i].activity, task = model->activities.task[activity],
                 slice = model->activities.slice[activity];
        if (task != VV_NONE)
            VV_TRY(add_execution(joining,
                                 (struct execution){ model->tasks.node[task], slice,
                                                     model->slices.duration_ns[slice], true },
                                 error));
    }
    if (joining->count > 1)
        qsort(joining->executions, joining->count, sizeof *joining->executions, by_node);
    uint32_t nodes = (uint32_t)model->nodes.table.count;
    VV_TRY(VV_SCRATCH_ZEROS(joining->scratch, &joining->first, (size_t)nodes + 1, error));
    for (size_t i = 0; i < joining->count; i++)
        joining->first[joining->executions[i].node + 1]++;
    for (uint32_t n = 0; n < nodes; n++)
        joining->first[n + 1] += joining->first[n];
    return VARVE_OK;
}

static int ascending(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

/* Fills the node's times from the executions [first, last), which are of one kind. */
static enum varve_code sum_up(struct joining *joining, uint32_t node, size_t first, size_t last,
                              struct varve_error *error)
{
    const struct vv_slices *slices = &joining->building->model->slices;
    struct vv_dag_nodes *nodes = &joining->building->dag->nodes;
    int64_t *sorted;
    size_t count = last - first;
    VV_TRY(VV_SCRATCH_ARRAY(joining->scratch, &sorted, count, error));
    for (size_t i = 0; i < count; i++) {
        const struct execution *execution = &joining->executions[first + i];
        int64_t begin_ns = slices->begin_ns[execution->slice],
                end_ns = begin_ns + slices->duration_ns[execution->slice];
        sorted[i] = end_ns - begin_ns;
        nodes->begin_ns[node] = i == 0 || begin_ns < nodes->begin_ns[node] ? begin_ns
                                                                           : nodes->begin_ns[node];
        nodes->end_ns[node] = i == 0 || end_ns > nodes->end_ns[node] ? end_ns
                                                                     : nodes->end_ns[node];
        nodes->total_ns[node] += end_ns - begin_ns;
        nodes->self_ns[node] += execution->self_ns;
        if (slices->flags[execution->slice] & VV_SLICE_UNFINISHED)
            nodes->flags[node] |= VV_DAG_UNFINISHED;
    }
    qsort(sorted, count, sizeof *sorted, ascending);
    nodes->count[node] = count;
    nodes->min_ns[node] = sorted[0];
    nodes->max_ns[node] = sorted[count - 1];
    nodes->p50_ns[node] = sorted[(count - 1) / 2];
    nodes->p95_ns[node] = sorted[(count - 1) * 95 / 100];
    vv_scratch_release(joining->scratch, sorted);
    return VARVE_OK;
}

/* Executions of one step stand together, as slices are in order of time within a track. */
static enum varve_code add_occurrences(struct joining *joining, uint32_t node, size_t first,
                                       size_t last, struct varve_error *error)
{
    const struct vv_model *model = joining->building->model;
    for (size_t i = first, next; i < last; i = next) {
        uint32_t step = model->slices.step[joining->executions[i].slice];
        int64_t total_ns = 0;
        for (next = i; next < last &&
                       model->slices.step[joining->executions[next].slice] == step; next++)
            total_ns += model->slices.duration_ns[joining->executions[next].slice];
        if (step != VV_NONE)
            VV_TRY(vv_dag_add_occurrence(joining->building->dag, node, model->steps.index[step],
                                         next - i, total_ns, error));
    }
    return VARVE_OK;
}

static enum varve_code add_times(struct joining *joining, uint32_t row, uint32_t node,
                                 struct varve_error *error)
{
    struct vv_dag_nodes *nodes = &joining->building->dag->nodes;
    const struct vv_nodes *known = &joining->building->model->nodes;
    size_t first = joining->first[row], last = first;
    while (last < joining->first[row + 1] &&
           joining->executions[last].is_work == joining->executions[first].is_work)
        last++;
    nodes->flop[node] = known->flop[row] * (last - first);
    nodes->bytes[node] = known->bytes[row] * (last - first);
    if (first == last)
        return VARVE_OK;
    joining->executed++;
    VV_TRY(sum_up(joining, node, first, last, error));
    return add_occurrences(joining, node, first, last, error);
}

/* ---- nodes ---- */

/* Texts of the tensors of one side. */
static enum varve_code put_side(struct joining *joining, uint32_t row, uint8_t side,
                                uint32_t *out_text, struct varve_error *error)
{
    struct vv_graph_building *building = joining->building;
    const struct vv_model *model = building->model;
    char text[600] = "";
    size_t length = 0;
    for (uint32_t t = 0; t < model->nodes.tensor_count[row]; t++) {
        uint32_t tensor = model->nodes.first_tensor[row] + t, one;
        uint64_t bytes;
        if (model->tensors.side[tensor] != side)
            continue;
        VV_TRY(vv_graph_tensor(building, tensor, &one, &bytes, error));
        int added = snprintf(text + length, sizeof text - length, "%s%s", length > 0 ? ", " : "",
                             vv_dag_string(building->dag, one));
        if (added < 0 || length + (size_t)added >= sizeof text)
            break;
        length += (size_t)added;
    }
    text[length] = '\0';
    return vv_dag_text(building->dag, text, out_text, error);
}

/* "conv1 (Conv2D)" */
static enum varve_code put_name(struct vv_graph_building *building, uint32_t row,
                                uint32_t *out_text, struct varve_error *error)
{
    const struct vv_model *model = building->model;
    const char *name = vv_text_of(model, model->nodes.name[row]),
               *type = vv_text_of(model, model->nodes.type[row]);
    char text[600];
    if (type[0] == '\0' || strcmp(name, type) == 0)
        return vv_graph_text(building, model->nodes.name[row], out_text, error);
    snprintf(text, sizeof text, "%.440s (%.120s)", name, type);
    return vv_dag_text(building->dag, text, out_text, error);
}

static enum varve_code add_node(struct joining *joining, uint32_t row, uint32_t group,
                                struct varve_error *error)
{
    struct vv_graph_building *building = joining->building;
    struct vv_dag *dag = building->dag;
    uint32_t node, text;
    VV_TRY(vv_dag_add_node(dag, NULL, VV_DAG_OPERATOR, &node, error));
    struct vv_dag_nodes *nodes = &dag->nodes;
    VV_TRY(put_name(building, row, &nodes->name[node], error));
    VV_TRY(put_side(joining, row, VV_TENSOR_INPUT, &text, error));
    nodes->inputs[node] = text;
    VV_TRY(put_side(joining, row, VV_TENSOR_OUTPUT, &text, error));
    nodes->outputs[node] = text;
    nodes->parent[node] = group;
    joining->node_of[row] = node;
    return add_times(joining, row, node, error);
}

static enum varve_code add_graph(struct joining *joining, uint32_t graph, bool is_group,
                                 struct varve_error *error)
{
    struct vv_graph_building *building = joining->building;
    const struct vv_graphs *graphs = &building->model->graphs;
    uint32_t group = VV_NONE, owner = graphs->parent[graph], edge;
    if (is_group || owner != VV_NONE) {
        const char *name = vv_text_of(building->model, graphs->name[graph]);
        VV_TRY(vv_dag_add_node(building->dag, name[0] != '\0' ? name : "graph", VV_DAG_GROUP,
                               &group, error));
        uint32_t around = owner != VV_NONE ? joining->node_of[owner] : VV_NONE;
        joining->group_of[graph] = group;
        if (around != VV_NONE) {
            building->dag->nodes.parent[group] = building->dag->nodes.parent[around];
            VV_TRY(vv_dag_add_edge(building->dag, around, group, VV_DAG_EDGE_NESTING, &edge,
                                   error));
            building->edges[VV_DAG_EDGE_NESTING]++;
        }
    }
    for (uint32_t i = 0; i < graphs->node_count[graph]; i++)
        VV_TRY(add_node(joining, graphs->first_node[graph] + i, group, error));
    return VARVE_OK;
}

/* A graph stands before its bodies (the recorder numbers them so). A body whose node is not there
 * stands for itself. */
static enum varve_code add_graphs(struct joining *joining, struct varve_error *error)
{
    const struct vv_model *model = joining->building->model;
    uint32_t graphs = (uint32_t)model->graphs.table.count, outer = 0;
    VV_TRY(VV_SCRATCH_ARRAY(joining->scratch, &joining->node_of, model->nodes.table.count, error));
    VV_TRY(VV_SCRATCH_ARRAY(joining->scratch, &joining->group_of, graphs, error));
    memset(joining->node_of, 0xff, model->nodes.table.count * sizeof *joining->node_of);
    for (uint32_t graph = 0; graph < graphs; graph++)
        outer += is_in_scope(joining, graph) && model->graphs.parent[graph] == VV_NONE;
    for (int bodies = 0; bodies < 2; bodies++)
        for (uint32_t graph = 0; graph < graphs; graph++)
            if (is_in_scope(joining, graph) &&
                (model->graphs.parent[graph] != VV_NONE) == (bodies == 1))
                VV_TRY(add_graph(joining, graph, outer > 1, error));
    return VARVE_OK;
}

/* Sums of what a group holds. A child's row is larger, so sums go from the last to the first. */
static void sum_groups(struct vv_dag_nodes *nodes)
{
    for (uint64_t node = nodes->table.count; node-- > 0;) {
        uint32_t group = nodes->parent[node];
        if (group == VV_NONE || nodes->count[node] == 0)
            continue;
        if (nodes->count[group] == 0 || nodes->begin_ns[node] < nodes->begin_ns[group])
            nodes->begin_ns[group] = nodes->begin_ns[node];
        if (nodes->count[group] == 0 || nodes->end_ns[node] > nodes->end_ns[group])
            nodes->end_ns[group] = nodes->end_ns[node];
        nodes->count[group] += nodes->count[node];
        nodes->total_ns[group] += nodes->kind[node] == VV_DAG_GROUP ? nodes->total_ns[node]
                                                                    : nodes->self_ns[node];
        nodes->flop[group] += nodes->flop[node];
        nodes->bytes[group] += nodes->bytes[node];
    }
}

/* ---- edges ---- */

/* The tensor that leaves a node by an output; or VV_NONE. */
static uint32_t output_of(const struct vv_model *model, uint32_t row, uint32_t output)
{
    for (uint32_t t = 0; t < model->nodes.tensor_count[row]; t++) {
        uint32_t tensor = model->nodes.first_tensor[row] + t;
        if (model->tensors.side[tensor] == VV_TENSOR_OUTPUT && output-- == 0)
            return tensor;
    }
    return VV_NONE;
}

static enum varve_code add_edges(struct joining *joining, struct varve_error *error)
{
    struct vv_graph_building *building = joining->building;
    const struct vv_model *model = building->model;
    const struct vv_edges *edges = &model->edges;
    for (uint32_t e = 0; e < edges->table.count; e++) {
        uint32_t from = joining->node_of[edges->from_node[e]],
                 to = joining->node_of[edges->to_node[e]], row, text;
        uint64_t bytes = 0;
        if (from == VV_NONE || to == VV_NONE)
            continue;
        uint32_t tensor = edges->from_output[e] != VV_EDGE_CONTROL
                              ? output_of(model, edges->from_node[e], edges->from_output[e])
                              : VV_NONE;
        if (tensor != VV_NONE)
            VV_TRY(vv_graph_tensor(building, tensor, &text, &bytes, error));
        else
            VV_TRY(vv_dag_text(building->dag,
                               edges->from_output[e] == VV_EDGE_CONTROL ? "control" : "", &text,
                               error));
        VV_TRY(vv_dag_add_edge(building->dag, from, to, VV_DAG_EDGE_DATA, &row, error));
        building->dag->edges.name[row] = text;
        building->dag->edges.bytes[row] = bytes;
        building->edges[VV_DAG_EDGE_DATA]++;
    }
    return VARVE_OK;
}

/* ---- all together ---- */

static enum varve_code join(struct joining *joining, struct varve_error *error)
{
    struct vv_graph_building *building = joining->building;
    const struct vv_model *model = building->model;
    uint64_t missing = 0;
    if (model->graphs.table.count == 0)
        return vv_dag_note(building->dag, error, "nodes", "no runtime has registered a graph");
    VV_TRY(gather(joining, error));
    VV_TRY(add_graphs(joining, error));
    sum_groups(&building->dag->nodes);
    VV_TRY(add_edges(joining, error));
    for (uint32_t graph = 0; graph < model->graphs.table.count; graph++)
        missing += model->graphs.missing[graph];
    if (missing > 0)
        VV_TRY(vv_dag_note(building->dag, error, "missing",
                           "%" PRIu64 " nodes and edges of these graphs are not in the trace",
                           missing));
    return vv_dag_note(building->dag, error, "executed", "%" PRIu64 " nodes", joining->executed);
}

static enum varve_code build_registered(struct vv_graph_building *building,
                                        struct varve_error *error)
{
    struct vv_scratch scratch = { 0 };
    struct joining joining = { .building = building, .scratch = &scratch };
    enum varve_code code = join(&joining, error);
    building->unknown[VV_DAG_EDGE_DATA] = "the registered graphs have no edges";
    vv_scratch_deinit(&scratch);
    return code;
}

const struct vv_graph_kind vv_graph_registered = { "registered",
                                                   1u << VV_DAG_EDGE_DATA |
                                                       1u << VV_DAG_EDGE_NESTING,
                                                   false, build_registered };
