/* SPDX-License-Identifier: Apache-2.0 */
/* graphs.c — the records of graphs, nodes, edges, static plans and models. The recorder writes the
 * records of a graph and its bodies one after the other, and may write a graph twice. */
#include "import/varve/records/graphs.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "base/binary_search.h"
#include "import/varve/records/stream.h"
#include "varve/graph.h"

#define PLACE_MAX (UINT64_C(1) << 53) /* model.h: numbers of placements are below               */

static uint64_t word(const struct vv_record *record, size_t index)
{
    return le64toh(record->payload[index]);
}

static uint32_t low(const struct vv_record *record, size_t index)
{
    return (uint32_t)word(record, index);
}

static uint32_t high(const struct vv_record *record, size_t index)
{
    return (uint32_t)(word(record, index) >> 32);
}

void vv_graphs_said_deinit(struct vv_graphs_said *said)
{
    vv_key_map_deinit(&said->graphs);
    vv_key_map_deinit(&said->models);
    vv_key_map_deinit(&said->plans);
    free(said->text.items);
    free(said->places.items);
    free(said->executions.items);
    *said = (struct vv_graphs_said){ .graph = VV_NONE, .node = VV_NONE };
}

/* The model's string of a string's number, of which 0 is none. */
static enum varve_code text_of(struct vv_process_reader *process, uint64_t string,
                               uint32_t *out_text, struct varve_error *error)
{
    *out_text = 0;
    return string == 0 ? VARVE_OK : vv_process_string(process, string, out_text, error);
}

/* ---- rows of numbers ---- */

static uint32_t count_unknown(struct vv_process_reader *process)
{
    process->model->health.unknown_nodes++;
    return VV_NONE;
}

/* The row of node `number` among those of a graph, which are in ascending order. Mostly all of them
 * are there. */
static uint32_t find_node(const struct vv_model *model, uint32_t graph, uint32_t number)
{
    const uint32_t *numbers = model->nodes.number;
    uint64_t first = model->graphs.first_node[graph], count = model->graphs.node_count[graph];
    if (number < count && numbers[first + number] == number)
        return (uint32_t)(first + number);
    uint64_t at = VV_FIRST_NOT(i, first, first + count, numbers[i] < number);
    return at < first + count && numbers[at] == number ? (uint32_t)at : VV_NONE;
}

uint32_t vv_node_at(struct vv_process_reader *process, uint32_t graph, uint32_t node)
{
    uint32_t row = vv_key_map_get(&process->graphs.graphs, graph);
    row = row == VV_KEY_NONE ? VV_NONE : find_node(process->model, row, node);
    return row != VV_NONE ? row : count_unknown(process);
}

uint32_t vv_model_at(struct vv_process_reader *process, uint32_t model)
{
    uint32_t row = vv_key_map_get(&process->graphs.models, model);
    return row != VV_KEY_NONE ? row : count_unknown(process);
}

/* ---- texts of the last node ---- */

static enum varve_code end_text(struct vv_process_reader *process, struct varve_error *error)
{
    struct vv_graphs_said *said = &process->graphs;
    struct vv_nodes *nodes = &process->model->nodes;
    if (said->text.count == 0 || said->node == VV_NONE)
        return VARVE_OK;
    uint32_t *text = said->text_kind == VV_NODE_ORIGIN ? nodes->origins : nodes->contexts;
    size_t length = said->text.count;
    said->text.count = 0;
    return vv_model_add_text(process->model, said->text.items, length, &text[said->node], error);
}

enum varve_code vv_node_text_read(struct vv_stream_reader *stream, const struct vv_record *record,
                                  struct varve_error *error)
{
    struct vv_process_reader *process = stream->process;
    struct vv_graphs_said *said = &process->graphs;
    const struct vv_model *model = process->model;
    const char *text = (const char *)(record->payload + 2);
    size_t length = strnlen(text, high(record, 0));
    uint32_t kind = high(record, 1);
    if (said->node == VV_NONE || model->graphs.number[said->graph] != low(record, 0) ||
        model->nodes.number[said->node] != low(record, 1) || kind > VV_NODE_CONTEXTS)
        return VARVE_OK;
    if (said->text.count > 0 && said->text_kind != kind)
        VV_TRY(end_text(process, error));
    VV_TRY(vv_array_reserve(&said->text.items, &said->text.capacity,
                            said->text.count + 1 + length, 1, error));
    if (said->text.count > 0)
        said->text.items[said->text.count++] = kind == VV_NODE_ORIGIN ? ';' : ',';
    if (length > 0)
        memcpy(said->text.items + said->text.count, text, length);
    said->text.count += length;
    said->text_kind = kind;
    return VARVE_OK;
}

/* ---- graphs, nodes, edges ---- */

