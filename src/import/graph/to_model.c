/* SPDX-License-Identifier: Apache-2.0 */
/* to_model.c — a graph that was read becomes slices and flows, so that every verb works, and stays
 * as it is in the dag tables, so that varve dag gives the same graph again.
 *
 * * A node is a slice of its whole time. Groups have none: their members do. Nodes that stand for
 * many executions lie side by side on tracks of their own, on which nothing overlaps: where they
 * ran is no longer known, and each keeps its time. doc/formats.md. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/binary_search.h"
#include "base/device_kind.h"
#include "import/graph/reading.h"
#include "import/rows/extent.h"
#include "varve/varve.h"

#define PS_PER_NS 1000
#define PLACES_MAX 1000 /* a graph of more places is none of threads and streams                */

/* A track of nodes that ran one after the other, and when the last one ends. */
struct lane { int64_t end_ns; uint32_t track; };

/* A track of one place: thread or stream, and device. */
struct place { uint32_t where, device, track; };

struct making {
    struct vv_graph_reading *reading;
    struct vv_model *model;
    const struct vv_dag *dag;
    uint32_t process, category, edge_word;
    uint32_t *slices;                      /* by row of the dag, or VV_NONE                     */
    struct lane *lanes;                    /* a heap: the one that ends first is the first      */
    size_t lane_count, lane_capacity;
    struct place *places;
    size_t place_count, place_capacity;
};

/* What a node of each kind is in the model; 0: no slice. */
static const uint16_t layers[VV_DAG_KINDS] = {
    [VV_DAG_OTHER] = VARVE_LAYER_OP, [VV_DAG_OPERATOR] = VARVE_LAYER_OP,
    [VV_DAG_RANGE] = VARVE_LAYER_API, [VV_DAG_CALL] = VARVE_LAYER_RUNTIME,
    [VV_DAG_KERNEL] = VARVE_LAYER_DEVICE, [VV_DAG_COPY] = VARVE_LAYER_DEVICE,
    [VV_DAG_WAIT] = VARVE_LAYER_RUNTIME, [VV_DAG_COLLECTIVE] = VARVE_LAYER_COMM,
    [VV_DAG_PYTHON] = VARVE_LAYER_PYTHON, [VV_DAG_FUNCTION] = VARVE_LAYER_API,
    [VV_DAG_REST] = VARVE_LAYER_OP,
};

/* ---- tracks ---- */

static enum varve_code add_track(struct making *making, const char *name, uint32_t *out_track,
                                 struct varve_error *error)
{
    struct vv_tracks *tracks = &making->model->tracks;
    VV_TRY(vv_model_add_track(making->model, out_track, error));
    tracks->process[*out_track] = making->process;
    return vv_model_text(making->model, name, &tracks->name[*out_track], error);
}

/* "cuda:1"; VV_NONE: no device that has a number. */
static uint32_t device_of(const char *text)
{
    const char *colon = strchr(text, ':');
    for (uint32_t kind = 0; colon != NULL && kind < 256; kind++) {
        const char *name = vv_device_kind_name(kind);
        if (strlen(name) == (size_t)(colon - text) && strncmp(name, text, strlen(name)) == 0)
            return VARVE_DEVICE(kind, (uint32_t)strtoul(colon + 1, NULL, 10) & 0xffff);
    }
    return VV_NONE;
}

/* Few places: threads and streams of one trace. The newest is tried first. */
static enum varve_code track_of(struct making *making, uint32_t row, uint32_t *out_track,
                                struct varve_error *error)
{
    const struct vv_dag *dag = making->dag;
    uint32_t where = dag->nodes.where[row], device = dag->nodes.device[row];
    if (making->place_count == PLACES_MAX)
        where = device = 0;
    for (size_t i = making->place_count; i-- > 0;)
        if (making->places[i].where == where && making->places[i].device == device) {
            *out_track = making->places[i].track;
            return VARVE_OK;
        }
    const char *name = vv_dag_string(dag, where != 0 ? where : device);
    VV_TRY(vv_array_reserve(&making->places, &making->place_capacity, making->place_count + 1,
                            sizeof *making->places, error));
    VV_TRY(add_track(making, name[0] != '\0' ? name : "nodes", out_track, error));
    uint32_t number = device_of(vv_dag_string(dag, device));
    if (number != VV_NONE && layers[dag->nodes.kind[row]] == VARVE_LAYER_DEVICE) {
        making->model->tracks.device[*out_track] = number;
        making->model->tracks.kind[*out_track] = VV_TRACK_DEVICE;
    }
    making->places[making->place_count++] = (struct place){ where, device, *out_track };
    return VARVE_OK;
}

