/* SPDX-License-Identifier: Apache-2.0 */
#include "record/part.h"

#include <errno.h>
#include <stddef.h>

#include "base/os.h"
#include "ctf/layout.h"
#include "record/copier.h"
#include "record/ring.h"

#define FORGET_STEP_BYTES (UINT64_C(8) << 20)
#define BLOCK_BYTES UINT64_C(4096)

/* Under the recorder's lock. */
static uint64_t bytes_max = UINT64_MAX, bytes_taken;

void vv_part_limit(uint64_t max_bytes)
{
    bytes_max = max_bytes != 0 ? max_bytes : UINT64_MAX;
    bytes_taken = 0;
}

void vv_part_return(uint64_t bytes)
{
    bytes_taken -= bytes < bytes_taken ? bytes : bytes_taken;
}

int vv_part_make(const char *path, uint64_t bytes, struct vv_part *out_part)
{
    struct vv_part part = { .bytes = bytes };
    int failure = vv_copier_reason() != 0 ? ENODEV : vv_os_create_mapped(path, bytes, &part.map);
    if (vv_copier_serves(failure))
        failure = vv_copier_make(path, bytes, failure, &part.map, &part.copy);
    if (failure == 0)
        *out_part = part;
    return failure;
}

static int back(struct vv_part *part, const char *path, uint64_t bytes)
{
    int failure = part->copy != NULL
                      ? vv_copier_back(part->map + part->backed_bytes, bytes)
                      : vv_os_back(path, part->map, part->backed_bytes, bytes);
    if (failure == 0)
        part->backed_bytes += bytes;
    return failure;
}

int vv_part_back(struct vv_part *part, const char *path, uint64_t window_bytes, bool is_first)
{
    uint64_t window = window_bytes, rest = part->bytes - part->backed_bytes;
    if (window > rest)
        window = rest;
    vv_part_return(vv_ring_make_room(bytes_taken + window));
    uint64_t left = bytes_taken < bytes_max ? bytes_max - bytes_taken : 0;
    if (window > left && !is_first)
        window = left;
    for (;;) {
        if (window < VV_PACKET_BYTES)
            return ENOSPC;
        window -= window % VV_PACKET_BYTES;
        int failure = back(part, path, window);
        if (failure == 0)
            break;
        if (failure != ENOSPC && failure != EDQUOT)
            return failure;
        uint64_t freed = vv_ring_remove_oldest();
        vv_part_return(freed);
        if (freed == 0)
            window /= 2;
    }
    bytes_taken += window;
    return 0;
}

int vv_part_back_spare(struct vv_part *part, const char *path)
{
    return back(part, path, VV_PACKET_BYTES);
}

void vv_part_adopt(const struct vv_part *part)
{
    bytes_taken += part->backed_bytes;
    vv_part_return(vv_ring_make_room(bytes_taken));
}

int vv_part_name(const struct vv_part *part, const char *hidden, const char *path)
{
    int failure = part->copy == NULL ? 0
                                     : vv_os_write_at(hidden, part->map,
                                                      sizeof(struct vv_packet_header), 0);
    return failure != 0 ? failure : vv_os_replace(hidden, path);
}

uint64_t vv_part_shrink(struct vv_part *part, const char *path, uint64_t end_bytes)
{
    uint64_t end = (end_bytes + BLOCK_BYTES - 1) & ~(BLOCK_BYTES - 1);
    if (part->copy == NULL && end < part->backed_bytes &&
        vv_os_punch(path, end, part->backed_bytes - end) == 0) {
        vv_part_return(part->backed_bytes - end);
        part->backed_bytes = end;
    }
    return part->backed_bytes;
}

void vv_part_forget(struct vv_part *part, uint64_t end_bytes)
{
    if (part->copy != NULL || end_bytes - part->forgotten_bytes < 2 * FORGET_STEP_BYTES)
        return;
    vv_os_forget(part->map + part->forgotten_bytes, FORGET_STEP_BYTES);
    part->forgotten_bytes += FORGET_STEP_BYTES;
}

void vv_part_leave(struct vv_part *part)
{
    if (part->copy != NULL)
        vv_copier_leave(part->copy, part->backed_bytes);
    else if (part->map != NULL)
        vv_os_unmap(part->map, part->bytes);
    *part = (struct vv_part){ 0 };
}

void vv_part_abandon(struct vv_part *part, bool is_awaited)
{
    if (part->map != NULL && is_awaited)
        vv_os_replace_by_memory(part->map, part->bytes);
    else if (part->map != NULL)
        vv_os_unmap(part->map, part->bytes);
    *part = (struct vv_part){ 0 };
}
