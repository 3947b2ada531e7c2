/* SPDX-License-Identifier: Apache-2.0 */
/* graph_text.h — graphs as a line of text, and plans as one.
 *
 * Statements are separated by blanks. "[name" begins a graph; the last one is the root.
 *     name=Type        a node with a task. After it, in any order: "!" no task, "@2" stream 2,
 *                      "~Type" the framework's type, "<a+b" fused from a and b, "^1" stands for its
 *                      owner's input 1, "{a+b" bodies a and b
 *     a->b  a:1->b:2   an edge, from output 0 to the next input, or as said;  a=>b  a control edge
 * A plan: "forward=conv backward=then/grad,else/grad iteration=out collective=- fetch=next". */
#ifndef VV_TESTS_GRAPH_TEXT_H
#define VV_TESTS_GRAPH_TEXT_H

#include <stddef.h>

#include "varve/trace_points.h"

struct graph_text;

struct graph_text *graph_text_read(const char *text); /* fails the test if it cannot             */
const struct varve_graph_info *graph_text_root(const struct graph_text *graph);
void graph_text_free(struct graph_text *graph);

void plan_text(const struct varve_trace_plan *plan, char *out_text, size_t bytes);

#endif
