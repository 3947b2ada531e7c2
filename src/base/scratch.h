/* SPDX-License-Identifier: Apache-2.0 */
/* scratch.h — the memory of one piece of work, released whole when the work ends.
 * Thread-compatible.
 *
 * The function that begins the work has a zeroed struct vv_scratch. It calls vv_scratch_deinit at
 * the end, on failure too. The functions that it calls take arrays from the scratch and free
 * nothing. An array of an arena (arena.h) cannot grow. An array of a scratch is a block of its own:
 * it can grow, and it can be released early, so large arrays take no more memory than with malloc.
 * A part that needs much memory for a short time has a scratch of its own. */
#ifndef VV_BASE_SCRATCH_H
#define VV_BASE_SCRATCH_H

#include <stddef.h>

#include "base/error.h"

struct vv_scratch_block;

struct vv_scratch {
    struct vv_scratch_block *blocks; /* newest first */
};

/* ARRAY makes room for `count` items, which may be 0. ZEROS does the same and sets them to zero.
 * RESERVE grows an array, as vv_array_reserve (array.h) does. `items` is the address of a pointer,
 * which is set on success. For RESERVE this pointer is NULL, or points to an array of the same
 * scratch. */
#define VV_SCRATCH_ARRAY(scratch, items, count, error) \
    vv_scratch_array((scratch), (items), (count), sizeof **(items), (error))
#define VV_SCRATCH_ZEROS(scratch, items, count, error) \
    vv_scratch_zeros((scratch), (items), (count), sizeof **(items), (error))
#define VV_SCRATCH_RESERVE(scratch, items, capacity, needed, error) \
    vv_scratch_reserve((scratch), (items), (capacity), (needed), sizeof **(items), (error))
enum varve_code vv_scratch_array(struct vv_scratch *scratch, void *items, size_t count,
                                 size_t item_bytes, struct varve_error *error);
enum varve_code vv_scratch_zeros(struct vv_scratch *scratch, void *items, size_t count,
                                 size_t item_bytes, struct varve_error *error);
enum varve_code vv_scratch_reserve(struct vv_scratch *scratch, void *items, size_t *capacity,
                                   size_t needed, size_t item_bytes, struct varve_error *error);

/* Makes a zeroed object that owns memory: `deinit` is called with it when the scratch ends. */
enum varve_code vv_scratch_object(struct vv_scratch *scratch, void *object, size_t bytes,
                                  void (*deinit)(void *object), struct varve_error *error);

/* Releases an array early. Use it only for an array that is large, or one of many; NULL-safe. */
void vv_scratch_release(struct vv_scratch *scratch, void *items);

void vv_scratch_deinit(struct vv_scratch *scratch); /* idempotent; newest first */

#endif
