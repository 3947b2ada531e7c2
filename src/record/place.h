/* SPDX-License-Identifier: Apache-2.0 */
/* place.h — the hot path: one record, on the calling thread, also inside signal handlers.
 *
 * A record's place is reserved by a compare-and-swap that is atomic towards signal handlers of the same
 * thread only, with the clock read inside the retry loop, so that time never runs backwards in a stream.
 * A handler may write its own records between our reserve and our publish; only the outermost writer
 * publishes, for all:   content_bits  moves from the start of the oldest unfinished record to the end of
 * the newest. Addresses are unique, so an unchanged cursor means that nobody came between. */
#ifndef VV_RECORD_PLACE_H
#define VV_RECORD_PLACE_H

#include <string.h>

#include "record/recorder.h"

#define VV_LIKELY(condition) __builtin_expect(!!(condition), 1)
#define VV_INLINE static inline __attribute__((always_inline))

static inline bool vv_cursor_swap(uint8_t **cursor, uint8_t *from, uint8_t *to)
{
#if defined(__x86_64__)
    bool swapped; /* no lock prefix: other threads never write it */
    __asm__ volatile("cmpxchgq %3, %1" : "=@ccz"(swapped), "+m"(*cursor), "+a"(from) : "r"(to)
                     : "memory");
    return swapped;
#else
    return __atomic_compare_exchange_n(cursor, &from, to, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
#endif
}

struct vv_place {
    uint64_t *words; /* NULL: no room                                                            */
    struct vv_packet_header *packet;
    uint64_t ticks;
};

VV_INLINE struct vv_place vv_reserve(struct vv_self *self, size_t bytes)
{
    struct vv_place place;
    for (;;) {
        uint8_t *cursor = __atomic_load_n(&self->writer.cursor, __ATOMIC_RELAXED);
        uint8_t *limit = __atomic_load_n(&self->writer.limit, __ATOMIC_RELAXED);
        if (VARVE_UNLIKELY((uintptr_t)cursor + bytes > (uintptr_t)limit)) {
            if (vv_thread_advance(self))
                continue;
            vv_thread_discard(self, 1);
            place.words = NULL;
            return place;
        }
        place.packet = __atomic_load_n(&self->writer.packet, __ATOMIC_RELAXED);
        place.ticks = vv_clock_ticks();
        if (VARVE_UNLIKELY((uint32_t)(place.ticks >> VV_ERA_SHIFT) != self->era) && !self->busy) {
            vv_thread_tick(self, place.ticks);
            continue;
        }
        if (VV_LIKELY(vv_cursor_swap(&self->writer.cursor, cursor, cursor + bytes))) {
            place.words = (uint64_t *)(void *)cursor;
            return place;
        }
    }
}

/* Publishes all that is reserved in `packet`; the caller is the outermost writer there. */
VV_INLINE void vv_publish_all(struct vv_self *self, struct vv_packet_header *packet)
{
    for (;;) {
        uint8_t *cursor = __atomic_load_n(&self->writer.cursor, __ATOMIC_RELAXED);
        bool current = __atomic_load_n(&self->writer.packet, __ATOMIC_RELAXED) == packet;
        uint64_t end =
            current ? (uint64_t)(cursor - (uint8_t *)packet) * 8 : packet->reserved_bits;
        __atomic_store_n(&packet->content_bits, end, __ATOMIC_RELEASE);
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        if (VV_LIKELY(!current || __atomic_load_n(&self->writer.cursor, __ATOMIC_RELAXED) == cursor))
            return;
    }
}

VV_INLINE void vv_publish(struct vv_self *self, const struct vv_place *place)
{
    uint64_t start = (uint64_t)((uint8_t *)place->words - (uint8_t *)place->packet) * 8;
    __atomic_signal_fence(__ATOMIC_RELEASE);
    if (VV_LIKELY(__atomic_load_n(&place->packet->content_bits, __ATOMIC_RELAXED) == start))
        vv_publish_all(self, place->packet);
    /* else we are inside a handler: the interrupted writer publishes */
}

/* One word, if nothing unusual stands in the way: no call, so no register is saved for one. False: nothing
 * was done. A handler that came after the reservation and wrote has moved the cursor. */
VV_INLINE bool vv_put_at_once(struct vv_self *self, uint32_t id)
{
    uint8_t *cursor = __atomic_load_n(&self->writer.cursor, __ATOMIC_RELAXED);
    uint8_t *next = cursor + 8;
    struct vv_packet_header *packet = __atomic_load_n(&self->writer.packet, __ATOMIC_RELAXED);
    if (VARVE_UNLIKELY((uintptr_t)next > (uintptr_t)self->writer.limit || !vv_clock_is_counter))
        return false;
    uint64_t ticks = vv_counter_read();
    if (VARVE_UNLIKELY((uint32_t)(ticks >> VV_ERA_SHIFT) != self->era) ||
        VARVE_UNLIKELY(!vv_cursor_swap(&self->writer.cursor, cursor, next)))
        return false;
    *(uint64_t *)(void *)cursor = vv_record_word(id, ticks);
    __atomic_signal_fence(__ATOMIC_RELEASE);
    uint64_t end = (uint64_t)(next - (uint8_t *)packet) * 8;
    if (VARVE_UNLIKELY(__atomic_load_n(&packet->content_bits, __ATOMIC_RELAXED) != end - 64))
        return true; /* inside a handler: the interrupted writer publishes */
    __atomic_store_n(&packet->content_bits, end, __ATOMIC_RELEASE);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (VARVE_UNLIKELY(__atomic_load_n(&self->writer.cursor, __ATOMIC_RELAXED) != next))
        vv_publish_all(self, packet);
    return true;
}

VV_INLINE void vv_put(struct vv_self *self, uint32_t id)
{
    struct vv_place place = vv_reserve(self, 8);
    if (VARVE_UNLIKELY(place.words == NULL))
        return;
    place.words[0] = vv_record_word(id, place.ticks);
    vv_publish(self, &place);
}

static inline void vv_put_fields(struct vv_self *self, uint32_t id, const uint64_t *fields, size_t count)
{
    struct vv_place place = vv_reserve(self, 8 + 8 * count);
    if (place.words == NULL)
        return;
    place.words[0] = vv_record_word(id, place.ticks);
    memcpy(place.words + 1, fields, 8 * count);
    vv_publish(self, &place);
}

/* ---- open ranges: which of them are recorded ---- */

static inline struct vv_self *vv_self_in_epoch(void)
{
    struct vv_self *self = &vv_self;
    if (VARVE_UNLIKELY(self->epoch !=
                       __atomic_load_n(&varve_control_page.epoch, __ATOMIC_RELAXED)))
        vv_thread_resync(self);
    return self;
}

/* Is the innermost of `depth` open ranges one that is not recorded? */
static inline bool vv_is_skipped(const struct vv_self *self, uint32_t depth)
{
    return VARVE_UNLIKELY(self->skips != 0) && depth - 1 < VV_DEPTH_TRACKED &&
           (self->skipped[(depth - 1) / 64] >> (depth - 1) % 64 & 1) != 0;
}

/* Opens a range. True: record it. Deeper than is tracked every range is recorded, whatever the mask: its
 * end could not tell. */
static inline bool vv_push(struct vv_self *self, uint32_t layer)
{
    uint32_t depth = self->depth++;
    if (VV_LIKELY((varve_layers() & layer) != 0) || depth >= VV_DEPTH_TRACKED)
        return true;
    self->skipped[depth / 64] |= UINT64_C(1) << depth % 64;
    self->skips++;
    self->plain_epoch = self->epoch - 1;
    return false;
}

/* Closes the innermost range. True: its begin was recorded. */
static inline bool vv_pop(struct vv_self *self)
{
    bool skipped = vv_is_skipped(self, self->depth--);
    if (VARVE_UNLIKELY(skipped)) {
        self->skipped[self->depth / 64] &= ~(UINT64_C(1) << self->depth % 64);
        if (--self->skips == 0)
            self->plain_epoch = self->epoch;
    }
    return !skipped;
}

static inline uint32_t vv_site_id(struct varve_site *site, enum vv_site_kind kind)
{
    uint32_t state = __atomic_load_n(&site->state, __ATOMIC_RELAXED);
    if (VV_LIKELY(state >> (VV_ID_BITS + kind) & 1))
        return (state & VV_ID_MASK) + kind;
    return vv_site_declare(site, kind);
}

VV_INLINE void vv_put_site(struct vv_self *self, struct varve_site *site, enum vv_site_kind kind)
{
    uint32_t id = vv_site_id(site, kind);
    if (VV_LIKELY(id != 0))
        vv_put(self, id);
    else
        vv_thread_discard(self, 1);
}

static inline void vv_put_site_field(struct varve_site *site, enum vv_site_kind kind, uint64_t field)
{
    struct vv_self *self = vv_self_in_epoch();
    uint32_t id = vv_site_id(site, kind);
    if (id != 0)
        vv_put_fields(self, id, &field, 1);
    else
        vv_thread_discard(self, 1);
}

#endif
