/* SPDX-License-Identifier: Apache-2.0 */
/* graph_json.c — reads graphs that are JSON: mlirgraph 1.x, NetworkX's node-link data and Model
 * Explorer's graphs. All have a list of nodes, which are objects; edges are in a list of their own,
 * or in their nodes. doc/formats.md. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "import/graph/reading.h"

enum json_form { NO_FORM, MLIRGRAPH, NODE_LINK, MODEL_EXPLORER };

/* A node while it is read. */
struct draft {
    uint32_t row, id;       /* id: VV_NONE until it is said                                     */
    uint64_t edges;         /* those that were there before it                                  */
    bool are_arriving;      /* its own edges end at it                                          */
    bool is_edge;           /* it is an edge: row                                               */
};

struct json_reading {
    struct vv_graph_reading *graph;
    struct vv_json *json;
    uint32_t adjacent;      /* string                                                           */
    bool is_strict;         /* times and ids must be whole numbers                              */
};

/* ---- which form ---- */

struct look {
    unsigned nodes_depth, edges_depth; /* of the name "nodes", while its value is read; 0 = none */
    bool is_directed, is_multigraph;
    bool has_version, has_nodes;       /* at the top level                                      */
};

static enum json_form look_at_name(struct look *look, const struct vv_json *json)
{
    uint32_t depth = json->depth;
    if (vv_json_is(json, "groupNodeAttributes"))
        return MODEL_EXPLORER;
    if (look->nodes_depth > 0 && depth == look->nodes_depth + 2) {
        if (vv_json_is(json, "adj"))
            return MLIRGRAPH;
        if (vv_json_is(json, "incomingEdges") || vv_json_is(json, "namespace"))
            return MODEL_EXPLORER;
    }
    if (look->edges_depth > 0 && depth == 3 && vv_json_is(json, "source"))
        return NODE_LINK;
    if (depth == 1 && vv_json_is(json, "varve"))
        return MLIRGRAPH;
    if (depth == 1) {
        look->is_directed |= vv_json_is(json, "directed");
        look->is_multigraph |= vv_json_is(json, "multigraph");
        look->edges_depth = vv_json_is(json, "edges") || vv_json_is(json, "links");
        look->has_version |= vv_json_is(json, "version");
        look->has_nodes |= vv_json_is(json, "nodes");
        if (look->has_version && look->has_nodes && look->edges_depth > 0) /* without nodes */
            return MLIRGRAPH;
    }
    if (vv_json_is(json, "nodes") && depth <= 5)
        look->nodes_depth = depth;
    return look->is_directed && look->is_multigraph ? NODE_LINK : NO_FORM;
}

/* Looks only at the begin of the file. */
static enum json_form form_of(const char *head, size_t head_bytes)
{
    struct look look = { .nodes_depth = 0 };
    enum json_form form = NO_FORM;
    struct vv_json json;
    vv_json_init_text(&json, head, head_bytes);
    while (form == NO_FORM && vv_json_next(&json, NULL) == VARVE_OK && json.token != VV_JSON_END)
        if (json.token == VV_JSON_NAME)
            form = look_at_name(&look, &json);
    vv_json_deinit(&json);
    return form;
}

/* ---- values ---- */

static bool is_scalar(enum vv_json_token token)
{
    return token == VV_JSON_STRING || token == VV_JSON_INTEGER || token == VV_JSON_REAL ||
           token == VV_JSON_TRUE || token == VV_JSON_FALSE;
}

/* The text of the current value, borrowed until the next token. */
static const char *text_of(const struct vv_json *json, size_t *out_length)
{
    const char *text = json->token == VV_JSON_TRUE    ? "true"
                       : json->token == VV_JSON_FALSE ? "false"
                                                      : json->text;
    *out_length = strlen(text);
    return text;
}

