/* SPDX-License-Identifier: Apache-2.0 */
/* graphml.c — reads graphs as GraphML, which Varve, NetworkX and yEd write: nodes, edges and data
 * whose keys have names. A graph in a node is a group. doc/formats.md. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "import/graph/reading.h"
#include "import/graph/xml.h"

struct xml_reading {
    struct vv_graph_reading *graph;
    struct vv_xml xml;
    struct vv_intern key_ids;         /* <key id="d0" attr.name="total_ns"/>                    */
    VV_ARRAY_OF(char *) key_names;    /* by id in key_ids; NULL: not declared                   */
    uint32_t around[VV_XML_DEPTH_MAX]; /* rows of the nodes around                              */
    unsigned node_count;
    uint32_t edge;                    /* row of the edge around, or VV_NONE                     */
    uint64_t node_edges;              /* edges before the outermost node around                 */
};

/* The first key with an id has it. */
static enum varve_code keep_key(struct xml_reading *reading, const char *id, char **name,
                                struct varve_error *error)
{
    uint32_t key;
    VV_TRY(vv_intern_add(&reading->key_ids, id, strlen(id), &key, error));
    VV_TRY(vv_array_reserve(&reading->key_names.items, &reading->key_names.capacity,
                            (size_t)key + 1, sizeof *name, error));
    while (reading->key_names.count <= key)
        reading->key_names.items[reading->key_names.count++] = NULL;
    if (reading->key_names.items[key] == NULL) {
        reading->key_names.items[key] = *name;
        *name = NULL;
    }
    return VARVE_OK;
}

static enum varve_code add_key(struct xml_reading *reading, struct varve_error *error)
{
    char *id = NULL, *name = NULL;
    enum varve_code code = vv_xml_attribute(&reading->xml, "id", &id, error);
    if (code == VARVE_OK)
        code = vv_xml_attribute(&reading->xml, "attr.name", &name, error);
    if (code == VARVE_OK && id != NULL && name != NULL)
        code = keep_key(reading, id, &name, error);
    free(id);
    free(name);
    return code;
}

/* The name of a key; a key that is not declared is its own name. */
static const char *name_of(const struct xml_reading *reading, const char *id)
{
    uint32_t key = vv_intern_find(&reading->key_ids, id, strlen(id));
    return key < reading->key_names.count && reading->key_names.items[key] != NULL
               ? reading->key_names.items[key] : id;
}

static enum varve_code say(struct xml_reading *reading, const char *name, const char *text,
                           uint64_t offset, struct varve_error *error)
{
    struct vv_graph_reading *graph = reading->graph;
    struct vv_graph_said said = { VV_OF_EDGE, reading->edge, name, text, strlen(text) };
    if (reading->edge == VV_NONE && reading->node_count == 0)
        return strcmp(name, "varve") == 0 && text[0] == '['
                   ? vv_draft_read_text(graph, true, 0, text, offset, error)
                   : VARVE_OK;
    if (reading->edge == VV_NONE) {
        said.of = VV_OF_NODE;
        said.row = reading->around[reading->node_count - 1];
    }
    return vv_draft_say_text(graph, &said, offset, error);
}

/* <data key="d0">12</data> */
static enum varve_code read_data(struct xml_reading *reading, struct varve_error *error)
{
    uint64_t offset = reading->xml.offset;
    char *id = NULL, *text = NULL;
    enum varve_code code = vv_xml_attribute(&reading->xml, "key", &id, error);
    if (code == VARVE_OK)
        code = vv_xml_whole_text(&reading->xml, &text, error);
    if (code == VARVE_OK && id != NULL)
        code = say(reading, name_of(reading, id), text, offset, error);
    free(id);
    free(text);
    return code;
}

static enum varve_code open_node(struct xml_reading *reading, struct varve_error *error)
{
    struct vv_graph_reading *graph = reading->graph;
    uint32_t row, parent = VV_NONE;
    char *id = NULL;
    if (reading->node_count == 0)
        reading->node_edges = graph->dag.edges.table.count;
    else
        parent = graph->nodes.items[reading->around[reading->node_count - 1]].id;
    VV_TRY(vv_draft_add_node(graph, &row, error));
    reading->around[reading->node_count++] = row;
    graph->dag.nodes.parent[row] = parent;
    VV_TRY(vv_xml_attribute(&reading->xml, "id", &id, error));
    enum varve_code code =
        id != NULL ? vv_draft_set_id(graph, row, id, strlen(id), error) : VARVE_OK;
    free(id);
    return code;
}