enum varve_code vv_graph_read(struct vv_stream_reader *stream, const struct vv_record *record,
                              struct varve_error *error)
{
    struct vv_process_reader *process = stream->process;
    struct vv_graphs_said *said = &process->graphs;
    struct vv_graphs *graphs = &process->model->graphs;
    uint32_t number = low(record, 0);
    VV_TRY(end_text(process, error));
    said->graph = said->node = VV_NONE;
    if (vv_key_map_get(&said->graphs, number) != VV_KEY_NONE) /* it comes again */
        return VARVE_OK;
    uint32_t parent = low(record, 1) == 0 ? VV_NONE
                                          : vv_node_at(process, low(record, 1), high(record, 1));
    uint32_t row;
    VV_TRY(vv_model_add_graph(process->model, &row, error));
    VV_TRY(vv_key_map_put(&said->graphs, number, row, error));
    said->graph = row;
    graphs->process[row] = process->process;
    graphs->number[row] = number;
    graphs->parent[row] = parent;
    graphs->graph_id[row] = (int64_t)word(record, 3);
    graphs->missing[row] = word(record, 2) + word(record, 4);
    return text_of(process, high(record, 0), &graphs->name[row], error);
}

enum varve_code vv_node_read(struct vv_stream_reader *stream, const struct vv_record *record,
                             struct varve_error *error)
{
    struct vv_process_reader *process = stream->process;
    struct vv_graphs_said *said = &process->graphs;
    struct vv_model *model = process->model;
    struct vv_nodes *nodes = &model->nodes;
    uint32_t number = low(record, 1), former = said->node;
    const char *name = (const char *)(record->payload + sizeof(struct vv_node_payload) / 8);
    VV_TRY(end_text(process, error));
    said->node = VV_NONE;
    if (said->graph == VV_NONE || model->graphs.number[said->graph] != low(record, 0) ||
        (former != VV_NONE && nodes->number[former] >= number))
        return VARVE_OK;
    uint32_t row;
    VV_TRY(vv_model_add_node(model, &row, error));
    said->node = row;
    nodes->graph[row] = said->graph;
    nodes->number[row] = number;
    VV_TRY(vv_model_add_text(model, name, strnlen(name, high(record, 0)), &nodes->name[row],
                             error));
    VV_TRY(text_of(process, high(record, 1), &nodes->type[row], error));
    VV_TRY(text_of(process, low(record, 2), &nodes->framework_type[row], error));
    if (nodes->type[row] == 0)
        nodes->type[row] = nodes->name[row];
    uint32_t task = high(record, 2);
    nodes->task_type[row] = (uint8_t)(task < VARVE_TASK_TYPE_COUNT ? task : VARVE_TASK_INVALID);
    nodes->block_dim[row] = low(record, 3);
    nodes->mix_block_dim[row] = high(record, 3);
    nodes->parent_input[row] = (int64_t)word(record, 4);
    nodes->stream[row] = (int64_t)word(record, 5);
    nodes->flop[row] = word(record, 6);
    nodes->bytes[row] = word(record, 7);
    model->graphs.node_count[said->graph]++;
    model->graphs.missing[said->graph] -= model->graphs.missing[said->graph] > 0;
    return VARVE_OK;
}

enum varve_code vv_node_tensors_read(struct vv_stream_reader *stream,
                                     const struct vv_record *record, struct varve_error *error)
{
    struct vv_process_reader *process = stream->process;
    struct vv_graphs_said *said = &process->graphs;
    struct vv_model *model = process->model;
    size_t at = sizeof(struct vv_node_tensors_payload) / 8;
    if (said->node == VV_NONE || model->graphs.number[said->graph] != low(record, 0) ||
        model->nodes.number[said->node] != high(record, 0))
        return VARVE_OK;
    for (uint64_t i = low(record, 1); i > 0; i--) {
        uint64_t head = word(record, at);
        uint32_t rank = high(record, at), row;
        const int64_t *dims = (const int64_t *)(record->payload + at + 3);
        if (rank > UINT16_MAX)
            return vv_fail_at(error, VARVE_CORRUPT, record->offset + 8 * (at + 1),
                              "'%s': a tensor of rank %u", stream->path, rank);
        VV_TRY(vv_model_add_tensor(model, head >> 8 & 0xff, rank, dims, &row, error));
        model->tensors.side[row] = (head & 0xff) == VARVE_OUTPUT ? VARVE_OUTPUT : VARVE_INPUT;
        model->tensors.identity[row] = word(record, at + 2);
        VV_TRY(text_of(process, word(record, at + 1), &model->tensors.format[row], error));
        if (model->nodes.tensor_count[said->node]++ == 0)
            model->nodes.first_tensor[said->node] = row;
        at += 3 + (size_t)rank;
    }
    return VARVE_OK;
}

