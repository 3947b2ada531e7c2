/* SPDX-License-Identifier: Apache-2.0 */
/* folding.h — what the steps of folding share. */
#ifndef VV_GRAPH_FOLD_FOLDING_H
#define VV_GRAPH_FOLD_FOLDING_H

#include "base/scratch.h"
#include "graph/fold/fold.h"
#include "numbers/pair_ids.h"

/* A group: a module, a block, a phase. A parent's row is smaller than its child's. */
struct vv_fold_group {
    uint32_t parent;     /* VV_NONE: it stands in no other                                      */
    uint32_t name;       /* string of the folding                                               */
    uint32_t same_as;    /* a sibling with the same contents, which stands for it; itself         */
    uint32_t times;      /* how many siblings it stands for, itself included                      */
    uint64_t contents;   /* a hash of what is in it                                             */
    bool is_numbered;    /* one of a list: "0", "1" …                                           */
};

struct vv_folding {
    const struct vv_dag *dag;
    const struct vv_fold_options *options;
    struct vv_scratch *scratch;
    struct vv_intern strings;         /* names of groups and nodes                              */
    struct vv_groups group_ids;       /* (parent + 1, name) -> group                            */
    struct vv_fold_group *groups;
    size_t group_capacity;
    uint32_t *group_of;               /* node -> group; VV_NONE                                 */
    uint32_t *former_of;              /* node that others stand in -> its group; VV_NONE         */
    uint32_t *chain;                  /* of nodes, for a moment                                  */
    uint32_t *name_of;                /* node -> string of the folding                          */
    struct vv_groups leaf_ids;        /* (group + 1, name * kinds + kind) -> leaf                */
    uint32_t *leaf_of;                /* node -> leaf; VV_NONE: it is a group of the input       */
};

/* group.c: fills group_of, and lets one group stand for equal siblings of a list. */
enum varve_code vv_fold_find_groups(struct vv_folding *folding, struct varve_error *error);
/* merge.c: makes the folded graph: groups, leaves and edges. */
enum varve_code vv_fold_merge(struct vv_folding *folding, struct vv_dag *out_dag,
                              struct varve_error *error);
/* cut.c: leaves out what is not asked for, as nodes of kind REST. */
enum varve_code vv_fold_cut(const struct vv_dag *dag, const struct vv_fold_options *options,
                            struct vv_dag *out_dag, struct varve_error *error);
/* settle.c: totals of groups, levels, ids. */
enum varve_code vv_fold_settle(struct vv_dag *dag, struct varve_error *error);

#endif
