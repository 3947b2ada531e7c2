/* SPDX-License-Identifier: Apache-2.0 */
/* dot.c — reads graphs as DOT, which Varve, Graphviz and NetworkX write: nodes, edges, attributes
 * and subgraphs. Defaults of nodes and edges are about pictures, and left out. A node is in the
 * cluster in which it is named first. doc/formats.md. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "import/graph/dot_words.h"
#include "import/graph/reading.h"

#define DEPTH_MAX 256u /* as deep as XML and JSON may be */
#define EDGES_OF_ONE_MAX 1000000u /* of a statement that joins subgraphs                        */
#define SHARED_MAX 100000000u     /* attributes times the edges that they are of, in a file     */

struct dot_reading {
    struct vv_graph_reading *graph;
    struct vv_dot_words words;
    VV_ARRAY_OF(uint32_t) named; /* rows of nodes, in order of their names in the text          */
    unsigned depth;
    uint32_t cluster;            /* string in the dag, or 0                                     */
    uint32_t new_node;           /* row that this statement has made, or VV_NONE                */
    uint64_t whole_edges;        /* those of earlier statements                                 */
    uint64_t shared;             /* attributes times the edges that they are of                 */
};

static enum varve_code next(struct dot_reading *reading, struct varve_error *error)
{
    return vv_dot_next(&reading->words, error);
}

static bool is_sign(const struct dot_reading *reading, char sign)
{
    return reading->words.token == VV_DOT_SIGN && reading->words.sign == sign;
}

/* The text is whole, and this is not what comes next. */
static enum varve_code wanted(const struct dot_reading *reading, const char *what,
                              struct varve_error *error)
{
    if (reading->words.token == VV_DOT_END)
        return vv_fail_at(error, VARVE_TRUNCATED, reading->words.offset,
                          "the DOT text ends too early");
    return vv_fail_at(error, VARVE_CORRUPT, reading->words.offset, "expected %s", what);
}

/* ---- attributes ---- */

/* What attributes are of: a node, the edges from `first` on, the graph, or nothing that counts. */
struct owner {
    enum { OF_GRAPH, OF_NODE, OF_EDGES, OF_NOTHING } kind;
    uint64_t first, limit;
};

static enum varve_code say(struct dot_reading *reading, const struct owner *owner, const char *key,
                           uint64_t offset, struct varve_error *error)
{
    const struct vv_dot_words *words = &reading->words;
    struct vv_graph_reading *graph = reading->graph;
    if (owner->kind == OF_GRAPH && reading->depth == 1 && strcmp(key, "varve") == 0 &&
        words->text[0] == '[')
        return vv_draft_read_text(graph, true, 0, words->text, offset, error);
    if (owner->kind == OF_GRAPH && reading->depth > 1 && strcmp(key, "label") == 0)
        return vv_dag_text_of(&graph->dag, words->text, words->length, &reading->cluster, error);
    if (owner->limit > owner->first + 1) /* `{a b} -> {c d} [x=y]` is short, and says much */
        reading->shared += owner->limit - owner->first;
    if (reading->shared > SHARED_MAX)
        return vv_fail_at(error, VARVE_LIMIT, offset,
                          "more than %u attributes of edges between subgraphs", SHARED_MAX);
    for (uint64_t row = owner->first;
         row < owner->limit && (owner->kind == OF_NODE || owner->kind == OF_EDGES); row++) {
        const struct vv_graph_said said = { owner->kind == OF_NODE ? VV_OF_NODE : VV_OF_EDGE,
                                            (uint32_t)row, key, words->text, words->length };
        VV_TRY(vv_draft_say_text(graph, &said, offset, error));
    }
    return VARVE_OK;
}

/* The value of `key`, whose "=" was just read. */
static enum varve_code read_value(struct dot_reading *reading, const struct owner *owner,
                                  const char *key, struct varve_error *error)
{
    VV_TRY(next(reading, error));
    if (reading->words.token != VV_DOT_ID)
        return wanted(reading, "the value of an attribute", error);
    return say(reading, owner, key, reading->words.offset, error);
}

/* [a=b, c="d"] … whose "[" was just read. Afterwards the token behind it is the current one. */
static enum varve_code read_list(struct dot_reading *reading, const struct owner *owner,
                                 struct varve_error *error)
{
    while (is_sign(reading, '[')) {
        VV_TRY(next(reading, error));
        while (!is_sign(reading, ']')) {
            if (is_sign(reading, ',') || is_sign(reading, ';')) {
                VV_TRY(next(reading, error));
                continue;
            }
            if (reading->words.token != VV_DOT_ID)
                return wanted(reading, "the name of an attribute", error);
            char *key = strdup(reading->words.text);
            if (key == NULL)
                VV_FAIL(error, VARVE_NO_MEMORY, "no memory for a name");
            enum varve_code code = next(reading, error);
            if (code == VARVE_OK && is_sign(reading, '=')) {
                code = read_value(reading, owner, key, error);
                if (code == VARVE_OK)
                    code = next(reading, error);
            }
            free(key);
            VV_TRY(code);
        }
        VV_TRY(next(reading, error));
    }
    return VARVE_OK;
}