static void sink(struct lane *lanes, size_t count)
{
    for (size_t at = 0, child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && lanes[child + 1].end_ns < lanes[child].end_ns)
            child++;
        if (lanes[at].end_ns <= lanes[child].end_ns)
            return;
        struct lane lane = lanes[at];
        lanes[at] = lanes[child];
        lanes[child] = lane;
    }
}

static void rise(struct lane *lanes, size_t at)
{
    for (; at > 0 && lanes[at].end_ns < lanes[(at - 1) / 2].end_ns; at = (at - 1) / 2) {
        struct lane lane = lanes[at];
        lanes[at] = lanes[(at - 1) / 2];
        lanes[(at - 1) / 2] = lane;
    }
}

/* A track on which nothing runs at begin_ns or after, for nodes in order of begin. */
static enum varve_code lane_of(struct making *making, int64_t begin_ns, int64_t end_ns,
                               uint32_t *out_track, struct varve_error *error)
{
    if (making->lane_count > 0 && making->lanes[0].end_ns <= begin_ns) {
        *out_track = making->lanes[0].track;
        making->lanes[0].end_ns = end_ns;
        sink(making->lanes, making->lane_count);
        return VARVE_OK;
    }
    char words[32];
    snprintf(words, sizeof words, "folded nodes %zu", making->lane_count + 1);
    VV_TRY(vv_array_reserve(&making->lanes, &making->lane_capacity, making->lane_count + 1,
                            sizeof *making->lanes, error));
    VV_TRY(add_track(making, words, out_track, error));
    making->lanes[making->lane_count] = (struct lane){ end_ns, *out_track };
    rise(making->lanes, making->lane_count++);
    return VARVE_OK;
}

/* ---- arguments ---- */

static enum varve_code add_number(struct making *making, uint32_t slice, const char *key,
                                  struct vv_attribute attribute, struct varve_error *error)
{
    uint32_t string;
    VV_TRY(vv_model_text(making->model, key, &string, error));
    return vv_attribute_to_slice(making->model, slice, string, attribute, error);
}

/* A time that nanoseconds cannot hold is kept in picoseconds. */
static enum varve_code add_rest(struct making *making, uint32_t slice, const char *key, int64_t ns,
                                uint16_t rest_ps, struct varve_error *error)
{
    int64_t ps;
    if (rest_ps == 0 || __builtin_mul_overflow(ns, PS_PER_NS, &ps) ||
        __builtin_add_overflow(ps, rest_ps, &ps))
        return VARVE_OK;
    return add_number(making, slice, key, vv_attribute_int(ps), error);
}

static enum varve_code add_id(struct making *making, uint32_t row, uint32_t slice,
                              struct varve_error *error)
{
    const struct vv_graph_node *node = &making->reading->nodes.items[row];
    const char *text;
    char *end;
    uint32_t string;
    if (node->id == VV_NONE)
        return VARVE_OK;
    text = vv_intern_text(&making->reading->ids, node->id);
    errno = 0;
    long long number = strtoll(text, &end, 10);
    if (text[0] != '\0' && *end == '\0' && errno == 0)
        return add_number(making, slice, "id", vv_attribute_int(number), error);
    VV_TRY(vv_model_add_text(making->model, text, strlen(text), &string, error));
    return add_number(making, slice, "id", vv_attribute_text(string), error);
}

