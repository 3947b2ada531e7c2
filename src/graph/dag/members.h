/* SPDX-License-Identifier: Apache-2.0 */
/* members.h — the columns of nodes and edges as files name them: one list for all forms that are
 * written (graph/forms) and read (import/graph). Thread-safe, but for what sets a cell.
 *
 * A member that has its blank value is not written, and blank if it is not read. Ids, ends of edges
 * and occurrences have no member: each form has its own place for them. */
#ifndef VV_GRAPH_DAG_MEMBERS_H
#define VV_GRAPH_DAG_MEMBERS_H

#include "graph/dag/dag.h"

enum vv_member_kind {
    VV_MEMBER_TEXT,
    VV_MEMBER_SIGNED,
    VV_MEMBER_UNSIGNED,
    VV_MEMBER_WORD, /* enum vv_dag_kind or vv_dag_edge_kind, by its word                        */
    VV_MEMBER_NODE, /* the row of a node, by its id                                             */
    VV_MEMBER_FLAG, /* "true"; a bit of column flags                                            */
};

struct vv_member {
    const char *key;
    enum vv_member_kind kind;
    size_t pointer_offset; /* of the column's pointer in struct vv_dag_nodes or _edges          */
    uint32_t width_bytes;
    uint8_t flag;          /* the bit of VV_MEMBER_FLAG                                         */
    bool is_always_there;  /* it has no blank value                                             */
    uint64_t blank;
};

enum vv_member_of { VV_OF_NODE, VV_OF_EDGE, VV_OF_COUNT };

/* The members of a node or an edge, in the order in which they are written; the first is "name". */
const struct vv_member *vv_dag_members(enum vv_member_of of, size_t *out_count);

/* The member with this key, or NULL. *hint is that of the last one that was found, 0 at first:
 * files have their members in one order. */
const struct vv_member *vv_dag_find_member(enum vv_member_of of, const char *key, size_t *hint);

/* The value of a member. */
struct vv_member_value {
    bool is_blank;
    const char *text; /* of TEXT, WORD, and "true" of FLAG; NULL: a number                      */
    uint64_t number;  /* of SIGNED, cast; of NODE, the id                                       */
};
/* A member of one row. */
struct vv_member_cell {
    enum vv_member_of of;
    const struct vv_member *member;
    uint32_t row;
};
struct vv_member_value vv_dag_member_get(const struct vv_dag *dag, struct vv_member_cell cell);

/* Sets a cell from a text: "12", "kernel", "true". VV_MEMBER_NODE takes a row, not an id. False:
 * the text is none of this member's, and nothing changes. The text of VV_MEMBER_TEXT is made valid
 * UTF-8 (base/utf8.h). */
enum varve_code vv_dag_member_set(struct vv_dag *dag, struct vv_member_cell cell, const char *text,
                                  size_t length, bool *out_is_set, struct varve_error *error);

/* The id of text[0..length) in dag->strings, made valid UTF-8. */
enum varve_code vv_dag_text_of(struct vv_dag *dag, const char *text, size_t length,
                               uint32_t *out_id, struct varve_error *error);

#endif
