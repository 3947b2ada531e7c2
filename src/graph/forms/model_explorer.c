/* SPDX-License-Identifier: Apache-2.0 */
/* model_explorer.c — a graph for Model Explorer: FILE.json is the graph, FILE_data.json what
 * colours its nodes. Both name nodes by the same ids. A group is a namespace, and a node at the top
 * of it. What an edge says is metadata of its input at the node where it ends. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/json_write.h"
#include "graph/forms/forms.h"
#include "graph/forms/json_members.h"
#include "graph/picture/picture.h"

enum { NAMESPACE_DEPTH_MAX = 64 };

/* "net/24 x layers". A "/" in a name would part it, and becomes U+2215. Groups of one name in one
 * place are told apart by their ids. */
static void put_namespace(const struct vv_dag *dag, uint32_t group, FILE *stream)
{
    uint32_t chain[NAMESPACE_DEPTH_MAX];
    size_t count = 0, bytes;
    char *text = NULL;
    FILE *memory = open_memstream(&text, &bytes);
    for (; group != VV_NONE && count < NAMESPACE_DEPTH_MAX; group = dag->nodes.parent[group])
        chain[count++] = group;
    while (memory != NULL && count-- > 0) {
        for (const char *name = vv_dag_string(dag, dag->nodes.name[chain[count]]); *name != '\0';
             name++)
            if (*name == '/')
                fputs("\xe2\x88\x95", memory);
            else
                fputc(*name, memory);
        fprintf(memory, " #%" PRIu64 "%s", dag->nodes.id[chain[count]], count > 0 ? "/" : "");
    }
    if (memory == NULL || fclose(memory) != 0)
        fputs("\"\"", stream);
    else
        vv_json_write_text(stream, text);
    free(text);
}

/* {"key":…,"value":…} for each member; all values are texts. */
static void put_members(const struct vv_dag *dag, enum vv_member_of of, uint32_t row, FILE *stream)
{
    size_t count;
    const struct vv_member *members = vv_dag_members(of, &count);
    bool is_first = true;
    for (size_t i = 0; i < count; i++) {
        const struct vv_member_cell cell = { of, &members[i], row };
        struct vv_member_value value = vv_dag_member_get(dag, cell);
        if (value.is_blank)
            continue;
        fprintf(stream, "%s{\"key\":\"%s\",\"value\":", is_first ? "" : ",", members[i].key);
        if (value.text != NULL)
            vv_json_write_text(stream, value.text);
        else if (members[i].kind == VV_MEMBER_SIGNED)
            fprintf(stream, "\"%" PRId64 "\"", (int64_t)value.number);
        else
            fprintf(stream, "\"%" PRIu64 "\"", value.number);
        fputc('}', stream);
        is_first = false;
    }
}

static void put_edges(const struct vv_dag *dag, uint32_t row, const struct vv_form_edges *edges,
                      FILE *stream)
{
    uint32_t first = edges->first[row], limit = edges->first[row + 1];
    fputs("],\"incomingEdges\":[", stream);
    for (uint32_t at = first; at < limit; at++)
        fprintf(stream,
                "%s{\"sourceNodeId\":\"%" PRIu64
                "\",\"sourceNodeOutputId\":\"0\",\"targetNodeInputId\":\"%" PRIu32 "\"}",
                at == first ? "" : ",", dag->nodes.id[dag->edges.from[edges->order[at]]],
                at - first);
    fputs("],\"inputsMetadata\":[", stream);
    for (uint32_t at = first; at < limit; at++) {
        fprintf(stream, "%s{\"id\":\"%" PRIu32 "\",\"attrs\":[", at == first ? "" : ",",
                at - first);
        put_members(dag, VV_OF_EDGE, edges->order[at], stream);
        fputs("]}", stream);
    }
    fputs("]", stream);
}

static void put_node(const struct vv_dag *dag, uint32_t row, bool is_group,
                     const struct vv_form_edges *edges, FILE *stream)
{
    const struct vv_dag_nodes *nodes = &dag->nodes;
    fprintf(stream, "{\"id\":\"%" PRIu64 "\",\"label\":", nodes->id[row]);
    vv_json_write_text(stream, vv_dag_string(dag, nodes->name[row]));
    fputs(",\"namespace\":", stream);
    put_namespace(dag, is_group ? row : nodes->parent[row], stream);
    fputs(",\"attrs\":[", stream);
    put_members(dag, VV_OF_NODE, row, stream);
    if (nodes->occurrence_count[row] > 0) {
        fputs(",{\"key\":\"occurrences\",\"value\":\"", stream);
        vv_form_put_occurrences(dag, row, stream);
        fputs("\"}", stream);
    }
    put_edges(dag, row, edges, stream);
    fputs(is_group ? ",\"config\":{\"pinToGroupTop\":true}}" : "}", stream);
}

