/* SPDX-License-Identifier: Apache-2.0 */
/* hot_path.h — the hot path: stores one record, on the calling thread, also inside signal handlers.
 *
 * A compare-and-swap reserves the place of a record. This swap is atomic only towards signal
 * handlers of the same thread. The clock is read inside the retry loop, so that time never runs
 * backwards in a stream. Addresses are unique, so an unchanged cursor means that no handler came
 * between.
 * A handler may write its own records after the interrupted writer's reserve and before its
 * publish. Only the outermost writer of a packet publishes, for all: content_bits moves from the
 * start of the oldest unfinished record to the end of the newest. If a handler finds content_bits
 * before the start of its own record, it sets writer.behind. The outermost writer reads
 * writer.behind after it has published its own record (record/hot_path.c). Once published, the
 * outermost writer touches the packet only if writer.behind is set: a handler may have left the
 * packet, which then may not be mapped any more. */
#ifndef VV_RECORD_HOT_PATH_H
#define VV_RECORD_HOT_PATH_H

#include <string.h>

#include "record/site.h"
#include "record/stream/recorder.h"
#include "record/string.h"
#include "record/thread.h"
#include "record/track.h"

#define VV_LIKELY(condition) __builtin_expect(!!(condition), 1)
#define VV_INLINE static inline __attribute__((always_inline))
/* Puts the functions that records pass through side by side. Between two records operators fill the
 * caches, so every page that a record touches costs time, a page of code too. */
#define VV_HOT __attribute__((hot))

/* varve_emit_end for ranges that a collector began, which observers do not see. */
void vv_emit_end(void);
/* Records alone, without telling observers. */
void vv_record_begin(struct varve_site *site);
void vv_record_begin_name(const char *name, uint32_t layer);
void vv_record_end(void);
/* The cost of one record on this machine, in picoseconds: measures the hot path on a scratch
 * packet. */
uint64_t vv_range_cost_ps(void);

static inline bool vv_cursor_swap(uint8_t **cursor, uint8_t *from, uint8_t *to)
{
#if defined(__x86_64__)
    bool swapped; /* no lock prefix: only this thread writes the cursor */
    __asm__ volatile("cmpxchgq %3, %1" : "=@ccz"(swapped), "+m"(*cursor), "+a"(from) : "r"(to)
                     : "memory");
    return swapped;
#else
    return __atomic_compare_exchange_n(cursor, &from, to, false, __ATOMIC_RELAXED,
                                       __ATOMIC_RELAXED);
#endif
}

struct vv_place {
    uint64_t *words; /* NULL: there is no room                                                   */
    struct vv_packet_header *packet;
    uint64_t ticks;
    uint64_t start_bits; /* offset of words in packet, in bits                                   */
};

VV_INLINE struct vv_place vv_place(uint8_t *cursor, struct vv_packet_header *packet, uint64_t ticks)
{
    uint64_t start_bits = (uint64_t)(cursor - (uint8_t *)packet) * 8;
    return (struct vv_place){ (uint64_t *)(void *)cursor, packet, ticks, start_bits };
}

static inline bool vv_knows_string(const struct vv_self *self, uint32_t string)
{
    const struct vv_thread *thread = self->thread; /* a handler may have detached it */
    return thread != NULL && vv_string_is_in(string, thread->serial);
}

static inline bool vv_knows_track(const struct vv_self *self, uint32_t track)
{
    const struct vv_thread *thread = self->thread;
    return thread != NULL && vv_track_is_in(track, thread->serial);
}

/* The first of the strings that is not known; 0 = all are. */
VV_INLINE uint32_t vv_unknown_string(const struct vv_self *self, const uint32_t *strings,
                                     size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (VARVE_UNLIKELY(!vv_knows_string(self, strings[i])))
            return strings[i];
    return 0;
}

/* Reserves the place of a record that names strings, a track (0 = none), or both. Their numbers are
 * valid only in the sessions that have their records, and sessions may end and begin at any
 * time. */
