/* SPDX-License-Identifier: Apache-2.0 */
/* search.h — walks a graph along its data: who first works on what comes in, and who last works on
 * what a node waits for. Nodes without a task are looked through, and bodies are entered. Private
 * to this room. Thread-compatible. */
#ifndef VV_POINTS_SEARCH_H
#define VV_POINTS_SEARCH_H

#include <stdbool.h>

#include "points/flat/flat_graph.h"

struct vv_found_node {
    uint32_t id;
    uint32_t from;    /* id of the source or of the target that led to it                       */
    bool is_inside;   /* it lies deeper than the target                                         */
};

struct vv_search {
    const struct vv_flat_graph *flat;
    uint8_t *seen;                                     /* by id                                 */
    uint8_t *followed;                                 /* by edge, backwards                    */
    VV_ARRAY_OF(struct vv_found_node) todo;            /* nodes to look through                 */
    VV_ARRAY_OF(struct vv_found_node) found;           /* nodes with a task                     */
    VV_ARRAY_OF(uint32_t) inputs;                      /* nodes that stand for an owner's input */
    uint32_t *first_input;                             /* body -> first of its `inputs`         */
};

enum varve_code vv_search_init(struct vv_search *out_search, const struct vv_flat_graph *flat,
                               struct varve_error *error);
void vv_search_deinit(struct vv_search *search); /* idempotent */

/* Fill search->found anew. Who reads what the node puts out … */
enum varve_code vv_search_readers(struct vv_search *search, const uint32_t *sources, size_t count,
                                  struct varve_error *error);
/* … and who makes what the nodes read, or is waited for by them. */
enum varve_code vv_search_producers(struct vv_search *search, const uint32_t *targets, size_t count,
                                    struct varve_error *error);

/* Leaves in search->found the first (or last) in the order of running. If it lies in a body of a
 * node that is at most `depth` deep, it leaves the first (last) of each of that node's bodies, in
 * order, because they may run instead of each other. */
void vv_search_choose(struct vv_search *search, bool last, uint32_t depth);

#endif
