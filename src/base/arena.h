/* SPDX-License-Identifier: Apache-2.0 */
/* arena.h — memory that is released as a whole. Thread-compatible.
 *
 * Blocks are added as needed and never move, so pointers into an arena are valid until
 * vv_arena_deinit. In sanitizer builds every allocation has a block of its own, so that overruns
 * are detected. */
#ifndef VV_BASE_ARENA_H
#define VV_BASE_ARENA_H

#include <stddef.h>
#include <stdint.h>

struct vv_arena_block;

struct vv_arena {
    struct vv_arena_block *blocks; /* newest first                                             */
    size_t allocated_bytes;        /* bytes handed out                                         */
};

void vv_arena_init(struct vv_arena *arena);
void vv_arena_deinit(struct vv_arena *arena); /* NULL-safe, idempotent */

/* Returns zeroed memory, aligned to 16; NULL if there is no memory. */
VV_MUST_USE void *vv_arena_alloc(struct vv_arena *arena, size_t bytes);
/* Returns a NUL-terminated copy of text[0..length); NULL if there is no memory. */
VV_MUST_USE char *vv_arena_text(struct vv_arena *arena, const char *text, size_t length);

#endif
