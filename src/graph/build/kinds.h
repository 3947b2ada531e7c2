/* SPDX-License-Identifier: Apache-2.0 */
/* kinds.h — the graphs that can be asked for. */
#ifndef VV_GRAPH_BUILD_KINDS_H
#define VV_GRAPH_BUILD_KINDS_H

#include "graph/build/building.h"

extern const struct vv_graph_kind vv_graph_operators, vv_graph_python, vv_graph_calls,
    vv_graph_kernels, vv_graph_memory, vv_graph_registered;
/* The rules of another tool (question.compat). Sets the levels, too. */
extern const struct vv_graph_kind vv_graph_mlirgraph;

#endif
