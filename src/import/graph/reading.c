/* SPDX-License-Identifier: Apache-2.0 */
/* reading.c — the rows of a graph while its file is read: nodes, edges and what is said of them. */
#include "import/graph/reading.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text/counted.h"
#include "import/rows/extent.h"

#define PS_PER_NS 1000
#define CHECK_EACH_ROWS 1024u
#define NODE_BYTES 200 /* of a row, about                                                        */
#define EDGE_BYTES 40

enum varve_code vv_graph_reading_begin(struct vv_graph_reading *reading,
                                       const struct vv_import_job *job, struct varve_error *error)
{
    memset(reading, 0, sizeof *reading);
    reading->job = job;
    reading->model = job->model;
    VV_TRY(vv_intern_init(&reading->ids, error));
    return vv_dag_init(&reading->dag, error);
}

void vv_graph_reading_free(struct vv_graph_reading *reading)
{
    vv_dag_deinit(&reading->dag);
    vv_intern_deinit(&reading->ids);
    free(reading->rows.items);
    free(reading->nodes.items);
    free(reading->others.items);
    memset(reading, 0, sizeof *reading);
}

/* Nothing of the graph is in the model yet, but counts as if it were. */
static enum varve_code check_memory(const struct vv_graph_reading *reading,
                                    struct varve_error *error)
{
    const struct vv_dag *dag = &reading->dag;
    uint64_t rows = dag->nodes.table.count + dag->edges.table.count;
    if (rows % CHECK_EACH_ROWS != 0)
        return VARVE_OK;
    uint64_t bytes = dag->nodes.table.capacity * NODE_BYTES +
                     dag->edges.table.capacity * EDGE_BYTES + reading->ids.text.allocated_bytes;
    return vv_model_hold(reading->model, vv_model_bytes(reading->model) + bytes, error);
}

enum varve_code vv_draft_add_node(struct vv_graph_reading *reading, uint32_t *out_row,
                                  struct varve_error *error)
{
    uint64_t count = reading->dag.nodes.table.count;
    VV_TRY(vv_array_reserve(&reading->nodes.items, &reading->nodes.capacity, count + 1,
                            sizeof *reading->nodes.items, error));
    VV_TRY(vv_dag_add_node(&reading->dag, NULL, VV_DAG_OTHER, out_row, error));
    reading->nodes.items[count] = (struct vv_graph_node){ VV_NONE, 0 };
    return check_memory(reading, error);
}

enum varve_code vv_draft_id(struct vv_graph_reading *reading, const char *text, size_t length,
                            uint32_t *out_id, struct varve_error *error)
{
    VV_TRY(vv_intern_add(&reading->ids, text, length, out_id, error));
    VV_TRY(vv_array_reserve(&reading->rows.items, &reading->rows.capacity, reading->ids.count,
                            sizeof *reading->rows.items, error));
    while (reading->rows.count < reading->ids.count)
        reading->rows.items[reading->rows.count++] = VV_NONE;
    return VARVE_OK;
}

enum varve_code vv_draft_set_id(struct vv_graph_reading *reading, uint32_t row, const char *text,
                                size_t length, struct varve_error *error)
{
    uint32_t id;
    VV_TRY(vv_draft_id(reading, text, length, &id, error));
    reading->nodes.items[row].id = id;
    if (reading->rows.items[id] == VV_NONE)
        reading->rows.items[id] = row;
    else
        reading->double_ids += reading->rows.items[id] != row;
    return VARVE_OK;
}

enum varve_code vv_draft_node_of(struct vv_graph_reading *reading, const char *text, size_t length,
                                 uint32_t *out_row, struct varve_error *error)
{
    uint32_t id;
    VV_TRY(vv_draft_id(reading, text, length, &id, error));
    if (reading->rows.items[id] == VV_NONE) {
        VV_TRY(vv_draft_add_node(reading, out_row, error));
        return vv_draft_set_id(reading, *out_row, text, length, error);
    }
    *out_row = reading->rows.items[id];
    return VARVE_OK;
}

