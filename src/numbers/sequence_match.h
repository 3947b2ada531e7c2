/* SPDX-License-Identifier: Apache-2.0 */
/* sequence_match.h — matches the items of two sequences: as many as possible, in order.
 *
 * The match is the longest common subsequence. The common begin and end of the sequences are
 * matched first. If the rest has more than VV_MATCH_CELLS pairs, each item is instead matched with
 * the next equal item of the other sequence. Thread-compatible. */
#ifndef VV_NUMBERS_SEQUENCE_MATCH_H
#define VV_NUMBERS_SEQUENCE_MATCH_H

#include <stdint.h>

#include "base/error.h"

#define VV_MATCH_CELLS (4u << 20)

/* partner[i] = the index in b of a's i-th item, or UINT32_MAX; ascending where set. */
enum varve_code vv_sequence_match(const uint32_t *a, uint32_t a_count, const uint32_t *b,
                                  uint32_t b_count, uint32_t *partner, struct varve_error *error);

#endif
