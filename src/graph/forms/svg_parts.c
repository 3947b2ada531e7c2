/* SPDX-License-Identifier: Apache-2.0 */
/* svg_parts.c — groups, edges and nodes of a picture as SVG. What a name has no room for, and what
 * else is known of a node, is in the <title> that a browser shows. */
#include <inttypes.h>
#include <string.h>

#include "graph/forms/svg.h"
#include "graph/forms/xml_text.h"

#define MARGIN 8
#define BOLD 1.12 /* how much wider bold type is */

static const char *name_of(const struct vv_svg *svg, uint32_t row)
{
    const char *name = vv_dag_string(svg->dag, svg->dag->nodes.name[row]);
    return name[0] != '\0' ? name : "(no name)";
}

static void put_text(const char *text, FILE *stream)
{
    vv_form_put_xml(text, strlen(text), false, stream);
}

/* ---- titles ---- */

static void put_fact(const struct vv_svg *svg, const char *key, uint32_t text)
{
    if (text == 0)
        return;
    fprintf(svg->stream, "\n%s: ", key);
    put_text(vv_dag_string(svg->dag, text), svg->stream);
}

static void put_times(const struct vv_svg *svg, uint32_t row)
{
    const struct vv_dag_nodes *nodes = &svg->dag->nodes;
    char total[VV_NUMBER_BYTES], self[VV_NUMBER_BYTES], count[VV_NUMBER_BYTES];
    if (nodes->count[row] == 0)
        return;
    vv_number_duration(nodes->total_ns[row], total, sizeof total);
    vv_number_duration(nodes->self_ns[row], self, sizeof self);
    vv_number_count(nodes->count[row] < INT64_MAX ? (int64_t)nodes->count[row] : INT64_MAX, count,
                    sizeof count);
    fprintf(svg->stream, "\n%s total, %s self, %s ×", total, self, count);
}

static void put_node_title(const struct vv_svg *svg, uint32_t row)
{
    const struct vv_dag_nodes *nodes = &svg->dag->nodes;
    fputs("<title>", svg->stream);
    put_text(name_of(svg, row), svg->stream);
    fprintf(svg->stream, "\n%s", vv_dag_kind_word((enum vv_dag_kind)nodes->kind[row]));
    put_times(svg, row);
    put_fact(svg, "on", nodes->where[row]);
    put_fact(svg, "device", nodes->device[row]);
    put_fact(svg, "module", nodes->module[row]);
    put_fact(svg, "phase", nodes->phase[row]);
    put_fact(svg, "source", nodes->source[row]);
    put_fact(svg, "inputs", nodes->inputs[row]);
    put_fact(svg, "outputs", nodes->outputs[row]);
    fputs("</title>", svg->stream);
}

static void put_edge_title(const struct vv_svg *svg, uint32_t edge)
{
    const struct vv_dag_edges *edges = &svg->dag->edges;
    fputs("<title>", svg->stream);
    put_text(name_of(svg, edges->from[edge]), svg->stream);
    fputs(" → ", svg->stream);
    put_text(name_of(svg, edges->to[edge]), svg->stream);
    fprintf(svg->stream, "\n%s", vv_dag_edge_word((enum vv_dag_edge_kind)edges->kind[edge]));
    if (edges->count[edge] != 1)
        fprintf(svg->stream, ", %" PRIu64 " ×", edges->count[edge]);
    put_fact(svg, "what", edges->name[edge]);
    fputs("</title>", svg->stream);
}

/* ---- groups and nodes ---- */

/* "3.40 ms · 12.1 % · 24 ×" */
static void say_node(const struct vv_svg *svg, uint32_t row, char *out_text, size_t capacity)
{
    struct vv_node_text text;
    vv_picture_node_text(svg->picture, row, &text);
    const char *parts[] = { text.time, text.share, text.count };
    out_text[0] = '\0';
    for (size_t i = 0, at = 0; i < 3 && at < capacity; i++)
        if (parts[i][0] != '\0')
            at += (size_t)snprintf(out_text + at, capacity - at, "%s%s", at > 0 ? " · " : "",
                                   parts[i]);
}

void vv_svg_put_groups(const struct vv_svg *svg)
{
    for (uint32_t row = 0; row < svg->dag->nodes.table.count; row++) {
        const struct vv_layout_box *box = &svg->layout.boxes[row];
        if (!svg->layout.is_group[row])
            continue;
        fputs("<g class=\"group\">", svg->stream);
        put_node_title(svg, row);
        fprintf(svg->stream,
                "<rect class=\"g%d\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"6\"/>"
                "</g>\n",
                svg->layout.depth[row] & 1, box->x, box->y, box->width, box->height);
    }
}

