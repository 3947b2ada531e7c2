/* SPDX-License-Identifier: Apache-2.0 */
/* mlirgraph.c — reads operator graphs as JSON, "mlirgraph" 1.x: nodes with times in picoseconds,
 * and edges. doc/formats.md.
 *
 * A node becomes a slice; an edge becomes a flow from the begin of one slice to the begin of the
 * other. An edge may be in the list of edges, in its node's `adj`, or in both: it is one flow. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "import/input/format.h"
#include "import/rows/attribute.h"
#include "import/rows/extent.h"
#include "varve/varve.h"

#define PS_PER_NS 1000

struct node { int64_t id, begin_ns; };
struct edge { int64_t from, to; };

struct reading {
    struct vv_json json;
    struct vv_model *model;
    uint32_t process, track, category, edge_name, adjacent; /* rows and strings                  */
    struct node *nodes;
    struct edge *edges;
    size_t node_count, node_capacity, edge_count, edge_capacity;
};

/* A node while it is read; times in picoseconds. */
struct draft {
    int64_t id, begin_ps, duration_ps;
    uint32_t name;
    bool has_id, has_begin;
    struct vv_attribute_list others;
};

/* Looks only at the begin of the file: the first object in the top level's "nodes" has a member
 * "adj". */
static bool probe(const char *path, bool is_folder, const char *head, size_t head_bytes)
{
    struct vv_json json;
    bool in_nodes = false, is_found = false;
    (void)path;
    if (is_folder)
        return false;
    vv_json_init_text(&json, head, head_bytes);
    while (!is_found && vv_json_next(&json, NULL) == VARVE_OK && json.token != VV_JSON_END) {
        if (json.depth == 1 && json.token == VV_JSON_NAME)
            in_nodes = vv_json_is(&json, "nodes");
        if (json.token == VV_JSON_NAME && !in_nodes && vv_json_skip(&json, NULL) != VARVE_OK)
            break;
        is_found =
            in_nodes && json.depth == 3 && json.token == VV_JSON_NAME && vv_json_is(&json, "adj");
    }
    vv_json_deinit(&json);
    return is_found;
}

static enum varve_code add_edge(struct reading *reading, int64_t from, int64_t to,
                                struct varve_error *error)
{
    VV_TRY(vv_array_reserve(&reading->edges, &reading->edge_capacity, reading->edge_count + 1,
                            sizeof *reading->edges, error));
    reading->edges[reading->edge_count++] = (struct edge){ from, to };
    return VARVE_OK;
}

static enum varve_code keep_other(struct reading *reading, struct draft *draft,
                                  struct varve_error *error)
{
    struct vv_json *json = &reading->json;
    struct vv_attribute attribute;
    uint32_t key;
    VV_TRY(vv_model_add_text(reading->model, json->text, json->length, &key, error));
    VV_TRY(vv_attribute_read(json, reading->model, &attribute, error));
    return vv_attribute_list_add(&draft->others, key, attribute, error);
}

static enum varve_code read_number(struct reading *reading, int64_t *out_value, bool *out_is_said,
                                   struct varve_error *error)
{
    struct vv_json *json = &reading->json;
    VV_TRY(vv_json_next(json, error));
    if (json->token != VV_JSON_INTEGER)
        return vv_fail_at(error, VARVE_CORRUPT, json->offset,
                          "times and ids of nodes and edges must be whole numbers");
    *out_value = json->integer;
    *out_is_said = true;
    return VARVE_OK;
}

static enum varve_code read_member(struct reading *reading, struct draft *draft,
                                   struct varve_error *error)
{
    struct vv_json *json = &reading->json;
    bool is_said;
    if (vv_json_is(json, "ts"))
        return read_number(reading, &draft->begin_ps, &draft->has_begin, error);
    if (vv_json_is(json, "duration"))
        return read_number(reading, &draft->duration_ps, &is_said, error);
    if (vv_json_is(json, "id"))
        return read_number(reading, &draft->id, &draft->has_id, error);
    if (!vv_json_is(json, "name"))
        return keep_other(reading, draft, error);
    struct vv_attribute name;
    VV_TRY(vv_attribute_read(json, reading->model, &name, error));
    draft->name = name.kind == VV_ARG_TEXT || name.kind == VV_ARG_JSON ? (uint32_t)name.value : 0;
    return VARVE_OK;
}

/* Reads "[4,7]", the kept text. */
static enum varve_code add_neighbours(struct reading *reading, int64_t id, const char *text,
                                      struct varve_error *error)
{
    struct vv_json json;
    enum varve_code code = VARVE_OK;
    vv_json_init_text(&json, text, strlen(text));
    while (code == VARVE_OK && (code = vv_json_next(&json, error)) == VARVE_OK &&
           json.token != VV_JSON_END)
        if (json.token == VV_JSON_INTEGER)
            code = add_edge(reading, id, json.integer, error);
    vv_json_deinit(&json);
    return code;
}

