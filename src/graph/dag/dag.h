/* SPDX-License-Identifier: Apache-2.0 */
/* dag.h — a graph as it is drawn, with its own strings. It is made from a model (graph/build),
 * folded (graph/fold), placed (graph/layout) and written (graph/forms), or read from a file
 * (import/graph). Thread-compatible; a graph that nobody changes may be read by several threads.
 *
 * The tables and their laws are those of model/dag_tables.h. */
#ifndef VV_GRAPH_DAG_DAG_H
#define VV_GRAPH_DAG_DAG_H

#include "base/error.h"
#include "base/intern.h"
#include "model/model.h"

struct vv_dag {
    struct vv_intern strings;
    struct vv_dag_nodes nodes;
    struct vv_dag_edges edges;
    struct vv_dag_occurrences occurrences; /* those of a node stand together */
    struct vv_dag_notes notes;
};

enum varve_code vv_dag_init(struct vv_dag *dag, struct varve_error *error);
void vv_dag_deinit(struct vv_dag *dag); /* a zeroed one, or one whose init failed, too */

/* The id of a text in dag->strings; NULL and "" give 0. */
enum varve_code vv_dag_text(struct vv_dag *dag, const char *text, uint32_t *out_id,
                            struct varve_error *error);
/* The text of an id; borrowed until deinit. */
static inline const char *vv_dag_string(const struct vv_dag *dag, uint32_t id)
{
    return vv_intern_text(&dag->strings, id);
}

/* Each appends one row. What is not said is 0 or VV_NONE; a node's id is its row + 1, and an edge
 * stands for itself (count = 1). VARVE_LIMIT: more than 2^32-2 rows. */
enum varve_code vv_dag_add_node(struct vv_dag *dag, const char *name, enum vv_dag_kind kind,
                                uint32_t *out_row, struct varve_error *error);
enum varve_code vv_dag_add_edge(struct vv_dag *dag, uint32_t from, uint32_t to,
                                enum vv_dag_edge_kind kind, uint32_t *out_row,
                                struct varve_error *error);
/* An occurrence of the newest node that has any, or of a newer one. */
enum varve_code vv_dag_add_occurrence(struct vv_dag *dag, uint32_t node, int64_t step,
                                      uint64_t count, int64_t total_ns, struct varve_error *error);
enum varve_code vv_dag_note(struct vv_dag *dag, struct varve_error *error, const char *key,
                            const char *format, ...) __attribute__((format(printf, 4, 5)));
/* The same for a text of any length. */
enum varve_code vv_dag_add_note(struct vv_dag *dag, const char *key, const char *text,
                                struct varve_error *error);
/* The text of the first note with this key, or NULL. */
const char *vv_dag_find_note(const struct vv_dag *dag, const char *key);

/* Copies a graph into an empty one, and between a model's tables and a graph. A model that has a
 * graph, of another file, gets this one's rows after it; the ids go on, too. */
enum varve_code vv_dag_copy(const struct vv_dag *dag, struct vv_dag *out_dag,
                            struct varve_error *error);
enum varve_code vv_dag_from_model(const struct vv_model *model, struct vv_dag *out_dag,
                                  struct varve_error *error);
enum varve_code vv_dag_to_model(const struct vv_dag *dag, struct vv_model *model,
                                struct varve_error *error);

/* The words of files and tables: "kernel", "data". vv_dag_find_* give _KINDS if there is none. */
const char *vv_dag_kind_word(enum vv_dag_kind kind);
const char *vv_dag_edge_word(enum vv_dag_edge_kind kind);
enum vv_dag_kind vv_dag_find_kind(const char *word);
enum vv_dag_edge_kind vv_dag_find_edge_kind(const char *word);

#endif
