/* SPDX-License-Identifier: Apache-2.0 */
/* read.c — the nodes of an execution trace. Schema 1.1.1 and 1.0.2 have "inputs": {"values": […],
 * "shapes": […], "types": […]} and a list "attrs" of names and values. Schema 1.0.1 has "inputs",
 * "input_shapes" and "input_types", and the attributes as members. Both are read everywhere. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/radix.h"
#include "import/torch/execution_trace.h"

/* A node while it is read. Lists are known when it ends. */
struct draft {
    struct vv_et_node node;
    struct vv_et_lists inputs, outputs;
    char *schema;
    bool has_id;
};

static void forget(struct draft *draft)
{
    struct vv_et_lists *const sides[] = { &draft->inputs, &draft->outputs };
    for (size_t i = 0; i < sizeof sides / sizeof *sides; i++) {
        free(sides[i]->values);
        free(sides[i]->shapes);
        free(sides[i]->types);
    }
    free(draft->schema);
}

/* ---- members ---- */

/* Where a list goes, by the name of its member; NULL: it is no list that is read. */
static char **list_of(struct draft *draft, const char *name)
{
    const struct { const char *name; char **list; } lists[] = {
        { "inputs", &draft->inputs.values },
        { "input_shapes", &draft->inputs.shapes },
        { "input_types", &draft->inputs.types },
        { "outputs", &draft->outputs.values },
        { "output_shapes", &draft->outputs.shapes },
        { "output_types", &draft->outputs.types },
    };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (strcmp(lists[i].name, name) == 0)
            return lists[i].list;
    return NULL;
}

static enum varve_code take_list(struct vv_json *json, char **list, struct varve_error *error)
{
    if (json->token != VV_JSON_ARRAY)
        return vv_fail_at(error, VARVE_CORRUPT, json->offset, "inputs and outputs must be arrays");
    free(*list);
    *list = NULL;
    return vv_attribute_json_text(json, list, error);
}

/* {"values": […], "shapes": […], "types": […]}, whose bracket was just read. */
static enum varve_code take_lists(struct vv_json *json, struct vv_et_lists *lists,
                                  struct varve_error *error)
{
    for (;;) {
        VV_TRY(vv_json_next(json, error));
        if (json->token == VV_JSON_OBJECT_END)
            return VARVE_OK;
        char **list = vv_json_is(json, "values")   ? &lists->values
                      : vv_json_is(json, "shapes") ? &lists->shapes
                      : vv_json_is(json, "types")  ? &lists->types
                                                   : NULL;
        if (list == NULL) {
            VV_TRY(vv_json_skip(json, error)); /* the name, with its value */
            continue;
        }
        VV_TRY(vv_json_next(json, error));
        VV_TRY(take_list(json, list, error));
    }
}

/* Numbers beyond int64 are not believed. */
static void take_number(const struct vv_json *json, uint64_t *out_number)
{
    if (json->token == VV_JSON_INTEGER && json->integer >= 0)
        *out_number = (uint64_t)json->integer;
}

