/* SPDX-License-Identifier: Apache-2.0 */
/* sequence_match.h — which items of two sequences are each other's: most of them, in order.
 *
 * The longest common subsequence. Beyond VV_MATCH_CELLS pairs, after what both begin and end with alike, the k-th of a
 * kind is matched with the k-th instead, as long as order holds. Thread-compatible. */
#ifndef VV_NUMBERS_SEQUENCE_MATCH_H
#define VV_NUMBERS_SEQUENCE_MATCH_H

#include <stdint.h>

#include "base/error.h"

#define VV_MATCH_CELLS (4u << 20)

/* partner[i] = the index in b of a's i-th item, or UINT32_MAX; ascending where set. */
enum varve_code vv_sequence_match(const uint32_t *a, uint32_t a_count, const uint32_t *b, uint32_t b_count,
                                  uint32_t *partner, struct varve_error *error);

#endif