/* Reads an array; `read` reads each element from its first token on. */
static enum varve_code read_array(struct json_reading *reading, void *context,
                                  enum varve_code (*read)(struct json_reading *, void *,
                                                          struct varve_error *),
                                  struct varve_error *error)
{
    struct vv_json *json = reading->json;
    VV_TRY(vv_json_next(json, error));
    if (json->token != VV_JSON_ARRAY)
        return vv_fail_at(error, VARVE_CORRUPT, json->offset,
                          "nodes, edges and graphs must be arrays");
    for (;;) {
        VV_TRY(vv_json_next(json, error));
        if (json->token == VV_JSON_ARRAY_END)
            return VARVE_OK;
        VV_TRY(read(reading, context, error));
    }
}

/* ---- edges ---- */

static const char *const from_words[] = { "edgeFrom", "source", "sourceNodeId", "from", NULL };
static const char *const to_words[] = { "edgeTo", "target", "to", NULL };

static bool is_one_of(const char *key, const char *const *words)
{
    while (*words != NULL && strcmp(*words, key) != 0)
        words++;
    return *words != NULL;
}

static enum varve_code read_end(struct json_reading *reading, uint32_t *out_id,
                                struct varve_error *error)
{
    struct vv_json *json = reading->json;
    size_t length;
    bool is_id = reading->is_strict ? json->token == VV_JSON_INTEGER || json->token == VV_JSON_REAL
                                    : is_scalar(json->token);
    if (!is_id || (reading->is_strict && strpbrk(json->text, ".eE") != NULL))
        return vv_fail_at(error, VARVE_CORRUPT, json->offset,
                          reading->is_strict ? "times and ids of nodes and edges must be whole "
                                               "numbers"
                                             : "ids of nodes must be texts or numbers");
    const char *text = text_of(json, &length);
    return vv_draft_id(reading->graph, text, length, out_id, error);
}

/* A member of an edge, whose name was just read. */
static enum varve_code read_edge_member(struct json_reading *reading, uint32_t row,
                                        struct varve_error *error)
{
    struct vv_json *json = reading->json;
    char key[64];
    size_t length;
    bool is_kept;
    snprintf(key, sizeof key, "%s", json->text);
    VV_TRY(vv_json_next(json, error));
    if (is_one_of(key, from_words))
        return read_end(reading, &reading->graph->dag.edges.from[row], error);
    if (is_one_of(key, to_words))
        return read_end(reading, &reading->graph->dag.edges.to[row], error);
    if (!is_scalar(json->token))
        return json->token == VV_JSON_NULL ? VARVE_OK : vv_json_skip(json, error);
    const char *text = text_of(json, &length);
    const struct vv_graph_said said = { VV_OF_EDGE, row, key, text, length };
    return vv_draft_say(reading->graph, &said, &is_kept, error);
}

/* Reads the begin of an object; anything else is skipped. */
static enum varve_code enter(struct vv_json *json, struct varve_error *error)
{
    VV_TRY(vv_json_next(json, error));
    return json->token == VV_JSON_ARRAY ? vv_json_skip(json, error) : VARVE_OK;
}

/* Ends that are not said are nowhere. `node` is the node that the edge is in, or NULL. */
static enum varve_code read_edge(struct json_reading *reading, void *node,
                                 struct varve_error *error)
{
    struct vv_json *json = reading->json;
    struct vv_dag_edges *edges = &reading->graph->dag.edges;
    const struct draft *draft = node;
    uint32_t row, outside = json->depth - 1;
    enum varve_code code;
    if (json->token != VV_JSON_OBJECT)
        return vv_fail_at(error, VARVE_CORRUPT, json->offset, "an edge must be an object");
    VV_TRY(vv_draft_add_edge(reading->graph, VV_NONE, draft != NULL ? draft->id : VV_NONE, &row,
                             error));
    do {
        code = vv_json_next(json, error);
        if (code != VARVE_OK || json->token != VV_JSON_NAME)
            continue;
        if (draft != NULL && vv_json_is(json, "metadata")) /* its members are those of the edge */
            code = enter(json, error);
        else
            code = read_edge_member(reading, row, error);
    } while (code == VARVE_OK && json->depth > outside);
    if (code == VARVE_TRUNCATED)
        edges->table.count = row;
    return code;
}