/* ---- nodes and edges ---- */

static enum varve_code name_node(struct dot_reading *reading, const char *text, size_t length,
                                 struct varve_error *error)
{
    struct vv_graph_reading *graph = reading->graph;
    uint64_t before = graph->dag.nodes.table.count;
    uint32_t row;
    VV_TRY(vv_draft_node_of(graph, text, length, &row, error));
    if (row >= before) {
        reading->new_node = row;
        if (!graph->is_ours)
            graph->dag.nodes.module[row] = reading->cluster;
    }
    VV_TRY(vv_array_reserve(&reading->named.items, &reading->named.capacity,
                            reading->named.count + 1, sizeof row, error));
    reading->named.items[reading->named.count++] = row;
    return VARVE_OK;
}

/* Edges between all nodes of two parts of a statement: named[from..middle) and those after. */
static enum varve_code join(struct dot_reading *reading, size_t from, size_t middle,
                            struct varve_error *error)
{
    const struct vv_graph_reading *graph = reading->graph;
    size_t limit = reading->named.count;
    uint32_t edge;
    if (limit > middle && middle - from > EDGES_OF_ONE_MAX / (limit - middle))
        return vv_fail_at(error, VARVE_LIMIT, reading->words.offset,
                          "more than %u edges of one statement", EDGES_OF_ONE_MAX);
    for (size_t i = from; i < middle; i++)
        for (size_t k = middle; k < limit; k++)
            VV_TRY(vv_draft_add_edge(reading->graph,
                                     graph->nodes.items[reading->named.items[i]].id,
                                     graph->nodes.items[reading->named.items[k]].id, &edge,
                                     error));
    return VARVE_OK;
}

static enum varve_code read_body(struct dot_reading *reading, struct varve_error *error);

/* "subgraph NAME { … }" or "{ … }", at its first token; afterwards its "}" is the current one. */
static enum varve_code read_subgraph(struct dot_reading *reading, struct varve_error *error)
{
    uint32_t cluster = reading->cluster;
    if (vv_dot_is(&reading->words, "subgraph")) {
        VV_TRY(next(reading, error));
        if (reading->words.token == VV_DOT_ID) {
            if (strncmp(reading->words.text, "cluster", 7) == 0)
                VV_TRY(vv_dag_text_of(&reading->graph->dag, reading->words.text,
                                      reading->words.length, &reading->cluster, error));
            VV_TRY(next(reading, error));
        }
    }
    if (!is_sign(reading, '{'))
        return wanted(reading, "'{'", error);
    VV_TRY(read_body(reading, error));
    reading->cluster = cluster;
    return VARVE_OK;
}

/* A port, ":a:n", says only where an edge touches its node. */
static enum varve_code skip_ports(struct dot_reading *reading, struct varve_error *error)
{
    while (is_sign(reading, ':')) {
        VV_TRY(next(reading, error));
        if (reading->words.token != VV_DOT_ID)
            return wanted(reading, "a port", error);
        VV_TRY(next(reading, error));
    }
    return VARVE_OK;
}

/* A node or a subgraph, at its first token; afterwards the token behind it is the current one. */
static enum varve_code read_end(struct dot_reading *reading, struct varve_error *error)
{
    if (is_sign(reading, '{') || vv_dot_is(&reading->words, "subgraph")) {
        VV_TRY(read_subgraph(reading, error));
        return next(reading, error);
    }
    if (reading->words.token != VV_DOT_ID)
        return wanted(reading, "a node", error);
    VV_TRY(name_node(reading, reading->words.text, reading->words.length, error));
    VV_TRY(next(reading, error));
    return skip_ports(reading, error);
}

/* -> b -> c [attributes], whose first end was read: named[from..]. */
static enum varve_code read_edges(struct dot_reading *reading, size_t from,
                                  struct varve_error *error)
{
    struct owner owner = { OF_EDGES, reading->graph->dag.edges.table.count, 0 };
    while (reading->words.token == VV_DOT_EDGE) {
        size_t middle = reading->named.count;
        VV_TRY(next(reading, error));
        VV_TRY(read_end(reading, error));
        VV_TRY(join(reading, from, middle, error));
        from = middle;
    }
    owner.limit = reading->graph->dag.edges.table.count;
    return read_list(reading, &owner, error);
}

