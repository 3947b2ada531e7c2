/* SPDX-License-Identifier: Apache-2.0 */
/* array.h — makes room in a growing array, which its owner frees. Thread-compatible.
 *
 * Invariant: *items has room for *capacity items. On failure both are unchanged. */
#ifndef VV_BASE_ARRAY_H
#define VV_BASE_ARRAY_H

#include <stddef.h>

#include "base/error.h"

#define VV_ARRAY_OF(type) struct { type *items; size_t count, capacity; }

/* Makes *capacity at least `needed`; if it grows, it at least doubles. `items` is the address of
 * the pointer. */
enum varve_code vv_array_reserve(void *items, size_t *capacity, size_t needed, size_t item_bytes,
                                 struct varve_error *error);

#endif
