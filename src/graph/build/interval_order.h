/* SPDX-License-Identifier: Apache-2.0 */
/* interval_order.h — the order of intervals of time: one comes before another if it has ended when
 * the other begins. Thread-safe. */
#ifndef VV_GRAPH_BUILD_INTERVAL_ORDER_H
#define VV_GRAPH_BUILD_INTERVAL_ORDER_H

#include "numbers/intervals.h"

/* out_level[i]: the number of intervals in the longest chain before items[i]. out_before[i]: the
 * last interval of such a chain, the one that ends latest; UINT32_MAX at level 0. An interval that
 * ends at the instant at which another begins comes before it; two of no duration at one instant do
 * not. begin_ns <= end_ns. Time O(n), but for sorting by numbers. */
enum varve_code vv_interval_order(const struct vv_interval *items, size_t count,
                                  uint32_t *out_level, uint32_t *out_before,
                                  struct varve_error *error);

#endif
