/* SPDX-License-Identifier: Apache-2.0 */
/* range.c — ranges and steps: what a thread has open.
 *
 * The thread counts its open ranges. For each of the first 256 it keeps a bit: the range is not
 * recorded. So an end knows whether its begin was written, although the end names no site and the
 * mask may have changed. Observers are called around the records: before a begin, after an end. */
#include "ctf/metadata_write.h"
#include "record/counts.h"
#include "record/outliving_range.h"
#include "record/stream/observation.h"

/* ---- what a record takes in all cases ---- */

/* Recording may have been switched off since the caller tested it, or the program only has
 * observers. Then ranges are not counted: a start forgets the counts in any case. */
static bool is_off(void)
{
    return varve_layers() == 0;
}

void vv_record_begin(struct varve_site *site)
{
    struct vv_self *self = vv_self_in_epoch();
    if (is_off())
        return;
    bool is_wanted = vv_is_wanted(self, site->layer);
    if (is_wanted)
        vv_put_site(self, site, VV_KIND_BEGIN);
    vv_push(self, is_wanted);
    vv_count_begin(self, is_wanted);
}

void vv_record_end(void)
{
    struct vv_self *self = vv_self_in_epoch();
    if (is_off() || self->depth == self->step_depth) /* nothing is open, or only the step */
        return;
    vv_count_end(self);
    if (self->frames != 0)
        vv_frame_end_other(self);
    else if (vv_pop(self))
        vv_put(self, VV_EVENT_END);
}

static void next(struct varve_site *site)
{
    struct vv_self *self = vv_self_in_epoch();
    if (self->frames != 0 || vv_is_counting()) {
        vv_record_end();
        vv_record_begin(site);
        return;
    }
    if (is_off())
        return;
    bool was_recorded = self->depth != self->step_depth && vv_pop(self);
    bool is_wanted = vv_is_wanted(self, site->layer);
    if (is_wanted)
        vv_put_site(self, site, was_recorded ? VV_KIND_NEXT : VV_KIND_BEGIN);
    else if (was_recorded)
        vv_put(self, VV_EVENT_END);
    vv_push(self, is_wanted);
}

static void put_begin_name(struct vv_self *self, const char *name, uint32_t layer)
{
    if (name == NULL)
        name = "";
    uint32_t id = vv_string_known(name);
    if (id == 0 && vv_recorder_lock()) {
        id = vv_string_id(name);
        vv_recorder_unlock();
    }
    uint64_t field = (uint64_t)vv_layer_single(layer) << 32 | id;
    if (id == 0) {
        vv_thread_discard(self, 1);
        return;
    }
    vv_self_in_epoch();
    struct vv_place place = vv_reserve_naming(self, 16, id);
    vv_put_fields_at(self, &place, VV_EVENT_BEGIN, &field, 1);
}

void vv_record_begin_name(const char *name, uint32_t layer)
{
    struct vv_self *self = vv_self_in_epoch();
    if (is_off())
        return;
    bool is_wanted = vv_is_wanted(self, layer);
    if (is_wanted)
        put_begin_name(self, name, layer);
    vv_push(self, is_wanted);
    vv_count_begin(self, is_wanted);
}

/* Some counters move by 10 ns and more, so several records have the same instant. What a thread
 * records before a step's begin or end shall lie before it: readers find the step of a record by
 * its instant. A clock that stands still is not waited for. */
static void let_clock_move(void)
{
    uint64_t before = vv_clock_ticks();
    for (int reads = 0; reads < 100 && vv_clock_ticks() - before < VV_CLOCK_APART_TICKS; reads++)
        continue;
}

static void step_end(void)
{
    struct vv_self *self = vv_self_in_epoch();
    if (is_off() || self->step_depth == 0)
        return;
    let_clock_move();
    if (self->frames != 0) {
        vv_frame_end_step(self);
        return;
    }
    if (vv_is_counting()) { /* each range has counts where it ends */
        while (self->depth > self->step_depth)
            vv_record_end();
        vv_count_end(self);
    }
    while (self->depth > self->step_depth)
        vv_pop(self);
    self->step_depth = 0;
    if (vv_pop(self))
        vv_put(self, VV_EVENT_STEP_END);
}

static void step_begin(int64_t index)
{
    struct vv_self *self = vv_self_in_epoch();
    if (self->step_depth != 0)
        step_end();
    if (is_off())
        return;
    uint64_t field = (uint64_t)index;
    bool is_wanted = vv_is_wanted(self, VARVE_LAYER_STEP);
    if (is_wanted) {
        let_clock_move();
        vv_put_fields(self, VV_EVENT_STEP_BEGIN, &field, 1);
    }
    vv_push(self, is_wanted);
    self->step_depth = self->depth;
    vv_count_begin(self, is_wanted);
}

/* ---- begin, next, end: a fast path for nearly every record, and observers and the rest ---- */

/* A child that the recorder was not told of knows its observers only when it knows itself. */
static __attribute__((noinline)) const struct vv_observation *find_observation(void)
{
    vv_self_in_epoch();
    return vv_is_observed() ? vv_observation_get() : NULL;
}

