/* SPDX-License-Identifier: Apache-2.0 */
/* container.h — the work on one container: its items in layers, from top to bottom. Private to
 * graph/layout.
 *
 * A vertex is an item (0 .. items-1, in the order of their levels) or a lane: the place of a long
 * edge in a layer that it passes. Links join vertices of neighbouring layers. A column is what
 * stands one below the other in a layer: one item, the several of a layer that is broken into rows,
 * or a lane. */
#ifndef VV_GRAPH_LAYOUT_CONTAINER_H
#define VV_GRAPH_LAYOUT_CONTAINER_H

#include "graph/layout/placing.h"

struct vv_container {
    struct placing *work;
    uint32_t number;
    uint32_t items, edges, vertices, links, layers, columns;
    uint32_t *item;                   /* item -> row                                            */
    uint32_t *first_out, *out;        /* item -> items that its edges lead to, further down     */
    uint32_t *layer;                  /* vertex ->                                              */
    uint32_t *first_up, *up;          /* vertex -> linked ones in the layer above               */
    uint32_t *first_down, *down;      /* … and below                                            */
    uint32_t *first_vertex, *ordered; /* layer -> vertices, from left to right                  */
    uint32_t *first_column;           /* layer -> its columns                                   */
    uint32_t *column, *row_in;        /* vertex -> its column, and its place in it, from above  */
    uint32_t *rows;                   /* layer -> rows                                          */
    double *left, *column_width;      /* column ->                                              */
    int32_t width, height;            /* of all                                                 */
    struct vv_scratch scratch;
};

/* crossings.c: first_vertex and ordered, so that few links cross. */
enum varve_code vv_crossings_reduce(struct vv_container *box, struct varve_error *error);
/* columns.c: columns of each layer; their x, so that links are straight and columns apart. */
enum varve_code vv_columns_make(struct vv_container *box, struct varve_error *error);
enum varve_code vv_columns_straighten(struct vv_container *box, struct varve_error *error);
/* folds.c: the y of layers; folds beside each other where all is too high; boxes, standing and
 * lanes of the items. */
enum varve_code vv_container_fold(struct vv_container *box, struct varve_error *error);

#endif