enum varve_code vv_draft_add_edge(struct vv_graph_reading *reading, uint32_t from_id,
                                  uint32_t to_id, uint32_t *out_row, struct varve_error *error)
{
    VV_TRY(vv_dag_add_edge(&reading->dag, from_id, to_id,
                           reading->is_order ? VV_DAG_EDGE_ORDER : VV_DAG_EDGE_DATA, out_row,
                           error));
    return check_memory(reading, error);
}

void vv_draft_take_back(struct vv_graph_reading *reading, uint32_t row, uint64_t edges)
{
    struct vv_dag *dag = &reading->dag;
    for (uint64_t last = dag->nodes.table.count; last > row; last--) {
        uint32_t id = reading->nodes.items[last - 1].id;
        if (id != VV_NONE && reading->rows.items[id] == last - 1)
            reading->rows.items[id] = VV_NONE;
        if (dag->nodes.occurrence_count[last - 1] > 0)
            dag->occurrences.table.count = dag->nodes.first_occurrence[last - 1];
    }
    while (reading->others.count > 0 && reading->others.items[reading->others.count - 1].row >= row)
        reading->others.count--;
    dag->nodes.table.count = row;
    dag->edges.table.count = edges;
}

/* ---- times ---- */

/* Whole picoseconds have more digits than 64 bits hold. */
static bool whole_ps(const char *digits, size_t length, bool is_negative, int64_t *out_ns,
                     uint16_t *out_rest_ps)
{
    char ns_text[24] = "0", rest_text[4] = "";
    size_t rest = length < 3 ? length : 3;
    if (length - rest >= sizeof ns_text)
        return false;
    if (length > rest)
        snprintf(ns_text, sizeof ns_text, "%.*s", (int)(length - rest), digits);
    memcpy(rest_text, digits + length - rest, rest);
    errno = 0;
    int64_t ns = strtoll(ns_text, NULL, 10);
    int rest_ps = (int)strtol(rest_text, NULL, 10);
    if (errno != 0)
        return false;
    if (is_negative && rest_ps > 0) {
        ns = -ns - 1;
        rest_ps = PS_PER_NS - rest_ps;
    } else if (is_negative) {
        ns = -ns;
    }
    *out_ns = ns;
    *out_rest_ps = (uint16_t)rest_ps;
    return true;
}

/* ns and ps of a text that holds a number of `unit_ps`; false: it is none that fits. */
static bool read_time(const char *text, int64_t unit_ps, int64_t *out_ns, uint16_t *out_rest_ps)
{
    bool is_negative = text[0] == '-';
    const char *digits = text + is_negative;
    size_t length = strspn(digits, "0123456789");
    char *end;
    if (length == 0)
        return false;
    if (digits[length] == '\0' && unit_ps == 1)
        return whole_ps(digits, length, is_negative, out_ns, out_rest_ps);
    if (digits[length] == '\0' && unit_ps == PS_PER_NS) {
        errno = 0;
        *out_ns = strtoll(text, NULL, 10);
        *out_rest_ps = 0;
        return errno == 0;
    }
    long double ps = strtold(text, &end) * (long double)unit_ps, ns = floorl(ps / PS_PER_NS);
    if (*end != '\0' || !(ns > -9.2e18L && ns < 9.2e18L))
        return false;
    *out_ns = (int64_t)ns;
    int rest_ps = (int)(ps - ns * PS_PER_NS);
    *out_rest_ps = (uint16_t)(rest_ps < 0 ? 0 : rest_ps < PS_PER_NS ? rest_ps : PS_PER_NS - 1);
    return true;
}

/* The words that programs have for times, with or without a unit behind: "dur", "time_us". In
 * mlirgraph, and in what comes of it, a bare "ts" or "duration" is in picoseconds. */