enum varve_code vv_edge_read(struct vv_stream_reader *stream, const struct vv_record *record,
                             struct varve_error *error)
{
    struct vv_process_reader *process = stream->process;
    struct vv_graphs_said *said = &process->graphs;
    struct vv_model *model = process->model;
    if (said->graph == VV_NONE || model->graphs.number[said->graph] != low(record, 0))
        return VARVE_OK;
    uint32_t from = find_node(model, said->graph, high(record, 0)),
             to = find_node(model, said->graph, high(record, 1)), row;
    if (from == VV_NONE || to == VV_NONE) {
        count_unknown(process);
        return VARVE_OK;
    }
    VV_TRY(vv_model_add_edge(model, &row, error));
    model->edges.from_node[row] = from;
    model->edges.from_output[row] = low(record, 1);
    model->edges.to_node[row] = to;
    model->edges.to_input[row] = low(record, 2);
    model->graphs.edge_count[said->graph]++;
    model->graphs.missing[said->graph] -= model->graphs.missing[said->graph] > 0;
    return VARVE_OK;
}

/* ---- models and static plans ---- */

enum varve_code vv_model_read(struct vv_stream_reader *stream, const struct vv_record *record,
                              struct varve_error *error)
{
    struct vv_process_reader *process = stream->process;
    struct vv_loaded_models *models = &process->model->loaded_models;
    uint32_t number = low(record, 0), row, graph = VV_KEY_NONE;
    if (high(record, 0) != 0)
        graph = vv_key_map_get(&process->graphs.graphs, high(record, 0));
    if (vv_key_map_get(&process->graphs.models, number) != VV_KEY_NONE)
        return VARVE_OK;
    VV_TRY(vv_model_add_loaded_model(process->model, &row, error));
    VV_TRY(vv_key_map_put(&process->graphs.models, number, row, error));
    models->process[row] = process->process;
    models->number[row] = number;
    if (graph != VV_KEY_NONE)
        models->graph[row] = graph;
    models->model_id[row] = (int64_t)word(record, 2);
    models->session_id[row] = (int64_t)word(record, 3);
    return vv_process_string(process, word(record, 1), &models->name[row], error);
}

enum varve_code vv_placement_read(struct vv_stream_reader *stream, const struct vv_record *record,
                                  struct varve_error *error)
{
    struct vv_process_reader *process = stream->process;
    struct vv_graphs_said *said = &process->graphs;
    uint32_t graph = vv_key_map_get(&said->graphs, low(record, 0));
    struct vv_graph_place place = { .first_use = low(record, 1), .last_use = high(record, 1),
                                    .device = low(record, 2), .offset = word(record, 3),
                                    .bytes = word(record, 4), .graph = graph };
    if (graph == VV_KEY_NONE || place.offset >= PLACE_MAX || place.bytes >= PLACE_MAX) {
        count_unknown(process);
        return VARVE_OK;
    }
    place.node = find_node(process->model, graph, high(record, 0));
    uint32_t plan = vv_key_map_get(&said->plans, graph);
    plan = plan == VV_KEY_NONE ? 0 : plan;
    if (high(record, 2) == 0)
        VV_TRY(vv_key_map_put(&said->plans, graph, ++plan, error));
    place.plan = plan;
    VV_PUSH(&said->places, place, error);
    return VARVE_OK;
}

static enum varve_code add_place(struct vv_process_reader *process,
                                 const struct vv_graph_place *place, struct varve_error *error)
{
    struct vv_model *model = process->model;
    struct vv_placements *placements = &model->placements;
    uint32_t row;
    VV_TRY(vv_model_add_placement(model, &row, error));
    placements->bytes[row] = (int64_t)place->bytes;
    placements->offset_bytes[row] = (int64_t)place->offset;
    placements->first_use[row] = place->first_use;
    placements->last_use[row] = place->last_use == UINT32_MAX ? INT64_MAX : place->last_use;
    placements->graph[row] = model->graphs.number[place->graph];
    placements->process[row] = process->process;
    placements->device[row] = place->device;
    if (place->node != VV_NONE)
        placements->name[row] = model->nodes.name[place->node];
    return VARVE_OK;
}

enum varve_code vv_graphs_end(struct vv_process_reader *process, struct varve_error *error)
{
    struct vv_graphs_said *said = &process->graphs;
    VV_TRY(end_text(process, error));
    for (size_t i = 0; i < said->places.count; i++) {
        const struct vv_graph_place *place = &said->places.items[i];
        uint32_t last = vv_key_map_get(&said->plans, place->graph);
        if (place->plan == (last == VV_KEY_NONE ? 0 : last))
            VV_TRY(add_place(process, place, error));
    }
    said->graph = said->node = VV_NONE;
    return VARVE_OK;
}
