/* SPDX-License-Identifier: Apache-2.0 */
/* order.h — the order that rows should have, without moving them. Thread-safe.
 *
 * A stable merge sort of row numbers: rows already in order cost one pass and no memory. */
#ifndef VV_MODEL_ORDER_H
#define VV_MODEL_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* Must row `a` stand before row `b`? A strict order; equal rows keep theirs. */
typedef bool vv_row_before(const void *context, uint64_t a, uint64_t b);

/* *out_order[i] is the row that belongs at i, for `count` rows; NULL if they stand in order already.
 * It belongs to the caller (free). */
enum varve_code vv_order_rows(uint64_t count, vv_row_before *before, const void *context,
                              uint64_t **out_order, struct varve_error *error);

#endif
