/* SPDX-License-Identifier: Apache-2.0 */
/* call.h — calls an observer's functions, and ends observers that were removed.
 *
 * A lane publishes in `running` whose function it is about to call, and then looks whether it still
 * may: for a start, at the slot's tag; for an end, whether the entry is still odd. Whoever removes
 * an observer changes the tag, and then looks which lanes run one of its functions. All of that is
 * sequentially consistent, so one of the two sees the other. Without the recorder's lock. */
#ifndef VV_OBSERVE_CALL_H
#define VV_OBSERVE_CALL_H

#include "observe/lane.h"

/* Calls the start of an entry that vv_lane_choose made, if its observer is still there. If that
 * succeeds, the entry is odd. */
void vv_call_start(struct vv_lane *lane, struct vv_entry *entry, const struct varve_observed *what);
/* Calls the end of the entry, if it is odd. */
void vv_call_end(struct vv_lane *lane, struct vv_entry *entry, const struct varve_observed *what);
/* After one or several calls: ends what was removed meanwhile, as far as that is possible now. */
void vv_call_leave(struct vv_lane *lane);

/* Of an observer that was removed: calls the ends that are due, then `released`, and gives the slot
 * back. False: one of its functions still runs; its thread does that later, in vv_call_leave. */
VV_MUST_USE bool vv_call_finish(struct vv_lane *lane, struct vv_slot *slot, uint64_t removed_tag);

#endif