/* A statement that begins with an id, which may be a node or an attribute of the graph. */
static enum varve_code read_id_statement(struct dot_reading *reading, struct varve_error *error)
{
    static const struct owner graph = { .kind = OF_GRAPH };
    size_t from = reading->named.count, length = reading->words.length;
    char *text = malloc(length + 1);
    if (text == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for a name");
    memcpy(text, reading->words.text, length + 1);
    enum varve_code code = next(reading, error);
    if (code == VARVE_OK && is_sign(reading, '=')) {
        code = read_value(reading, &graph, text, error);
        free(text);
        return code == VARVE_OK ? next(reading, error) : code;
    }
    if (code == VARVE_OK)
        code = name_node(reading, text, length, error);
    free(text);
    VV_TRY(code);
    VV_TRY(skip_ports(reading, error));
    if (reading->words.token == VV_DOT_EDGE)
        return read_edges(reading, from, error);
    uint32_t row = reading->named.items[from];
    return read_list(reading, &(struct owner){ OF_NODE, row, (uint64_t)row + 1 }, error);
}

static enum varve_code read_statement(struct dot_reading *reading, struct varve_error *error)
{
    const struct vv_dot_words *words = &reading->words;
    bool is_graph = vv_dot_is(words, "graph");
    if (is_graph || vv_dot_is(words, "node") || vv_dot_is(words, "edge")) {
        const struct owner owner = { .kind = is_graph ? OF_GRAPH : OF_NOTHING };
        VV_TRY(next(reading, error));
        return is_sign(reading, '[') ? read_list(reading, &owner, error)
                                     : wanted(reading, "'['", error);
    }
    if (is_sign(reading, '{') || vv_dot_is(words, "subgraph")) {
        size_t from = reading->named.count;
        VV_TRY(read_end(reading, error));
        return words->token == VV_DOT_EDGE ? read_edges(reading, from, error) : VARVE_OK;
    }
    return words->token == VV_DOT_ID ? read_id_statement(reading, error)
                                     : wanted(reading, "a node, an edge or '}'", error);
}

/* Statements after "{"; afterwards "}" is the current token. */
static enum varve_code read_body(struct dot_reading *reading, struct varve_error *error)
{
    if (reading->depth == DEPTH_MAX)
        return vv_fail_at(error, VARVE_LIMIT, reading->words.offset,
                          "more than %u subgraphs in each other", DEPTH_MAX);
    reading->depth++;
    VV_TRY(next(reading, error));
    while (!is_sign(reading, '}')) {
        bool is_end = is_sign(reading, ';');
        if (reading->words.token == VV_DOT_END)
            return wanted(reading, "'}'", error);
        if (is_end || reading->depth == 1) { /* what stands before is whole */
            reading->new_node = VV_NONE;
            reading->whole_edges = reading->graph->dag.edges.table.count;
        }
        if (is_end)
            VV_TRY(next(reading, error));
        else
            VV_TRY(read_statement(reading, error));
    }
    reading->depth--;
    return VARVE_OK;
}

/* "strict digraph NAME {": afterwards "{" is the current token. */
static enum varve_code read_head(struct dot_reading *reading, struct varve_error *error)
{
    if (vv_dot_is(&reading->words, "strict"))
        VV_TRY(next(reading, error));
    if (!vv_dot_is(&reading->words, "digraph") && !vv_dot_is(&reading->words, "graph"))
        return wanted(reading, "'digraph'", error);
    VV_TRY(next(reading, error));
    if (reading->words.token == VV_DOT_ID)
        VV_TRY(next(reading, error));
    return is_sign(reading, '{') ? VARVE_OK : wanted(reading, "'{'", error);
}

static enum varve_code read_graphs(struct dot_reading *reading, struct varve_error *error)
{
    VV_TRY(next(reading, error));
    do {
        VV_TRY(read_head(reading, error));
        VV_TRY(read_body(reading, error));
        VV_TRY(vv_draft_close(reading->graph, error));
        reading->new_node = VV_NONE;
        reading->whole_edges = reading->graph->dag.edges.table.count;
        VV_TRY(next(reading, error));
    } while (reading->words.token != VV_DOT_END);
    return VARVE_OK;
}

static enum varve_code read_dot(const struct vv_import_job *job, struct varve_error *error)
{
    struct vv_graph_reading graph;
    struct dot_reading reading = { .graph = &graph, .new_node = VV_NONE };
    char *text = NULL;
    size_t length = 0;
    bool is_cut = false;
    enum varve_code code = vv_graph_reading_begin(&graph, job, error);
    if (code == VARVE_OK)
        code = vv_draft_read_all(job, &text, &length, &is_cut, error);
    if (code == VARVE_OK) {
        vv_dot_init(&reading.words, text, length);
        code = read_graphs(&reading, error);
    }
    if (code == VARVE_TRUNCATED && reading.new_node != VV_NONE)
        vv_draft_take_back(&graph, reading.new_node, reading.whole_edges);
    else if (code == VARVE_TRUNCATED)
        graph.dag.edges.table.count = reading.whole_edges;
    vv_dot_deinit(&reading.words);
    free(reading.named.items);
    code = vv_graph_reading_end(&graph, code, error);
    free(text);
    return code;
}

/* A file that begins as DOT does, up to its "{". */
static bool probe(const char *path, bool is_folder, const char *head, size_t head_bytes)
{
    struct dot_reading reading = { .graph = NULL };
    (void)path;
    if (is_folder)
        return false;
    vv_dot_init(&reading.words, head, head_bytes);
    bool is_dot = next(&reading, NULL) == VARVE_OK && read_head(&reading, NULL) == VARVE_OK;
    vv_dot_deinit(&reading.words);
    return is_dot;
}

const struct vv_importer vv_importer_dot = {
    .name = "dot",
    .title = "DOT",
    .probe = probe,
    .read = read_dot,
};
