/* SPDX-License-Identifier: Apache-2.0 */
/* digits.h — the data set: digits drawn with a shaky pen on noisy paper.
 *
 * Sample `index` of a data set depends on the seed and the index alone, so any thread may draw any
 * sample, and a resumed run sees the samples that it would have seen. */
#ifndef TRAIN_DIGITS_H
#define TRAIN_DIGITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DIGIT_CLASSES 10
#define DIGIT_SIDE 28
#define DIGIT_PIXELS ((size_t)DIGIT_SIDE * DIGIT_SIDE)
#define HELD_OUT_FIRST (UINT64_C(1) << 62) /* training never reaches this index */

/* Samples that are worked on together. Thread-compatible. */
struct batch {
    size_t count;
    float *pixels; /* buffer: count images of DIGIT_SIDE rows; about -0.3 (paper) to 1.7 (ink) */
    int *labels;   /* count of them, each in 0..DIGIT_CLASSES-1 */
};

/* Draws `count` samples from `first` on. False = no memory; then there is nothing to free. */
bool batch_init(struct batch *batch, uint64_t seed, uint64_t first, size_t count);
void batch_deinit(struct batch *batch); /* idempotent */

#endif