VV_INLINE struct vv_place vv_reserve_with(struct vv_self *self, size_t bytes,
                                          const uint32_t *strings, size_t count, uint32_t track)
{
    for (;;) {
        uint8_t *cursor = __atomic_load_n(&self->writer.cursor, __ATOMIC_RELAXED);
        uint8_t *limit = __atomic_load_n(&self->writer.limit, __ATOMIC_RELAXED);
        if (VARVE_UNLIKELY((uintptr_t)cursor + bytes > (uintptr_t)limit)) {
            if (vv_thread_advance(self))
                continue;
            vv_thread_discard(self, 1);
            return (struct vv_place){ NULL, NULL, 0, 0 };
        }
        const uint32_t unknown = vv_unknown_string(self, strings, count);
        if (VARVE_UNLIKELY(unknown != 0) ||
            (track != 0 && VARVE_UNLIKELY(!vv_knows_track(self, track)))) {
            if (vv_thread_meet(self, unknown, track))
                continue;
            vv_thread_discard(self, 1);
            return (struct vv_place){ NULL, NULL, 0, 0 };
        }
        struct vv_packet_header *packet = __atomic_load_n(&self->writer.packet, __ATOMIC_RELAXED);
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        uint64_t ticks = vv_clock_ticks();
        if (VARVE_UNLIKELY((uint32_t)(ticks >> VV_ERA_SHIFT) != self->era) && !self->busy) {
            vv_thread_tick(self, ticks);
            continue;
        }
        if (VV_LIKELY(vv_cursor_swap(&self->writer.cursor, cursor, cursor + bytes)))
            return vv_place(cursor, packet, ticks);
    }
}

VV_INLINE struct vv_place vv_reserve_on_track(struct vv_self *self, size_t bytes, uint32_t string,
                                              uint32_t track)
{
    return vv_reserve_with(self, bytes, &string, string != 0, track);
}

VV_INLINE struct vv_place vv_reserve_naming(struct vv_self *self, size_t bytes, uint32_t string)
{
    return vv_reserve_on_track(self, bytes, string, 0);
}

VV_INLINE struct vv_place vv_reserve(struct vv_self *self, size_t bytes)
{
    return vv_reserve_naming(self, bytes, 0);
}

/* Publishes what handlers left behind. The caller is the outermost writer of `packet` and has just
 * published its own record. */
void vv_publish_rest(struct vv_self *self, struct vv_packet_header *packet);

/* Publishes a record of `bytes` that is whole. Only this thread writes content_bits; other threads
 * read it. */
VV_INLINE void vv_publish(struct vv_self *self, const struct vv_place *place, size_t bytes)
{
    struct vv_packet_header *packet = place->packet;
    __atomic_signal_fence(__ATOMIC_RELEASE);
    if (VARVE_UNLIKELY(packet->content_bits != place->start_bits)) {
        /* the interrupted writer publishes */
        __atomic_store_n(&self->writer.behind, 1, __ATOMIC_RELAXED);
        return;
    }
    __atomic_store_n(&packet->content_bits, place->start_bits + 8 * bytes, __ATOMIC_RELEASE);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (VARVE_UNLIKELY(__atomic_load_n(&self->writer.behind, __ATOMIC_RELAXED) != 0))
        vv_publish_rest(self, packet);
}

/* Reserves the place of a record of `bytes` in the usual case: the clock is the counter, its era
 * has not changed, there is room, and no handler comes. Calls no function, so the compiler saves no
 * registers. */
VV_INLINE bool vv_reserve_at_once(struct vv_self *self, size_t bytes, struct vv_place *out_place)
{
    uint8_t *cursor = __atomic_load_n(&self->writer.cursor, __ATOMIC_RELAXED);
    struct vv_packet_header *packet = __atomic_load_n(&self->writer.packet, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    const struct vv_counter_value now = vv_counter_read();
    *out_place = vv_place(cursor, packet, now.ticks);
    return VV_LIKELY((uintptr_t)cursor + bytes <= (uintptr_t)self->writer.limit) &&
           VV_LIKELY(now.second == self->era) &&
           VV_LIKELY(vv_cursor_swap(&self->writer.cursor, cursor, cursor + bytes));
}

VV_INLINE void vv_put_word(struct vv_self *self, const struct vv_place *place, uint32_t id)
{
    place->words[0] = vv_record_word(id, place->ticks);
    vv_publish(self, place, 8);
}

VV_INLINE void vv_put(struct vv_self *self, uint32_t id)
{
    struct vv_place place = vv_reserve(self, 8);
    if (VV_LIKELY(place.words != NULL))
        vv_put_word(self, &place, id);
}

static inline void vv_put_fields_at(struct vv_self *self, const struct vv_place *place, uint32_t id,
                                    const uint64_t *fields, size_t count)
{
    if (place->words == NULL)
        return;
    place->words[0] = vv_record_word(id, place->ticks);
    __atomic_signal_fence(__ATOMIC_RELEASE); /* vv_stream_settle */
    memcpy(place->words + 1, fields, 8 * count);
    vv_publish(self, place, 8 + 8 * count);
}

static inline void vv_put_fields(struct vv_self *self, uint32_t id, const uint64_t *fields,
                                 size_t count)
{
    struct vv_place place = vv_reserve(self, 8 + 8 * count);
    vv_put_fields_at(self, &place, id, fields, count);
}

/* ---- open ranges: which of them are recorded ---- */

/* Ranges write what the thread has used (record/counts.h). Atomic. */
extern bool vv_ranges_are_counted;

static inline bool vv_is_counting(void)
{
    return VARVE_UNLIKELY(__atomic_load_n(&vv_ranges_are_counted, __ATOMIC_RELAXED));
}

/* Nothing unusual is open: from now on records may use vv_reserve_at_once. */
static inline void vv_see_plain(struct vv_self *self)
{
    uint64_t mark = vv_birth_word() & VV_BIRTH_MARK;
    bool is_plain = vv_clock_is_counter && !vv_is_counting();
    self->plain_word = is_plain ? (uint32_t)(self->epoch - mark) + mark : VV_NOT_PLAIN;
}

/* The caller has changed the counts of open ranges in several steps. If a handler saw another epoch
 * between two steps, no range is open in that epoch: forgets the counts. */
static inline void vv_see_epoch(struct vv_self *self, uint32_t epoch)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (VARVE_UNLIKELY(self->epoch != epoch)) {
        vv_thread_forget(self);
        vv_see_plain(self);
    }
}