/* [4,7] of a node: edges that begin at it. */
static enum varve_code add_neighbours(struct json_reading *reading, struct draft *draft,
                                      const char *text, struct varve_error *error)
{
    struct vv_json json;
    enum varve_code code = VARVE_OK;
    vv_json_init_text(&json, text, strlen(text));
    while (code == VARVE_OK && (code = vv_json_next(&json, error)) == VARVE_OK &&
           json.token != VV_JSON_END)
        if (json.token == VV_JSON_INTEGER) {
            uint32_t to, row;
            code = vv_draft_id(reading->graph, json.text, json.length, &to, error);
            if (code == VARVE_OK)
                code = vv_draft_add_edge(reading->graph, draft->id, to, &row, error);
        }
    vv_json_deinit(&json);
    return code;
}

/* ---- nodes ---- */

static enum varve_code keep_other(struct json_reading *reading, struct draft *draft,
                                  const char *key, struct varve_error *error)
{
    struct vv_model *model = reading->graph->model;
    struct vv_attribute attribute;
    uint32_t string;
    VV_TRY(vv_attribute_take(reading->json, model, &attribute, error));
    if (reading->graph->is_ours)
        return VARVE_OK;
    VV_TRY(vv_model_add_text(model, key, strlen(key), &string, error));
    if (string == reading->adjacent && attribute.kind == VV_ARG_JSON)
        VV_TRY(add_neighbours(reading, draft,
                              vv_intern_text(&model->strings, (uint32_t)attribute.value), error));
    return vv_draft_keep_other(reading->graph, draft->row, string, attribute, error);
}

/* {"key": "total_ns", "value": "12"} */
static enum varve_code read_pair(struct json_reading *reading, void *node,
                                 struct varve_error *error)
{
    struct vv_json *json = reading->json;
    struct draft *draft = node;
    char *key = NULL, *value = NULL;
    enum varve_code code;
    if (json->token != VV_JSON_OBJECT)
        return vv_fail_at(error, VARVE_CORRUPT, json->offset, "an attribute must be an object");
    while ((code = vv_json_next(json, error)) == VARVE_OK && json->token == VV_JSON_NAME) {
        char **text = vv_json_is(json, "key") ? &key : vv_json_is(json, "value") ? &value : NULL;
        code = vv_json_next(json, error);
        if (code == VARVE_OK && text != NULL && is_scalar(json->token) && *text == NULL) {
            size_t length;
            *text = strdup(text_of(json, &length));
            code = *text != NULL ? VARVE_OK : vv_fail(error, VARVE_NO_MEMORY, "no memory");
        } else if (code == VARVE_OK &&
                   (json->token == VV_JSON_OBJECT || json->token == VV_JSON_ARRAY)) {
            code = vv_json_skip(json, error);
        }
        if (code != VARVE_OK)
            break;
    }
    if (code == VARVE_OK && key != NULL && value != NULL)
        code = vv_draft_say_text(
            reading->graph,
            &(struct vv_graph_said){ draft->is_edge ? VV_OF_EDGE : VV_OF_NODE, draft->row, key,
                                     value, strlen(value) },
            json->offset, error);
    free(key);
    free(value);
    return code;
}

/* {"id": "1", "attrs": […]}: what is said of an edge that ends here, the one with this number. */
static enum varve_code read_input(struct json_reading *reading, void *node,
                                  struct varve_error *error)
{
    struct vv_json *json = reading->json;
    const struct draft *draft = node;
    struct draft edge = { .is_edge = true };
    uint64_t row = UINT64_MAX;
    enum varve_code code;
    if (json->token != VV_JSON_OBJECT)
        return vv_fail_at(error, VARVE_CORRUPT, json->offset, "metadata must be an object");
    while ((code = vv_json_next(json, error)) == VARVE_OK && json->token == VV_JSON_NAME) {
        bool is_id = vv_json_is(json, "id");
        if (!is_id && vv_json_is(json, "attrs") && row < reading->graph->dag.edges.table.count) {
            edge.row = (uint32_t)row;
            VV_TRY(read_array(reading, &edge, read_pair, error));
            continue;
        }
        if (!is_id)
            VV_TRY(vv_json_skip(json, error));
        else
            VV_TRY(vv_json_next(json, error));
        if (is_id && json->token == VV_JSON_STRING)
            row = draft->edges + strtoul(json->text, NULL, 10);
    }
    return code;
}