static inline const struct vv_observation *observation(void)
{
    return VV_LIKELY(vv_birth_word() == VV_BIRTH_MARK) ? NULL : find_observation();
}

static __attribute__((noinline)) void begin_slowly(struct varve_site *site)
{
    const struct vv_observation *observers = observation();
    if (observers != NULL)
        observers->begin(site);
    vv_record_begin(site);
}

static __attribute__((noinline)) void end_slowly(void)
{
    vv_record_end();
    const struct vv_observation *observers = observation();
    if (observers != NULL)
        observers->end();
}

static __attribute__((noinline)) void next_slowly(struct varve_site *site)
{
    const struct vv_observation *observers = observation();
    if (observers != NULL) {
        observers->end();
        observers->begin(site);
    }
    next(site);
}

static inline bool is_plain(const struct vv_self *self)
{
    return self->plain_word == vv_epoch_word();
}

static inline bool is_ready(struct varve_site *site, enum vv_site_kind kind, uint32_t *out_id)
{
    /* Read before the epoch: vv_site_id says why. */
    uint32_t state = __atomic_load_n(&site->state, __ATOMIC_ACQUIRE);
    *out_id = (state & VV_ID_MASK) + kind;
    return (varve_layers() & site->layer) != 0 && (state >> (VV_ID_BITS + kind) & 1) != 0;
}

VARVE_API VV_HOT void varve_emit_begin(struct varve_site *site)
{
    struct vv_self *self = &vv_self;
    struct vv_place place;
    uint32_t id;
    if (VARVE_UNLIKELY(!is_ready(site, VV_KIND_BEGIN, &id) || !is_plain(self) ||
                       !vv_reserve_at_once(self, 8, &place))) {
        begin_slowly(site);
        return;
    }
    self->depth++;
    vv_put_word(self, &place, id);
}

VV_INLINE void emit_end(void (*slowly)(void))
{
    struct vv_self *self = &vv_self;
    struct vv_place place;
    if (VARVE_UNLIKELY(!is_plain(self) || self->depth == self->step_depth ||
                       !vv_reserve_at_once(self, 8, &place))) {
        slowly();
        return;
    }
    vv_count_down(self);
    vv_put_word(self, &place, VV_EVENT_END);
}

VARVE_API VV_HOT void varve_emit_end(void)
{
    emit_end(end_slowly);
}

VV_HOT void vv_emit_end(void)
{
    emit_end(vv_record_end);
}

VARVE_API VV_HOT void varve_emit_next(struct varve_site *site)
{
    struct vv_self *self = &vv_self;
    struct vv_place place;
    uint32_t id;
    if (VARVE_UNLIKELY(!is_ready(site, VV_KIND_NEXT, &id) || !is_plain(self) ||
                       self->depth == self->step_depth || !vv_reserve_at_once(self, 8, &place))) {
        next_slowly(site);
        return;
    }
    vv_put_word(self, &place, id);
}

VARVE_API void varve_emit_begin_name(const char *name, uint32_t layer)
{
    const struct vv_observation *observers = observation();
    if (observers != NULL)
        observers->begin_name(name != NULL ? name : "", layer);
    vv_record_begin_name(name, layer);
}

VARVE_API void varve_emit_step_begin(int64_t index)
{
    const struct vv_observation *observers = observation();
    if (observers != NULL)
        observers->step_begin(index);
    step_begin(index);
}

VARVE_API void varve_emit_step_end(void)
{
    step_end();
    const struct vv_observation *observers = observation();
    if (observers != NULL)
        observers->step_end();
}

uint64_t vv_range_cost_ps(void)
{
    enum { RECORDS = 2000, TRIES = 5 };
    static uint64_t scratch[RECORDS + sizeof(struct vv_packet_header) / 8]; /* under the lock */
    uint64_t best_ns = UINT64_MAX;
    for (int try = 0; try < TRIES; try++) {
        struct vv_packet_header *packet = (struct vv_packet_header *)(void *)scratch;
        struct vv_self self = { .busy = true }; /* never enters the slow path */
        self.era = (uint32_t)(vv_clock_ticks() >> VV_ERA_SHIFT);
        self.writer.packet = packet;
        self.writer.cursor = (uint8_t *)(packet + 1);
        self.writer.limit = (uint8_t *)scratch + sizeof scratch;
        packet->content_bits = sizeof *packet * 8;
        uint64_t before_ns = vv_clock_monotonic_ns();
        for (int i = 0; i < RECORDS; i++) {
            struct vv_place place;
            if (VV_LIKELY(vv_clock_is_counter) && VV_LIKELY(vv_reserve_at_once(&self, 8, &place)))
                vv_put_word(&self, &place, VV_EVENT_END);
            else
                vv_put(&self, VV_EVENT_END);
        }
        uint64_t ns = vv_clock_monotonic_ns() - before_ns;
        if (ns < best_ns)
            best_ns = ns;
    }
    return best_ns * 1000 / RECORDS;
}