static enum varve_code add_arguments(struct making *making, uint32_t row, uint32_t slice,
                                     struct varve_error *error)
{
    const struct vv_dag_nodes *nodes = &making->dag->nodes;
    const struct vv_graph_reading *reading = making->reading;
    VV_TRY(add_id(making, row, slice, error));
    VV_TRY(add_rest(making, slice, "ts", nodes->begin_ns[row], nodes->begin_rest_ps[row], error));
    VV_TRY(add_rest(making, slice, "duration", nodes->total_ns[row], nodes->total_rest_ps[row],
                    error));
    const struct vv_graph_other *others = reading->others.items;
    size_t count = reading->others.count;
    for (size_t i = VV_FIRST_NOT(k, 0, count, others[k].row < row);
         i < count && others[i].row == row; i++)
        VV_TRY(vv_attribute_to_slice(making->model, slice, others[i].key, others[i].attribute,
                                     error));
    return VARVE_OK;
}

/* ---- slices and flows ---- */

static bool is_slice(const struct vv_dag *dag, uint32_t row)
{
    return dag->nodes.count[row] > 0 && layers[dag->nodes.kind[row]] != 0;
}

static enum varve_code add_activity(struct making *making, uint32_t row, uint32_t slice,
                                    struct varve_error *error)
{
    struct vv_model *model = making->model;
    uint32_t activity, device = model->tracks.device[model->slices.track[slice]];
    if (device == VV_NONE)
        return VARVE_OK;
    VV_TRY(vv_model_add_activity(model, &activity, error));
    model->activities.kind[activity] =
        making->dag->nodes.kind[row] == VV_DAG_COPY ? VV_ACTIVITY_COPY : VV_ACTIVITY_KERNEL;
    model->activities.device[activity] = device;
    model->activities.bytes[activity] = making->dag->nodes.bytes[row];
    model->slices.activity[slice] = activity;
    return VARVE_OK;
}

static enum varve_code add_slice(struct making *making, uint32_t row, struct varve_error *error)
{
    struct vv_model *model = making->model;
    const struct vv_dag_nodes *nodes = &making->dag->nodes;
    uint8_t flags = making->reading->nodes.items[row].flags;
    int64_t begin_ns = nodes->begin_ns[row], total_ns = nodes->total_ns[row], end_ns;
    uint32_t slice, track;
    const char *name = vv_dag_string(making->dag, nodes->name[row]);
    if (total_ns < 0 || __builtin_add_overflow(begin_ns, total_ns, &end_ns))
        end_ns = begin_ns, total_ns = 0, flags |= VV_GRAPH_NEGATIVE;
    if (nodes->count[row] > 1)
        VV_TRY(lane_of(making, begin_ns, end_ns, &track, error));
    else
        VV_TRY(track_of(making, row, &track, error));
    VV_TRY(vv_model_add_slice(model, &slice, error));
    model->slices.begin_ns[slice] = begin_ns;
    model->slices.duration_ns[slice] = total_ns;
    VV_TRY(vv_model_add_text(model, name, strlen(name), &model->slices.name[slice], error));
    model->slices.track[slice] = track;
    model->slices.category[slice] = making->category;
    model->slices.layer[slice] = layers[nodes->kind[row]];
    model->slices.order[slice] = slice;
    if (flags & VV_GRAPH_NEGATIVE) {
        model->slices.flags[slice] |= VV_SLICE_NEGATIVE;
        model->health.negative++;
    }
    if (model->slices.layer[slice] == VARVE_LAYER_DEVICE)
        VV_TRY(add_activity(making, row, slice, error));
    model->health.unplaced += !making->reading->is_ours && !(flags & VV_GRAPH_HAS_BEGIN);
    vv_extent_take(model, making->process, begin_ns, end_ns);
    making->slices[row] = slice;
    return add_arguments(making, row, slice, error);
}

struct begin { int64_t begin_ns; uint32_t row; };

static int compare_begins(const void *a, const void *b)
{
    const struct begin *left = a, *right = b;
    if (left->begin_ns != right->begin_ns)
        return left->begin_ns < right->begin_ns ? -1 : 1;
    return (left->row > right->row) - (left->row < right->row);
}

