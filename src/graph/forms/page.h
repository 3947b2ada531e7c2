/* SPDX-License-Identifier: Apache-2.0 */
/* page.h — the HTML page of a graph without its data: src/graph/page, as cmake/graph_page.cmake has
 * put it together. Only html.c includes it. */
#ifndef VV_GRAPH_FORMS_PAGE_H
#define VV_GRAPH_FORMS_PAGE_H

#include <stddef.h>

/* The graph stands between the first and the second part, and the picture between the second and
 * the third. */
#define VV_PAGE_PARTS 3
struct vv_page_part {
    const unsigned char *bytes;
    size_t length;
};
extern const struct vv_page_part vv_page_parts[VV_PAGE_PARTS];

#endif
