/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_BYTES_MIN 4096u
#define BLOCK_BYTES_MAX (1u << 20)
#define ALIGNMENT 16u

#if defined(__SANITIZE_ADDRESS__)
#define EACH_ALONE 1
#else
#define EACH_ALONE 0
#endif

struct vv_arena_block {
    struct vv_arena_block *next;
    size_t used_bytes, size_bytes; /* bytes of `data`                                            */
    alignas(ALIGNMENT) unsigned char data[];
};

void vv_arena_init(struct vv_arena *arena)
{
    *arena = (struct vv_arena){ 0 };
}

void vv_arena_deinit(struct vv_arena *arena)
{
    if (arena == NULL)
        return;
    while (arena->blocks != NULL) {
        struct vv_arena_block *block = arena->blocks;
        arena->blocks = block->next;
        free(block);
    }
    arena->allocated_bytes = 0;
}

/* Each block has twice the size of the last, so a large arena has few blocks and a small one stays
 * small. */
static size_t next_block_bytes(const struct vv_arena *arena, size_t bytes)
{
    if (EACH_ALONE)
        return bytes;
    size_t size = arena->blocks == NULL ? BLOCK_BYTES_MIN : arena->blocks->size_bytes * 2;
    if (size > BLOCK_BYTES_MAX)
        size = BLOCK_BYTES_MAX;
    return size < bytes ? bytes : size;
}

void *vv_arena_alloc(struct vv_arena *arena, size_t bytes)
{
    if (bytes > SIZE_MAX / 4)
        return NULL;
    /* In sanitizer builds a block ends exactly where the allocation does. */
    size_t rounded = EACH_ALONE ? bytes : (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    struct vv_arena_block *block = arena->blocks;
    if (EACH_ALONE || block == NULL || block->size_bytes - block->used_bytes < rounded) {
        size_t size = next_block_bytes(arena, rounded);
        block = malloc(sizeof *block + size);
        if (block == NULL)
            return NULL;
        block->next = arena->blocks;
        block->used_bytes = 0;
        block->size_bytes = size;
        arena->blocks = block;
    }
    void *memory = block->data + block->used_bytes;
    block->used_bytes += rounded;
    arena->allocated_bytes += bytes;
    return memset(memory, 0, bytes);
}

char *vv_arena_text(struct vv_arena *arena, const char *text, size_t length)
{
    if (length == SIZE_MAX)
        return NULL;
    char *copy = vv_arena_alloc(arena, length + 1);
    if (copy != NULL && length > 0)
        memcpy(copy, text, length);
    return copy;
}