/* A single value: an attribute, or a member in schema 1.0.1. */
static enum varve_code take_value(struct draft *draft, const char *name, struct vv_json *json,
                                  struct varve_error *error)
{
    struct vv_et_node *node = &draft->node;
    const struct { const char *name; uint64_t *number; } numbers[] = {
        { "rf_id", &node->rf_id },       { "tid", &node->tid },   { "fw_tid", &node->fw_tid },
        { "ctrl_deps", &node->parent }, { "parent", &node->parent },
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (strcmp(numbers[i].name, name) == 0)
            take_number(json, numbers[i].number);
    if (strcmp(name, "seq_id") == 0 && json->token == VV_JSON_INTEGER)
        node->sequence = json->integer;
    if (strcmp(name, "scope") == 0 && json->token == VV_JSON_INTEGER && json->integer >= 0 &&
        json->integer < UINT8_MAX)
        node->scope = (uint8_t)json->integer;
    node->is_collective |= strcmp(name, "collective_name") == 0;
    if (strcmp(name, "op_schema") == 0 && json->token == VV_JSON_STRING && draft->schema == NULL) {
        draft->schema = strdup(json->text);
        if (draft->schema == NULL)
            VV_FAIL(error, VARVE_NO_MEMORY, "no memory for an operator's schema");
    }
    return VARVE_OK;
}

/* Reads a value that is no list: the value of an array or object is passed over. */
static enum varve_code pass_value(struct vv_json *json, struct varve_error *error)
{
    bool is_nested = json->token == VV_JSON_ARRAY || json->token == VV_JSON_OBJECT;
    return is_nested ? vv_json_skip(json, error) : VARVE_OK;
}

/* {"name": "rf_id", "type": "uint64", "value": 4}, in this order. */
static enum varve_code take_attribute(struct draft *draft, struct vv_json *json,
                                      struct varve_error *error)
{
    char name[40] = "";
    for (;;) {
        VV_TRY(vv_json_next(json, error));
        if (json->token == VV_JSON_OBJECT_END)
            return VARVE_OK;
        bool is_name = vv_json_is(json, "name"), is_value = vv_json_is(json, "value");
        VV_TRY(vv_json_next(json, error));
        if (is_name && json->token == VV_JSON_STRING)
            snprintf(name, sizeof name, "%s", json->text);
        else if (is_value)
            VV_TRY(take_value(draft, name, json, error));
        VV_TRY(pass_value(json, error));
    }
}

static enum varve_code take_attributes(struct draft *draft, struct vv_json *json,
                                       struct varve_error *error)
{
    if (json->token != VV_JSON_ARRAY)
        return pass_value(json, error);
    for (;;) {
        VV_TRY(vv_json_next(json, error));
        if (json->token == VV_JSON_ARRAY_END)
            return VARVE_OK;
        if (json->token == VV_JSON_OBJECT)
            VV_TRY(take_attribute(draft, json, error));
        else
            VV_TRY(pass_value(json, error));
    }
}

/* A member of a node, whose name was just read. */
static enum varve_code take_member(struct vv_et *trace, struct draft *draft,
                                   struct varve_error *error)
{
    struct vv_json *json = &trace->json;
    char name[40];
    snprintf(name, sizeof name, "%s", json->text);
    char **list = list_of(draft, name);
    VV_TRY(vv_json_next(json, error));
    if (strcmp(name, "id") == 0) {
        if (json->token != VV_JSON_INTEGER || json->integer < 0)
            return vv_fail_at(error, VARVE_CORRUPT, json->offset,
                              "the id of a node must be a whole number");
        draft->node.id = (uint64_t)json->integer;
        draft->has_id = true;
        return VARVE_OK;
    }
    if (strcmp(name, "name") == 0 && json->token == VV_JSON_STRING)
        return vv_model_add_text(trace->model, json->text, json->length, &draft->node.name, error);
    if (strcmp(name, "attrs") == 0)
        return take_attributes(draft, json, error);
    if (list != NULL && json->token == VV_JSON_OBJECT)
        return take_lists(json, name[0] == 'i' ? &draft->inputs : &draft->outputs, error);
    if (list != NULL)
        return take_list(json, list, error);
    VV_TRY(take_value(draft, name, json, error));
    return pass_value(json, error);
}

/* ---- nodes ---- */

/* The largest id of the node itself, and of what it gives back. */
static uint64_t last_id(const struct vv_et *trace, const struct vv_et_node *node)
{
    uint64_t last = node->id;
    for (uint32_t i = node->inputs; i < node->inputs + node->outputs; i++) {
        uint64_t storage = trace->tensors.items[node->first_tensor + i].storage;
        last = storage > last ? storage : last;
    }
    return last;
}

static enum varve_code end_node(struct vv_et *trace, struct draft *draft, struct varve_error *error)
{
    struct vv_et_node *node = &draft->node;
    if (!draft->has_id)
        return vv_fail_at(error, VARVE_CORRUPT, trace->json.offset, "a node without an id");
    node->first_tensor = (uint32_t)trace->tensors.count;
    VV_TRY(vv_et_add_tensors(trace, &draft->inputs, &node->inputs, error));
    VV_TRY(vv_et_add_tensors(trace, &draft->outputs, &node->outputs, error));
    node->written = vv_et_written(draft->schema != NULL ? draft->schema : "",
                                  vv_intern_text(&trace->model->strings, node->name));
    node->end = last_id(trace, node);
    VV_TRY(vv_array_reserve(&trace->nodes.items, &trace->nodes.capacity, trace->nodes.count + 1,
                            sizeof *node, error));
    trace->nodes.items[trace->nodes.count++] = *node;
    return VARVE_OK;
}

static enum varve_code read_node(struct vv_et *trace, struct varve_error *error)
{
    struct draft draft = { .node.sequence = -1 };
    enum varve_code code = vv_json_next(&trace->json, error);
    while (code == VARVE_OK && trace->json.token == VV_JSON_NAME) {
        code = take_member(trace, &draft, error);
        if (code == VARVE_OK)
            code = vv_json_next(&trace->json, error);
    }
    if (code == VARVE_OK)
        code = end_node(trace, &draft, error);
    forget(&draft);
    return code;
}

static enum varve_code read_nodes(struct vv_et *trace, struct varve_error *error)
{
    struct vv_json *json = &trace->json;
    if (json->token != VV_JSON_ARRAY)
        return vv_fail_at(error, VARVE_CORRUPT, json->offset, "\"nodes\" must be an array");
    for (;;) {
        VV_TRY(vv_json_next(json, error));
        if (json->token == VV_JSON_ARRAY_END)
            return VARVE_OK;
        if (json->token != VV_JSON_OBJECT)
            return vv_fail_at(error, VARVE_CORRUPT, json->offset, "a node must be an object");
        VV_TRY(read_node(trace, error));
    }
}

/* ---- the file ---- */

static enum varve_code read_fact(struct vv_et *trace, const char *name, struct varve_error *error)
{
    struct vv_attribute value;
    char key[80];
    uint32_t string;
    if (strcmp(name, "pid") == 0 && trace->json.token == VV_JSON_INTEGER)
        trace->pid = trace->json.integer;
    snprintf(key, sizeof key, "execution trace: %s", name);
    VV_TRY(vv_attribute_take(&trace->json, trace->model, &value, error));
    VV_TRY(vv_model_text(trace->model, key, &string, error));
    return vv_attribute_list_add(&trace->facts, string, value, error);
}

static enum varve_code read_members(struct vv_et *trace, struct varve_error *error)
{
    struct vv_json *json = &trace->json;
    VV_TRY(vv_json_next(json, error));
    for (;;) {
        char name[40];
        VV_TRY(vv_json_next(json, error));
        if (json->token != VV_JSON_NAME)
            break;
        snprintf(name, sizeof name, "%s", json->text);
        VV_TRY(vv_json_next(json, error));
        if (strcmp(name, "nodes") == 0)
            VV_TRY(read_nodes(trace, error));
        else
            VV_TRY(read_fact(trace, name, error));
    }
    return vv_json_next(json, error); /* nothing follows */
}

/* Puts nodes in order of their ids. Of two with one id the first in the file stays. */
static enum varve_code put_in_order(struct vv_et *trace, struct varve_error *error)
{
    size_t count = trace->nodes.count, kept = 0;
    struct vv_keyed_row *order = malloc((count + 1) * sizeof *order);
    struct vv_et_node *nodes = malloc((count + 1) * sizeof *nodes);
    enum varve_code code = VARVE_OK;
    if (order == NULL || nodes == NULL)
        code = vv_fail(error, VARVE_NO_MEMORY, "no memory for %zu nodes", count);
    for (size_t i = 0; i < count && code == VARVE_OK; i++)
        order[i] = (struct vv_keyed_row){ trace->nodes.items[i].id, (uint32_t)i };
    if (code == VARVE_OK)
        code = vv_radix_sort(order, count, error);
    for (size_t i = 0; i < count && code == VARVE_OK; i++)
        if (i == 0 || order[i].key != order[i - 1].key)
            nodes[kept++] = trace->nodes.items[order[i].row];
    free(order);
    if (code != VARVE_OK) {
        free(nodes);
        return code;
    }
    trace->model->health.ignored += count - kept;
    free(trace->nodes.items);
    trace->nodes.items = nodes;
    trace->nodes.count = kept;
    trace->nodes.capacity = count + 1;
    return VARVE_OK;
}

enum varve_code vv_et_read(struct vv_et *trace, struct varve_error *error)
{
    enum varve_code code =
        vv_json_init_source(&trace->json, vv_attribute_source, trace->job->source, error);
    if (code == VARVE_OK)
        code = read_members(trace, error);
    if (code == VARVE_TRUNCATED) {
        trace->is_cut = true;
        code = VARVE_OK;
    }
    vv_json_deinit(&trace->json);
    if (code == VARVE_OK)
        code = put_in_order(trace, error);
    return code == VARVE_OK ? vv_et_find_made(trace, error) : code;
}

void vv_et_deinit(struct vv_et *trace)
{
    free(trace->nodes.items);
    free(trace->tensors.items);
    free(trace->dims.items);
    free(trace->text.items);
    vv_attribute_list_deinit(&trace->facts);
}

bool vv_et_is_place(const struct vv_et *trace, const struct vv_et_node *node)
{
    const char *name = vv_intern_text(&trace->model->strings, node->name);
    return node->rf_id == 0 && name[0] == '[';
}
