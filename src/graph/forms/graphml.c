/* SPDX-License-Identifier: Apache-2.0 */
/* graphml.c — a graph as GraphML, as NetworkX and yEd read it. Every member of a node and an edge
 * is a typed attribute. A group is a node, and its members name it as their parent: NetworkX reads
 * no graph in a node. What XML 1.0 cannot hold becomes U+FFFD. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "graph/forms/forms.h"
#include "graph/forms/json_members.h"
#include "graph/forms/xml_text.h"

static const char *const elements[VV_OF_COUNT] = { [VV_OF_NODE] = "node", [VV_OF_EDGE] = "edge" };

static const char *type_of(const struct vv_member *member)
{
    if (member->kind == VV_MEMBER_FLAG)
        return "boolean";
    return member->kind == VV_MEMBER_TEXT || member->kind == VV_MEMBER_WORD ? "string" : "long";
}

static void put_keys(FILE *stream)
{
    for (int of = 0; of < VV_OF_COUNT; of++) {
        size_t count;
        const struct vv_member *members = vv_dag_members((enum vv_member_of)of, &count);
        for (size_t i = 0; i < count; i++)
            fprintf(stream,
                    "  <key id=\"%s_%s\" for=\"%s\" attr.name=\"%s\" attr.type=\"%s\"/>\n",
                    elements[of], members[i].key, elements[of], members[i].key,
                    type_of(&members[i]));
    }
    fputs("  <key id=\"node_occurrences\" for=\"node\" attr.name=\"occurrences\" "
          "attr.type=\"string\"/>\n"
          "  <key id=\"graph_varve\" for=\"graph\" attr.name=\"varve\" attr.type=\"string\"/>\n",
          stream);
}

static void put_data(const struct vv_dag *dag, enum vv_member_of of, uint32_t row, FILE *stream)
{
    size_t count;
    const struct vv_member *members = vv_dag_members(of, &count);
    for (size_t i = 0; i < count; i++) {
        const struct vv_member_cell cell = { of, &members[i], row };
        struct vv_member_value value = vv_dag_member_get(dag, cell);
        if (value.is_blank)
            continue;
        fprintf(stream, "<data key=\"%s_%s\">", elements[of], members[i].key);
        if (value.text != NULL)
            vv_form_put_xml(value.text, strlen(value.text), false, stream);
        else if (members[i].kind == VV_MEMBER_SIGNED)
            fprintf(stream, "%" PRId64, (int64_t)value.number);
        else
            fprintf(stream, "%" PRIu64, value.number);
        fputs("</data>", stream);
    }
}

static enum varve_code put_notes(const struct vv_dag *dag, FILE *stream, struct varve_error *error)
{
    char *notes;
    size_t bytes;
    VV_TRY(vv_form_notes_text(dag, &notes, &bytes, error));
    fputs("    <data key=\"graph_varve\">", stream);
    vv_form_put_xml(notes, bytes, false, stream);
    fputs("</data>\n", stream);
    free(notes);
    return VARVE_OK;
}

static void put_rows(const struct vv_dag *dag, FILE *stream)
{
    const uint64_t *ids = dag->nodes.id;
    for (uint32_t row = 0; row < dag->nodes.table.count; row++) {
        fprintf(stream, "    <node id=\"%" PRIu64 "\">", ids[row]);
        put_data(dag, VV_OF_NODE, row, stream);
        if (dag->nodes.occurrence_count[row] > 0) {
            fputs("<data key=\"node_occurrences\">", stream);
            vv_form_put_occurrences(dag, row, stream);
            fputs("</data>", stream);
        }
        fputs("</node>\n", stream);
    }
    for (uint32_t row = 0; row < dag->edges.table.count; row++) {
        fprintf(stream,
                "    <edge id=\"%" PRIu32 "\" source=\"%" PRIu64 "\" target=\"%" PRIu64 "\">", row,
                ids[dag->edges.from[row]], ids[dag->edges.to[row]]);
        put_data(dag, VV_OF_EDGE, row, stream);
        fputs("</edge>\n", stream);
    }
}

static enum varve_code write_graphml(const struct vv_dag *dag, const struct vv_picture *picture,
                                     FILE *stream, struct varve_error *error)
{
    (void)picture;
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
          "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n",
          stream);
    put_keys(stream);
    fputs("  <graph id=\"varve\" edgedefault=\"directed\">\n", stream);
    VV_TRY(put_notes(dag, stream, error));
    put_rows(dag, stream);
    fputs("  </graph>\n</graphml>\n", stream);
    return VARVE_OK;
}

const struct vv_form vv_form_graphml = {
    .name = "graphml",
    .extension = ".graphml",
    .title = "GraphML (NetworkX, yEd)",
    .write = write_graphml,
};
