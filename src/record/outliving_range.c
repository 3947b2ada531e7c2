/* SPDX-License-Identifier: Apache-2.0 */
#include "record/outliving_range.h"

#include "record/hot_path.h"

/* A range is known by its depth, counted from 1. Ranges deeper than VV_DEPTH_TRACKED have no bits:
 * they are recorded, and are no frames. */
static bool get(const uint64_t *bits, uint32_t depth)
{
    return depth <= VV_DEPTH_TRACKED && (bits[(depth - 1) / 64] >> (depth - 1) % 64 & 1) != 0;
}

static void set(uint64_t *bits, uint32_t depth, bool value)
{
    uint64_t bit = UINT64_C(1) << (depth - 1) % 64;
    bits[(depth - 1) / 64] = value ? bits[(depth - 1) / 64] | bit : bits[(depth - 1) / 64] & ~bit;
}

/* Returns the depth of the innermost range of that kind that is deeper than `floor`; 0 = there is
 * none. */
static uint32_t find(const struct vv_self *self, bool is_frame, uint32_t floor)
{
    uint32_t depth = self->depth;
    while (depth > floor && get(self->framed, depth) != is_frame)
        depth--;
    return depth > floor ? depth : 0;
}

/* Removes the range at `depth`. The ranges inside it move up by one. */
static void take_out(struct vv_self *self, uint32_t depth)
{
    uint32_t epoch = self->epoch;
    uint32_t last = self->depth < VV_DEPTH_TRACKED ? self->depth : VV_DEPTH_TRACKED;
    self->skips -= get(self->skipped, depth);
    self->frames -= get(self->framed, depth);
    for (uint32_t d = depth; d <= last; d++) {
        set(self->skipped, d, d < last && get(self->skipped, d + 1));
        set(self->framed, d, d < last && get(self->framed, d + 1));
    }
    vv_count_down(self);
    if (depth < self->step_depth)
        self->step_depth--;
    if (self->skips == 0 && self->frames == 0)
        vv_see_plain(self);
    vv_see_epoch(self, epoch);
}

static void end_at(struct vv_self *self, uint32_t depth)
{
    uint64_t within = 0; /* recorded ranges: readers know no others                              */
    bool was_recorded = !get(self->skipped, depth);
    for (uint32_t d = depth + 1; d <= self->depth; d++)
        within += !get(self->skipped, d);
    take_out(self, depth);
    if (was_recorded && within > 0)
        vv_put_fields(self, VV_EVENT_END_UNDER, &within, 1);
    else if (was_recorded)
        vv_put(self, VV_EVENT_END);
}

void vv_frame_begin(struct varve_site *site)
{
    struct vv_self *self = vv_self_in_epoch();
    bool is_wanted = vv_is_wanted(self, site->layer);
    if (is_wanted)
        vv_put_site(self, site, VV_KIND_BEGIN);
    vv_push(self, is_wanted);
    uint32_t epoch = self->epoch, depth = self->depth;
    if (depth == 0 || depth > VV_DEPTH_TRACKED) /* 0: a handler saw another epoch */
        return;
    set(self->framed, depth, true);
    self->frames++;
    self->plain_word = VV_NOT_PLAIN;
    vv_see_epoch(self, epoch);
}

void vv_frame_end(void)
{
    struct vv_self *self = vv_self_in_epoch();
    uint32_t depth = self->depth > VV_DEPTH_TRACKED ? self->depth : find(self, true, 0);
    if (depth != 0)
        end_at(self, depth);
}

void vv_frame_end_other(struct vv_self *self)
{
    uint32_t depth = find(self, false, self->step_depth);
    if (depth != 0)
        end_at(self, depth);
}

void vv_frame_end_step(struct vv_self *self)
{
    while (find(self, false, self->step_depth) != 0)
        vv_frame_end_other(self);
    uint32_t depth = self->step_depth;
    self->step_depth = 0;
    end_at(self, depth);
}
