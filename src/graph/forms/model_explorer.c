/* SPDX-License-Identifier: Apache-2.0 */
/* model_explorer.c — a graph for Model Explorer: FILE.json is the graph, FILE_data.json what
 * colours its nodes, and FILE_data_METRIC.json the same by each other metric, because a file of
 * node data holds one. All name nodes by the same ids. A group is a namespace, and a node at the
 * top of it. What an edge says is metadata of its input at the node where it ends. */
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

static const char *const metric_names[VV_METRICS] = {
    [VV_METRIC_TOTAL] = "total time (ns)", [VV_METRIC_SELF] = "self time (ns)",
    [VV_METRIC_MEAN] = "mean time (ns)",   [VV_METRIC_SHARE] = "share of the time",
    [VV_METRIC_COUNT] = "executions",      [VV_METRIC_MEMORY] = "memory (bytes)",
};

/* Each node has its colour: equal values and logarithms look as in all other forms. Of groups Model
 * Explorer makes sums itself. */
static enum varve_code put_metric(const struct vv_picture *picture, enum vv_picture_metric metric,
                                  FILE *stream, struct varve_error *error)
{
    const struct vv_dag *dag = picture->dag;
    struct vv_picture_options options = picture->options;
    struct vv_picture own;
    bool is_first = true;
    options.metric = metric;
    VV_TRY(vv_picture_init(&own, dag, &options, error));
    fprintf(stream, "{\"varve\":{\"name\":\"%s\",\"results\":{", metric_names[metric]);
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
    fputs("}}}\n", stream);
    vv_picture_deinit(&own);
    return VARVE_OK;
}

/* The metric of the picture, which Model Explorer shows. */
static enum varve_code write_data(const struct vv_dag *dag, const struct vv_picture *picture,
                                  FILE *stream, struct varve_error *error)
{
    (void)dag;
    return put_metric(picture, picture->options.metric, stream, error);
}

static bool is_another(const struct vv_picture *picture, enum vv_picture_metric metric)
{
    const struct vv_dag_nodes *nodes = &picture->dag->nodes;
    bool has_any = metric != VV_METRIC_MEMORY;
    for (uint64_t row = 0; row < nodes->table.count && !has_any; row++)
        has_any = nodes->memory_bytes[row] > 0;
    return has_any && picture->options.metric != metric;
}

#define METRIC(word, metric)                                                                       \
    static enum varve_code write_##word(const struct vv_dag *dag,                                  \
                                        const struct vv_picture *picture, FILE *stream,            \
                                        struct varve_error *error)                                 \
    {                                                                                              \
        (void)dag;                                                                                 \
        return put_metric(picture, metric, stream, error);                                         \
    }                                                                                              \
    static bool is_##word##_due(const struct vv_picture *picture)                                  \
    {                                                                                              \
        return is_another(picture, metric);                                                        \
    }
METRIC(total, VV_METRIC_TOTAL)
METRIC(self, VV_METRIC_SELF)
METRIC(mean, VV_METRIC_MEAN)
METRIC(share, VV_METRIC_SHARE)
METRIC(count, VV_METRIC_COUNT)
METRIC(memory, VV_METRIC_MEMORY)

static const struct vv_form_further further[] = {
    { "_data", write_data, NULL },
    { "_data_total", write_total, is_total_due },
    { "_data_self", write_self, is_self_due },
    { "_data_mean", write_mean, is_mean_due },
    { "_data_share", write_share, is_share_due },
    { "_data_count", write_count, is_count_due },
    { "_data_memory", write_memory, is_memory_due },
};

const struct vv_form vv_form_model_explorer = {
    .name = "model-explorer",
    .extension = ".json",
    .title = "Model Explorer: a graph, and the data that colours it",
    .write = write_graph,
    .further = further,
    .further_count = sizeof further / sizeof *further,
};
