/* SPDX-License-Identifier: Apache-2.0 */
/* picture.h — what a picture of a graph says by colour, and the words for it. All forms use it, so
 * that an SVG, a page and a DOT file of one graph agree. Thread-compatible; a picture that nobody
 * changes may be read by several threads.
 *
 *     struct vv_picture picture;
 *     VV_TRY(vv_picture_init(&picture, &dag, &(struct vv_picture_options){ .scale = … }, error));
 *     struct vv_fill fill = vv_colour_fill(VV_THEME_LIGHT, vv_picture_class(&picture, row));
 *
 * The scale is that of the nodes without children: a group that is drawn as one node may have more,
 * and has the last colour then. Zero has a colour of its own. If all nodes have the same, they have
 * the middle one. */
#ifndef VV_GRAPH_PICTURE_PICTURE_H
#define VV_GRAPH_PICTURE_PICTURE_H

#include "base/scratch.h"
#include "graph/dag/dag.h"
#include "graph/picture/colours.h"
#include "sheet/number.h"

enum vv_picture_metric {
    VV_METRIC_TOTAL, VV_METRIC_SELF, VV_METRIC_MEAN, /* time; of one execution                  */
    VV_METRIC_SHARE,                                 /* total / picture.whole_ns                */
    VV_METRIC_MEMORY,                                /* memory_bytes                            */
    VV_METRIC_COUNT, VV_METRICS                      /* executions                              */
};
enum vv_picture_scale { VV_SCALE_LINEAR, VV_SCALE_LOG, VV_SCALE_RANK, VV_SCALES };

struct vv_picture_options { /* zeroed: total, linear, auto                                      */
    enum vv_picture_metric metric;
    enum vv_picture_scale scale;
    enum vv_theme theme;
    bool is_alone; /* starts no other program: the layout is our own                           */
};

/* Sets each option whose word is not NULL: "self", "log", "dark". VARVE_INVALID: the message has
 * the words that are known. */
enum varve_code vv_picture_options_read(struct vv_picture_options *options, const char *metric,
                                        const char *scale, const char *theme,
                                        struct varve_error *error);

/* The word of a metric or a scale, and the same as a legend says it: "total", "total time". */
const char *vv_metric_word(enum vv_picture_metric metric), *vv_metric_says(enum vv_picture_metric);
const char *vv_scale_word(enum vv_picture_scale scale), *vv_scale_says(enum vv_picture_scale);
const char *vv_theme_word(enum vv_theme theme);

enum vv_legend_kind {
    VV_LEGEND_SCALE,    /* metric, scale, least and most: all in `text`                         */
    VV_LEGEND_ZERO,     /* the colour of VV_COLOUR_ZERO, if a node has it                       */
    VV_LEGEND_ASIDE,    /* that of VV_COLOUR_ASIDE, if a node has it                            */
    VV_LEGEND_CRITICAL, /* if there is a critical path                                          */
    VV_LEGEND_EDGE,     /* each kind of edges that the graph has; vv_strokes[edge]              */
    VV_LEGEND_NOTE,     /* the graph's own notes                                                */
};
struct vv_legend_line {
    enum vv_legend_kind kind;
    enum vv_dag_edge_kind edge; /* of VV_LEGEND_EDGE                                            */
    const char *key, *text;     /* "colour", "total time, linear: 1.20 µs to 3.40 ms"           */
};

struct vv_picture {
    struct vv_picture_options options;
    const struct vv_dag *dag; /* borrowed                                                       */
    double least, most;       /* ns, bytes or a ratio; both 0 if no node has any                */
    bool is_equal;            /* all that have any have the same                                */
    int64_t whole_ns;         /* what shares are shares of: the self times of all nodes         */
    bool *has_children;       /* by row                                                         */
    const struct vv_legend_line *legend;
    size_t legend_count;
    char least_text[VV_NUMBER_BYTES], most_text[VV_NUMBER_BYTES]; /* with their unit            */

    double *ranks;            /* private: the different values, smallest first                  */
    size_t rank_count;
    struct vv_scratch scratch;
};

/* The graph is borrowed until deinit, and must not change. `options` may be NULL. Its memory is 9
 * bytes a node at most. On failure nothing is kept. */
enum varve_code vv_picture_init(struct vv_picture *picture, const struct vv_dag *dag,
                                const struct vv_picture_options *options,
                                struct varve_error *error);
void vv_picture_deinit(struct vv_picture *picture); /* idempotent; a zeroed one, too            */

double vv_picture_value(const struct vv_picture *picture, uint32_t row);
unsigned vv_picture_class(const struct vv_picture *picture, uint32_t row);
/* "total time, linear" */
void vv_picture_scale_text(const struct vv_picture *picture, char *out_text, size_t capacity);
/* A value of the metric, with its unit: "3.40 ms". */
void vv_picture_value_text(const struct vv_picture *picture, double value, char *out_text,
                           size_t capacity);

/* What stands under a node's name; "" for what is not known, and for a count of one. */
struct vv_node_text {
    char time[VV_NUMBER_BYTES];  /* "3.40 ms"; of VV_METRIC_MEMORY and tensors, "12.4 MB"       */
    char share[VV_NUMBER_BYTES]; /* "12.1 %"                                                    */
    char count[VV_NUMBER_BYTES]; /* "24 ×"                                                      */
};
void vv_picture_node_text(const struct vv_picture *picture, uint32_t row,
                          struct vv_node_text *out_text);

#endif
