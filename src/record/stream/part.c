/* SPDX-License-Identifier: Apache-2.0 */
#include "record/stream/part.h"

#include <errno.h>
#include <stddef.h>

#include "base/system/os.h"
#include "ctf/layout.h"
#include "record/stream/copier.h"
#include "record/stream/flight_recorder.h"
#include "record/stream/room.h"

#define FORGET_STEP_BYTES (UINT64_C(8) << 20)
#define BLOCK_BYTES UINT64_C(4096)

/* Guarded by the recorder's lock. */
static uint64_t bytes_max = UINT64_MAX, bytes_taken;

void vv_part_limit(uint64_t max_bytes)
{
    bytes_max = max_bytes != 0 ? max_bytes : UINT64_MAX;
    bytes_taken = 0;
}

void vv_part_return(uint64_t bytes)
{
    bytes_taken -= bytes < bytes_taken ? bytes : bytes_taken;
    vv_room_return(bytes);
}

int vv_part_make(const struct vv_own_folder *folder, const char *name, uint64_t bytes,
                 struct vv_part *out_part)
{
    struct vv_part part = { .bytes = bytes };
    int failure =
        vv_copier_reason() != 0 ? ENODEV : vv_own_create(folder, name, bytes, &part.map, &part.id);
    if (vv_copier_serves(failure))
        failure = vv_copier_make(folder, name, bytes, failure, &part.map, &part.copy);
    if (failure == 0)
        *out_part = part;
    return failure;
}

/* Writes zeros through the file's name. On every file system they get real blocks (or ENOSPC), and
 * one memset fills the pages of the cache; a fault for each page takes three times as long on ext4.
 * The name may not lead to the file: no descriptor is left, rights were dropped, the root has
 * changed, another folder lies there. Then the mapping serves, since it needs neither name nor
 * descriptor. */
static int back_file(const struct vv_part *part, const struct vv_own_folder *folder,
                     const char *name, uint64_t bytes)
{
    int failure = vv_own_write_zeros(folder, name, &part->id, part->backed_bytes, bytes);
    if (failure == 0)
        return vv_os_back_memory(part->map + part->backed_bytes, bytes);
    if (failure == ENOSPC || failure == EDQUOT || failure == EIO)
        return failure;
    int other_failure = vv_os_populate(part->map + part->backed_bytes, bytes);
    return other_failure == EINVAL ? failure : other_failure;
}

static int back(struct vv_part *part, const struct vv_own_folder *folder, const char *name,
                uint64_t bytes)
{
    int failure = part->copy != NULL ? vv_copier_back(part->map + part->backed_bytes, bytes)
                                     : back_file(part, folder, name, bytes);
    if (failure == 0)
        part->backed_bytes += bytes;
    return failure;
}

int vv_part_back(struct vv_part *part, const struct vv_own_folder *folder, const char *name,
                 uint64_t window_bytes, bool is_first)
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
        int failure =
            is_first || vv_room_is_for(folder, window) ? back(part, folder, name, window) : ENOSPC;
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

int vv_part_back_spare(struct vv_part *part, const struct vv_own_folder *folder, const char *name)
{
    return vv_room_is_for(folder, VV_PACKET_BYTES) ? back(part, folder, name, VV_PACKET_BYTES)
                                                   : ENOSPC;
}

void vv_part_adopt(const struct vv_part *part)
{
    bytes_taken += part->backed_bytes;
    vv_part_return(vv_ring_make_room(bytes_taken));
}

int vv_part_name(const struct vv_part *part, const struct vv_own_folder *folder, const char *hidden,
                 const char *name)
{
    int failure = part->copy != NULL ? vv_copier_first(part->copy, hidden) : 0;
    return failure != 0 ? failure : vv_own_rename(folder, hidden, name);
}

uint64_t vv_part_shrink(struct vv_part *part, uint64_t end_bytes)
{
    uint64_t end = (end_bytes + BLOCK_BYTES - 1) & ~(BLOCK_BYTES - 1);
    if (part->copy == NULL && end < part->backed_bytes &&
        vv_os_punch(part->map + end, part->backed_bytes - end) == 0)
        part->backed_bytes = end;
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
        (void)vv_os_replace_by_memory(part->map, part->bytes);
    else if (part->map != NULL)
        vv_os_unmap(part->map, part->bytes);
    *part = (struct vv_part){ 0 };
}
