/* SPDX-License-Identifier: Apache-2.0 */
/* repeats.h — finds where a sequence repeats itself: "36 × these 15", "4 × these 12". Thread-safe.
 *
 * A repeat of period p is a stretch of at least 3 p tokens in which each token equals the one p
 * before it; the last time may be cut short. The longest repeat is taken first; if several are
 * equally long, the one with the smallest period; then the first. Then the rest on either side is
 * searched in the same way (doc/metrics.md §15). Repeats are found through the Lyndon words of the
 * sequence (Bannai et al., The "Runs" Theorem, 2017): O(n log n) time, O(n) memory. */
#ifndef VV_MODEL_STEPS_REPEATS_H
#define VV_MODEL_STEPS_REPEATS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct vv_repeat {
    uint32_t start, length, period; /* in tokens; length / period = whole times */
};

struct vv_repeats {
    struct vv_repeat *items; /* in order of start; they do not overlap */
    size_t count, capacity;
};

/* VARVE_LIMIT: more than 2^32-2 tokens. De-initialise also after a failure. */
enum varve_code vv_repeats_find(const uint32_t *tokens, size_t count,
                                struct vv_repeats *out_repeats, struct varve_error *error);
void vv_repeats_deinit(struct vv_repeats *repeats);

#endif
