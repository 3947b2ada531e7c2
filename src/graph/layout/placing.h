/* SPDX-License-Identifier: Apache-2.0 */
/* placing.h — the work on one layout, shared by its parts. Private to graph/layout.
 *
 * A box and the whole picture are containers; the picture has the number `nodes`. The items of a
 * container are its children. An edge belongs to the innermost container that holds both of its
 * ends, and goes there from one item to another. */
#ifndef VV_GRAPH_LAYOUT_PLACING_H
#define VV_GRAPH_LAYOUT_PLACING_H

#include "graph/layout/layout.h"

#define ROW_GAP 12    /* between the rows of a level                                            */
#define COLUMN_GAP 20 /* between nodes side by side, and for lanes                              */
#define LEVEL_GAP 38
#define FOLD_GAP 64   /* between the columns of a graph that is too high                        */
#define PADDING 16    /* inside a box, and around all                                           */
#define LANE_WIDTH 8

/* Where a long edge passes a level; in its container's coordinates. */
struct lane { int32_t x, top, bottom, fold_x; };

/* Where an item stands in its level. */
struct standing {
    int32_t lane_x;      /* beside its column                                                   */
    int32_t top, bottom; /* of the level                                                        */
    int32_t fold_x;      /* beside the levels of its fold                                       */
    bool has_above, has_below; /* other items of its level                                      */
};

struct placing {
    const struct vv_dag *dag;
    struct vv_layout *layout;
    struct vv_scratch *scratch;
    uint32_t nodes, edges;
    uint32_t *level;               /* node -> the least level of it and its members             */
    uint32_t *first_item, *items;  /* container -> its items                                    */
    uint32_t *edge_from, *edge_to; /* edge -> items of its container; VV_NONE: an end is a box
                                      around the other, or both are the same                    */
    uint32_t *first_edge, *edges_of; /* container -> its edges                                  */
    uint32_t *position, *layer;    /* item -> its place in its container's order; its level     */
    struct standing *standing;     /* item ->                                                   */
    uint32_t *first_lane, *lane_count; /* item -> the lanes of the long edges from it, downward */
    struct lane *lanes;
    size_t lanes_used, lanes_limit;
};

/* nesting.c: boxes, levels, and which edge belongs where. */
enum varve_code vv_nesting_find(struct placing *work, struct varve_error *error);
/* container.c: sets boxes of the items, relative to the container's inside, and its size. */
enum varve_code vv_container_place(struct placing *work, uint32_t container, int32_t *out_width,
                                   int32_t *out_height, struct varve_error *error);
/* routes.c: the points of all edges. */
enum varve_code vv_routes_make(struct placing *work, struct varve_error *error);
/* graphviz.c: false if Graphviz is not there or has failed; then nothing was changed. */
enum varve_code vv_graphviz_place(struct placing *work, bool *out_placed,
                                  struct varve_error *error);

#endif
