/* SPDX-License-Identifier: Apache-2.0 */
/* json_members.h — the parts that the forms which are JSON have in common. Only they call it. */
#ifndef VV_GRAPH_FORMS_JSON_MEMBERS_H
#define VV_GRAPH_FORMS_JSON_MEMBERS_H

#include <stdio.h>

#include "graph/dag/members.h"

/* A text with its quotes; with `is_markup`, "<", ">" and "&" are escaped. */
void vv_form_put_text(const char *text, bool is_markup, FILE *stream);

/* `,"key":value` for each member of the row that is not blank, but for its name. */
void vv_form_put_members(const struct vv_dag *dag, enum vv_member_of of, uint32_t row,
                         bool is_markup, FILE *stream);

/* [[step,count,total_ns],…] of a node, and [["key","text"],…] of the graph. */
void vv_form_put_occurrences(const struct vv_dag *dag, uint32_t row, FILE *stream);
void vv_form_put_notes(const struct vv_dag *dag, bool is_markup, FILE *stream);
/* The same as a text, which belongs to the caller, for forms that put it into one of theirs. */
enum varve_code vv_form_notes_text(const struct vv_dag *dag, char **out_text, size_t *out_bytes,
                                   struct varve_error *error);

/* The edges in the order of the node that they begin at, or, with `is_arriving`, end at: those of a
 * row are order[first[row]] to order[first[row + 1]]. The caller frees both. */
struct vv_form_edges {
    uint32_t *first, *order;
};
enum varve_code vv_form_sort_edges(const struct vv_dag *dag, bool is_arriving,
                                   struct vv_form_edges *out_edges, struct varve_error *error);
void vv_form_free_edges(struct vv_form_edges *edges);

#endif
