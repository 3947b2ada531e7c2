/* SPDX-License-Identifier: Apache-2.0 */
/* radix.h — rows in order of a number each: a stable sort in time that grows with their count alone, whatever
 * the numbers are. Thread-safe. */
#ifndef VV_BASE_RADIX_H
#define VV_BASE_RADIX_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct vv_keyed_row {
    uint64_t key;
    uint32_t row;
};

/* Sorts by key; rows of equal keys keep their order. Only bits in which keys differ cost time. */
enum varve_code vv_radix_sort(struct vv_keyed_row *rows, size_t count, struct varve_error *error);

#endif
