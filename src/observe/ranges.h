/* SPDX-License-Identifier: Apache-2.0 */
/* ranges.h — the ranges that a thread has open, for observers.
 *
 * While the process has observers, each begin makes a frame and each end closes one, whether or not
 * anybody sees the range: so an end always finds its begin. Without the recorder's lock. */
#ifndef VV_OBSERVE_RANGES_H
#define VV_OBSERVE_RANGES_H

#include "observe/lane.h"
#include "record/stream/observation.h"

extern const struct vv_observation vv_ranges_observation;

/* The calling thread comes in: its lane is busy until vv_ranges_leave. NULL: it has none and gets
 * none, or this is a handler that has interrupted this room. The range is counted as missed. */
VV_MUST_USE struct vv_lane *vv_ranges_enter(void);
void vv_ranges_leave(struct vv_lane *lane);
uint64_t vv_ranges_missed(void);

/* The index of the scope of a range of this layer. */
unsigned vv_ranges_scope(uint32_t layer);
/* A range begins. Returns its frame, and what its observers need; NULL: there is no room for one,
 * and the range is only counted. */
struct vv_frame *vv_ranges_open(struct vv_lane *lane, unsigned scope, uint32_t layer,
                                const char *name, uint32_t *out_needs);
/* Calls the starts that vv_ranges_open chose. */
void vv_ranges_start(struct vv_lane *lane, struct vv_frame *frame);
/* Ends all ranges that are deeper than `depth`. */
void vv_ranges_close(struct vv_lane *lane, uint32_t depth, uint32_t flags);

#endif