/* The notes as people read them in the panel of the graph, and as JSON, to be read again. */
static enum varve_code put_notes(const struct vv_dag *dag, FILE *stream, struct varve_error *error)
{
    char *notes;
    size_t bytes;
    VV_TRY(vv_form_notes_text(dag, &notes, &bytes, error));
    fputs("\"groupNodeAttributes\":{\"\":{\"varve\":", stream);
    vv_json_write_text(stream, notes);
    fputs("}},", stream);
    free(notes);
    return VARVE_OK;
}

static enum varve_code write_graph(const struct vv_dag *dag, const struct vv_picture *picture,
                                   FILE *stream, struct varve_error *error)
{
    uint64_t count = dag->nodes.table.count;
    struct vv_form_edges edges = { NULL, NULL };
    bool *is_group = calloc(count + 1, sizeof *is_group);
    enum varve_code code =
        is_group != NULL ? vv_form_sort_edges(dag, true, &edges, error)
                         : vv_fail(error, VARVE_NO_MEMORY, "no memory for a graph's groups");
    (void)picture;
    for (uint64_t row = 0; row < count && code == VARVE_OK; row++)
        if (dag->nodes.parent[row] != VV_NONE)
            is_group[dag->nodes.parent[row]] = true;
    if (code == VARVE_OK) {
        fputs("{\"label\":\"varve\",\"graphs\":[{\"id\":\"varve\",", stream);
        code = put_notes(dag, stream, error);
    }
    if (code == VARVE_OK) {
        fputs("\n\"nodes\":[", stream);
        for (uint32_t row = 0; row < count; row++) {
            fputs(row == 0 ? "\n" : ",\n", stream);
            put_node(dag, row, is_group[row], &edges, stream);
        }
        fputs("]}]}\n", stream);
    }
    vv_form_free_edges(&edges);
    free(is_group);
    return code;
}

/* ---- node data ---- */

static const struct { const char *name; enum vv_picture_metric metric; } metrics[] = {
    { "total time (ns)", VV_METRIC_TOTAL }, { "self time (ns)", VV_METRIC_SELF },
    { "mean time (ns)", VV_METRIC_MEAN }, { "memory (bytes)", VV_METRIC_MEMORY },
};

/* Each node has its colour: equal values and logarithms look as in all other forms. Of groups Model
 * Explorer makes sums itself. */
static enum varve_code put_metric(const struct vv_picture *picture, size_t which, FILE *stream,
                                  struct varve_error *error)
{
    const struct vv_dag *dag = picture->dag;
    struct vv_picture_options options = picture->options;
    struct vv_picture own;
    bool is_first = true;
    options.metric = metrics[which].metric;
    VV_TRY(vv_picture_init(&own, dag, &options, error));
    fprintf(stream, "{\"name\":\"%s\",\"results\":{", metrics[which].name);
    for (uint32_t row = 0; row < dag->nodes.table.count; row++) {
        double value = vv_picture_value(&own, row);
        if (own.has_children[row] || value <= 0)
            continue;
        struct vv_fill fill = vv_colour_fill(options.theme, vv_picture_class(&own, row));
        fprintf(stream, "%s\n\"%" PRIu64 "\":{\"value\":", is_first ? "" : ",", dag->nodes.id[row]);
        vv_json_write_real(stream, value);
        fprintf(stream, ",\"bgColor\":\"#%06" PRIx32 "\",\"textColor\":\"#%06" PRIx32 "\"}",
                fill.fill, fill.text);
        is_first = false;
    }
    fputs("}}", stream);
    vv_picture_deinit(&own);
    return VARVE_OK;
}

/* The metric of the picture: a file of node data holds one for each graph. */
static enum varve_code write_data(const struct vv_dag *dag, const struct vv_picture *picture,
                                  FILE *stream, struct varve_error *error)
{
    size_t which = 0;
    (void)dag;
    for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++)
        if (metrics[i].metric == picture->options.metric)
            which = i;
    fputs("{\"varve\":", stream);
    VV_TRY(put_metric(picture, which, stream, error));
    fputs("}\n", stream);
    return VARVE_OK;
}

const struct vv_form vv_form_model_explorer = {
    .name = "model-explorer",
    .extension = ".json",
    .title = "Model Explorer: a graph, and the data that colours it",
    .write = write_graph,
    .second = "_data",
    .write_second = write_data,
};
