/* SPDX-License-Identifier: Apache-2.0 */
/* svg.c — a graph as an SVG picture, which browsers, Inkscape and librsvg draw. It has no script
 * and loads nothing. The graph's JSON is in <metadata>, so that the picture can be read again. */
#include "graph/forms/svg.h"

#include <stdlib.h>

#define WIDTH_LEAST 1000 /* the legend has room                                                 */
#define BOTTOM 16

#define HEAD "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\""

static enum varve_code put_head(const struct vv_svg *svg, int width, int height, bool has_data,
                                struct varve_error *error)
{
    char nodes[VV_NUMBER_BYTES], edges[VV_NUMBER_BYTES];
    vv_number_count((int64_t)svg->dag->nodes.table.count, nodes, sizeof nodes);
    vv_number_count((int64_t)svg->dag->edges.table.count, edges, sizeof edges);
    fprintf(svg->stream, HEAD " viewBox=\"0 0 %d %d\" role=\"img\">\n", width, height, width,
            height);
    fprintf(svg->stream, "<title>A graph of what ran: nodes %s, edges %s</title>\n", nodes, edges);
    if (has_data) {
        fputs("<metadata id=\"varve-graph\">", svg->stream);
        VV_TRY(vv_form_put_json(svg->dag, true, svg->stream, error));
        fputs("</metadata>\n", svg->stream);
    }
    vv_svg_put_style(svg);
    fprintf(svg->stream, "<rect class=\"ground\" width=\"%d\" height=\"%d\"/>\n", width, height);
    return VARVE_OK;
}

/* The legend comes last in the file, but the head says how high the whole is. */
static enum varve_code put_all(struct vv_svg *svg, bool has_data, struct varve_error *error)
{
    int width = svg->layout.width > WIDTH_LEAST ? svg->layout.width : WIDTH_LEAST, height;
    char *legend = NULL;
    size_t bytes = 0;
    FILE *stream = svg->stream, *memory = open_memstream(&legend, &bytes);
    if (memory == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for the legend of a picture");
    svg->stream = memory;
    height = vv_svg_put_legend(svg, width, svg->layout.height) + BOTTOM;
    svg->stream = stream;
    if (fclose(memory) != 0) {
        free(legend);
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for the legend of a picture");
    }
    enum varve_code code = put_head(svg, width, height, has_data, error);
    if (code == VARVE_OK) {
        vv_svg_put_groups(svg);
        vv_svg_put_edges(svg);
        vv_svg_put_group_names(svg);
        vv_svg_put_nodes(svg);
        fwrite(legend, 1, bytes, stream);
        fputs("</svg>\n", stream);
    }
    free(legend);
    return code;
}

enum varve_code vv_svg_write(const struct vv_dag *dag, const struct vv_picture *picture,
                             bool has_data, FILE *stream, struct varve_error *error)
{
    struct vv_svg svg = { .dag = dag, .picture = picture, .stream = stream };
    const struct vv_layout_options options = { .is_own = picture->options.is_alone };
    VV_TRY(vv_layout_make(dag, &options, &svg.layout, error));
    enum varve_code code = put_all(&svg, has_data, error);
    vv_layout_deinit(&svg.layout);
    return code;
}

bool vv_svg_size(const char *text, int *out_width, int *out_height)
{
    return sscanf(text, HEAD, out_width, out_height) == 2;
}

static enum varve_code write_svg(const struct vv_dag *dag, const struct vv_picture *picture,
                                 FILE *stream, struct varve_error *error)
{
    return vv_svg_write(dag, picture, true, stream, error);
}

const struct vv_form vv_form_svg = {
    .is_still = true,
    .name = "svg",
    .extension = ".svg",
    .title = "a picture for browsers and documents",
    .write = write_svg,
};
