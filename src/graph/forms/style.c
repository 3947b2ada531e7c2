/* SPDX-License-Identifier: Apache-2.0 */
/* style.c — all colours of a picture as classes, so that it follows its reader's theme, and the
 * heads of the edges. */
#include "graph/forms/svg.h"

static void put_tones(enum vv_theme theme, FILE *stream)
{
    static const struct { const char *selector, *property; enum vv_tone tone; } rules[] = {
        { ".ground", "fill", VV_TONE_GROUND },
        { "text", "fill", VV_TONE_INK },
        { ".faint", "fill", VV_TONE_FAINT },
        { ".n rect", "stroke", VV_TONE_OUTLINE },
        { ".g0", "fill", VV_TONE_GROUP },
        { ".g1", "fill", VV_TONE_GROUP_IN },
        { ".g0,.g1", "stroke", VV_TONE_GROUP_EDGE },
        { ".n rect.k,.e .k", "stroke", VV_TONE_CRITICAL },
        { ".hk", "fill", VV_TONE_CRITICAL },
        { ".t0", "stroke", VV_TONE_GROUP },
        { ".t1", "stroke", VV_TONE_GROUP_IN },
    };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        fprintf(stream, "%s{%s:#%06x}", rules[i].selector, rules[i].property,
                vv_colour_tone(theme, rules[i].tone));
    fputc('\n', stream);
    for (unsigned kind = 0; kind < VV_DAG_EDGE_KINDS; kind++) {
        uint32_t colour = vv_colour_stroke(theme, (enum vv_dag_edge_kind)kind);
        fprintf(stream, ".e%u{stroke:#%06x}.h%u{fill:#%06x}", kind, colour, kind, colour);
    }
    fputc('\n', stream);
    for (unsigned class = 0; class < VV_COLOUR_ALL; class++) {
        struct vv_fill fill = vv_colour_fill(theme, class);
        fprintf(stream, ".c%u rect{fill:#%06x}.c%u text{fill:#%06x}%s", class, fill.fill, class,
                fill.text, class % 4 == 3 || class + 1 == VV_COLOUR_ALL ? "\n" : "");
    }
}

static void put_heads(FILE *stream)
{
    for (unsigned kind = 0; kind <= VV_DAG_EDGE_KINDS; kind++) {
        char word = kind == VV_DAG_EDGE_KINDS ? 'k' : (char)('0' + kind);
        fprintf(stream,
                "<marker id=\"h%c\" viewBox=\"0 0 8 8\" refX=\"7.5\" refY=\"4\" markerWidth=\"8\" "
                "markerHeight=\"8\" markerUnits=\"userSpaceOnUse\" orient=\"auto\">"
                "<path class=\"h%c\" d=\"M0 1L8 4L0 7z\"/></marker>\n",
                word, word);
    }
}

void vv_svg_put_style(const struct vv_svg *svg)
{
    enum vv_theme theme = svg->picture->options.theme;
    FILE *stream = svg->stream;
    fprintf(stream,
            "<style>text{font:%gpx \"DejaVu Sans\",Verdana,\"Noto Sans\",\"Noto Sans CJK SC\","
            "sans-serif}.t0,.t1{paint-order:stroke;stroke-width:4;stroke-linejoin:round}.s{font-size:%gpx}.b{font-weight:bold}"
            ".e path,path.e{fill:none;stroke-linejoin:round}"
            ".n rect.k{stroke-width:3}.c%d rect{stroke-dasharray:4 3}\n",
            VV_SVG_TEXT, VV_SVG_SMALL, VV_COLOUR_ASIDE);
    for (unsigned kind = 0; kind < VV_DAG_EDGE_KINDS; kind++)
        fprintf(stream, ".e%u{stroke-width:%g;stroke-dasharray:%s}", kind, vv_strokes[kind].width,
                vv_strokes[kind].dash[0] != '\0' ? vv_strokes[kind].dash : "none");
    fputs(".e .k{stroke-width:3}\n", stream);
    put_tones(theme, stream);
    if (theme == VV_THEME_AUTO) {
        fputs("@media (prefers-color-scheme:dark){\n", stream);
        put_tones(VV_THEME_DARK, stream);
        fputs("}\n", stream);
    }
    fputs("</style>\n<defs>\n", stream);
    put_heads(stream);
    fputs("</defs>\n", stream);
}
