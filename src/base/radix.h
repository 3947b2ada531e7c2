/* SPDX-License-Identifier: Apache-2.0 */
/* radix.h — sorts rows by a number each. The sort is stable; its time grows only with the number of
 * rows, not with the values. Thread-safe. */
#ifndef VV_BASE_RADIX_H
#define VV_BASE_RADIX_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct vv_keyed_row {
    uint64_t key;
    uint32_t row;
};

/* Sorts by key; rows with equal keys keep their order. Bits that are equal in all keys cost no
 * time. */
enum varve_code vv_radix_sort(struct vv_keyed_row *rows, size_t count, struct varve_error *error);

#endif
