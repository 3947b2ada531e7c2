/* SPDX-License-Identifier: Apache-2.0 */
/* recent.h — the last different addresses of a block, the latest first: programs take the memory
 * that they gave back, so most addresses are among them. */
#ifndef VV_CTF_PACK_RECENT_H
#define VV_CTF_PACK_RECENT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define VV_RECENT_MAX 256u

struct vv_recent { uint64_t addresses[VV_RECENT_MAX]; size_t count; };

/* The place of an address; the count where it is not there. */
static inline size_t vv_recent_find(const struct vv_recent *recent, uint64_t address)
{
    size_t place = 0;
    while (place < recent->count && recent->addresses[place] != address)
        place++;
    return place;
}

/* Puts the address that was at `place` first; at the count: it was not there. */
static inline void vv_recent_put(struct vv_recent *recent, size_t place, uint64_t address)
{
    if (place == recent->count && recent->count < VV_RECENT_MAX)
        recent->count++;
    place = place < VV_RECENT_MAX ? place : VV_RECENT_MAX - 1;
    memmove(recent->addresses + 1, recent->addresses, place * sizeof *recent->addresses);
    recent->addresses[0] = address;
}

#endif
