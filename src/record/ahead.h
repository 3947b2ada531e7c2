/* SPDX-License-Identifier: Apache-2.0 */
/* ahead.h — a helper thread that gives busy streams their next pages before they need them.
 *
 * A page of a file costs its first writer a microsecond or more; a thread that records without pause would
 * pay that for every 512 records. The helper exists only while such a thread exists: it starts when a stream
 * has grown to full windows, and leaves when nobody has needed it for two seconds. Without it (no
 * thread to be had, a forked child) writers back their own windows, as all do at first.
 * Everything here is under the recorder's lock; the work itself is done outside it. */
#ifndef VV_RECORD_AHEAD_H
#define VV_RECORD_AHEAD_H

#include "record/stream.h"

/* The owner entered the packet at stream->position: have the helper back what comes next. */
void vv_ahead_want(struct vv_stream *stream);
/* Is the helper backing pages of this mapping now? */
bool vv_ahead_is_at(const uint8_t *map);
/* Unmaps, at once or as soon as the helper is done with it. */
void vv_ahead_unmap(uint8_t *map, uint64_t bytes);
/* In a forked child: there is no helper. */
void vv_ahead_forked(void);

#endif