/* A time in picoseconds that nanoseconds cannot hold is kept as an argument. */
static enum varve_code add_arguments(struct reading *reading, const struct draft *draft,
                                     uint32_t slice, struct varve_error *error)
{
    struct vv_model *model = reading->model;
    const struct { const char *key; int64_t value; bool is_kept; } numbers[] = {
        { "id", draft->id, draft->has_id },
        { "ts", draft->begin_ps, draft->begin_ps % PS_PER_NS != 0 },
        { "duration", draft->duration_ps, draft->duration_ps % PS_PER_NS != 0 },
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        uint32_t key;
        if (!numbers[i].is_kept)
            continue;
        VV_TRY(vv_model_text(model, numbers[i].key, &key, error));
        VV_TRY(vv_attribute_to_slice(model, slice, key, vv_attribute_int(numbers[i].value), error));
    }
    VV_TRY(vv_attribute_list_to_slice(&draft->others, model, slice, error));
    for (size_t i = 0; i < draft->others.count && draft->has_id; i++) {
        const struct vv_attribute_named *other = &draft->others.items[i];
        if (other->key == reading->adjacent && other->attribute.kind == VV_ARG_JSON)
            VV_TRY(add_neighbours(reading, draft->id,
                                  vv_intern_text(&model->strings, (uint32_t)other->attribute.value),
                                  error));
    }
    return VARVE_OK;
}

static int64_t floor_ns(int64_t ps)
{
    return ps / PS_PER_NS - (ps % PS_PER_NS < 0);
}

static enum varve_code add_node(struct reading *reading, const struct draft *draft,
                                struct varve_error *error)
{
    struct vv_model *model = reading->model;
    int64_t begin_ns = floor_ns(draft->begin_ps), duration_ns = floor_ns(draft->duration_ps);
    uint32_t slice;
    VV_TRY(vv_array_reserve(&reading->nodes, &reading->node_capacity, reading->node_count + 1,
                            sizeof *reading->nodes, error));
    VV_TRY(vv_model_add_slice(model, &slice, error));
    if (duration_ns < 0) {
        model->slices.flags[slice] |= VV_SLICE_NEGATIVE;
        model->health.negative++;
        duration_ns = 0;
    }
    model->slices.begin_ns[slice] = begin_ns;
    model->slices.duration_ns[slice] = duration_ns;
    model->slices.name[slice] = draft->name;
    model->slices.track[slice] = reading->track;
    model->slices.category[slice] = reading->category;
    model->slices.layer[slice] = VARVE_LAYER_OP;
    model->slices.order[slice] = (uint32_t)reading->node_count;
    model->health.unplaced += !draft->has_begin;
    vv_extent_take(model, reading->process, begin_ns, begin_ns + duration_ns);
    reading->nodes[reading->node_count++] = (struct node){ draft->id, begin_ns };
    return add_arguments(reading, draft, slice, error);
}

/* A node that the end of the file cuts off is left out. */
static enum varve_code read_node(struct reading *reading, struct varve_error *error)
{
    struct vv_json *json = &reading->json;
    struct draft draft = { .id = 0 };
    enum varve_code code = VARVE_OK;
    if (json->token != VV_JSON_OBJECT)
        return vv_fail_at(error, VARVE_CORRUPT, json->offset, "a node must be an object");
    while ((code = vv_json_next(json, error)) == VARVE_OK && json->token == VV_JSON_NAME) {
        code = read_member(reading, &draft, error);
        if (code != VARVE_OK)
            break;
    }
    if (code == VARVE_OK)
        code = add_node(reading, &draft, error);
    vv_attribute_list_deinit(&draft.others);
    return code;
}

static enum varve_code read_edge(struct reading *reading, struct varve_error *error)
{
    struct vv_json *json = &reading->json;
    int64_t from = 0, to = 0;
    bool has_from = false, has_to = false;
    if (json->token != VV_JSON_OBJECT)
        return vv_fail_at(error, VARVE_CORRUPT, json->offset, "an edge must be an object");
    for (;;) {
        VV_TRY(vv_json_next(json, error));
        if (json->token != VV_JSON_NAME)
            break;
        if (vv_json_is(json, "edgeFrom"))
            VV_TRY(read_number(reading, &from, &has_from, error));
        else if (vv_json_is(json, "edgeTo"))
            VV_TRY(read_number(reading, &to, &has_to, error));
        else
            VV_TRY(vv_json_skip(json, error));
    }
    if (has_from && has_to)
        return add_edge(reading, from, to, error);
    reading->model->health.unmatched_flows++;
    return VARVE_OK;
}

/* Reads an array; `read` reads each element from its first token on. */
static enum varve_code read_array(struct reading *reading,
                                  enum varve_code (*read)(struct reading *, struct varve_error *),
                                  struct varve_error *error)
{
    struct vv_json *json = &reading->json;
    VV_TRY(vv_json_next(json, error));
    if (json->token != VV_JSON_ARRAY)
        return vv_fail_at(error, VARVE_CORRUPT, json->offset, "nodes and edges must be arrays");
    for (;;) {
        VV_TRY(vv_json_next(json, error));
        if (json->token == VV_JSON_ARRAY_END)
            return VARVE_OK;
        VV_TRY(read(reading, error));
    }
}

