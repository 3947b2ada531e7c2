/* SPDX-License-Identifier: Apache-2.0 */
/* json.c — a graph as JSON: "mlirgraph" 1.0.0, which has names, times in picoseconds and edges,
 * with further members for all other columns of dag_tables.h. The form "mlirgraph" is the same
 * without these members, byte for byte as the program writes it that the format comes from. */
#include <inttypes.h>

#include "base/text/json_write.h"
#include "graph/forms/forms.h"
#include "graph/forms/json_members.h"

/* Nanoseconds and the rest, 0 to 999, as picoseconds: more digits than 64 bits hold. */
static void put_ps(FILE *stream, int64_t ns, unsigned rest_ps)
{
    uint64_t size_ns = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;
    if (ns < 0 && rest_ps > 0) { /* -2 ns and 300 ps are -1 ns and -700 ps */
        size_ns--;
        rest_ps = 1000 - rest_ps;
    }
    fputs(ns < 0 ? "-" : "", stream);
    if (size_ns > 0)
        fprintf(stream, "%" PRIu64 "%03u", size_ns, rest_ps);
    else
        fprintf(stream, "%u", rest_ps);
}

static void put_node(const struct vv_dag *dag, uint32_t row, const struct vv_form_edges *edges,
                     bool is_markup, FILE *stream)
{
    const struct vv_dag_nodes *nodes = &dag->nodes;
    fputs("{\"name\":", stream);
    vv_form_put_text(vv_dag_string(dag, nodes->name[row]), is_markup, stream);
    fputs(",\"ts\":", stream);
    put_ps(stream, nodes->begin_ns[row], nodes->begin_rest_ps[row]);
    fputs(",\"duration\":", stream);
    put_ps(stream, nodes->total_ns[row], nodes->total_rest_ps[row]);
    fprintf(stream, ",\"id\":%" PRIu64 ",\"adj\":[", nodes->id[row]);
    for (uint32_t at = edges->first[row]; at < edges->first[row + 1]; at++)
        fprintf(stream, "%s%" PRIu64, at == edges->first[row] ? "" : ",",
                nodes->id[dag->edges.to[edges->order[at]]]);
    fputc(']', stream);
    vv_form_put_members(dag, VV_OF_NODE, row, is_markup, stream);
    if (nodes->occurrence_count[row] > 0) {
        fputs(",\"occurrences\":", stream);
        vv_form_put_occurrences(dag, row, stream);
    }
    fputc('}', stream);
}

static void put_edge(const struct vv_dag *dag, uint32_t row, bool is_markup, FILE *stream)
{
    const struct vv_dag_edges *edges = &dag->edges;
    fprintf(stream, "{\"edgeFrom\":%" PRIu64 ",\"edgeTo\":%" PRIu64,
            dag->nodes.id[edges->from[row]], dag->nodes.id[edges->to[row]]);
    if (edges->name[row] != 0) {
        fputs(",\"name\":", stream);
        vv_form_put_text(vv_dag_string(dag, edges->name[row]), is_markup, stream);
    }
    vv_form_put_members(dag, VV_OF_EDGE, row, is_markup, stream);
    fputc('}', stream);
}

enum varve_code vv_form_put_json(const struct vv_dag *dag, bool is_markup, FILE *stream,
                                 struct varve_error *error)
{
    struct vv_form_edges edges;
    VV_TRY(vv_form_sort_edges(dag, false, &edges, error));
    fputs("{\"version\":\"1.0.0\",\n\"varve\":{\"notes\":", stream);
    vv_form_put_notes(dag, is_markup, stream);
    fputs("},\n\"nodes\":[", stream);
    for (uint32_t row = 0; row < dag->nodes.table.count; row++) {
        fputs(row == 0 ? "\n" : ",\n", stream);
        put_node(dag, row, &edges, is_markup, stream);
    }
    fputs("],\n\"edges\":[", stream);
    for (uint32_t row = 0; row < dag->edges.table.count; row++) {
        fputs(row == 0 ? "\n" : ",\n", stream);
        put_edge(dag, row, is_markup, stream);
    }
    fputs("]}\n", stream);
    vv_form_free_edges(&edges);
    return VARVE_OK;
}

static enum varve_code write_json(const struct vv_dag *dag, const struct vv_picture *picture,
                                  FILE *stream, struct varve_error *error)
{
    (void)picture;
    return vv_form_put_json(dag, false, stream, error);
}

const struct vv_form vv_form_json = {
    .name = "json",
    .extension = ".json",
    .title = "JSON that holds all of the graph (mlirgraph 1.0.0)",
    .write = write_json,
};

/* ---- bare: ids count from 0, in the order of the nodes ---- */

static void put_bare_node(const struct vv_dag *dag, uint32_t row, const struct vv_form_edges *edges,
                          FILE *stream)
{
    const struct vv_dag_nodes *nodes = &dag->nodes;
    uint32_t first = edges->first[row], end = edges->first[row + 1];
    fputs("\n    {\n      \"name\": ", stream);
    vv_json_write_text(stream, vv_dag_string(dag, nodes->name[row]));
    fputs(",\n      \"ts\": ", stream);
    put_ps(stream, nodes->begin_ns[row], nodes->begin_rest_ps[row]);
    fputs(",\n      \"duration\": ", stream);
    put_ps(stream, nodes->total_ns[row], nodes->total_rest_ps[row]);
    fprintf(stream, ",\n      \"id\": %" PRIu32 ",\n      \"adj\": [", row);
    for (uint32_t at = first; at < end; at++)
        fprintf(stream, "%s\n        %" PRIu32, at == first ? "" : ",",
                dag->edges.to[edges->order[at]]);
    fputs(first < end ? "\n      ]\n    }" : "]\n    }", stream);
}

static enum varve_code write_bare(const struct vv_dag *dag, const struct vv_picture *picture,
                                  FILE *stream, struct varve_error *error)
{
    const struct vv_dag_edges *rows = &dag->edges;
    struct vv_form_edges edges;
    (void)picture;
    VV_TRY(vv_form_sort_edges(dag, false, &edges, error));
    fputs("{\n  \"version\": \"1.0.0\",\n  \"nodes\": [", stream);
    for (uint32_t row = 0; row < dag->nodes.table.count; row++) {
        fputs(row == 0 ? "" : ",", stream);
        put_bare_node(dag, row, &edges, stream);
    }
    fputs(dag->nodes.table.count > 0 ? "\n  ],\n" : "],\n", stream);
    fputs("  \"edges\": [", stream);
    for (uint64_t e = 0; e < rows->table.count; e++)
        fprintf(stream,
                "%s\n    {\n      \"edgeFrom\": %" PRIu32 ",\n      \"edgeTo\": %" PRIu32 "\n    }",
                e == 0 ? "" : ",", rows->from[e], rows->to[e]);
    fputs(rows->table.count > 0 ? "\n  ]\n}" : "]\n}", stream);
    vv_form_free_edges(&edges);
    return VARVE_OK;
}

const struct vv_form vv_form_mlirgraph = {
    .name = "mlirgraph",
    .extension = ".json",
    .title = "names, times, ids and edges alone (mlirgraph 1.0.0)",
    .write = write_bare,
};
