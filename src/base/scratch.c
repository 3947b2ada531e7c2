/* SPDX-License-Identifier: Apache-2.0 */
#include "base/scratch.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/large_pages.h"

struct vv_scratch_block {
    struct vv_scratch_block *older, *newer;
    void (*deinit)(void *object); /* NULL: the block is an array */
    alignas(16) unsigned char data[];
};

static struct vv_scratch_block *block_of(void *items)
{
    return (struct vv_scratch_block *)((unsigned char *)items - sizeof(struct vv_scratch_block));
}

/* Makes the block's neighbours, or the scratch, point to its new address. */
static void link_block(struct vv_scratch *scratch, struct vv_scratch_block *block)
{
    if (block->older != NULL)
        block->older->newer = block;
    if (block->newer != NULL)
        block->newer->older = block;
    else
        scratch->blocks = block;
}

/* The bytes of a block for `count` items; 0 if that is too many. */
static size_t block_bytes(size_t count, size_t item_bytes)
{
    return count > SIZE_MAX / 4 / item_bytes ? 0
                                             : sizeof(struct vv_scratch_block) + count * item_bytes;
}

static enum varve_code add_block(struct vv_scratch *scratch, struct vv_scratch_block *block,
                                 void *items)
{
    void *data = block->data;
    block->older = scratch->blocks;
    block->newer = NULL;
    block->deinit = NULL;
    link_block(scratch, block);
    memcpy(items, &data, sizeof data); /* `items` may be any type **, and a void ** must not alias
                                          it */
    return VARVE_OK;
}

static enum varve_code refuse(size_t count, size_t item_bytes, struct varve_error *error)
{
    VV_FAIL(error, VARVE_NO_MEMORY, "no memory for %zu items of %zu bytes", count, item_bytes);
}

enum varve_code vv_scratch_array(struct vv_scratch *scratch, void *items, size_t count,
                                 size_t item_bytes, struct varve_error *error)
{
    size_t bytes = block_bytes(count, item_bytes);
    struct vv_scratch_block *block = bytes == 0 ? NULL : vv_large_pages_alloc(bytes);
    return block == NULL ? refuse(count, item_bytes, error) : add_block(scratch, block, items);
}

enum varve_code vv_scratch_zeros(struct vv_scratch *scratch, void *items, size_t count,
                                 size_t item_bytes, struct varve_error *error)
{
    size_t bytes = block_bytes(count, item_bytes);
    struct vv_scratch_block *block = bytes == 0 ? NULL : calloc(1, bytes);
    return block == NULL ? refuse(count, item_bytes, error) : add_block(scratch, block, items);
}

enum varve_code vv_scratch_reserve(struct vv_scratch *scratch, void *items, size_t *capacity,
                                   size_t needed, size_t item_bytes, struct varve_error *error)
{
    if (needed <= *capacity)
        return VARVE_OK;
    size_t doubled = *capacity < 16 ? 16 : *capacity * 2;
    size_t room = needed > doubled ? needed : doubled;
    void *former;
    memcpy(&former, items, sizeof former);
    if (former == NULL) {
        VV_TRY(vv_scratch_array(scratch, items, room, item_bytes, error));
    } else {
        size_t bytes = block_bytes(room, item_bytes);
        struct vv_scratch_block *block = bytes == 0 ? NULL : realloc(block_of(former), bytes);
        if (block == NULL)
            return refuse(room, item_bytes, error);
        link_block(scratch, block);
        void *data = block->data;
        memcpy(items, &data, sizeof data);
    }
    memcpy(&former, items, sizeof former);
    vv_large_pages_wish(former, room * item_bytes);
    *capacity = room;
    return VARVE_OK;
}

enum varve_code vv_scratch_object(struct vv_scratch *scratch, void *object, size_t bytes,
                                  void (*deinit)(void *object), struct varve_error *error)
{
    VV_TRY(vv_scratch_zeros(scratch, object, 1, bytes, error));
    scratch->blocks->deinit = deinit;
    return VARVE_OK;
}

static void free_block(struct vv_scratch_block *block)
{
    if (block->deinit != NULL)
        block->deinit(block->data);
    free(block);
}

void vv_scratch_release(struct vv_scratch *scratch, void *items)
{
    if (items == NULL)
        return;
    struct vv_scratch_block *block = block_of(items);
    if (block->older != NULL)
        block->older->newer = block->newer;
    if (block->newer != NULL)
        block->newer->older = block->older;
    else
        scratch->blocks = block->older;
    free_block(block);
}

void vv_scratch_deinit(struct vv_scratch *scratch)
{
    while (scratch->blocks != NULL) {
        struct vv_scratch_block *block = scratch->blocks;
        scratch->blocks = block->older;
        free_block(block);
    }
}