static const struct { const char *word; bool is_begin; int64_t bare_ps; } time_words[] = {
    { "ts", true, 1 },       { "begin", true, PS_PER_NS },  { "start", true, PS_PER_NS },
    { "timestamp", true, PS_PER_NS },
    { "duration", false, 1 }, { "dur", false, PS_PER_NS },  { "time", false, PS_PER_NS },
    { "total", false, PS_PER_NS }, { "total_time", false, PS_PER_NS },
};
static const struct { const char *end; int64_t ps; } units[] = {
    { "_ps", 1 }, { "_ns", PS_PER_NS }, { "_us", 1000000 }, { "_ms", 1000000000 },
    { "_s", INT64_C(1000000000000) },
};

static bool find_time(struct vv_graph_reading *reading, const char *key, bool *out_is_begin,
                      int64_t *out_unit_ps)
{
    size_t length = strlen(key);
    *out_unit_ps = 0;
    for (size_t u = 0; u < sizeof units / sizeof *units; u++) {
        size_t end = strlen(units[u].end);
        if (length > end && strcmp(key + length - end, units[u].end) == 0) {
            *out_unit_ps = units[u].ps;
            length -= end;
            break;
        }
    }
    for (size_t w = 0; w < sizeof time_words / sizeof *time_words; w++) {
        if (!vv_text_is(key, length, time_words[w].word))
            continue;
        *out_is_begin = time_words[w].is_begin;
        if (*out_unit_ps == 0) {
            *out_unit_ps = time_words[w].bare_ps;
            reading->has_bare_unit |= *out_unit_ps != 1;
        }
        return true;
    }
    return false;
}

static bool say_time(struct vv_graph_reading *reading, const struct vv_graph_said *said)
{
    struct vv_dag_nodes *nodes = &reading->dag.nodes;
    bool is_begin = false;
    int64_t unit_ps, ns;
    uint16_t rest_ps;
    if (reading->is_ours || said->of != VV_OF_NODE ||
        !find_time(reading, said->key, &is_begin, &unit_ps) ||
        !read_time(said->text, unit_ps, &ns, &rest_ps))
        return false;
    uint8_t *flags = &reading->nodes.items[said->row].flags;
    if (is_begin) {
        nodes->begin_ns[said->row] = ns;
        nodes->begin_rest_ps[said->row] = rest_ps;
        *flags |= VV_GRAPH_HAS_BEGIN;
    } else if (ns < 0) {
        *flags |= VV_GRAPH_NEGATIVE | VV_GRAPH_HAS_TIME;
    } else {
        nodes->total_ns[said->row] = ns;
        nodes->total_rest_ps[said->row] = rest_ps;
        *flags |= VV_GRAPH_HAS_TIME;
    }
    return true;
}

/* ---- members ---- */

static void mark(struct vv_graph_reading *reading, const struct vv_graph_said *said)
{
    static const struct { const char *key; uint8_t flag; } marks[] = {
        { "name", VV_GRAPH_HAS_NAME }, { "count", VV_GRAPH_HAS_COUNT },
        { "begin_ns", VV_GRAPH_HAS_BEGIN }, { "total_ns", VV_GRAPH_HAS_TIME },
    };
    for (size_t i = 0; i < sizeof marks / sizeof *marks && said->of == VV_OF_NODE; i++)
        if (strcmp(said->key, marks[i].key) == 0)
            reading->nodes.items[said->row].flags |= marks[i].flag;
    reading->said_kinds += said->of == VV_OF_EDGE && strcmp(said->key, "kind") == 0;
}

/* A label is a name, if there is no better one. */
static enum varve_code say_label(struct vv_graph_reading *reading, const struct vv_graph_said *said,
                                 bool *out_is_kept, struct varve_error *error)
{
    uint8_t *flags = &reading->nodes.items[said->row].flags;
    *out_is_kept = true;
    if (*flags & VV_GRAPH_HAS_NAME)
        return VARVE_OK;
    *flags |= VV_GRAPH_HAS_LABEL;
    return vv_dag_text_of(&reading->dag, said->text, said->length,
                          &reading->dag.nodes.name[said->row], error);
}

