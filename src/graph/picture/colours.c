/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/picture/colours.h"

#include <math.h>

/* Equal steps of lightness in OKLab, through pale blue, lavender, rose and crimson to wine; and
 * through navy, violet, rose and orange to yellow. */
static const uint32_t light_fills[VV_COLOUR_ALL] = {
    0xe6eef7, 0xe0e7f5, 0xdae0f2, 0xd4d8f0, 0xd0d0ec, 0xd3c6e6, 0xd5bcdf, 0xd7b2d8, 0xdaa8cf,
    0xdc9dc5, 0xde93bb, 0xdf88b0, 0xe07da6, 0xdd749c, 0xdb6b92, 0xd86288, 0xd6587f, 0xd34e75,
    0xce456d, 0xc73f68, 0xbf3963, 0xb8335e, 0xb12c59, 0xa92654, 0xa21f4f, 0x991b4b, 0x901948,
    0x871644, 0x7e1441, 0x76113d, 0x6d0f3a, 0x640c36, 0x5c0a33,
    [VV_COLOUR_ZERO] = 0xf1f0ec, [VV_COLOUR_ASIDE] = 0xffffff,
};
static const uint32_t dark_fills[VV_COLOUR_ALL] = {
    0x22305e, 0x2d3267, 0x373470, 0x413679, 0x4a3882, 0x54398c, 0x5f3b92, 0x6c3d94, 0x7a3e95,
    0x873f96, 0x953f97, 0xa04294, 0xab478f, 0xb64c8a, 0xc14f85, 0xcc537f, 0xd55979, 0xda6375,
    0xdf6c70, 0xe4756a, 0xe97e64, 0xee875d, 0xf1915b, 0xf39b5b, 0xf4a45c, 0xf6ae5d, 0xf7b85d,
    0xf8c15e, 0xf8ca6a, 0xf9d377, 0xf9dc83, 0xf8e58e, 0xf8ee9a,
    [VV_COLOUR_ZERO] = 0x2c2e31, [VV_COLOUR_ASIDE] = 0x15181d,
};

static const struct { uint32_t light, dark; } tones[VV_TONES] = {
    [VV_TONE_GROUND] = { 0xffffff, 0x15181d },     [VV_TONE_INK] = { 0x1b1f24, 0xe8eaed },
    [VV_TONE_FAINT] = { 0x59636e, 0x9da5af },      [VV_TONE_OUTLINE] = { 0x6e7781, 0x8b949e },
    [VV_TONE_CRITICAL] = { 0x0b5fc0, 0x4cc2ff },   [VV_TONE_GROUP] = { 0xf6f7f9, 0x1c2027 },
    [VV_TONE_GROUP_IN] = { 0xedf0f3, 0x232830 },   [VV_TONE_GROUP_EDGE] = { 0x868f99, 0x747d88 },
};

const struct vv_stroke vv_strokes[VV_DAG_EDGE_KINDS] = {
    [VV_DAG_EDGE_DATA] = { "", "solid", "solid", 1.6, 0x30363d, 0xc9d1d9 },
    [VV_DAG_EDGE_FLOW] = { "9 4", "dashed", "long dashes", 1.4, 0x1a6b8a, 0x6cc4e0 },
    [VV_DAG_EDGE_NESTING] = { "", "solid", "thin", 0.8, 0x6e7781, 0x8b949e },
    [VV_DAG_EDGE_STREAM] = { "9 3 2 3", "dashed", "dashes and dots", 1.2, 0x2e7044, 0x7cc993 },
    [VV_DAG_EDGE_SYNC] = { "4 3", "dotted", "short dashes", 1.4, 0x9a5b00, 0xe0a84e },
    [VV_DAG_EDGE_ORDER] = { "1.5 4", "dotted", "dots", 1.2, 0x6e7781, 0x8b949e },
};

static double linear(uint32_t channel)
{
    double value = channel / 255.0;
    return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4);
}

static double luminance(uint32_t colour)
{
    return 0.2126 * linear(colour >> 16 & 255) + 0.7152 * linear(colour >> 8 & 255) +
           0.0722 * linear(colour & 255);
}

double vv_colour_contrast(uint32_t one, uint32_t other)
{
    double a = luminance(one) + 0.05, b = luminance(other) + 0.05;
    return a > b ? a / b : b / a;
}

/* Black or white, whatever is read better. */
struct vv_fill vv_colour_fill(enum vv_theme theme, unsigned class)
{
    uint32_t fill = (theme == VV_THEME_DARK ? dark_fills : light_fills)[class];
    bool is_light = vv_colour_contrast(fill, 0x000000) > vv_colour_contrast(fill, 0xffffff);
    return (struct vv_fill){ fill, is_light ? 0x000000 : 0xffffff };
}

uint32_t vv_colour_tone(enum vv_theme theme, enum vv_tone tone)
{
    return theme == VV_THEME_DARK ? tones[tone].dark : tones[tone].light;
}
