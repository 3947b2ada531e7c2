/* SPDX-License-Identifier: Apache-2.0 */
/* svg_legend.c — what a picture says about itself: the scale and the kinds of edges on the left,
 * the graph's notes beside them, each as many lines as it needs. */
#include <string.h>

#include "graph/forms/svg.h"
#include "graph/forms/xml_text.h"

#define LEFT 16
#define LINE 18
#define SAMPLE 44     /* the width of a colour or an edge before its words                      */
#define OWN_WIDTH 400
#define KEY_WIDTH 128 /* of a note's key                                                        */
#define BAR_STEP 11

static void put_line(const struct vv_svg *svg, int x, int y, const char *text, double width)
{
    fprintf(svg->stream, "<text x=\"%d\" y=\"%d\">", x, y);
    vv_form_put_fitted(text, VV_SVG_TEXT, width, svg->stream);
    fputs("</text>", svg->stream);
}

/* All colours from the least to the most, with the two ends under it. */
static int put_scale(const struct vv_svg *svg, const struct vv_legend_line *line, int y)
{
    FILE *stream = svg->stream;
    int end = LEFT + VV_COLOUR_CLASSES * BAR_STEP;
    put_line(svg, LEFT, y, line->text, OWN_WIDTH - 16);
    if (svg->picture->most <= 0)
        return y + LINE;
    fputs("\n<g>", stream);
    for (int class = 0; class < VV_COLOUR_CLASSES; class++)
        fprintf(stream,
                "<g class=\"c%d\"><rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"12\"/></g>",
                class, LEFT + class * BAR_STEP, y + 8, BAR_STEP);
    fputs("</g>\n", stream);
    if (svg->picture->is_equal)
        return y + 40;
    fprintf(stream, "<text class=\"s\" x=\"%d\" y=\"%d\">%s</text>", LEFT, y + 34,
            svg->picture->least_text);
    fprintf(stream, "<text class=\"s\" x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>\n", end,
            y + 34, svg->picture->most_text);
    return y + 40 + LINE;
}

static void put_sample(const struct vv_svg *svg, const struct vv_legend_line *line, int y)
{
    FILE *stream = svg->stream;
    if (line->kind == VV_LEGEND_EDGE) {
        fprintf(stream,
                "<path class=\"e e%u\" d=\"M%d %dh%d\" marker-end=\"url(#h%u)\"/>", line->edge,
                LEFT, y - 4, SAMPLE - 8, line->edge);
        return;
    }
    unsigned class = line->kind == VV_LEGEND_ASIDE ? VV_COLOUR_ASIDE : VV_COLOUR_ZERO;
    fprintf(stream,
            "<g class=\"n c%u\"><rect%s x=\"%d\" y=\"%d\" width=\"%d\" height=\"12\" rx=\"3\"/>"
            "</g>",
            class, line->kind == VV_LEGEND_CRITICAL ? " class=\"k\"" : "", LEFT, y - 10,
            SAMPLE - 8);
}

static int put_own(const struct vv_svg *svg, int y)
{
    for (size_t i = 0; i < svg->picture->legend_count; i++) {
        const struct vv_legend_line *line = &svg->picture->legend[i];
        char text[400];
        if (line->kind == VV_LEGEND_SCALE) {
            y = put_scale(svg, line, y);
        } else if (line->kind != VV_LEGEND_NOTE) {
            snprintf(text, sizeof text, "%s%s%s", line->kind == VV_LEGEND_EDGE ? line->key : "",
                     line->kind == VV_LEGEND_EDGE ? " — " : "", line->text);
            put_sample(svg, line, y);
            put_line(svg, LEFT + SAMPLE, y, text, OWN_WIDTH - SAMPLE - 16);
            fputc('\n', svg->stream);
            y += LINE;
        }
    }
    return y;
}

static int put_notes(const struct vv_svg *svg, int x, int width, int y)
{
    FILE *stream = svg->stream;
    for (size_t i = 0; i < svg->picture->legend_count; i++) {
        const struct vv_legend_line *line = &svg->picture->legend[i];
        const char *rest = line->text;
        if (line->kind != VV_LEGEND_NOTE)
            continue;
        fprintf(stream, "<text class=\"faint\" x=\"%d\" y=\"%d\">", x, y);
        vv_form_put_fitted(line->key, VV_SVG_TEXT, KEY_WIDTH - 8, stream);
        fputs("</text>", stream);
        do {
            size_t bytes = vv_form_line_bytes(rest, VV_SVG_TEXT, width - KEY_WIDTH);
            fprintf(stream, "<text x=\"%d\" y=\"%d\">", x + KEY_WIDTH, y);
            vv_form_put_xml(rest, bytes, true, stream);
            fputs("</text>\n", stream);
            rest += bytes;
            y += LINE;
        } while (*rest != '\0');
    }
    return y;
}

int vv_svg_put_legend(const struct vv_svg *svg, int width, int top)
{
    fputs("<g id=\"legend\">\n", svg->stream);
    int own = put_own(svg, top + LINE);
    int notes = put_notes(svg, LEFT + OWN_WIDTH, width - OWN_WIDTH - 2 * LEFT, top + LINE);
    fputs("</g>\n", svg->stream);
    return own > notes ? own : notes;
}
