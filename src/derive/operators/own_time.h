/* SPDX-License-Identifier: Apache-2.0 */
/* own_time.h — divides the time of a track among its slices: every instant belongs to at most one
 * slice.
 *
 * The own time of a slice is the time during which it is the open slice that began last. Where
 * slices nest, that is the slice's duration minus those of its children (self_ns of the model).
 * Where slices overlap, own times are still an exact partition, but differences of durations are
 * not. Law: the own times of a track's slices sum to the time during which any of them is open. */
#ifndef VV_DERIVE_OPERATORS_OWN_TIME_H
#define VV_DERIVE_OPERATORS_OWN_TIME_H

#include "model/model.h"

/* Sets out_own_ns[row] for the rows [first, last) of one track. No instant from end_ns on counts
 * (INT64_MAX: all count). `stack` has room for last - first rows. The slices are those of a
 * finished model, or have no columns but begin_ns and duration_ns. Returns the sum. */
int64_t vv_own_time(const struct vv_slices *slices, uint32_t first, uint32_t last, int64_t end_ns,
                    uint32_t *stack, int64_t *out_own_ns);

#endif
