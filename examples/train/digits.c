/* SPDX-License-Identifier: Apache-2.0 */
/* digits.c — see digits.h. Called by the loader thread, and by the evaluation in main.c. */
#include "digits.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include <varve/varve.h>

#include "buffer.h"
#include "rng.h"

#define GLYPH_POINTS 13
#define NOISE 0.2f     /* deviation, in units of ink */
#define MEAN_INK 0.13f /* of a digit's pixels, so that what the network sees has a mean near 0 */
#define CONTRAST 2.0f

struct point {
    float x, y;
};

/* A digit is one line through these points: x to the right, y down, each in 0..100. */
static const struct glyph {
    int point_count;
    struct point points[GLYPH_POINTS];
} glyphs[DIGIT_CLASSES] = {
    /* clang-format off */
    { 9, { { 50, 5 }, { 80, 15 }, { 88, 50 }, { 80, 85 }, { 50, 95 }, { 20, 85 }, { 12, 50 },
           { 20, 15 }, { 50, 5 } } },
    { 3, { { 30, 25 }, { 55, 5 }, { 55, 95 } } },
    { 7, { { 15, 25 }, { 30, 8 }, { 60, 5 }, { 82, 20 }, { 80, 42 }, { 15, 95 }, { 88, 95 } } },
    { 9, { { 18, 12 }, { 50, 5 }, { 80, 20 }, { 75, 40 }, { 45, 48 }, { 80, 58 }, { 82, 82 },
           { 50, 95 }, { 15, 85 } } },
    { 4, { { 65, 95 }, { 65, 5 }, { 12, 68 }, { 90, 68 } } },
    { 8, { { 82, 5 }, { 25, 5 }, { 20, 45 }, { 55, 40 }, { 85, 60 }, { 75, 88 }, { 45, 95 },
           { 14, 84 } } },
    { 9, { { 75, 8 }, { 40, 20 }, { 15, 60 }, { 25, 90 }, { 55, 95 }, { 82, 78 }, { 72, 55 },
           { 45, 50 }, { 18, 66 } } },
    { 3, { { 12, 5 }, { 88, 5 }, { 45, 95 } } },
    { 13, { { 50, 48 }, { 22, 32 }, { 28, 10 }, { 50, 5 }, { 72, 10 }, { 78, 32 }, { 50, 48 },
            { 18, 68 }, { 24, 90 }, { 50, 95 }, { 76, 90 }, { 82, 68 }, { 50, 48 } } },
    { 9, { { 82, 35 }, { 62, 50 }, { 30, 46 }, { 18, 25 }, { 35, 6 }, { 65, 6 }, { 82, 35 },
           { 78, 65 }, { 50, 95 } } },
    /* clang-format on */
};

/* A hand: turned, slanted, scaled and shifted by chance. */
struct hand {
    float xx, xy, yx, yy; /* pixels for each unit of a glyph */
    struct point centre;  /* of the digit, in pixels */
    float pen;            /* half the width of the line, in pixels */
};

static struct hand hand_draw(struct rng *rng)
{
    float angle = rng_uniform(rng, -0.2f, 0.2f);
    float slant = rng_uniform(rng, -0.25f, 0.25f);
    float width = rng_uniform(rng, 0.12f, 0.19f);
    float height = rng_uniform(rng, 0.16f, 0.23f);
    struct hand hand = {
        .xx = width * cosf(angle),
        .xy = height * (slant * cosf(angle) - sinf(angle)),
        .yx = width * sinf(angle),
        .yy = height * (slant * sinf(angle) + cosf(angle)),
    };
    hand.centre.x = DIGIT_SIDE / 2.0f + rng_uniform(rng, -2.0f, 2.0f);
    hand.centre.y = DIGIT_SIDE / 2.0f + rng_uniform(rng, -2.0f, 2.0f);
    hand.pen = rng_uniform(rng, 0.7f, 1.6f);
    return hand;
}

static struct point place(const struct hand *hand, struct point point)
{
    float x = point.x - 50.0f, y = point.y - 50.0f;
    return (struct point){ hand->centre.x + hand->xx * x + hand->xy * y,
                           hand->centre.y + hand->yx * x + hand->yy * y };
}

static float distance_to_line(struct point at, struct point from, struct point to)
{
    float dx = to.x - from.x, dy = to.y - from.y;
    float along = ((at.x - from.x) * dx + (at.y - from.y) * dy) / (dx * dx + dy * dy);
    along = fminf(fmaxf(along, 0.0f), 1.0f);
    float x = at.x - from.x - along * dx, y = at.y - from.y - along * dy;
    return sqrtf(x * x + y * y);
}

static void draw_line(struct point from, struct point to, float pen, float *pixels)
{
    for (int row = 0; row < DIGIT_SIDE; row++) {
        for (int column = 0; column < DIGIT_SIDE; column++) {
            struct point at = { (float)column + 0.5f, (float)row + 0.5f };
            float ink = fminf(pen + 0.5f - distance_to_line(at, from, to), 1.0f);
            float *pixel = &pixels[row * DIGIT_SIDE + column];
            *pixel = fmaxf(*pixel, ink);
        }
    }
}

static int draw_digit(struct rng *rng, float *pixels)
{
    int label = (int)(rng_next(rng) % DIGIT_CLASSES);
    const struct glyph *glyph = &glyphs[label];
    struct hand hand = hand_draw(rng);
    for (size_t i = 0; i < DIGIT_PIXELS; i++)
        pixels[i] = 0.0f;
    for (int i = 1; i < glyph->point_count; i++)
        draw_line(place(&hand, glyph->points[i - 1]), place(&hand, glyph->points[i]), hand.pen,
                  pixels);
    for (size_t i = 0; i < DIGIT_PIXELS; i++)
        pixels[i] = CONTRAST * (pixels[i] + NOISE * rng_normal(rng) - MEAN_INK);
    return label;
}

static void describe(const struct batch *batch)
{
    const int64_t dims[] = { (int64_t)batch->count, 1, DIGIT_SIDE, DIGIT_SIDE };
    const struct varve_tensor pixels = { VARVE_F32, 4, dims };
    const uint64_t id = (uintptr_t)batch->pixels;
    struct varve_op_info info = VARVE_OP_INFO_INIT;
    info.outputs = &pixels;
    info.output_ids = &id;
    info.output_count = 1;
    varve_op(&info);
}

bool batch_init(struct batch *batch, uint64_t seed, uint64_t first, size_t count)
{
    VARVE_SCOPE("draw_batch");
    *batch = (struct batch){ count, NULL, NULL };
    batch->pixels = buffer_create(count * DIGIT_PIXELS);
    batch->labels = calloc(count, sizeof(*batch->labels));
    if (varve_layers() != 0)
        describe(batch);
    if (batch->pixels == NULL || batch->labels == NULL) {
        batch_deinit(batch);
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        struct rng rng = rng_stream(seed, first + i);
        batch->labels[i] = draw_digit(&rng, batch->pixels + i * DIGIT_PIXELS);
    }
    return true;
}

void batch_deinit(struct batch *batch)
{
    buffer_destroy(batch->pixels);
    free(batch->labels);
    *batch = (struct batch){ 0, NULL, NULL };
}
