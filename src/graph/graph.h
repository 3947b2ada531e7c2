/* SPDX-License-Identifier: Apache-2.0 */
/* graph.h — the graph that a question asks for: made from the model (build/), then folded (fold/).
 * Thread-safe on a shared model.
 *
 * `by` of the question says what to fold by: module, block, phase, and name, op or execution, with
 * commas between. NULL: by module and name; a graph of a file, and one that a runtime registered,
 * remain as they are. `top` and `around` leave nodes out, as nodes of kind REST. */
#ifndef VV_GRAPH_GRAPH_H
#define VV_GRAPH_GRAPH_H

#include "graph/dag/dag.h"
#include "question/question.h"

/* The caller deinits *out_dag on success only. VARVE_INVALID: the question asks for what is not
 * there, or the graph has a cycle; the message says what to type. */
enum varve_code vv_graph_make(const struct vv_model *model, const struct vv_question *question,
                              struct vv_dag *out_dag, struct varve_error *error);
/* The same; the graph ends with the scratch. */
enum varve_code vv_graph_make_in(struct vv_scratch *scratch, const struct vv_model *model,
                                 const struct vv_question *question, struct vv_dag **out_dag,
                                 struct varve_error *error);

/* Is the graph not folded? So it is if its nodes are no executions, unless the user says by
 * what. */
bool vv_graph_stays(const struct vv_model *model, const struct vv_question *question);

#endif
