/* SPDX-License-Identifier: Apache-2.0 */
/* outliving_range.h — ranges that may end before the ranges inside them.
 *
 * A Python function may open a range and return: `with record_function(…)` does so in __enter__. So
 * calls of functions, called frames here, are kept apart from other ranges. Each end belongs to the
 * innermost open range of its own kind. If that range is not the innermost of all, varve.end_under
 * says how many ranges stay open (doc/format.md §3). While a thread has no open frame, this costs
 * nothing. */
#ifndef VV_RECORD_OUTLIVING_RANGE_H
#define VV_RECORD_OUTLIVING_RANGE_H

#include "record/stream/recorder.h"

void vv_frame_begin(struct varve_site *site);
/* Ends the innermost frame of the calling thread. Does nothing if no frame is open. */
void vv_frame_end(void);

/* Ends the innermost open range that is neither a frame nor the step. Call it only while a frame is
 * open. */
void vv_frame_end_other(struct vv_self *self);
/* Ends the open step, and the ranges in it that are no frames. Call it only while a frame is
 * open. */
void vv_frame_end_step(struct vv_self *self);

#endif
