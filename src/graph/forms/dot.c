/* SPDX-License-Identifier: Apache-2.0 */
/* dot.c — a graph for Graphviz: first the nodes in their order, with every member as an attribute,
 * then the groups as clusters, which only name them, then the edges. A group that has members is a
 * node in its own cluster, so that edges can end at it. Colours and legend are the picture's;
 * without a picture there are none.
 *
 * * In a quoted text a backslash is written twice, a newline as \n: Graphviz reads it so in labels.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "graph/forms/forms.h"
#include "graph/forms/json_members.h"
#include "graph/picture/picture.h"

/* `is_label`: Graphviz reads entities in it. */
static void put_text(const char *text, bool is_label, FILE *stream)
{
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\')
            fprintf(stream, "\\%c", *text);
        else if (*text == '\n')
            fputs("\\n", stream);
        else if (*text == '&' && is_label)
            fputs("&amp;", stream);
        else
            fputc(*text, stream);
    }
}

static void put_attribute(const char *key, const char *text, FILE *stream)
{
    fprintf(stream, ", %s=\"", key);
    put_text(text, false, stream);
    fputc('"', stream);
}

/* All members, for readers; Graphviz ignores those that it does not know. */
static void put_members(const struct vv_dag *dag, enum vv_member_of of, uint32_t row, FILE *stream)
{
    size_t count;
    const struct vv_member *members = vv_dag_members(of, &count);
    for (size_t i = 0; i < count; i++) {
        const struct vv_member_cell cell = { of, &members[i], row };
        struct vv_member_value value = vv_dag_member_get(dag, cell);
        if (value.is_blank)
            continue;
        if (value.text != NULL)
            put_attribute(members[i].key, value.text, stream);
        else if (members[i].kind == VV_MEMBER_SIGNED)
            fprintf(stream, ", %s=\"%" PRId64 "\"", members[i].key, (int64_t)value.number);
        else
            fprintf(stream, ", %s=%" PRIu64, members[i].key, value.number);
    }
}

static void put_colours(const struct vv_picture *picture, uint32_t row, bool is_critical,
                        FILE *stream)
{
    enum vv_theme theme = picture->options.theme;
    struct vv_fill fill = vv_colour_fill(theme, vv_picture_class(picture, row));
    fprintf(stream, ", fillcolor=\"#%06" PRIx32 "\", fontcolor=\"#%06" PRIx32 "\"", fill.fill,
            fill.text);
    if (is_critical)
        fprintf(stream, ", color=\"#%06" PRIx32 "\", penwidth=3",
                vv_colour_tone(theme, VV_TONE_CRITICAL));
}

static void put_node(const struct vv_dag *dag, const struct vv_picture *picture, uint32_t row,
                     FILE *stream)
{
    const struct vv_dag_nodes *nodes = &dag->nodes;
    struct vv_node_text text = { .time = "" };
    if (picture != NULL)
        vv_picture_node_text(picture, row, &text);
    fprintf(stream, "  %" PRIu64 " [label=\"", nodes->id[row]);
    put_text(vv_dag_string(dag, nodes->name[row]), true, stream);
    if (text.time[0] != '\0')
        fprintf(stream, "\\n%s%s%s%s%s", text.time, text.share[0] != '\0' ? "  " : "", text.share,
                text.count[0] != '\0' ? "  " : "", text.count);
    fputc('"', stream);
    if (picture != NULL)
        put_colours(picture, row, (nodes->flags[row] & VV_DAG_CRITICAL) != 0, stream);
    put_members(dag, VV_OF_NODE, row, stream);
    if (nodes->occurrence_count[row] > 0) {
        fputs(", occurrences=\"", stream);
        vv_form_put_occurrences(dag, row, stream);
        fputc('"', stream);
    }
    fputs("];\n", stream);
}

/* ---- clusters ---- */

/* The members of each group: the first of row r is first[r + 1], of no group first[0]; next[r] is
 * the one after r. */
struct family { uint32_t *first, *next; };

static enum varve_code find_families(const struct vv_dag *dag, struct family *out_family,
                                     struct varve_error *error)
{
    uint64_t count = dag->nodes.table.count;
    struct family family = { malloc((count + 1) * sizeof *family.first),
                             malloc((count + 1) * sizeof *family.next) };
    if (family.first == NULL || family.next == NULL) {
        free(family.first);
        free(family.next);
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for a graph of %" PRIu64 " nodes", count);
    }
    memset(family.first, 0xff, (count + 1) * sizeof *family.first);
    for (uint32_t row = (uint32_t)count; row-- > 0;) {
        uint32_t parent = dag->nodes.parent[row], home = parent == VV_NONE ? 0 : parent + 1;
        family.next[row] = family.first[home];
        family.first[home] = row;
    }
    *out_family = family;
    return VARVE_OK;
}

