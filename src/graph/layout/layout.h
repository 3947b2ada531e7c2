/* SPDX-License-Identifier: Apache-2.0 */
/* layout.h — where the nodes and edges of a graph stand in a picture, in pixels. Thread-safe on a
 * shared graph.
 *
 * Own layout: what a node waits for stands above it. A node with children is a box around them;
 * each box is placed for itself, from the innermost to the outermost. A level that is too wide is
 * broken into rows, and a graph that is too high into columns. Long edges have lanes of their own.
 * Time is O((n + m) log n), memory linear: 220 bytes a node and 120 an edge at most.
 *
 * Laws (tested): boxes overlap only if one stands in the other; a box holds its children; an edge
 * begins and ends at the outline of its nodes; all lies in [0, width] x [0, height]. */
#ifndef VV_GRAPH_LAYOUT_LAYOUT_H
#define VV_GRAPH_LAYOUT_LAYOUT_H

#include "base/scratch.h"
#include "graph/dag/dag.h"

#define VV_NODE_HEIGHT 44
#define VV_NODE_WIDTH_LEAST 156      /* "3.40 ms  12.1 %  24 ×" fits                            */
#define VV_NODE_WIDTH_MOST 232
#define VV_GROUP_TITLE 26            /* above the first child                                   */
#define VV_LAYOUT_DEPTH_MAX 24       /* boxes in boxes; what is deeper stands in the last one   */
#define VV_LAYOUT_NODES_MAX 4000000u
#define VV_GRAPHVIZ_NODES_MAX 300u   /* a larger graph takes Graphviz seconds                   */

struct vv_layout_box { int32_t x, y, width, height; };
struct vv_layout_point { int32_t x, y; };

struct vv_layout_options {
    bool is_own; /* do not ask Graphviz                                                         */
};

struct vv_layout {
    int32_t width, height;
    struct vv_layout_box *boxes; /* by node                                                     */
    uint32_t *parent;            /* by node: the box around it, or VV_NONE                      */
    uint8_t *depth;              /* by node: boxes around it                                    */
    bool *is_group;              /* by node: a box around others                                */
    /* The way of edge e: point_count[e] points from points[first_point[e]]. Graphviz' are cubic
     * splines, 3k + 1 points; ours are corners. */
    struct vv_layout_point *points;
    size_t *first_point;
    uint32_t *point_count;
    bool is_splines;

    struct vv_scratch scratch;   /* private                                                     */
};

/* Places the graph. `options` may be NULL. Graphviz is asked if it is installed and the graph has
 * few nodes and no children; if it fails, or makes a strip of them, the layout is our own.
 * VARVE_LIMIT: more than VV_LAYOUT_NODES_MAX nodes. On failure nothing is kept. */
enum varve_code vv_layout_make(const struct vv_dag *dag, const struct vv_layout_options *options,
                               struct vv_layout *out_layout, struct varve_error *error);
void vv_layout_deinit(struct vv_layout *layout); /* idempotent; a zeroed one, too */

/* The columns that a text takes: two for wide characters. */
size_t vv_layout_text_columns(const char *text);

#endif
