/* SPDX-License-Identifier: Apache-2.0 */
/* graphviz.h — is Graphviz installed? For varve doctor. */
#ifndef VV_GRAPH_LAYOUT_GRAPHVIZ_H
#define VV_GRAPH_LAYOUT_GRAPHVIZ_H

#include <stdbool.h>
#include <stddef.h>

/* The path of the program `dot`, from the absolute folders of PATH. */
bool vv_graphviz_find(char *out_path, size_t capacity);

#endif