static void indent(unsigned depth, FILE *stream)
{
    fprintf(stream, "%*s", (int)(depth < 40 ? depth : 40) * 2, "");
}

/* Deeper groups are nodes of the last cluster: whose they are is an attribute, too. */
#define CLUSTERS_MAX 64u

/* Without recursion: groups may nest deeply. */
static void put_clusters(const struct vv_dag *dag, const struct family *family, FILE *stream)
{
    const struct vv_dag_nodes *nodes = &dag->nodes;
    uint32_t row = family->first[0];
    unsigned depth = 1;
    while (row != VV_NONE) {
        uint32_t inner = family->first[row + 1];
        if (inner != VV_NONE && depth <= CLUSTERS_MAX) {
            indent(depth, stream);
            fprintf(stream, "subgraph cluster_%" PRIu64 " { label=\"\"; style=rounded; %" PRIu64
                            ";\n", nodes->id[row], nodes->id[row]);
        } else if (depth > 1) {
            indent(depth, stream);
            fprintf(stream, "%" PRIu64 ";\n", nodes->id[row]);
        }
        if (inner != VV_NONE) {
            row = inner;
            depth++;
            continue;
        }
        while (row != VV_NONE && family->next[row] == VV_NONE) {
            row = nodes->parent[row];
            if (row == VV_NONE)
                return;
            if (--depth > CLUSTERS_MAX)
                continue;
            indent(depth, stream);
            fputs("}\n", stream);
        }
        row = family->next[row];
    }
}

/* ---- the graph ---- */

static void put_edge(const struct vv_dag *dag, const struct vv_picture *picture, uint32_t row,
                     FILE *stream)
{
    const struct vv_dag_edges *edges = &dag->edges;
    enum vv_dag_edge_kind kind = (enum vv_dag_edge_kind)edges->kind[row];
    bool is_critical = (edges->flags[row] & VV_DAG_CRITICAL) != 0;
    fprintf(stream, "  %" PRIu64 " -> %" PRIu64 " [style=\"%s\"", dag->nodes.id[edges->from[row]],
            dag->nodes.id[edges->to[row]], picture != NULL ? vv_strokes[kind].dot : "solid");
    if (picture != NULL)
        fprintf(stream, ", color=\"#%06" PRIx32 "\"%s",
                is_critical ? vv_colour_tone(picture->options.theme, VV_TONE_CRITICAL)
                            : vv_colour_stroke(picture->options.theme, kind),
                is_critical ? ", penwidth=3" : "");
    put_members(dag, VV_OF_EDGE, row, stream);
    fputs("];\n", stream);
}

static void put_looks(const struct vv_picture *picture, FILE *stream)
{
    enum vv_theme theme = picture->options.theme;
    fprintf(stream,
            "  bgcolor=\"#%06" PRIx32 "\"; fontcolor=\"#%06" PRIx32 "\";\n"
            "  node [style=\"filled,rounded\", color=\"#%06" PRIx32 "\"];\n"
            "  label=\"",
            vv_colour_tone(theme, VV_TONE_GROUND), vv_colour_tone(theme, VV_TONE_INK),
            vv_colour_tone(theme, VV_TONE_OUTLINE));
    for (size_t i = 0; i < picture->legend_count; i++) {
        put_text(picture->legend[i].key, true, stream);
        fputs(": ", stream);
        put_text(picture->legend[i].text, true, stream);
        fputs("\\l", stream);
    }
    fputs("\";\n", stream);
}

static enum varve_code write_dot(const struct vv_dag *dag, const struct vv_picture *picture,
                                 FILE *stream, struct varve_error *error)
{
    struct family family = { NULL, NULL };
    char *notes;
    size_t bytes;
    VV_TRY(vv_form_notes_text(dag, &notes, &bytes, error));
    enum varve_code code = find_families(dag, &family, error);
    if (code == VARVE_OK) {
        fputs("digraph varve {\n  varve=\"", stream);
        put_text(notes, false, stream);
        fputs("\";\n  rankdir=TB; labelloc=b; labeljust=l; fontname=\"sans-serif\";\n"
              "  node [shape=box, fontname=\"sans-serif\"];\n",
              stream);
        if (picture != NULL)
            put_looks(picture, stream);
        for (uint32_t row = 0; row < dag->nodes.table.count; row++)
            put_node(dag, picture, row, stream);
        put_clusters(dag, &family, stream);
        for (uint32_t row = 0; row < dag->edges.table.count; row++)
            put_edge(dag, picture, row, stream);
        fputs("}\n", stream);
        free(family.first);
        free(family.next);
    }
    free(notes);
    return code;
}

const struct vv_form vv_form_dot = {
    .name = "dot",
    .extension = ".dot",
    .title = "DOT (Graphviz)",
    .write = write_dot,
};
