/* SPDX-License-Identifier: Apache-2.0 */
/* own_time.h — whose time is it: every instant of a track belongs to one slice at most.
 *
 * The own time of a slice is the time during which it is the open slice that began last. Where slices
 * nest that is its duration less its children's (the model's self_ns); where they overlap it is still
 * an exact partition, which differences of durations are not:
 *     the sum of the own times of a track's slices = the time during which any of them is open. */
#ifndef VV_DERIVE_OPERATORS_OWN_TIME_H
#define VV_DERIVE_OPERATORS_OWN_TIME_H

#include "model/model.h"

/* Sets out_own_ns[row] for each row of [first, last), rows of one track, counting no instant from
 * end_ns on (INT64_MAX: all count). `stack` has room for last - first rows. Returns the sum. */
int64_t vv_own_time(const struct vv_slices *slices, uint32_t first, uint32_t last, int64_t end_ns,
                    uint32_t *stack, int64_t *out_own_ns);

#endif