static enum varve_code find_end(struct xml_reading *reading, const char *attribute,
                                uint32_t *out_id, struct varve_error *error)
{
    char *id = NULL;
    *out_id = VV_NONE;
    VV_TRY(vv_xml_attribute(&reading->xml, attribute, &id, error));
    enum varve_code code =
        id != NULL ? vv_draft_id(reading->graph, id, strlen(id), out_id, error) : VARVE_OK;
    free(id);
    return code;
}

static enum varve_code open_edge(struct xml_reading *reading, struct varve_error *error)
{
    uint32_t from, to;
    VV_TRY(find_end(reading, "source", &from, error));
    VV_TRY(find_end(reading, "target", &to, error));
    return vv_draft_add_edge(reading->graph, from, to, &reading->edge, error);
}

static enum varve_code read_open(struct xml_reading *reading, struct varve_error *error)
{
    const struct vv_xml *xml = &reading->xml;
    if (vv_xml_is(xml, "data"))
        return read_data(reading, error);
    if (vv_xml_is(xml, "key"))
        return add_key(reading, error);
    if (vv_xml_is(xml, "node"))
        return open_node(reading, error);
    return vv_xml_is(xml, "edge") ? open_edge(reading, error) : VARVE_OK;
}

static void read_close(struct xml_reading *reading)
{
    if (vv_xml_is(&reading->xml, "edge"))
        reading->edge = VV_NONE;
    if (!vv_xml_is(&reading->xml, "node") || reading->node_count == 0)
        return;
    uint32_t row = reading->around[--reading->node_count];
    if (!reading->graph->is_ours && row + 1 < reading->graph->dag.nodes.table.count)
        reading->graph->dag.nodes.kind[row] = VV_DAG_GROUP;
}

static enum varve_code read_elements(struct xml_reading *reading, struct varve_error *error)
{
    for (;;) {
        VV_TRY(vv_xml_next(&reading->xml, error));
        if (reading->xml.token == VV_XML_END)
            return VARVE_OK;
        if (reading->xml.token == VV_XML_OPEN)
            VV_TRY(read_open(reading, error));
        else if (reading->xml.token == VV_XML_CLOSE)
            read_close(reading);
    }
}

/* What the end of the file cuts off is left out. */
static void take_back(struct xml_reading *reading)
{
    if (reading->edge != VV_NONE)
        reading->graph->dag.edges.table.count = reading->edge;
    while (reading->node_count > 0)
        vv_draft_take_back(reading->graph, reading->around[--reading->node_count],
                           reading->node_edges);
}

static enum varve_code read_graphml(const struct vv_import_job *job, struct varve_error *error)
{
    struct vv_graph_reading graph;
    struct xml_reading reading = { .graph = &graph, .edge = VV_NONE };
    char *text = NULL;
    size_t length = 0;
    bool is_cut = false;
    enum varve_code code = vv_graph_reading_begin(&graph, job, error);
    if (code == VARVE_OK)
        code = vv_intern_init(&reading.key_ids, error);
    if (code == VARVE_OK)
        code = vv_draft_read_all(job, &text, &length, &is_cut, error);
    if (code == VARVE_OK) {
        vv_xml_init(&reading.xml, text, length);
        code = read_elements(&reading, error);
    }
    if (code == VARVE_TRUNCATED)
        take_back(&reading);
    for (size_t i = 0; i < reading.key_names.count; i++)
        free(reading.key_names.items[i]);
    free(reading.key_names.items);
    vv_intern_deinit(&reading.key_ids);
    code = vv_graph_reading_end(&graph, code, error);
    free(text);
    return code;
}

static bool probe(const char *path, bool is_folder, const char *head, size_t head_bytes)
{
    (void)path;
    return !is_folder && head_bytes > 0 && memchr(head, '<', head_bytes) != NULL &&
           memmem(head, head_bytes, "<graphml", 8) != NULL &&
           strchr("<\xef \t\r\n", head[0]) != NULL;
}

const struct vv_importer vv_importer_graphml = {
    .name = "graphml",
    .title = "GraphML",
    .probe = probe,
    .read = read_graphml,
};
