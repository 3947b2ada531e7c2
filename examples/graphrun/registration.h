/* SPDX-License-Identifier: Apache-2.0 */
/* registration.h — graphs and models, told to Varve once (varve/exec.h): records name a node by its
 * graph's number and its own. What cannot be told has the number 0, and the runtime goes on. */
#ifndef GRAPHRUN_REGISTRATION_H
#define GRAPHRUN_REGISTRATION_H

#include <varve/exec.h>

#include "describe.h"

/* The graph's number: its nodes, and where its tensors lie in the memory of `device`. */
uint32_t registration_of_graph(const struct graph *graph, const struct description *description,
                               uint32_t device);

/* Begins the loading of a model of this graph; its number. varve_model_load_end ends the
 * loading. */
uint32_t registration_of_model(const struct graph *graph, uint32_t varve_graph);

#endif
