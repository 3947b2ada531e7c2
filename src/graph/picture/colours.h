/* SPDX-License-Identifier: Apache-2.0 */
/* colours.h — all colours of pictures, for a light and a dark ground. Thread-safe.
 *
 * A node has a class, not a colour: 0, the least, to VV_COLOUR_CLASSES - 1, the most, or one of the
 * two classes without a number. A form that follows the reader's theme writes the class, and both
 * tables. The more, the further from the ground: dark on light, bright on dark; from cool to warm
 * on both.
 *
 * Laws (tested): the luminance of the classes grows (dark) or falls (light) with each step, for
 * people with each kind of colour blindness too; a text on its fill has a contrast of 4.5:1 or more
 * (WCAG 2.2, 1.4.3), lines and outlines on the ground 3:1 or more (1.4.11). */
#ifndef VV_GRAPH_PICTURE_COLOURS_H
#define VV_GRAPH_PICTURE_COLOURS_H

#include <stdint.h>

#include "model/dag_tables.h"

#define VV_COLOUR_CLASSES 33
#define VV_COLOUR_MIDDLE 16    /* of nodes that all have the same                               */
#define VV_COLOUR_ZERO 33      /* no time at all                                                */
#define VV_COLOUR_ASIDE 34     /* time not known, or of no node: VV_DAG_REST, VV_DAG_OUTSIDE    */
#define VV_COLOUR_ALL 35

enum vv_theme { VV_THEME_AUTO /* the reader's; light where nobody says */,
                VV_THEME_LIGHT, VV_THEME_DARK };

/* What is not a node's fill. */
enum vv_tone {
    VV_TONE_GROUND,     /* behind all                                                           */
    VV_TONE_INK,        /* text on the ground, and in groups                                    */
    VV_TONE_FAINT,      /* lesser text                                                          */
    VV_TONE_OUTLINE,    /* of nodes                                                             */
    VV_TONE_CRITICAL,   /* thick outlines and edges of the critical path                        */
    VV_TONE_GROUP,      /* the ground of a group; a group in it has the next one                */
    VV_TONE_GROUP_IN,
    VV_TONE_GROUP_EDGE, /* outline of groups                                                    */
    VV_TONES
};

struct vv_fill {
    uint32_t fill, text; /* sRGB, 0xRRGGBB                                                      */
};

/* `class` < VV_COLOUR_ALL. */
struct vv_fill vv_colour_fill(enum vv_theme theme, unsigned class);
uint32_t vv_colour_tone(enum vv_theme theme, enum vv_tone tone);

/* How an edge is drawn. The kinds differ by their dashes, and by colour too. */
struct vv_stroke {
    const char *dash; /* SVG's stroke-dasharray; "" = solid                                     */
    const char *dot;  /* Graphviz' style                                                        */
    const char *says; /* the same, in words: "long dashes"                                      */
    double width;     /* pixels                                                                 */
    uint32_t light, dark;
};
extern const struct vv_stroke vv_strokes[VV_DAG_EDGE_KINDS];
static inline uint32_t vv_colour_stroke(enum vv_theme theme, enum vv_dag_edge_kind kind)
{
    return theme == VV_THEME_DARK ? vv_strokes[kind].dark : vv_strokes[kind].light;
}

/* WCAG's contrast of two colours, 1 to 21. */
double vv_colour_contrast(uint32_t one, uint32_t other);

#endif
