/* SPDX-License-Identifier: Apache-2.0 */
/* outliving_range.h — ranges that may end before those within them.
 *
 * A function of Python may open a range and return: with record_function(…) does so in __enter__. So calls of
 * functions, frames, are kept apart from other ranges: each end is that of the innermost open one of its own kind.
 * Where it is not the innermost of all, varve.end_under says how many stay open (doc/format.md §3). While a
 * thread has no frame open nothing here costs anything. */
#ifndef VV_RECORD_OUTLIVING_RANGE_H
#define VV_RECORD_OUTLIVING_RANGE_H

#include "record/stream/recorder.h"

void vv_frame_begin(struct varve_site *site);
/* Ends the innermost frame of the calling thread; ignored where none is open. */
void vv_frame_end(void);

/* The same for the innermost range that is no frame, the step apart: while frames are open. */
void vv_frame_end_other(struct vv_self *self);
/* Ends the step that is open, and what is open in it save frames: the same. */
void vv_frame_end_step(struct vv_self *self);

#endif
