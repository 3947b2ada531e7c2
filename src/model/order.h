/* SPDX-License-Identifier: Apache-2.0 */
/* order.h — finds the order that rows should have, without moving them. Thread-safe.
 *
 * This is a stable merge sort of row numbers: rows already in order cost one pass and no memory. */
#ifndef VV_MODEL_ORDER_H
#define VV_MODEL_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* Must row `a` stand before row `b`? A strict order; equal rows keep theirs. */
typedef bool vv_row_before(const void *context, uint64_t a, uint64_t b);

/* *out_order[i] is the row that belongs at i, for `count` rows. NULL = the rows are in order
 * already. The caller frees it. */
enum varve_code vv_order_rows(uint64_t count, vv_row_before *before, const void *context,
                              uint64_t **out_order, struct varve_error *error);

#endif
