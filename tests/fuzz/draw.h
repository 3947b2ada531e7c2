/* SPDX-License-Identifier: Apache-2.0 */
/* draw.h — numbers and choices drawn from a fuzzer's bytes, for targets that make something
 * well-formed of them. When the bytes are used up, all that is drawn is 0. */
#ifndef VARVE_TESTS_DRAW_H
#define VARVE_TESTS_DRAW_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct draw {
    const uint8_t *at, *end;
};

static inline unsigned draw_byte(struct draw *draw)
{
    return draw->at < draw->end ? *draw->at++ : 0;
}

/* One of 0 to count - 1; count <= 256. */
static inline unsigned draw_below(struct draw *draw, size_t count)
{
    return draw_byte(draw) % (unsigned)count;
}

#define DRAW_FROM(draw, choices) (choices)[draw_below(draw, sizeof(choices) / sizeof *(choices))]

static inline uint64_t draw_word(struct draw *draw)
{
    uint64_t word = 0;
    size_t bytes =
        (size_t)(draw->end - draw->at) < sizeof word ? (size_t)(draw->end - draw->at) : sizeof word;
    memcpy(&word, draw->at, bytes);
    draw->at += bytes;
    return word;
}

/* Mostly small; sometimes at an end of a type, sometimes anything. */
static inline int64_t draw_number(struct draw *draw)
{
    static const int64_t ends[] = {
        0, 1, -1, INT64_MAX, INT64_MIN, INT64_MAX - 1, INT64_MAX / 2 + 1, INT32_MAX, INT32_MIN,
        UINT32_MAX,
        INT64_C(1) << 32, INT64_C(1) << 53, INT64_C(1) << 62, -(INT64_C(1) << 62), 1000000000,
        INT64_C(86400000000000),
    };
    unsigned how = draw_byte(draw);
    if (how < 128)
        return how;
    if (how < 192)
        return (int64_t)draw_byte(draw) << (how % 40);
    if (how < 248)
        return DRAW_FROM(draw, ends);
    return (int64_t)draw_word(draw);
}

/* Of a length or count. */
static inline int64_t draw_size(struct draw *draw)
{
    int64_t number = draw_number(draw);
    return number < 0 ? ~number : number;
}

#endif
