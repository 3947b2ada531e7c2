/* SPDX-License-Identifier: Apache-2.0 */
/* node_link.c — a graph as networkx.node_link_data writes it: node_link_graph(data, edges="edges")
 * reads it. */
#include <inttypes.h>

#include "graph/forms/forms.h"
#include "graph/forms/json_members.h"

static void put_node(const struct vv_dag *dag, uint32_t row, FILE *stream)
{
    fprintf(stream, "{\"id\":%" PRIu64 ",\"name\":", dag->nodes.id[row]);
    vv_form_put_text(vv_dag_string(dag, dag->nodes.name[row]), false, stream);
    vv_form_put_members(dag, VV_OF_NODE, row, false, stream);
    if (dag->nodes.occurrence_count[row] > 0) {
        fputs(",\"occurrences\":", stream);
        vv_form_put_occurrences(dag, row, stream);
    }
    fputc('}', stream);
}

static void put_edge(const struct vv_dag *dag, uint32_t row, FILE *stream)
{
    const struct vv_dag_edges *edges = &dag->edges;
    fprintf(stream, "{\"source\":%" PRIu64 ",\"target\":%" PRIu64 ",\"key\":%" PRIu32,
            dag->nodes.id[edges->from[row]], dag->nodes.id[edges->to[row]], row);
    if (edges->name[row] != 0) {
        fputs(",\"name\":", stream);
        vv_form_put_text(vv_dag_string(dag, edges->name[row]), false, stream);
    }
    vv_form_put_members(dag, VV_OF_EDGE, row, false, stream);
    fputc('}', stream);
}

static enum varve_code write_node_link(const struct vv_dag *dag, const struct vv_picture *picture,
                                       FILE *stream, struct varve_error *error)
{
    (void)picture;
    (void)error;
    fputs("{\"directed\":true,\"multigraph\":true,\"graph\":{\"varve\":{\"notes\":", stream);
    vv_form_put_notes(dag, false, stream);
    fputs("}},\n\"nodes\":[", stream);
    for (uint32_t row = 0; row < dag->nodes.table.count; row++) {
        fputs(row == 0 ? "\n" : ",\n", stream);
        put_node(dag, row, stream);
    }
    fputs("],\n\"edges\":[", stream);
    for (uint32_t row = 0; row < dag->edges.table.count; row++) {
        fputs(row == 0 ? "\n" : ",\n", stream);
        put_edge(dag, row, stream);
    }
    fputs("]}\n", stream);
    return VARVE_OK;
}

const struct vv_form vv_form_node_link = {
    .name = "node-link",
    .extension = ".json",
    .title = "node-link JSON (NetworkX)",
    .write = write_node_link,
};