/* Nodes of one execution as the file has them; then the folded ones, in order of begin. */
static enum varve_code add_slices(struct making *making, struct varve_error *error)
{
    const struct vv_dag *dag = making->dag;
    struct begin *folded = NULL;
    size_t count = 0, capacity = 0;
    enum varve_code code = VARVE_OK;
    for (uint32_t row = 0; row < dag->nodes.table.count && code == VARVE_OK; row++) {
        making->slices[row] = VV_NONE;
        if (!is_slice(dag, row))
            continue;
        if (dag->nodes.count[row] == 1) {
            code = add_slice(making, row, error);
            continue;
        }
        code = vv_array_reserve(&folded, &capacity, count + 1, sizeof *folded, error);
        if (code == VARVE_OK)
            folded[count++] = (struct begin){ dag->nodes.begin_ns[row], row };
    }
    if (count > 1)
        qsort(folded, count, sizeof *folded, compare_begins);
    for (size_t i = 0; i < count && code == VARVE_OK; i++)
        code = add_slice(making, folded[i].row, error);
    free(folded);
    return code;
}

static enum varve_code add_flows(struct making *making, struct varve_error *error)
{
    struct vv_model *model = making->model;
    const struct vv_dag_edges *edges = &making->dag->edges;
    struct vv_flows *flows = &model->flows;
    model->health.unmatched_flows += making->reading->unknown_ends;
    for (uint64_t e = 0; e < edges->table.count; e++) {
        uint32_t from = making->slices[edges->from[e]], to = making->slices[edges->to[e]], flow;
        const char *name = vv_dag_string(making->dag, edges->name[e]);
        if (from == VV_NONE || to == VV_NONE)
            continue;
        VV_TRY(vv_model_add_flow(model, &flow, error));
        flows->from_ns[flow] = model->slices.begin_ns[from];
        flows->to_ns[flow] = model->slices.begin_ns[to];
        flows->from_track[flow] = model->slices.track[from];
        flows->to_track[flow] = model->slices.track[to];
        flows->id[flow] = e;
        flows->name[flow] = flows->category[flow] = making->edge_word;
        if (name[0] != '\0')
            VV_TRY(vv_model_add_text(model, name, strlen(name), &flows->name[flow], error));
    }
    return VARVE_OK;
}

static int compare_others(const void *a, const void *b)
{
    const struct vv_graph_other *left = a, *right = b;
    return (left->row > right->row) - (left->row < right->row);
}

/* A form may say more of a node after it has gone on to others. Then they get a stable order. */
static void sort_others(struct vv_graph_reading *reading)
{
    bool is_sorted = true;
    for (size_t i = 1; i < reading->others.count; i++)
        is_sorted &= reading->others.items[i - 1].row <= reading->others.items[i].row;
    if (!is_sorted)
        qsort(reading->others.items, reading->others.count, sizeof *reading->others.items,
              compare_others);
}

static enum varve_code prepare(struct making *making, struct varve_error *error)
{
    struct vv_model *model = making->model;
    uint32_t track;
    VV_TRY(vv_model_text(model, "node", &making->category, error));
    VV_TRY(vv_model_text(model, "edge", &making->edge_word, error));
    VV_TRY(vv_model_add_process(model, &making->process, error));
    model->processes.scope[making->process] = making->reading->job->scope;
    VV_TRY(vv_model_text(model, "operator graph", &model->processes.name[making->process], error));
    if (making->dag->nodes.table.count > 0)
        return VARVE_OK;
    return add_track(making, "nodes", &track, error);
}

enum varve_code vv_draft_to_model(struct vv_graph_reading *reading, struct varve_error *error)
{
    struct making making = { .reading = reading, .model = reading->model, .dag = &reading->dag };
    making.slices = malloc((reading->dag.nodes.table.count + 1) * sizeof *making.slices);
    if (making.slices == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for a graph of %" PRIu64 " nodes",
                reading->dag.nodes.table.count);
    sort_others(reading);
    enum varve_code code = prepare(&making, error);
    if (code == VARVE_OK)
        code = add_slices(&making, error);
    if (code == VARVE_OK)
        code = add_flows(&making, error);
    if (code == VARVE_OK)
        code = vv_dag_to_model(&reading->dag, reading->model, error);
    free(making.slices);
    free(making.lanes);
    free(making.places);
    return code;
}