static inline struct vv_self *vv_self_in_epoch(void)
{
    struct vv_self *self = &vv_self;
    if (VARVE_UNLIKELY(self->epoch != vv_epoch())) {
        vv_thread_resync(self);
        vv_see_plain(self);
    }
    return self;
}

/* Is the innermost of `depth` open ranges one that is not recorded? */
static inline bool vv_is_skipped(const struct vv_self *self, uint32_t depth)
{
    return VARVE_UNLIKELY(self->skips != 0) && depth - 1 < VV_DEPTH_TRACKED &&
           (self->skipped[(depth - 1) / 64] >> (depth - 1) % 64 & 1) != 0;
}

/* Is a range that begins now recorded? A range deeper than VV_DEPTH_TRACKED always is, whatever the
 * mask: its end could not tell whether its begin was recorded. */
static inline bool vv_is_wanted(const struct vv_self *self, uint32_t layer)
{
    return VV_LIKELY((varve_layers() & layer) != 0) || self->depth >= VV_DEPTH_TRACKED;
}

/* Counts a range after its begin was recorded or skipped. The count must not come before: recording
 * may stop and start while the begin is stored. Then the counts are forgotten, and the end of the
 * range would be ignored. */
static inline void vv_push(struct vv_self *self, bool is_recorded)
{
    vv_self_in_epoch();
    uint32_t epoch = self->epoch, depth = self->depth++;
    if (VV_LIKELY(is_recorded) || depth >= VV_DEPTH_TRACKED)
        return;
    self->skipped[depth / 64] |= UINT64_C(1) << depth % 64;
    self->skips++;
    self->plain_word = VV_NOT_PLAIN;
    vv_see_epoch(self, epoch);
}

/* Counts one range less. The caller saw an open range, but a handler may have seen another epoch
 * since and forgotten that range. */
VV_INLINE void vv_count_down(struct vv_self *self)
{
    if (VARVE_UNLIKELY((int32_t)--self->depth < 0))
        self->depth = 0;
}

/* Closes the innermost range. Returns whether its begin was recorded. */
static inline bool vv_pop(struct vv_self *self)
{
    uint32_t epoch = self->epoch;
    bool skipped = vv_is_skipped(self, self->depth);
    vv_count_down(self);
    if (VARVE_UNLIKELY(skipped)) {
        self->skipped[self->depth / 64] &= ~(UINT64_C(1) << self->depth % 64);
        if (--self->skips == 0 && self->frames == 0)
            vv_see_plain(self);
        vv_see_epoch(self, epoch);
    }
    return !skipped;
}

/* A declared class is valid in the running session and in all later ones. The thread may still be
 * in an earlier session, which lacks the class. So the epoch is read after the class. */
static inline uint32_t vv_site_id(struct varve_site *site, enum vv_site_kind kind)
{
    uint32_t state = __atomic_load_n(&site->state, __ATOMIC_ACQUIRE),
             id = (state & VV_ID_MASK) + kind;
    if (VARVE_UNLIKELY((state >> (VV_ID_BITS + kind) & 1) == 0))
        id = vv_site_declare(site, kind);
    vv_self_in_epoch();
    return id;
}

VV_INLINE void vv_put_site(struct vv_self *self, struct varve_site *site, enum vv_site_kind kind)
{
    uint32_t id = vv_site_id(site, kind);
    if (VV_LIKELY(id != 0))
        vv_put(self, id);
    else
        vv_thread_discard(self, 1);
}

static inline void vv_put_site_field(struct varve_site *site, enum vv_site_kind kind,
                                     uint64_t field)
{
    struct vv_self *self = vv_self_in_epoch();
    uint32_t id = vv_site_id(site, kind);
    if (id != 0)
        vv_put_fields(self, id, &field, 1);
    else
        vv_thread_discard(self, 1);
}

#endif