static enum varve_code read_id(struct json_reading *reading, struct draft *draft,
                               struct varve_error *error)
{
    size_t length;
    uint32_t id;
    VV_TRY(read_end(reading, &id, error));
    const char *text = text_of(reading->json, &length);
    draft->id = id;
    return vv_draft_set_id(reading->graph, draft->row, text, length, error);
}

/* In mlirgraph these must be whole numbers: a file in which they are not is another's. */
static enum varve_code check_time(const struct json_reading *reading, const char *key,
                                  struct varve_error *error)
{
    const struct vv_json *json = reading->json;
    bool is_time = strcmp(key, "ts") == 0 || strcmp(key, "duration") == 0;
    bool is_number = json->token == VV_JSON_INTEGER || json->token == VV_JSON_REAL;
    if (!reading->is_strict || !is_time || (is_number && strpbrk(json->text, ".eE") == NULL))
        return VARVE_OK;
    return vv_fail_at(error, VARVE_CORRUPT, json->offset,
                      "times and ids of nodes and edges must be whole numbers");
}

/* A member of a node, whose name was just read. */
static enum varve_code read_member(struct json_reading *reading, struct draft *draft,
                                   const char *key, struct varve_error *error)
{
    struct vv_json *json = reading->json;
    struct vv_graph_reading *graph = reading->graph;
    bool is_kept = false;
    if (strcmp(key, "attrs") == 0)
        return read_array(reading, draft, read_pair, error);
    if (strcmp(key, "incomingEdges") == 0) {
        draft->are_arriving = true;
        return read_array(reading, draft, read_edge, error);
    }
    if (strcmp(key, "inputsMetadata") == 0 && graph->is_ours)
        return read_array(reading, draft, read_input, error);
    VV_TRY(vv_json_next(json, error));
    if (strcmp(key, "id") == 0)
        return read_id(reading, draft, error);
    if (strcmp(key, "occurrences") == 0 && graph->is_ours)
        return vv_draft_read_occurrences(graph, draft->row, json, error);
    VV_TRY(check_time(reading, key, error));
    if (is_scalar(json->token)) {
        size_t length;
        const char *text = text_of(json, &length);
        bool is_space = strcmp(key, "namespace") == 0;
        const struct vv_graph_said said = { VV_OF_NODE, draft->row, is_space ? "module" : key,
                                            text, length };
        if (is_space && graph->is_ours)
            return VARVE_OK;
        VV_TRY(vv_draft_say(graph, &said, &is_kept, error));
    }
    return is_kept ? VARVE_OK : keep_other(reading, draft, key, error);
}

/* Edges that were read before the node's id learn it now. */
static void tell_edges(struct json_reading *reading, const struct draft *draft)
{
    struct vv_dag_edges *edges = &reading->graph->dag.edges;
    uint32_t *ends = draft->are_arriving ? edges->to : edges->from;
    for (uint64_t e = draft->edges; e < edges->table.count; e++)
        if (ends[e] == VV_NONE)
            ends[e] = draft->id;
}

