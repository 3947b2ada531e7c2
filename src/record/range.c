/* SPDX-License-Identifier: Apache-2.0 */
/* range.c — ranges and steps: what a thread has open.
 *
 * The thread counts its open ranges and keeps a bit for each of the first 256: not recorded. So an end
 * knows whether its begin was written, though it names no site and the mask may have changed. */
#include "ctf/metadata_write.h"
#include "record/place.h"

VARVE_API void varve_emit_begin(struct varve_site *site)
{
    struct vv_self *self = vv_self_in_epoch();
    if (VV_LIKELY(vv_push(self, site->layer)))
        vv_put_site(self, site, VV_KIND_BEGIN);
}

VARVE_API void varve_emit_end(void)
{
    struct vv_self *self = vv_self_in_epoch();
    if (VARVE_UNLIKELY(self->depth == self->step_depth)) /* nothing open here, or only the step */
        return;
    if (VV_LIKELY(vv_pop(self)))
        vv_put(self, VV_EVENT_END);
}

VARVE_API void varve_emit_next(struct varve_site *site)
{
    struct vv_self *self = vv_self_in_epoch();
    bool was_recorded = self->depth != self->step_depth && vv_pop(self);
    if (vv_push(self, site->layer))
        vv_put_site(self, site, was_recorded ? VV_KIND_NEXT : VV_KIND_BEGIN);
    else if (was_recorded)
        vv_put(self, VV_EVENT_END);
}

VARVE_API void varve_emit_begin_name(const char *name, uint32_t layer)
{
    struct vv_self *self = vv_self_in_epoch();
    if (!vv_push(self, layer))
        return;
    uint32_t id = 0;
    if (vv_record_enter()) {
        id = vv_string_id(name != NULL ? name : "");
        vv_record_leave();
    }
    uint64_t field = (uint64_t)vv_layer_single(layer) << 32 | id;
    if (id != 0)
        vv_put_fields(self, VV_EVENT_BEGIN, &field, 1);
    else
        vv_thread_discard(self, 1);
}

VARVE_API void varve_emit_step_begin(int64_t index)
{
    struct vv_self *self = vv_self_in_epoch();
    if (self->step_depth != 0)
        varve_emit_step_end();
    bool wanted = vv_push(self, VARVE_LAYER_STEP);
    self->step_depth = self->depth;
    uint64_t field = (uint64_t)index;
    if (wanted)
        vv_put_fields(self, VV_EVENT_STEP_BEGIN, &field, 1);
}

VARVE_API void varve_emit_step_end(void)
{
    struct vv_self *self = vv_self_in_epoch();
    if (self->step_depth == 0)
        return;
    while (self->depth > self->step_depth)
        vv_pop(self);
    self->step_depth = 0;
    if (vv_pop(self))
        vv_put(self, VV_EVENT_STEP_END);
}