void vv_svg_put_group_names(const struct vv_svg *svg)
{
    for (uint32_t row = 0; row < svg->dag->nodes.table.count; row++) {
        const struct vv_layout_box *box = &svg->layout.boxes[row];
        char text[4 * VV_NUMBER_BYTES];
        if (!svg->layout.is_group[row])
            continue;
        say_node(svg, row, text, sizeof text);
        double used = vv_form_text_width(text, strlen(text), VV_SVG_SMALL) + 2 * MARGIN;
        int tone = svg->layout.depth[row] & 1;
        fprintf(svg->stream, "<text class=\"b t%d\" x=\"%d\" y=\"%d\">", tone, box->x + MARGIN,
                box->y + 17);
        vv_form_put_fitted(name_of(svg, row), VV_SVG_TEXT * BOLD, box->width - used - MARGIN,
                           svg->stream);
        fprintf(svg->stream,
                "</text><text class=\"s t%d\" x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>\n",
                tone, box->x + box->width - MARGIN, box->y + 17, text);
    }
}

void vv_svg_put_nodes(const struct vv_svg *svg)
{
    const uint8_t *flags = svg->dag->nodes.flags;
    for (uint32_t row = 0; row < svg->dag->nodes.table.count; row++) {
        const struct vv_layout_box *box = &svg->layout.boxes[row];
        char text[4 * VV_NUMBER_BYTES];
        if (svg->layout.is_group[row])
            continue;
        say_node(svg, row, text, sizeof text);
        int middle = box->x + box->width / 2;
        fprintf(svg->stream, "<g class=\"n c%u\">", vv_picture_class(svg->picture, row));
        put_node_title(svg, row);
        fprintf(svg->stream,
                "<rect%s x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"4\"/>"
                "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">",
                (flags[row] & VV_DAG_CRITICAL) != 0 ? " class=\"k\"" : "", box->x, box->y,
                box->width, box->height, middle, box->y + (text[0] != '\0' ? 19 : 26));
        vv_form_put_fitted(name_of(svg, row), VV_SVG_TEXT, box->width - 2 * MARGIN, svg->stream);
        fputs("</text>", svg->stream);
        if (text[0] != '\0') {
            fprintf(svg->stream, "<text class=\"s\" x=\"%d\" y=\"%d\" text-anchor=\"middle\">",
                    middle, box->y + 35);
            vv_form_put_fitted(text, VV_SVG_SMALL, box->width - 2, svg->stream);
            fputs("</text>", svg->stream);
        }
        fputs("</g>\n", svg->stream);
    }
}

/* ---- edges ---- */

static void put_way(const struct vv_svg *svg, uint32_t edge)
{
    const struct vv_layout *layout = &svg->layout;
    const struct vv_layout_point *points = &layout->points[layout->first_point[edge]];
    for (uint32_t i = 0; i < layout->point_count[edge]; i++) {
        const char *letter = i == 0 ? "M" : !layout->is_splines ? "L" : i % 3 == 1 ? "C" : " ";
        fprintf(svg->stream, "%s%d %d", letter, points[i].x, points[i].y);
    }
}

/* Those of the critical path lie above the others. */
void vv_svg_put_edges(const struct vv_svg *svg)
{
    const struct vv_dag_edges *edges = &svg->dag->edges;
    fputs("<g class=\"e\">\n", svg->stream);
    for (int is_critical = 0; is_critical < 2; is_critical++)
        for (uint32_t edge = 0; edge < edges->table.count; edge++) {
            unsigned kind = edges->kind[edge];
            if (((edges->flags[edge] & VV_DAG_CRITICAL) != 0) != is_critical ||
                svg->layout.point_count[edge] == 0)
                continue;
            fprintf(svg->stream, "<path class=\"e%u%s\" marker-end=\"url(#h%c)\" d=\"", kind,
                    is_critical ? " k" : "", is_critical ? 'k' : (char)('0' + kind));
            put_way(svg, edge);
            fputs("\">", svg->stream);
            put_edge_title(svg, edge);
            fputs("</path>\n", svg->stream);
        }
    fputs("</g>\n", svg->stream);
}
