/* SPDX-License-Identifier: Apache-2.0 */
/* svg.h — the parts of a picture as SVG. Only svg*.c and png.c call them. */
#ifndef VV_GRAPH_FORMS_SVG_H
#define VV_GRAPH_FORMS_SVG_H

#include "graph/forms/forms.h"
#include "graph/layout/layout.h"
#include "graph/picture/picture.h"

#define VV_SVG_TEXT 12.0  /* pixels, of names                                                   */
#define VV_SVG_SMALL 11.0 /* of what stands under them                                          */

struct vv_svg {
    const struct vv_dag *dag;
    const struct vv_picture *picture;
    struct vv_layout layout;
    FILE *stream;
};

/* The whole picture; with `has_data`, the graph is in it. */
enum varve_code vv_svg_write(const struct vv_dag *dag, const struct vv_picture *picture,
                             bool has_data, FILE *stream, struct varve_error *error);
/* The size of the picture that vv_svg_write has made, from its first bytes. */
bool vv_svg_size(const char *text, int *out_width, int *out_height);

void vv_svg_put_style(const struct vv_svg *svg);
/* The legend in a picture of this width, from `top`; returns where it ends. */
int vv_svg_put_legend(const struct vv_svg *svg, int width, int top);
void vv_svg_put_groups(const struct vv_svg *svg); /* without their names                      */
void vv_svg_put_group_names(const struct vv_svg *svg);
void vv_svg_put_edges(const struct vv_svg *svg);
void vv_svg_put_nodes(const struct vv_svg *svg);

#endif