enum varve_code vv_draft_say(struct vv_graph_reading *reading, const struct vv_graph_said *said,
                             bool *out_is_kept, struct varve_error *error)
{
    struct vv_member_cell cell = {
        said->of, vv_dag_find_member(said->of, said->key, &reading->hints[said->of]), said->row
    };
    *out_is_kept = say_time(reading, said);
    if (*out_is_kept)
        return VARVE_OK;
    if (said->of == VV_OF_NODE && strcmp(said->key, "label") == 0)
        return say_label(reading, said, out_is_kept, error);
    if (cell.member == NULL)
        return VARVE_OK;
    if (cell.member->kind == VV_MEMBER_NODE) { /* until the end, an id */
        *out_is_kept = true;
        return vv_draft_id(reading, said->text, said->length,
                           &reading->dag.nodes.parent[said->row], error);
    }
    VV_TRY(vv_dag_member_set(&reading->dag, cell, said->text, said->length, out_is_kept, error));
    if (*out_is_kept)
        mark(reading, said);
    return VARVE_OK;
}

enum varve_code vv_draft_keep_other(struct vv_graph_reading *reading, uint32_t row, uint32_t key,
                                    struct vv_attribute attribute, struct varve_error *error)
{
    size_t count = reading->others.count;
    VV_TRY(vv_array_reserve(&reading->others.items, &reading->others.capacity, count + 1,
                            sizeof *reading->others.items, error));
    reading->others.items[reading->others.count++] =
        (struct vv_graph_other){ row, key, attribute };
    return VARVE_OK;
}

enum varve_code vv_draft_say_text(struct vv_graph_reading *reading,
                                  const struct vv_graph_said *said, uint64_t offset,
                                  struct varve_error *error)
{
    bool is_kept;
    uint32_t key, value;
    if (reading->is_ours && said->of == VV_OF_NODE && strcmp(said->key, "occurrences") == 0)
        return vv_draft_read_text(reading, false, said->row, said->text, offset, error);
    VV_TRY(vv_draft_say(reading, said, &is_kept, error));
    if (is_kept || reading->is_ours || said->of == VV_OF_EDGE)
        return VARVE_OK;
    VV_TRY(vv_model_add_text(reading->model, said->key, strlen(said->key), &key, error));
    VV_TRY(vv_model_add_text(reading->model, said->text, said->length, &value, error));
    return vv_draft_keep_other(reading, said->row, key, vv_attribute_text(value), error);
}

/* ---- lists ---- */

/* Reads [a,b,…] whose first token is the current one: at most `count` values, numbers or texts. */
static enum varve_code read_row(struct vv_json *json, size_t count, char **out_values,
                                struct varve_error *error)
{
    size_t found = 0;
    enum varve_code code = VARVE_OK;
    memset(out_values, 0, count * sizeof *out_values);
    if (json->token != VV_JSON_ARRAY)
        code = vv_fail_at(error, VARVE_CORRUPT, json->offset, "expected an array");
    while (code == VARVE_OK && (code = vv_json_next(json, error)) == VARVE_OK &&
           json->token != VV_JSON_ARRAY_END) {
        bool is_value = json->token == VV_JSON_INTEGER || json->token == VV_JSON_REAL ||
                        json->token == VV_JSON_STRING;
        if (!is_value || found == count)
            code = vv_fail_at(error, VARVE_CORRUPT, json->offset, "expected %zu values", count);
        else if ((out_values[found++] = strdup(json->text)) == NULL)
            code = vv_fail(error, VARVE_NO_MEMORY, "no memory for a value");
    }
    if (code == VARVE_OK && found < count)
        code = vv_fail_at(error, VARVE_CORRUPT, json->offset, "expected %zu values", count);
    return code;
}

static void free_row(char **values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(values[i]);
}