static enum varve_code read_top(struct reading *reading, struct varve_error *error)
{
    struct vv_json *json = &reading->json;
    VV_TRY(vv_json_next(json, error));
    for (;;) {
        VV_TRY(vv_json_next(json, error));
        if (json->token != VV_JSON_NAME)
            return json->token == VV_JSON_END ? VARVE_OK : vv_json_next(json, error);
        if (vv_json_is(json, "nodes")) {
            VV_TRY(read_array(reading, read_node, error));
        } else if (vv_json_is(json, "edges")) {
            VV_TRY(read_array(reading, read_edge, error));
        } else {
            char key[128];
            struct vv_attribute value;
            snprintf(key, sizeof key, "%s", json->text);
            VV_TRY(vv_attribute_read(json, reading->model, &value, error));
            VV_TRY(vv_attribute_to_fact(reading->model, VV_NONE, key, value, error));
        }
    }
}

/* ---- edges, when all nodes are known ---- */

static int compare_nodes(const void *a, const void *b)
{
    int64_t left = ((const struct node *)a)->id, right = ((const struct node *)b)->id;
    return (left > right) - (left < right);
}

static int compare_edges(const void *a, const void *b)
{
    const struct edge *left = a, *right = b;
    if (left->from != right->from)
        return left->from < right->from ? -1 : 1;
    return (left->to > right->to) - (left->to < right->to);
}

static const struct node *find_node(const struct reading *reading, int64_t id)
{
    const struct node wanted = { .id = id };
    return reading->node_count == 0 ? NULL
                                    : bsearch(&wanted, reading->nodes, reading->node_count,
                                              sizeof wanted, compare_nodes);
}

static enum varve_code add_flows(struct reading *reading, struct varve_error *error)
{
    struct vv_model *model = reading->model;
    struct vv_flows *flows = &model->flows;
    if (reading->edge_count == 0)
        return VARVE_OK;
    if (reading->node_count > 1)
        qsort(reading->nodes, reading->node_count, sizeof *reading->nodes, compare_nodes);
    qsort(reading->edges, reading->edge_count, sizeof *reading->edges, compare_edges);
    for (size_t i = 0; i < reading->edge_count; i++) {
        const struct edge *edge = &reading->edges[i];
        uint32_t flow;
        if (i > 0 && compare_edges(edge, edge - 1) == 0)
            continue;
        const struct node *from = find_node(reading, edge->from),
                          *to = find_node(reading, edge->to);
        if (from == NULL || to == NULL) {
            model->health.unmatched_flows++;
            continue;
        }
        VV_TRY(vv_model_add_flow(model, &flow, error));
        flows->from_ns[flow] = from->begin_ns;
        flows->to_ns[flow] = to->begin_ns;
        flows->id[flow] = i;
        flows->name[flow] = flows->category[flow] = reading->edge_name;
        flows->from_track[flow] = flows->to_track[flow] = reading->track;
    }
    return VARVE_OK;
}

/* ---- the whole file ---- */

static enum varve_code prepare(struct reading *reading, uint32_t scope, struct varve_error *error)
{
    struct vv_model *model = reading->model;
    VV_TRY(vv_model_text(model, "node", &reading->category, error));
    VV_TRY(vv_model_text(model, "edge", &reading->edge_name, error));
    VV_TRY(vv_model_text(model, "adj", &reading->adjacent, error));
    VV_TRY(vv_model_add_process(model, &reading->process, error));
    model->processes.scope[reading->process] = scope;
    VV_TRY(vv_model_text(model, "operator graph", &model->processes.name[reading->process], error));
    VV_TRY(vv_model_add_track(model, &reading->track, error));
    model->tracks.process[reading->track] = reading->process;
    return vv_model_text(model, "nodes", &model->tracks.name[reading->track], error);
}

static enum varve_code read_graph(const struct vv_import_job *job, struct varve_error *error)
{
    struct reading reading = { .model = job->model };
    VV_TRY(prepare(&reading, job->scope, error));
    enum varve_code code =
        vv_json_init_source(&reading.json, vv_attribute_source, job->source, error);
    if (code == VARVE_OK)
        code = read_top(&reading, error);
    if (code == VARVE_TRUNCATED) {
        job->model->health.truncated_files++;
        code = VARVE_OK;
    }
    if (code == VARVE_OK)
        code = add_flows(&reading, error);
    vv_json_deinit(&reading.json);
    free(reading.nodes);
    free(reading.edges);
    return code;
}

const struct vv_importer vv_importer_mlirgraph = {
    .name = "mlirgraph",
    .title = "operator graph JSON",
    .probe = probe,
    .read = read_graph,
};
