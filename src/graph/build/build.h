/* SPDX-License-Identifier: Apache-2.0 */
/* build.h — makes a graph of what ran and of what followed from what, from any finished model.
 * Thread-safe on a shared model.
 *
 * The graph is not folded: each execution has a node of its own, whose id is the row of its slice
 * + 1; other nodes have higher ids. The question's selection counts as
 * in every table, and `of` says which graph: build.c has the table of them.
 *
 * Laws (tested), for "operators":
 * - the self times of the nodes of one name add up to `self_ns` of table `operators`;
 * - on a thread with steps, the self times of the nodes and of the node OUTSIDE add up to the time
 *   of the steps, plus what the nodes took beyond the steps (note "beyond steps");
 * - every edge leads to a higher level. */
#ifndef VV_GRAPH_BUILD_BUILD_H
#define VV_GRAPH_BUILD_BUILD_H

#include "graph/dag/dag.h"
#include "question/question.h"

/* Makes the graph in *out_dag, which the caller deinits on success only. VARVE_INVALID: the
 * question asks for a thing that is not there, or the graph has a cycle; the message says what to
 * type. A trace that cannot answer gives a graph whose notes say why. */
enum varve_code vv_graph_build(const struct vv_model *model, const struct vv_question *question,
                               struct vv_dag *out_dag, struct varve_error *error);

#endif