/* A node that the end of the file cuts off is left out. */
static enum varve_code read_node(struct json_reading *reading, void *context,
                                 struct varve_error *error)
{
    struct vv_json *json = reading->json;
    struct draft draft = { .id = VV_NONE, .edges = reading->graph->dag.edges.table.count };
    char *key = NULL;
    enum varve_code code = VARVE_OK;
    (void)context;
    if (json->token != VV_JSON_OBJECT)
        return vv_fail_at(error, VARVE_CORRUPT, json->offset, "a node must be an object");
    VV_TRY(vv_draft_add_node(reading->graph, &draft.row, error));
    while (code == VARVE_OK && (code = vv_json_next(json, error)) == VARVE_OK &&
           json->token == VV_JSON_NAME) {
        key = strdup(json->text);
        code = key != NULL ? read_member(reading, &draft, key, error)
                           : vv_fail(error, VARVE_NO_MEMORY, "no memory for a name");
        free(key);
    }
    if (code == VARVE_TRUNCATED)
        vv_draft_take_back(reading->graph, draft.row, draft.edges);
    else
        tell_edges(reading, &draft);
    return code;
}

/* ---- the file ---- */

static enum varve_code read_graph(struct json_reading *reading, void *context,
                                  struct varve_error *error);

/* {"notes": […]}: what only Varve writes. */
static enum varve_code read_own(struct json_reading *reading, struct varve_error *error)
{
    struct vv_json *json = reading->json;
    VV_TRY(vv_json_next(json, error));
    if (json->token != VV_JSON_OBJECT)
        return json->token == VV_JSON_ARRAY ? vv_json_skip(json, error) : VARVE_OK;
    reading->graph->is_ours = true;
    for (;;) {
        VV_TRY(vv_json_next(json, error));
        if (json->token != VV_JSON_NAME)
            return VARVE_OK;
        bool is_notes = vv_json_is(json, "notes");
        if (!is_notes)
            VV_TRY(vv_json_skip(json, error));
        else
            VV_TRY(vv_json_next(json, error));
        if (is_notes)
            VV_TRY(vv_draft_read_notes(reading->graph, json, error));
    }
}

/* {"": {"varve": "[[…]]"}}: attributes by namespace. */
static enum varve_code read_group_attributes(struct json_reading *reading,
                                             struct varve_error *error)
{
    struct vv_json *json = reading->json;
    uint32_t outside = json->depth;
    do {
        VV_TRY(vv_json_next(json, error));
        if (json->token == VV_JSON_NAME && json->depth == outside + 2 &&
            vv_json_is(json, "varve")) {
            VV_TRY(vv_json_next(json, error));
            if (json->token == VV_JSON_STRING)
                VV_TRY(vv_draft_read_text(reading->graph, true, 0, json->text, json->offset,
                                          error));
        }
    } while (json->depth > outside);
    return VARVE_OK;
}

/* 1.x is read; of another the rules are not known. */
static enum varve_code check_version(const struct json_reading *reading, struct varve_error *error)
{
    const struct vv_json *json = reading->json;
    if (!reading->is_strict || json->token != VV_JSON_STRING || strncmp(json->text, "1.", 2) == 0 ||
        strcmp(json->text, "1") == 0)
        return VARVE_OK;
    (void)vv_fail_at(error, VARVE_UNSUPPORTED, json->offset,
                     "an operator graph of version '%.40s', but 1.x is what is read,", json->text);
    vv_error_add(error, "; write it as version 1.0.0");
    return vv_with_next(error, VV_NEXT_IS_SAID, VARVE_UNSUPPORTED);
}

static enum varve_code read_graph_member(struct json_reading *reading, const char *key,
                                         struct varve_error *error)
{
    struct vv_attribute value;
    if (strcmp(key, "nodes") == 0)
        return read_array(reading, NULL, read_node, error);
    if (strcmp(key, "edges") == 0 || strcmp(key, "links") == 0)
        return read_array(reading, NULL, read_edge, error);
    if (strcmp(key, "graphs") == 0 || strcmp(key, "subgraphs") == 0)
        return read_array(reading, NULL, read_graph, error);
    if (strcmp(key, "varve") == 0)
        return read_own(reading, error);
    if (strcmp(key, "groupNodeAttributes") == 0)
        return read_group_attributes(reading, error);
    VV_TRY(vv_json_next(reading->json, error));
    if (strcmp(key, "graph") == 0 && reading->json->token == VV_JSON_OBJECT)
        return read_graph(reading, reading, error);
    VV_TRY(check_version(reading, error));
    VV_TRY(vv_attribute_take(reading->json, reading->graph->model, &value, error));
    return vv_attribute_to_fact(reading->graph->model, VV_NONE, key, value, error);
}

