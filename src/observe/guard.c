/* SPDX-License-Identifier: Apache-2.0 */
/* guard.c — guards: ranges that are recorded and observed in one call, and say what they work on
 * only if somebody wants to know. */
#include "observe/ranges.h"
#include "record/hot_path.h"

/* Bits of varve_guard.state. */
#define RECORDED 1u
#define OBSERVED 2u

#define INFO_BYTES (offsetof(struct varve_op_info, forward_thread) + sizeof(uint64_t)) /* ABI 0 */

static uint32_t layer_of(const struct varve_guard *guard)
{
    return guard->site != NULL ? guard->site->layer : guard->layer;
}

static const char *name_of(const struct varve_guard *guard)
{
    const char *name = guard->site != NULL ? guard->site->name : guard->name;
    return name != NULL ? name : "";
}

/* The frame of the guard, if it is still open; *out_depth is its depth then. */
static struct vv_frame *find(struct vv_lane *lane, const struct varve_guard *guard,
                             uint32_t *out_depth)
{
    uint32_t depth = lane->depth < VV_FRAMES ? lane->depth : VV_FRAMES;
    while (depth > lane->floor && lane->frames[depth - 1].key != guard->key)
        depth--;
    *out_depth = depth;
    return depth > lane->floor ? &lane->frames[depth - 1] : NULL;
}

static uint32_t choose(struct varve_guard *guard)
{
    uint32_t needs = 0, layer = layer_of(guard);
    struct vv_lane *lane = vv_ranges_enter();
    if (lane == NULL)
        return 0;
    unsigned scope = (guard->scope & VARVE_OBSERVE_BACKWARD) != 0
                         ? (unsigned)__builtin_ctz(VARVE_OBSERVE_BACKWARD)
                         : vv_ranges_scope(layer);
    struct vv_frame *frame = vv_ranges_open(lane, scope, layer, name_of(guard), &needs);
    guard->key = frame != NULL ? lane->number << 40 | ++lane->ids : 0;
    guard->state |= OBSERVED;
    if (frame != NULL) {
        frame->key = guard->key;
        frame->what.site = guard->site;
        frame->what.call = guard->call;
    }
    vv_ranges_leave(lane);
    return needs;
}

VARVE_API uint32_t varve_emit_guard_needs(struct varve_guard *guard)
{
    uint32_t needs = 0;
    guard->state = 0;
    if (guard->struct_size < sizeof *guard)
        return 0;
    vv_self_in_epoch();
    if (vv_is_observed())
        needs = choose(guard);
    if (varve_layers() != 0) {
        guard->state |= RECORDED;
        if ((varve_layers() & layer_of(guard)) != 0)
            needs |= VARVE_NEED_INPUTS;
    }
    return needs;
}

static void start(const struct varve_guard *guard, const struct varve_op_info *info)
{
    struct vv_lane *lane = vv_ranges_enter();
    uint32_t depth;
    if (lane == NULL)
        return;
    struct vv_frame *frame = guard->key != 0 ? find(lane, guard, &depth) : NULL;
    if (frame != NULL && frame->count != 0) {
        if (info != NULL && info->struct_size >= INFO_BYTES) {
            frame->what.info = info;
            frame->what.sequence = info->sequence;
            frame->what.forward_thread = info->forward_thread;
        }
        vv_ranges_start(lane, frame);
    }
    vv_ranges_leave(lane);
}

VARVE_API void varve_emit_guard_begin(struct varve_guard *guard, const struct varve_op_info *info)
{
    if ((guard->state & OBSERVED) != 0)
        start(guard, info);
    if ((guard->state & RECORDED) == 0)
        return;
    if (guard->site != NULL)
        vv_record_begin(guard->site);
    else
        vv_record_begin_name(guard->name, guard->layer);
    if (info != NULL)
        varve_op(info);
}

static void end(const struct varve_guard *guard, const struct varve_tensor *outputs,
                uint32_t output_count)
{
    struct vv_lane *lane = vv_own_lane != NULL ? vv_ranges_enter() : NULL;
    uint32_t depth;
    if (lane == NULL)
        return;
    if (guard->key == 0) { /* too deep for a frame: the innermost of those */
        if (lane->depth > VV_FRAMES)
            lane->depth--;
        vv_ranges_leave(lane);
        return;
    }
    struct vv_frame *frame = find(lane, guard, &depth);
    if (frame != NULL) {
        vv_ranges_close(lane, depth, 0);
        frame->what.outputs = outputs;
        frame->what.output_count = outputs != NULL ? output_count : 0;
        vv_ranges_close(lane, depth - 1, 0);
    }
    vv_ranges_leave(lane);
}

VARVE_API void varve_emit_guard_end(struct varve_guard *guard, const struct varve_tensor *outputs,
                                    uint32_t output_count)
{
    if ((guard->state & RECORDED) != 0)
        vv_record_end();
    if ((guard->state & OBSERVED) != 0)
        end(guard, outputs, output_count);
    guard->state = 0;
}
