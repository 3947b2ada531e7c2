/* SPDX-License-Identifier: Apache-2.0 */
/* Colours can be told apart by everybody, and what is written on them can be read. */
#include <math.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "graph/picture/colours.h"

static double linear(uint32_t channel)
{
    double value = channel / 255.0;
    return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4);
}

/* Machado, Oliveira and Fernandes 2009, severity 1: what people see who lack one kind of cones. */
static const double seen[4][3][3] = {
    { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } },
    { { .152286, 1.052583, -.204868 }, { .114503, .786281, .099216 },
      { -.003882, -.048116, 1.051998 } },
    { { .367322, .860646, -.227968 }, { .280085, .672501, .047413 },
      { -.011820, .042940, .968881 } },
    { { 1.255528, -.076749, -.178779 }, { -.078411, .930809, .147602 },
      { .004733, .691367, .303900 } },
};

static double luminance(uint32_t colour, const double eye[3][3])
{
    static const double weights[3] = { 0.2126, 0.7152, 0.0722 };
    double rgb[3] = { linear(colour >> 16), linear(colour >> 8 & 255), linear(colour & 255) };
    double sum = 0;
    for (int i = 0; i < 3; i++) {
        double channel = eye[i][0] * rgb[0] + eye[i][1] * rgb[1] + eye[i][2] * rgb[2];
        sum += weights[i] * fmin(1, fmax(0, channel));
    }
    return sum;
}

static void luminance_is_monotone(void **state)
{
    (void)state;
    for (int eye = 0; eye < 4; eye++) {
        for (unsigned class = 1; class < VV_COLOUR_CLASSES; class++) {
            double light = luminance(vv_colour_fill(VV_THEME_LIGHT, class).fill, seen[eye]);
            double before = luminance(vv_colour_fill(VV_THEME_LIGHT, class - 1).fill, seen[eye]);
            assert_true(light < before);
            double dark = luminance(vv_colour_fill(VV_THEME_DARK, class).fill, seen[eye]);
            before = luminance(vv_colour_fill(VV_THEME_DARK, class - 1).fill, seen[eye]);
            assert_true(dark > before);
        }
    }
}

static void ends_are_far_apart(void **state)
{
    (void)state;
    for (enum vv_theme theme = VV_THEME_AUTO; theme <= VV_THEME_DARK; theme++) {
        uint32_t least = vv_colour_fill(theme, 0).fill;
        uint32_t most = vv_colour_fill(theme, VV_COLOUR_CLASSES - 1).fill;
        assert_true(vv_colour_contrast(least, most) > 9);
        uint32_t ground = vv_colour_tone(theme, VV_TONE_GROUND);
        assert_true(vv_colour_contrast(ground, most) > vv_colour_contrast(ground, least));
    }
}

static void texts_can_be_read(void **state)
{
    (void)state;
    static const enum vv_tone grounds[] = { VV_TONE_GROUND, VV_TONE_GROUP, VV_TONE_GROUP_IN };
    for (enum vv_theme theme = VV_THEME_AUTO; theme <= VV_THEME_DARK; theme++) {
        for (unsigned class = 0; class < VV_COLOUR_ALL; class++) {
            struct vv_fill fill = vv_colour_fill(theme, class);
            assert_true(vv_colour_contrast(fill.fill, fill.text) >= 4.5);
        }
        for (int i = 0; i < 3; i++) {
            uint32_t ground = vv_colour_tone(theme, grounds[i]);
            assert_true(vv_colour_contrast(ground, vv_colour_tone(theme, VV_TONE_INK)) >= 7);
            assert_true(vv_colour_contrast(ground, vv_colour_tone(theme, VV_TONE_FAINT)) >= 4.5);
            assert_true(vv_colour_contrast(ground, vv_colour_tone(theme, VV_TONE_CRITICAL)) >= 3);
            assert_true(vv_colour_contrast(ground, vv_colour_tone(theme, VV_TONE_OUTLINE)) >= 3);
            for (unsigned kind = 0; kind < VV_DAG_EDGE_KINDS; kind++) {
                uint32_t stroke = vv_colour_stroke(theme, (enum vv_dag_edge_kind)kind);
                assert_true(vv_colour_contrast(ground, stroke) >= 3);
            }
        }
        assert_true(vv_colour_contrast(vv_colour_tone(theme, VV_TONE_GROUND),
                                       vv_colour_tone(theme, VV_TONE_GROUP_EDGE)) >= 3);
    }
}

/* Black on white is 21:1, and WCAG's own example #777777 on white 4.48:1. */
static void contrast_is_that_of_wcag(void **state)
{
    (void)state;
    assert_true(fabs(vv_colour_contrast(0x000000, 0xffffff) - 21) < 1e-9);
    assert_true(fabs(vv_colour_contrast(0xffffff, 0x777777) - 4.478) < 1e-3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contrast_is_that_of_wcag),
        cmocka_unit_test(luminance_is_monotone),
        cmocka_unit_test(ends_are_far_apart),
        cmocka_unit_test(texts_can_be_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
