/* SPDX-License-Identifier: Apache-2.0 */
/* arena.h — memory that is released whole. Thread-compatible.
 *
 * Blocks grow as needed and never move, so pointers into an arena live until vv_arena_deinit.
 * In sanitizer builds every allocation is its own, so that overruns are seen. */
#ifndef VV_BASE_ARENA_H
#define VV_BASE_ARENA_H

#include <stddef.h>
#include <stdint.h>

struct vv_arena_block;

struct vv_arena {
    struct vv_arena_block *blocks; /* newest first                                             */
    size_t allocated_bytes;        /* handed out                                               */
};

void vv_arena_init(struct vv_arena *arena);
void vv_arena_deinit(struct vv_arena *arena); /* NULL-safe, idempotent */

/* Zeroed memory, aligned to 16; NULL without memory. */
VV_MUST_USE void *vv_arena_alloc(struct vv_arena *arena, size_t bytes);
/* A NUL-terminated copy of text[0..length); NULL without memory. */
VV_MUST_USE char *vv_arena_text(struct vv_arena *arena, const char *text, size_t length);

#endif
