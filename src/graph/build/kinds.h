/* SPDX-License-Identifier: Apache-2.0 */
/* kinds.h — graphs that can be asked for, with files of their own. build.c has the others. */
#ifndef VV_GRAPH_BUILD_KINDS_H
#define VV_GRAPH_BUILD_KINDS_H

#include "graph/build/building.h"

extern const struct vv_graph_kind vv_graph_memory, vv_graph_registered;
/* The rules of another tool (question.compat). Sets the levels, too. */
extern const struct vv_graph_kind vv_graph_mlirgraph;

#endif
