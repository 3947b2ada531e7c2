/* SPDX-License-Identifier: Apache-2.0 */
/* values.h — measures the nodes of a graph. Only picture.c calls it; picture.h has the rest of what
 * values.c does. */
#ifndef VV_GRAPH_PICTURE_VALUES_H
#define VV_GRAPH_PICTURE_VALUES_H

#include "graph/picture/picture.h"

/* Fills whole_ns, has_children, ranks, least, most and is_equal. */
enum varve_code vv_values_measure(struct vv_picture *picture, struct varve_error *error);

#endif