/* An object with nodes, or one that holds such objects. `context`: it is a part of a graph. */
static enum varve_code read_graph(struct json_reading *reading, void *context,
                                  struct varve_error *error)
{
    struct vv_json *json = reading->json;
    enum varve_code code;
    if (json->token != VV_JSON_OBJECT)
        return vv_fail_at(error, VARVE_CORRUPT, json->offset, "a graph must be an object");
    while ((code = vv_json_next(json, error)) == VARVE_OK && json->token == VV_JSON_NAME) {
        char key[128];
        snprintf(key, sizeof key, "%s", json->text);
        VV_TRY(read_graph_member(reading, key, error));
    }
    return code == VARVE_OK && context == NULL ? vv_draft_close(reading->graph, error) : code;
}

enum varve_code vv_draft_read_json(struct vv_graph_reading *graph, struct vv_json *json,
                                   struct varve_error *error)
{
    struct json_reading reading = { .graph = graph, .json = json, .is_strict = graph->has_all_run };
    VV_TRY(vv_model_text(graph->model, "adj", &reading.adjacent, error));
    VV_TRY(vv_json_next(json, error));
    if (json->token == VV_JSON_ARRAY)
        for (;;) {
            VV_TRY(vv_json_next(json, error));
            if (json->token == VV_JSON_ARRAY_END)
                break;
            VV_TRY(read_graph(&reading, NULL, error));
        }
    else
        VV_TRY(read_graph(&reading, NULL, error));
    return vv_json_next(json, error);
}

/* ---- importers ---- */

static enum varve_code read_file(const struct vv_import_job *job, bool is_mlirgraph,
                                 struct varve_error *error)
{
    struct vv_graph_reading reading;
    struct vv_json json = { .token = VV_JSON_NONE };
    enum varve_code code = vv_graph_reading_begin(&reading, job, error);
    reading.has_all_run = reading.is_order = reading.is_simple = is_mlirgraph;
    if (code == VARVE_OK)
        code = vv_json_init_source(&json, vv_attribute_source, job->source, error);
    if (code == VARVE_OK)
        code = vv_draft_read_json(&reading, &json, error);
    vv_json_deinit(&json);
    return vv_graph_reading_end(&reading, code, error);
}

static enum varve_code read_mlirgraph(const struct vv_import_job *job, struct varve_error *error)
{
    return read_file(job, true, error);
}

static enum varve_code read_others(const struct vv_import_job *job, struct varve_error *error)
{
    return read_file(job, false, error);
}

static bool is_mlirgraph(const char *path, bool is_folder, const char *head, size_t head_bytes)
{
    (void)path;
    return !is_folder && form_of(head, head_bytes) == MLIRGRAPH;
}

static bool is_node_link(const char *path, bool is_folder, const char *head, size_t head_bytes)
{
    (void)path;
    return !is_folder && form_of(head, head_bytes) == NODE_LINK;
}

static bool is_model_explorer(const char *path, bool is_folder, const char *head, size_t head_bytes)
{
    (void)path;
    return !is_folder && form_of(head, head_bytes) == MODEL_EXPLORER;
}

const struct vv_importer vv_importer_mlirgraph = {
    .name = "mlirgraph",
    .title = "operator graph JSON",
    .probe = is_mlirgraph,
    .read = read_mlirgraph,
};

const struct vv_importer vv_importer_node_link = {
    .name = "node_link",
    .title = "node-link JSON",
    .probe = is_node_link,
    .read = read_others,
};

const struct vv_importer vv_importer_model_explorer = {
    .name = "model_explorer",
    .title = "Model Explorer JSON",
    .probe = is_model_explorer,
    .read = read_others,
};
