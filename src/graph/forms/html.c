/* SPDX-License-Identifier: Apache-2.0 */
/* html.c — a graph as one HTML page: the page of src/graph/page, the graph's JSON, and the
 * picture's colours and words. The page's policy forbids every script but its own, and every
 * request. */
#include "base/text/json_write.h"
#include "graph/forms/forms.h"
#include "graph/forms/page.h"
#include "graph/picture/picture.h"

static void put_member(FILE *stream, const char *name, const char *text)
{
    fprintf(stream, "\"%s\":", name);
    vv_json_write_text(stream, text);
    fputs(",\n", stream);
}

static void put_pair(FILE *stream, bool is_first, const char *word, const char *says)
{
    fputs(is_first ? "[" : ",[", stream);
    vv_json_write_text(stream, word);
    fputc(',', stream);
    vv_json_write_text(stream, says);
    fputc(']', stream);
}

static void put_words(FILE *stream)
{
    fputs("\"metrics\":[", stream);
    for (unsigned metric = 0; metric < VV_METRICS; metric++)
        put_pair(stream, metric == 0, vv_metric_word(metric), vv_metric_says(metric));
    fputs("],\n\"scales\":[", stream);
    for (unsigned scale = 0; scale < VV_SCALES; scale++)
        put_pair(stream, scale == 0, vv_scale_word(scale), vv_scale_says(scale));
    fputs("],\n\"kinds\":[", stream);
    for (unsigned kind = 0; kind < VV_DAG_KINDS; kind++) {
        fputs(kind == 0 ? "" : ",", stream);
        vv_json_write_text(stream, vv_dag_kind_word(kind));
    }
    fputs("],\n", stream);
}

/* By kind. Dashes are an array of lengths. */
static void put_edges(FILE *stream)
{
    fputs("\"edges\":[", stream);
    for (unsigned kind = 0; kind < VV_DAG_EDGE_KINDS; kind++) {
        const struct vv_stroke *stroke = &vv_strokes[kind];
        fprintf(stream, "%s{\"kind\":\"%s\",\"dash\":[", kind == 0 ? "" : ",\n",
                vv_dag_edge_word(kind));
        for (const char *sign = stroke->dash; *sign != '\0'; sign++)
            fputc(*sign == ' ' ? ',' : *sign, stream);
        fprintf(stream, "],\"width\":%g,\"light\":\"#%06x\",\"dark\":\"#%06x\",\"says\":",
                stroke->width, stroke->light, stroke->dark);
        vv_json_write_text(stream, stroke->says);
        fputc('}', stream);
    }
    fputs("],\n", stream);
}

static void put_theme(FILE *stream, enum vv_theme theme)
{
    static const char *const tones[VV_TONES] = {
        [VV_TONE_GROUND] = "ground",     [VV_TONE_INK] = "ink",
        [VV_TONE_FAINT] = "faint",       [VV_TONE_OUTLINE] = "outline",
        [VV_TONE_CRITICAL] = "critical", [VV_TONE_GROUP] = "group",
        [VV_TONE_GROUP_IN] = "group-in", [VV_TONE_GROUP_EDGE] = "group-edge",
    };
    fprintf(stream, "\"%s\":{\"fills\":[", vv_theme_word(theme));
    for (unsigned class = 0; class < VV_COLOUR_ALL; class++) {
        struct vv_fill fill = vv_colour_fill(theme, class);
        fprintf(stream, "%s[\"#%06x\",\"#%06x\"]", class == 0 ? "" : ",", fill.fill, fill.text);
    }
    fputs("],\"tones\":{", stream);
    for (unsigned tone = 0; tone < VV_TONES; tone++)
        fprintf(stream, "%s\"%s\":\"#%06x\"", tone == 0 ? "" : ",", tones[tone],
                vv_colour_tone(theme, tone));
    fputs("}}", stream);
}

static void put_picture(FILE *stream, const struct vv_picture_options *options)
{
    fputs("{", stream);
    put_member(stream, "metric", vv_metric_word(options->metric));
    put_member(stream, "scale", vv_scale_word(options->scale));
    put_member(stream, "theme", vv_theme_word(options->theme));
    put_words(stream);
    put_edges(stream);
    fprintf(stream, "\"classes\":%d,\"zero\":%d,\"aside\":%d,\n", VV_COLOUR_CLASSES, VV_COLOUR_ZERO,
            VV_COLOUR_ASIDE);
    put_theme(stream, VV_THEME_LIGHT);
    fputs(",\n", stream);
    put_theme(stream, VV_THEME_DARK);
    fputs("}", stream);
}

static enum varve_code write_html(const struct vv_dag *dag, const struct vv_picture *picture,
                                  FILE *stream, struct varve_error *error)
{
    for (size_t part = 0; part < VV_PAGE_PARTS; part++) {
        if (part == 1)
            VV_TRY(vv_form_put_json(dag, true, stream, error));
        else if (part == 2)
            put_picture(stream, &picture->options);
        fwrite(vv_page_parts[part].bytes, 1, vv_page_parts[part].length, stream);
    }
    return VARVE_OK;
}

const struct vv_form vv_form_html = {
    .name = "html",
    .extension = ".html",
    .title = "a page to search, fold and zoom in, offline",
    .write = write_html,
};