/* The texts of a step, a count and ns. A negative count is refused later. */
static enum varve_code add_occurrence(struct vv_graph_reading *reading, uint32_t row,
                                      char *const *values, uint64_t offset,
                                      struct varve_error *error)
{
    int64_t numbers[3];
    for (size_t i = 0; i < 3; i++) {
        char *end;
        errno = 0;
        numbers[i] = strtoll(values[i], &end, 10);
        if (errno != 0 || end == values[i] || *end != '\0')
            return vv_fail_at(error, VARVE_CORRUPT, offset,
                              "an occurrence is three whole numbers of less than 2^63");
    }
    return vv_dag_add_occurrence(&reading->dag, row, numbers[0], (uint64_t)numbers[1], numbers[2],
                                 error);
}

enum varve_code vv_draft_read_occurrences(struct vv_graph_reading *reading, uint32_t row,
                                          struct vv_json *json, struct varve_error *error)
{
    enum varve_code code = VARVE_OK;
    if (json->token != VV_JSON_ARRAY || reading->dag.nodes.occurrence_count[row] > 0)
        return vv_fail_at(error, VARVE_CORRUPT, json->offset, "expected one array of occurrences");
    while (code == VARVE_OK && (code = vv_json_next(json, error)) == VARVE_OK &&
           json->token != VV_JSON_ARRAY_END) {
        char *values[3];
        uint64_t offset = json->offset;
        code = read_row(json, 3, values, error);
        if (code == VARVE_OK)
            code = add_occurrence(reading, row, values, offset, error);
        free_row(values, 3);
    }
    return code;
}

enum varve_code vv_draft_read_notes(struct vv_graph_reading *reading, struct vv_json *json,
                                    struct varve_error *error)
{
    enum varve_code code = VARVE_OK;
    if (json->token != VV_JSON_ARRAY)
        return vv_fail_at(error, VARVE_CORRUPT, json->offset, "expected an array of notes");
    while (code == VARVE_OK && (code = vv_json_next(json, error)) == VARVE_OK &&
           json->token != VV_JSON_ARRAY_END) {
        char *values[2];
        code = read_row(json, 2, values, error);
        if (code == VARVE_OK)
            code = vv_dag_add_note(&reading->dag, values[0], values[1], error);
        free_row(values, 2);
    }
    return code;
}

enum varve_code vv_draft_read_text(struct vv_graph_reading *reading, bool is_notes, uint32_t row,
                                   const char *text, uint64_t offset, struct varve_error *error)
{
    struct vv_json json;
    vv_json_init_text(&json, text, strlen(text));
    json.window_offset += offset;
    enum varve_code code = vv_json_next(&json, error);
    if (code == VARVE_OK)
        code = is_notes ? vv_draft_read_notes(reading, &json, error)
                        : vv_draft_read_occurrences(reading, row, &json, error);
    reading->is_ours |= is_notes && code == VARVE_OK;
    vv_json_deinit(&json);
    return code == VARVE_TRUNCATED ? vv_fail_at(error, VARVE_CORRUPT, offset,
                                                "a list of JSON ends too early")
                                   : code;
}

/* ---- the file ---- */

enum varve_code vv_draft_read_all(const struct vv_import_job *job, char **out_text,
                                  size_t *out_length, bool *out_is_cut, struct varve_error *error)
{
    char *text = NULL;
    size_t length = 0, capacity = 0, bytes = 1;
    enum varve_code code = VARVE_OK;
    while (code == VARVE_OK && bytes > 0) {
        code = vv_array_reserve(&text, &capacity, length + VV_SOURCE_HEAD_BYTES + 1, 1, error);
        if (code == VARVE_OK)
            code = vv_source_read(job->source, text + length, capacity - length - 1, &bytes, error);
        length += code == VARVE_OK ? bytes : 0;
        if (code == VARVE_OK)
            code = vv_source_may_hold(job->source, length, job->options->max_memory_bytes, error);
    }
    *out_is_cut = code == VARVE_TRUNCATED;
    if (code != VARVE_OK && (code != VARVE_TRUNCATED || text == NULL)) {
        free(text);
        return code;
    }
    text[length] = '\0';
    *out_text = text;
    *out_length = length;
    return VARVE_OK;
}
