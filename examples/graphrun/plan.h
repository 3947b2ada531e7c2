/* SPDX-License-Identifier: Apache-2.0 */
/* plan.h — the static memory plan: where in one block of memory each tensor of a graph lies.
 *
 * A tensor is live from the node that makes it to the last that takes it, both included;
 * parameters and the optimizer's state live always. Two tensors may lie on the same bytes if they
 * are never live together. */
#ifndef GRAPHRUN_PLAN_H
#define GRAPHRUN_PLAN_H

#include <stdio.h>

#include "graph.h"

/* Two tensors that are live together on the same bytes. */
struct plan_conflict {
    int tensor, other;
    int first_use, last_use; /* nodes at which both are live */
    size_t shared_bytes;
};

/* Sets each tensor's uses, bytes and offset, and the kernels' arguments that say where tensors
 * lie. False: no memory; a line on standard error says so. */
bool plan_memory(struct graph *graph);

/* Moves a tensor onto another one that is live with it: the program's results will be wrong. */
void plan_break(struct graph *graph);

/* The conflicts, in the order of their tensors; at most `capacity` are written. How many there
 * are. */
int plan_check(const struct graph *graph, struct plan_conflict *out_conflicts, int capacity);

/* Prints, for each graph: how much it needs, and its conflicts. */
void plan_print(const struct graph *graph, FILE *file);

/* Writes the plan's tensors as CSV, which `varve report` reads. False: errno says why not. */
bool plan_write_csv(const struct graph *graph, int graph_id, FILE *file);

#endif
