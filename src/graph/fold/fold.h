/* SPDX-License-Identifier: Apache-2.0 */
/* fold.h — makes of a graph of executions one that a person can read. Thread-compatible.
 *
 * Executions of one name and kind in one group become one node; groups are nodes of kind GROUP, the
 * outermost first. Laws (tested): the self times of the nodes without children add up to what they
 * were; a group's total is the sum of the self times below it; folding again by the same keys
 * changes nothing; the order of the executions and of equal edges does not matter.
 *
 * If the folded graph has a loop, a node's level is one more than that of the highest node that
 * leads to it and began before it. An edge to a node that began earlier is kept, and a note counts
 * such edges. */
#ifndef VV_GRAPH_FOLD_FOLD_H
#define VV_GRAPH_FOLD_FOLD_H

#include "graph/dag/dag.h"

enum vv_fold_key { VV_FOLD_MODULE, VV_FOLD_BLOCK, VV_FOLD_PHASE, VV_FOLD_KEYS };
enum vv_fold_leaf {
    VV_FOLD_NAME,      /* by name                                                               */
    VV_FOLD_OP,        /* device work by the name of the operator that launched it               */
    VV_FOLD_EXECUTION  /* each execution remains                                                */
};

struct vv_fold_block {
    const char *name;  /* borrowed                                                              */
    uint32_t parent;   /* block around it; VV_NONE                                              */
};

struct vv_fold_options {
    enum vv_fold_key keys[VV_FOLD_KEYS];
    size_t key_count;
    enum vv_fold_leaf leaf;
    const uint32_t *block_of;  /* node -> block; VV_NONE = in none; NULL = none is known         */
    const struct vv_fold_block *blocks;
    size_t block_count;
    int64_t top;               /* nodes that remain, of those without children; 0 = all          */
    const char *around;        /* a name, or an id: these nodes and what is near; NULL = all     */
    int64_t hops;
};

/* Reads "module,name". NULL: by module, then by name. VARVE_INVALID: there is no such key. */
enum varve_code vv_fold_read_keys(const char *by, struct vv_fold_options *out_options,
                                  struct varve_error *error);

/* *out_dag must be initialised and empty. VARVE_INVALID: no node is called `around`; the message
 * has the nearest name. */
enum varve_code vv_fold(const struct vv_dag *dag, const struct vv_fold_options *options,
                        struct vv_dag *out_dag, struct varve_error *error);

#endif
