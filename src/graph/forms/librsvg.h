/* SPDX-License-Identifier: Apache-2.0 */
/* librsvg.h — librsvg and cairo, which draw an SVG picture as PNG. They are loaded when a picture
 * is asked for. Thread-safe. */
#ifndef VV_GRAPH_FORMS_LIBRSVG_H
#define VV_GRAPH_FORMS_LIBRSVG_H

#include <stddef.h>

#include "base/error.h"

struct vv_rsvg_viewport { double x, y, width, height; };

/* VARVE_UNSUPPORTED: one is missing; the message says what to install. */
enum varve_code vv_librsvg_open(struct varve_error *error);

/* Takes the bytes of a PNG file; 0 = well, as cairo has it. */
typedef int vv_png_take(void *closure, const unsigned char *bytes, unsigned count);

/* Draws the SVG, which is width x height pixels, `scale` times as large. */
struct vv_png_job {
    const char *svg;
    size_t length;
    int width, height, scale;
    vv_png_take *take;
    void *closure;
};
enum varve_code vv_librsvg_draw(const struct vv_png_job *job, struct varve_error *error);

#endif
