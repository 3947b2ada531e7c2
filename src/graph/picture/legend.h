/* SPDX-License-Identifier: Apache-2.0 */
/* legend.h — the lines of a picture's legend. Only picture.c calls it. */
#ifndef VV_GRAPH_PICTURE_LEGEND_H
#define VV_GRAPH_PICTURE_LEGEND_H

#include "graph/picture/picture.h"

/* Fills legend and legend_count of a picture whose other fields are set. */
enum varve_code vv_legend_make(struct vv_picture *picture, struct varve_error *error);

#endif
